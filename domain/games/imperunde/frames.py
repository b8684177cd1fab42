"""Public context of each kind of frame, one class each (IMP-16).

A window names the seats `entitled` to a card in it; those of them with cards in hand are asked (IMP-11.7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from domain.games.imperunde.moves import PlayCard
from domain.games.imperunde.state import Side
from domain.kernel.schema.declarations import UNSET, Context, Maybe, Part, declared_classes
from domain.types import Seat

StepName = Literal[
    "fleet",
    "colony",
    "turn",
    "revenue",
    "budget",
    "apply",
    "invest_window",
    "investment",
    "settle",
    "cleanup_window",
    "cleanup",
    "move_start",
    "move_window",
    "movement",
    "unpin",
    "embark_window",
    "embarkation",
    "event_window",
    "events",
    "turn_end",
]
Stage = Literal["window", "charge", "engage", "fight", "roll", "reinforced"]
Link = tuple[Seat, str]
"""(seat, card played)."""


# --- the turn ------------------------------------------------------------------------------------------------


class Game(Context, frozen=True):
    """IMP-6: the lowest frame of a game, leading from one step to the next."""

    step: StepName
    """The next step."""
    at: int = 0
    """Index in the turn order of the seat to take the step next, in steps taken one by one."""


class SetupFleet(Context, frozen=True):
    """IMP-5.3: a seat places its home fleet."""


class SetupColony(Context, frozen=True):
    """IMP-5.4: a seat chooses the units of an initial colony."""

    country: str


class Diplomacy(Context, frozen=True):
    """IMP-6.2: all seats talk until all are ready."""


class GoalVote(Context, frozen=True):
    """IMP-6.2.4: the others vote on a goal proposed by a seat."""

    goal: int
    by: Seat


class Budget(Context, frozen=True):
    """IMP-6.3.3: all seats seal their repayments and loans."""


class Investment(Context, frozen=True):
    """IMP-6.4: a seat buys."""


class Cleanup(Context, frozen=True):
    """IMP-6.5.1: the zones one by one."""

    at: int
    """The place of the zone in the order of the sea wheel."""


class Movement(Context, frozen=True):
    """IMP-6.6: a seat moves and attacks."""


class Embarkation(Context, frozen=True):
    """IMP-6.7: a seat embarks armies."""


# --- combat --------------------------------------------------------------------------------------------------


class Combat(Context, frozen=True):
    """IMP-8: a combat, stage by stage."""

    stage: Stage
    """The next stage."""
    pass_window: Maybe[bool] = UNSET
    """The attacker plays no card before the first dice (IMP-8.1.1)."""


class ChooseUnits(Context, frozen=True):
    """IMP-8.2.1: a seat chooses its fighters for this round."""

    side: Side
    region: str


class Reinforce(Context, frozen=True):
    """IMP-8.3.1: the attacker may bring units into the combat."""

    target: str


# --- events --------------------------------------------------------------------------------------------------


class Events(Context, frozen=True):
    """IMP-10.1: the events of a turn, one by one."""

    done: int
    """Number of events applied or begun."""


class Pirates(Context, frozen=True):
    """IMP-10.6: pirates attack all seats with warships in a zone."""

    zone: str


class Winds(Context, frozen=True):
    """IMP-10.7: the seats with a fair wind in a zone, one after the other."""

    zone: str
    seats: Sequence[Seat]
    """Seats still without it, in turn order."""


class FairWind(Context, frozen=True):
    """IMP-10.7: a seat uses the fair wind in a zone."""

    zone: str


# --- windows -------------------------------------------------------------------------------------------------


class OpenWindow(Context, frozen=True):
    """IMP-11.3: cards at the beginning of a phase, or of a seat's part of phase 6."""

    entitled: Sequence[Seat]
    phase: int
    before: Maybe[Seat] = UNSET
    """The seat with the next part of phase 6 (IMP-6.6.1)."""


class CounterWindow(Context, frozen=True):
    """IMP-11.4: cards against a card."""

    entitled: Sequence[Seat]
    chain: Sequence[Link]
    """The card, and the counters to it so far."""


class CombatWindow(Context, frozen=True):
    """IMP-11.5: cards before the first dice of a combat."""

    entitled: Sequence[Seat]


class RoundWindow(Context, frozen=True):
    """IMP-11.6: cards before the dice of a later round on land."""

    entitled: Sequence[Seat]


Window: TypeAlias = OpenWindow | CounterWindow | CombatWindow | RoundWindow
WINDOWS: Mapping[str, type[Window]] = {
    "open_window": OpenWindow,
    "counter_window": CounterWindow,
    "combat_window": CombatWindow,
    "round_window": RoundWindow,
}
"""Windows by the kind of frame."""


# --- cards ---------------------------------------------------------------------------------------------------


class Interrupted(Part, frozen=True):
    """IMP-11.3: the context of a window interrupted by a card: the members common to windows, counters apart."""

    entitled: Sequence[Seat]
    phase: Maybe[int] = UNSET
    before: Maybe[Seat] = UNSET


class Card(Context, frozen=True):
    """IMP-9.1, IMP-11.4: a card has been played, and is countered or takes effect."""

    move: PlayCard
    """The card with its parameters."""
    seat: Seat
    """The player of the card."""
    chain: Sequence[Link]
    """The card, and the counters to it so far."""
    stage: Literal["counter", "effect", "settled"]
    """Next: asking for counters, or the effect, or the interrupted frame."""
    again: Maybe[Literal["open_window", "combat_window", "round_window"]] = UNSET
    """The kind of the window to be asked again."""
    context: Maybe[Interrupted] = UNSET
    """The former context of this window."""


class Theft(Context, frozen=True):
    """IMP-9.4.16: a seat chooses a card of the hand shown to it."""

    target: Seat
    """The owner of the hand."""
    reveal: bool
    """True if everybody is shown the hand."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)
"""Contexts by the kind of frame."""
