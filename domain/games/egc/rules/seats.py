"""EGC-4.5 to EGC-4.9, EGC-7.23: submitting, reopening, resigning, and seats without a player."""

from __future__ import annotations

from domain.errors import RuleError
from domain.games.egc import frames
from domain.games.egc.data import ALLOCATION
from domain.games.egc.facts.opening import AllocationFiled
from domain.games.egc.facts.realm import Ending, GameEnded
from domain.games.egc.facts.sheets import SeatResigned, SheetOpened
from domain.games.egc.moves import ZERO, ReopenOrders, Resign, SubmitOrders
from domain.games.egc.rules.seas import controlled
from domain.games.egc.state import ACTIVE, DORMANT, ELIMINATED, D, Egc
from domain.kernel.rules.flow import Frame
from domain.types import Seat

REFUSED = {ELIMINATED: "seat_eliminated", DORMANT: "seat_dormant"}


def ask_sheets(d: D, turn: int) -> None:
    """EGC-4.1: all active seats at once. Nobody waits for a seat without a player (EGC-4.8)."""
    d.ask(frames.Orders(turn), *d.state.active())
    for seat in d.state.active():
        if seat in d.state.vacant:
            pass_for(d, seat)


def pass_for(d: D, seat: Seat) -> None:
    """EGC-4.8: a seat without a player submits its present sheet, or the default of turn zero."""
    if d.state.top.kind in ZERO:
        # Also if the seat has filed its points: the number of seals must not reveal it.
        points = d.state.sheets[seat].allocation or dict(ALLOCATION)
        d.add(AllocationFiled(seat, points), (seat,))
    d.mark_answered(seat)


def submit(d: D, frame: Frame, seat: Seat, move: SubmitOrders) -> None:
    """EGC-4.5, EGC-7.1."""
    if frame.kind in ZERO and not d.state.sheets[seat].allocation:
        raise RuleError("turn_zero_missing", "EGC-7.1")
    d.mark_answered(seat)


def reopen(d: D, frame: Frame, seat: Seat, move: ReopenOrders) -> None:
    """EGC-4.5: as long as the turn has not begun to resolve."""
    d.reopen(seat)


def resign(d: D, frame: Frame, seat: Seat, move: Resign) -> None:
    """EGC-4.6, EGC-4.9."""
    if d.state.status[seat] != ACTIVE:
        raise RuleError(REFUSED[d.state.status[seat]], "EGC-4.6")
    if frame.engine:
        raise RuleError("wrong_phase", "EGC-4.6", {"deciding": frame.kind})
    retire(d, seat)


def retire(d: D, seat: Seat) -> None:
    """EGC-4.6: the empire is dormant; without an active seat the game ends with the present points."""
    d.add(SeatResigned(seat))
    if d.state.turn:  # the sheet is empty: a port ordered on it controls no sea (EGC-6.3)
        d.add(SheetOpened(seat, controlled(d.state, seat)), (seat,))
    if d.state.frames and not d.state.active():
        end_game(d, "resigned")
    elif d.state.frames and seat in d.state.top.owing:
        d.mark_answered(seat)


def vacate(d: D, seat: Seat) -> None:
    """EGC-1.1, EGC-4.8: an empty seat is a dormant empire under the option; else its present orders remain."""
    if d.state.status[seat] != ACTIVE:
        return
    if d.state.terms.allow_vacant_seats or not d.state.frames:
        retire(d, seat)
    elif seat in d.state.top.owing:
        pass_for(d, seat)


def may(s: Egc) -> tuple[Seat, ...]:
    """EGC-4.5: a seat may reopen its submitted sheet."""
    if s.top.engine:
        return ()
    return tuple(seat for seat in s.top.done if s.status[seat] == ACTIVE and seat not in s.vacant)


def end_game(d: D, why: Ending) -> None:
    """EGC-15.6: the tie-break becomes public."""
    treasuries = [e.treasury for e in d.state.empires]
    d.add(GameEnded(why, treasuries, d.state.tie_order))
    d.finish()
