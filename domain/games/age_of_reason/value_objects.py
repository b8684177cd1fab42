"""Objects inside moves."""

from __future__ import annotations

from typing import ClassVar

from domain.kernel.schema.declarations import UNSET, Case, Id, Maybe, Part, Varies


class Target(Part, frozen=True):
    """AOR-8.2.1: the target of an attack: a power's token, or a marker.

    A missing id or unknown kind is `invalid_target`, so neither is required here (AOR-8.2.4).
    """

    varies: ClassVar = Varies("kind", {"power": Case(optional=("power",)), "marker": Case(optional=("marker",))})
    kind: Id
    power: Maybe[Id] = UNSET
    marker: Maybe[Id] = UNSET
