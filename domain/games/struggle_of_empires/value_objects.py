"""Objects inside moves, and inside the facts repeating them."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeVar

from domain.games.struggle_of_empires.data import UNITS, Unit
from domain.kernel.schema.declarations import UNSET, AnyInt, Case, Count, Id, Listed, Maybe, Part, Varies, among

T = TypeVar("T")

UnitWord = Annotated[Unit, among(UNITS)]
"""A unit named by a seat."""


class OfferMade(Part, frozen=True):
    """SOE-8.3.3: gold for an ally's help with at least this number of units.

    Negative numbers have a code of their own, `invalid_ask` (SOE-8.1.2).
    """

    seat: AnyInt
    gold: AnyInt
    min_armies: Maybe[AnyInt] = UNSET
    min_navies: Maybe[AnyInt] = UNSET


class Target(Part, frozen=True):
    """SOE-8.1.1: the target of an attack: a seat, a marker, or a tile on the map.

    A missing member or unknown kind is `invalid_target`, so neither is required here (SOE-8.1.2).
    """

    varies: ClassVar = Varies(
        "kind",
        {
            "player": Case(optional=("seat",)),
            "neutral": Case(optional=("marker",)),
            "pirates": Case(),
            "slave_revolt": Case(),
        },
    )
    kind: Id
    seat: Maybe[Count] = UNSET
    marker: Maybe[Id] = UNSET


class Declaration(Part, frozen=True):
    """SOE-8.1.1: the declaration of an attack, by an action or by War Office."""

    region: Id
    target: Target
    surprise: Maybe[bool] = UNSET
    ask: Maybe[Listed[AnyInt]] = UNSET
    """Asked allies; all able to help unless named (SOE-8.3.2)."""
    offers: Maybe[Listed[OfferMade]] = UNSET


class LossChoice(Part, frozen=True):
    """SOE-8.9.2: the seat and kind of a lost unit."""

    seat: Count
    unit: UnitWord
