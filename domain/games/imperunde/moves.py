"""Every type of move with its fields, the decision it answers, and its rule (IMP-16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, TypeVar

from msgspec import field

from domain.games.imperunde.data import UNITS, WARSHIPS
from domain.games.imperunde.state import WINDOWS
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    AnyInt,
    Case,
    Count,
    Id,
    Listed,
    Maybe,
    Meta,
    Move,
    Part,
    Varies,
    among,
    declared_classes,
)

T = TypeVar("T")

Stance = Literal["peace", "war"]
UNTIL = ("phase_end", "turn_end", "game_end")
"""Durations of a standing pass (IMP-11.8)."""
SAFE = ("diplomacy", "open_window", "investment", "movement", "embarkation")
"""Frames open to a safe card of any seat (IMP-11.2)."""
WINDOW_FRAMES = tuple(f"{kind}_window" for kind in WINDOWS)

Path = Annotated[Sequence[Id], Meta(min_length=2)]

_AT_SEA_OR_LAND = ("movement", "fair_wind")
_PURCHASE = Varies(
    "item",
    {unit: Case(("zone",)) if unit in WARSHIPS else Case() for unit in UNITS},
    otherwise=Case(optional=("zone",)),
)
"""`zone` is given for warships and only for them; for an unknown item it is optional (IMP-6.4.2)."""


# --- parts ---------------------------------------------------------------------------------------------------


class Armies(Part, frozen=True):
    """A number of armies of a kind."""

    unit: Id
    count: Count


class Want(Part, frozen=True):
    """A number of units of a kind; with `moves_left`, of this lot (IMP-0.5)."""

    unit: Id
    count: Count
    moves_left: Maybe[Count] = UNSET


class Way(Want, frozen=True, kw_only=True):
    """Units coming into a combat on the same path (IMP-8.1.1)."""

    path: Path


class Purchase(Part, frozen=True):
    """A smuggled piece (IMP-9.4.11)."""

    varies: ClassVar = _PURCHASE

    item: Id
    quantity: Count
    zone: Maybe[Id] = UNSET


# --- set-up --------------------------------------------------------------------------------------------------


class PlaceHomeFleet(Move, frozen=True):
    """IMP-5.3: the zones of the first frigate and the first ship of the line."""

    admission: ClassVar = Admission(("setup_fleet",), rule="IMP-5.3")

    frigate: Id
    ship_of_the_line: Id


class EquipColony(Move, frozen=True):
    """IMP-5.4: a frigate in a zone, or armies for 3 doubloons, come with an initial colony."""

    admission: ClassVar = Admission(("setup_colony",), rule="IMP-5.4")
    varies: ClassVar = Varies("choice", {"frigate": Case(("zone",)), "armies": Case(("units",))})

    choice: Id
    zone: Maybe[Id] = UNSET
    units: Maybe[Listed[Armies]] = UNSET


# --- diplomacy and budget ------------------------------------------------------------------------------------


class SetStance(Move, frozen=True):
    """IMP-6.2.2: the seat's stance toward another."""

    admission: ClassVar = Admission(("diplomacy",), "both", rule="IMP-6.2.2")

    target: AnyInt
    stance: Stance


class ProposeGoal(Move, frozen=True):
    """IMP-6.2.4: the others vote on another goal."""

    admission: ClassVar = Admission(("diplomacy",), "both", rule="IMP-6.2.4")

    goal: AnyInt


class VoteGoal(Move, frozen=True):
    """IMP-6.2.4: for or against the proposed goal."""

    admission: ClassVar = Admission(("goal_vote",), rule="IMP-6.2.4")

    approve: bool


class Ready(Move, frozen=True):
    """IMP-6.2.5: the seat has no more to say."""

    admission: ClassVar = Admission(("diplomacy",), "both", rule="IMP-6.2.5")


class Unready(Move, frozen=True):
    """IMP-6.2.5: the seat takes its flag back."""

    admission: ClassVar = Admission(("diplomacy",), "both", rule="IMP-6.2.5")


class SetBudget(Move, frozen=True):
    """IMP-6.3.3: repayment and loan; sealed."""

    admission: ClassVar = Admission(("budget",), "both", ("repay", "borrow"), rule="IMP-6.3.3")

    repay: Count
    borrow: Count


# --- investments ---------------------------------------------------------------------------------------------


class Buy(Move, frozen=True):
    """IMP-6.4.2: pieces for the home or a colony; warships go to a zone."""

    admission: ClassVar = Admission(("investment",), rule="IMP-6.4.2")
    varies: ClassVar = _PURCHASE

    item: Id
    quantity: Count
    country: Id
    zone: Maybe[Id] = UNSET


class BuildCanal(Move, frozen=True):
    """IMP-6.4.4: a canal in an own colony."""

    admission: ClassVar = Admission(("investment",), rule="IMP-6.4.4")

    canal: Id


class BuyCards(Move, frozen=True):
    """IMP-6.4.5: a number of cards from the draw pile."""

    admission: ClassVar = Admission(("investment",), rule="IMP-6.4.5")

    quantity: Count


class EndInvestments(Move, frozen=True):
    """IMP-6.4.1: the seat buys no more."""

    admission: ClassVar = Admission(("investment",), rule="IMP-6.4.1")


# --- movement and combat -------------------------------------------------------------------------------------


class MoveUnits(Move, frozen=True, tag="move"):
    """IMP-7.2: units go along a path."""

    admission: ClassVar = Admission(_AT_SEA_OR_LAND, rule="IMP-7.2")

    units: Listed[Want]
    path: Path


class Attack(Move, frozen=True):
    """IMP-8.1.1: up to three units attack a region; with `pass_window` the attacker plays no card first."""

    admission: ClassVar = Admission(_AT_SEA_OR_LAND, rule="IMP-8.1.1")

    target: Id
    groups: Listed[Way]
    pass_window: Maybe[bool] = UNSET


class ChooseUnits(Move, frozen=True):
    """IMP-8.2.1: the fighters of this round."""

    admission: ClassVar = Admission(("choose_units",), rule="IMP-8.2.1")

    units: Listed[Want]


class Reinforce(Move, frozen=True):
    """IMP-8.3.1: units coming into the combat; none declines."""

    admission: ClassVar = Admission(("reinforce",), rule="IMP-8.3.1")

    groups: Listed[Way]


class EndMovement(Move, frozen=True):
    """IMP-6.6.3: the seat's part of phase 6 is over."""

    admission: ClassVar = Admission(("movement",), rule="IMP-6.6.3")


class Embark(Move, frozen=True):
    """IMP-6.7.1: armies of a country go aboard in a zone next to it."""

    admission: ClassVar = Admission(("embarkation",), rule="IMP-6.7.1")

    from_: Id = field(name="from")
    zone: Id
    units: Listed[Want]


class EndEmbarkation(Move, frozen=True):
    """IMP-6.7.1: the seat embarks no more."""

    admission: ClassVar = Admission(("embarkation",), rule="IMP-6.7.1")


class EndFairWind(Move, frozen=True):
    """IMP-10.7: the seat has used the fair wind."""

    admission: ClassVar = Admission(("fair_wind",), rule="IMP-10.7")


# --- cards and windows ---------------------------------------------------------------------------------------


class PlayCard(Move, frozen=True):
    """IMP-9.1: a card of the hand, with the parameters of its rule (IMP-9.4)."""

    admission: ClassVar = Admission(by="any", rule="IMP-9.1")
    varies: ClassVar = Varies(
        "card",
        {
            "armistice": Case(("target_seat",)),
            "treason": Case(),
            "filibuster": Case(("zone",)),
            "pirates": Case(("zone",)),
            "coup_de_main": Case(),
            "declaration_of_war": Case(("target_seat",)),
            "ambush": Case(),
            "surprise_attack": Case(),
            "forged_naval_orders": Case(("target_seat", "from", "to")),
            "forged_march_orders": Case(("target_seat", "from", "to", "units")),
            "smuggling": Case(("country", "purchases")),
            "sabotage": Case(("target_seat", "zone", "unit")),
            "peace_treaty": Case(("seats",)),
            "plunder": Case(("country",)),
            "rebellion": Case(("country",)),
            "unmask_spies": Case(("target_seat",), optional=("reveal",)),
            "counter_espionage": Case(),
            "capture": Case(optional=("target_seat",)),
        },
    )

    card: Id
    target_seat: Maybe[AnyInt] = UNSET
    from_: Maybe[Id] = field(name="from", default=UNSET)
    to: Maybe[Id] = UNSET
    zone: Maybe[Id] = UNSET
    unit: Maybe[Id] = UNSET
    units: Maybe[Listed[Want]] = UNSET
    country: Maybe[Id] = UNSET
    purchases: Maybe[Annotated[Sequence[Purchase], Meta(min_length=1)]] = UNSET
    seats: Maybe[Annotated[Sequence[AnyInt], Meta(min_length=2, max_length=2)]] = UNSET
    reveal: Maybe[bool] = UNSET


class ChooseStolenCard(Move, frozen=True):
    """IMP-9.4.16: a card of the shown hand; null leaves it to chance."""

    admission: ClassVar = Admission(("theft",), hidden=("card",), undo=False, rule="IMP-9.4.16")

    card: Id | None


class Pass(Move, frozen=True):
    """IMP-11.3: no card in this window; `until` passes windows of its kind from now on, `for_combat` those of it."""

    admission: ClassVar = Admission(WINDOW_FRAMES, hidden=("*",), anonymous=True, rule="IMP-11.3")

    until: Maybe[Annotated[str, among(UNTIL)]] = UNSET
    for_combat: Maybe[bool] = UNSET


class SetAutoPass(Move, frozen=True):
    """IMP-11.8: the seat passes windows of these kinds by itself, or no longer."""

    admission: ClassVar = Admission(by="any", hidden=("*",), anonymous=True, rule="IMP-11.8")

    windows: Annotated[Sequence[Annotated[str, among(WINDOWS)]], Meta(min_length=1)]
    until: Annotated[str, among((*UNTIL, "off"))]


MOVES = declared_classes(__name__, Move)
