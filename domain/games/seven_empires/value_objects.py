"""Objects inside moves, and inside the facts and frames repeating them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from domain.games.seven_empires.data import Unit
from domain.kernel.schema.declarations import UNSET, Count, Id, Listed, Maybe, Part


class Placing(Part, frozen=True):
    """SE7-5.2: a unit in a region, as a move names it."""

    region: Id
    unit: Id


class Placed(Part, frozen=True):
    """Units of one type placed in a region."""

    region: str
    unit: Unit
    number: Count


class Removed(Part, frozen=True):
    """Units of one type removed from a region."""

    unit: Unit
    number: Count


def gathered(units: Iterable[tuple[str, Unit]]) -> list[Placed]:
    """Merge units of the same type in the same region, in order of appearance."""
    return [Placed(region, unit, number) for (region, unit), number in Counter(units).items()]


class Step(Part, frozen=True):
    """SE7-8.5: one step of an army: over a land border, or `via` seas in order."""

    to: Id
    via: Maybe[Listed[Id] | None] = UNSET

    @property
    def seas(self) -> Sequence[str] | None:
        """The seas of a transport; None over land."""
        return None if self.via is UNSET else self.via
