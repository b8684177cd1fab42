"""Every type of move with its fields, the decision it answers, and its rule (SOE-22)."""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from domain.games.struggle_of_empires.data import RAIDERS, TILES
from domain.games.struggle_of_empires.value_objects import Declaration, LossChoice, OfferMade, UnitWord
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    AnyInt,
    Case,
    Count,
    Id,
    Listed,
    Maybe,
    Move,
    Varies,
    declared_classes,
)

# --- set-up and auctions --------------------------------------------------------------------------------------


class ChoosePower(Move, frozen=True):
    """SOE-3.3: take a power."""

    admission: ClassVar = Admission(("choose_power",), rule="SOE-3.3")
    power: Id


class PlaceUnit(Move, frozen=True):
    """SOE-3.6: place one of the first units."""

    admission: ClassVar = Admission(("place_units",), rule="SOE-3.6")
    unit: UnitWord
    region: Id


class Bid(Move, frozen=True):
    """SOE-6.3: gold for a proposal: seat `a` is to join grey, `b` white."""

    admission: ClassVar = Admission(("auction_bid",), rule="SOE-6.3")
    amount: AnyInt
    a: Count | None
    b: Count | None


class PassBid(Move, frozen=True):
    """SOE-6.4: leave the bid to the next seat."""

    admission: ClassVar = Admission(("auction_bid",), rule="SOE-6.3")


# --- the turn -------------------------------------------------------------------------------------------------


class Pass(Move, frozen=True):
    """SOE-7.3.1: end the turn."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.3.1")


class BuyTile(Move, frozen=True):
    """SOE-7.4.1: buy a tile; Pirates and Slave Revolt are sent against a seat at once."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.4.1")
    varies: ClassVar = Varies(
        "tile", {t: Case(optional=("region", "target_seat")) if t in RAIDERS else Case() for t in TILES}
    )
    tile: Id
    region: Maybe[Id] = UNSET
    target_seat: Maybe[Count] = UNSET


class Build(Move, frozen=True):
    """SOE-7.5.1: build a unit."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.5.1")
    unit: UnitWord
    to: Id


class BuildMilitia(Move, frozen=True):
    """SOE-7.5.4: one more army of the build action."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.5.4")
    to: Id


class MoveUnit(Move, frozen=True):
    """SOE-7.6.2: move a unit, in the open move action or in a new one."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.6.2")
    unit: UnitWord
    from_: Id = field(name="from")
    to: Id
    new_action: Maybe[bool] = UNSET


class Colonize(Move, frozen=True):
    """SOE-7.8.1: a token in place of a marker with settlers."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.8.1")
    marker: Id


class Enslave(Move, frozen=True):
    """SOE-7.8.2: a token in place of a marker with slaves."""

    admission: ClassVar = Admission(("turn",), rule="SOE-7.8.2")
    marker: Id


class Attack(Declaration, Move, frozen=True):
    """SOE-8.1.1: an attack as an action."""

    admission: ClassVar = Admission(("turn",), rule="SOE-8.1.1")


_USES: dict[str, Case] = {
    "war_office": Case(("attack",)),
    "mercenaries": Case(("to",)),
    "pressgangs": Case(("to",)),
    "trained_natives": Case(("region",), ("then_to",)),
    "diplomatic_service": Case(("alliance_tile",)),
    "blockade": Case(("region",)),
    **{t.id: Case(optional=("region",)) for t in TILES.values() if t.group == "trade"},
}


class UseTile(Move, frozen=True):
    """SOE-9.3.1: the free action of a tile."""

    admission: ClassVar = Admission(("turn",), rule="SOE-9.3.1")
    varies: ClassVar = Varies("tile", {t: _USES.get(t, Case()) for t in TILES})
    tile: Id
    attack: Maybe[Declaration] = UNSET
    to: Maybe[Id] = UNSET
    region: Maybe[Id] = UNSET
    then_to: Maybe[Id | None] = UNSET
    alliance_tile: Maybe[Id] = UNSET


# --- answers in combat ----------------------------------------------------------------------------------------


class Support(Move, frozen=True):
    """SOE-8.3.2: units for an ally's combat."""

    admission: ClassVar = Admission(("support",), rule="SOE-8.3.2")
    armies: Count
    navies: Count


class RequestSupport(Move, frozen=True):
    """SOE-8.3.4: the defender asks allies for support."""

    admission: ClassVar = Admission(("request_support",), rule="SOE-8.3.4")
    ask: Maybe[Listed[AnyInt]] = UNSET
    """All allies able to help, unless named."""
    offers: Maybe[Listed[OfferMade]] = UNSET


class NavalChoice(Move, frozen=True):
    """SOE-8.4.2: fight for naval support, or not."""

    admission: ClassVar = Admission(("naval_choice",), rule="SOE-8.4.2")
    fight: bool


class AssignAllianceTiles(Move, frozen=True):
    """SOE-8.5.1: the tiles for the naval battle."""

    admission: ClassVar = Admission(("assign_alliance_tiles",), rule="SOE-8.5.1")
    naval: Listed[Id]


class UseBlockade(Move, frozen=True):
    """SOE-8.6.1: whether a Blockade tile strengthens naval support."""

    admission: ClassVar = Admission(("use_blockade",), rule="SOE-8.6.1")
    use: bool


class Reserve(Move, frozen=True):
    """SOE-8.7.1: whether all dice are rolled again."""

    admission: ClassVar = Admission(("reserve",), rule="SOE-8.7.1")
    use: bool


class ChooseLoss(Move, frozen=True):
    """SOE-8.9.2: the lost units, one for each open item."""

    admission: ClassVar = Admission(("choose_loss",), rule="SOE-8.9.2")
    choices: Listed[LossChoice]


class FightingWithdrawal(Move, frozen=True):
    """SOE-8.10.1: save a unit or not; `save` is the seat of the saved unit."""

    admission: ClassVar = Admission(("fighting_withdrawal",), rule="SOE-8.10.1")
    varies: ClassVar = Varies("use", {True: Case(("save",)), False: Case()})
    use: bool
    save: Maybe[Count] = UNSET


MOVES = declared_classes(__name__, Move)
