"""Every type of move with its fields, the decision it answers, and its rule (AOR-22)."""

from __future__ import annotations

from typing import ClassVar

from domain.games.age_of_reason.data import ELIGIBLE, SPACES
from domain.games.age_of_reason.value_objects import Target
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    AnyInt,
    Case,
    Id,
    Listed,
    Maybe,
    Move,
    Varies,
    declared_classes,
)

# --- set-up and auctions --------------------------------------------------------------------------------------


class ChoosePower(Move, frozen=True):
    """AOR-3.3: take a power."""

    admission: ClassVar = Admission(("choose_power",), rule="AOR-3.3")
    power: Id


class Bid(Move, frozen=True):
    """AOR-6.4: gold for a proposal: power `a` is to join upper, `b` lower."""

    admission: ClassVar = Admission(("auction_bid",), rule="AOR-6.4")
    amount: AnyInt
    a: Id | None
    b: Id | None


class PassBid(Move, frozen=True):
    """AOR-6.4: leave the bid to the next seat."""

    admission: ClassVar = Admission(("auction_bid",), rule="AOR-6.4")


# --- the turn -------------------------------------------------------------------------------------------------


def _case(space: str) -> Case:
    if space in ELIGIBLE:
        return Case(optional=("card",))
    return Case(optional=("region",)) if SPACES[space].names_region else Case()


class Place(Move, frozen=True):
    """AOR-7.4.1: a token on the action board; where the space asks for it, a card or a region."""

    admission: ClassVar = Admission(("turn",), hidden=("card",), rule="AOR-7.4.1")
    varies: ClassVar = Varies("space", {space: _case(space) for space in SPACES})
    space: Id
    card: Maybe[Id | None] = UNSET
    region: Maybe[Id | None] = UNSET


class Convert(Move, frozen=True):
    """AOR-8.1.1: a token in place of an Aktion marker."""

    admission: ClassVar = Admission(("turn",), hidden=("card",), rule="AOR-8.1.1")
    marker: Id
    card: Id


class Attack(Move, frozen=True):
    """AOR-8.2.1: attack a token or a numbered marker with a card face down."""

    admission: ClassVar = Admission(("turn",), hidden=("card",), rule="AOR-8.2.1")
    region: Id
    target: Target
    card: Id


class Pass(Move, frozen=True):
    """AOR-7.2.4: end the turn."""

    admission: ClassVar = Admission(("turn",), rule="AOR-7.2.4")


# --- answers in a battle --------------------------------------------------------------------------------------


class Commit(Move, frozen=True):
    """AOR-9.2.2: a card face down, or none."""

    admission: ClassVar = Admission(("commit",), hidden=("card",), rule="AOR-9.2.2")
    card: Id | None


class Hire(Move, frozen=True):
    """AOR-9.4.2: non-player powers hired to help."""

    admission: ClassVar = Admission(("hire",), hidden=("powers",), rule="AOR-9.4.2")
    powers: Listed[Id]


class TakeBack(Move, frozen=True):
    """AOR-4.6.3: take a sealed answer back while the decision is open."""

    admission: ClassVar = Admission(("commit", "hire"), by="may", rule="AOR-4.6.3")


class Reserves(Move, frozen=True):
    """AOR-9.7.1: whether the own dice are rolled again."""

    admission: ClassVar = Admission(("reserves",), rule="AOR-9.7.1")
    use: bool


MOVES = declared_classes(__name__, Move)
