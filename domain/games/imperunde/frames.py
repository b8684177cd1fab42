"""What is known of each kind of frame: its public context, one class each (IMP-16).

A window tells who is `entitled` to a card in it; who is asked are those of them that hold cards (IMP-11.7).
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
"""Who has played which card."""


# --- the turn ------------------------------------------------------------------------------------------------


class Game(Context, frozen=True):
    """IMP-6: the lowest frame of a game, which leads from one step to the next."""

    step: StepName
    """What comes next."""
    at: int = 0
    """Which seat of the turn order takes the step next, where one after the other does."""


class SetupFleet(Context, frozen=True):
    """IMP-5.3: a seat places its home fleet."""


class SetupColony(Context, frozen=True):
    """IMP-5.4: a seat chooses what comes with an initial colony."""

    country: str


class Diplomacy(Context, frozen=True):
    """IMP-6.2: all seats talk until all are ready."""


class GoalVote(Context, frozen=True):
    """IMP-6.2.4: the others vote on a goal that a seat proposes."""

    goal: int
    by: Seat


class Budget(Context, frozen=True):
    """IMP-6.3.3: all seats seal what they repay and borrow."""


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
    """What comes next."""
    pass_window: Maybe[bool] = UNSET
    """The attacker plays no card before the first dice (IMP-8.1.1)."""


class ChooseUnits(Context, frozen=True):
    """IMP-8.2.1: a seat chooses who fights in this round."""

    side: Side
    region: str


class Reinforce(Context, frozen=True):
    """IMP-8.3.1: the attacker may bring units into the combat."""

    target: str


# --- events --------------------------------------------------------------------------------------------------


class Events(Context, frozen=True):
    """IMP-10.1: the events of a turn, one by one."""

    done: int
    """How many have been applied or begun."""


class Pirates(Context, frozen=True):
    """IMP-10.6: pirates attack all seats with warships in a zone."""

    zone: str


class Winds(Context, frozen=True):
    """IMP-10.7: the seats that have a fair wind in a zone, one after the other."""

    zone: str
    seats: Sequence[Seat]
    """Those that have not had it yet, in turn order."""


class FairWind(Context, frozen=True):
    """IMP-10.7: a seat uses the fair wind in a zone."""

    zone: str


# --- windows -------------------------------------------------------------------------------------------------


class OpenWindow(Context, frozen=True):
    """IMP-11.3: cards at the beginning of a phase, or of a seat's part of phase 6."""

    entitled: Sequence[Seat]
    phase: int
    before: Maybe[Seat] = UNSET
    """Whose part of phase 6 comes next (IMP-6.6.1)."""


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
"""By the kind of frame."""


# --- cards ---------------------------------------------------------------------------------------------------


class Interrupted(Part, frozen=True):
    """IMP-11.3: the context of a window that a card has interrupted: all that windows have, counters apart."""

    entitled: Sequence[Seat]
    phase: Maybe[int] = UNSET
    before: Maybe[Seat] = UNSET


class Card(Context, frozen=True):
    """IMP-9.1, IMP-11.4: a card has been played, and is countered or takes effect."""

    move: PlayCard
    """The card with its parameters."""
    seat: Seat
    """Who has played it."""
    chain: Sequence[Link]
    """The card, and the counters to it so far."""
    stage: Literal["counter", "effect", "settled"]
    """Who wants to counter is asked next; or the card takes effect next; or what it has interrupted goes on."""
    again: Maybe[Literal["open_window", "combat_window", "round_window"]] = UNSET
    """The kind of window that is asked anew."""
    context: Maybe[Interrupted] = UNSET
    """What was known of that window."""


class Theft(Context, frozen=True):
    """IMP-9.4.16: a seat chooses a card of the hand that it is shown."""

    target: Seat
    """Whose hand it is."""
    reveal: bool
    """Whether everybody is shown the hand."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)
"""By kind."""
