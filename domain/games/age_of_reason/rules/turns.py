"""AOR-7.1 to AOR-7.3: turns, and when they end."""

from __future__ import annotations

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import CONSTANTS
from domain.games.age_of_reason.facts.sequence import TurnEnded, TurnStarted
from domain.games.age_of_reason.moves import Pass
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def start_turn(d: D, seat: Seat) -> None:
    """AOR-7.1.1: the next seat in turn order."""
    d.add(TurnStarted(seat, attacks_allowed(d.state, seat)))
    d.ask(frames.Turn(), seat)


def attacks_allowed(s: AgeOfReason, seat: Seat) -> int:
    """AOR-7.1.2, AOR-7.2.3: two with a token on Ministry of War, however many."""
    extended = s.on_board(seat, "ministry_of_war") > 0
    number: int = CONSTANTS["attacks_per_phase_with_ministry" if extended else "attacks_per_phase"]
    return number


def is_over(s: AgeOfReason) -> bool:
    """AOR-7.3.1: all attacks are made."""
    return s.acting.attacks_made >= s.acting.attacks_allowed


def go_on(d: D) -> None:
    """AOR-7.3.1: after a battle the turn goes on, or ends by itself."""
    if is_over(d.state):
        d.add(TurnEnded(d.state.acting.seat))
    else:
        d.ask(frames.Turn(), d.state.acting.seat)


def act(d: D, frame: Frame, seat: Seat) -> None:
    """End an action: unless the turn is over, ask the seat again on the same clock."""
    d.mark_answered(seat, end=True)
    if is_over(d.state):
        d.add(TurnEnded(seat))
    else:
        d.ask(frames.Turn(), seat, timed_as=frame.timer)


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    """AOR-7.2.4: always legal."""
    d.mark_answered(seat, end=True)
    d.add(TurnEnded(seat))
