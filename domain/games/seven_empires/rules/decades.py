"""SE7-4.1, SE7-10, SE7-11: the flow of turns and decades."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.seven_empires import frames
from domain.games.seven_empires.data import EMPIRES, SHIFT, YEARS
from domain.games.seven_empires.facts.sequence import (
    DecadeStarted,
    MarkersShifted,
    PawnPassed,
    TileRevealed,
    TurnBegun,
    TurnEnded,
)
from domain.games.seven_empires.rules import ending, hourglass, reductions
from domain.games.seven_empires.rules.modes import choosable, mode_of
from domain.games.seven_empires.rules.monarchs import assigned
from domain.games.seven_empires.state import D
from domain.kernel.rules.flow import Frame
from domain.types import Seat

TURNS = len(EMPIRES)
"""SE7-4.1: in a decade."""


def start_decade(d: D, decade: int) -> None:
    """SE7-2.13, SE7-11.7: the pawn holder has the first turn."""
    d.add(DecadeStarted(decade, YEARS[d.state.terms.decades][decade - 1]))
    d.ask(frames.Decade(["turn"]))


def go_decade(d: D, frame: Frame) -> None:
    """Do the next step, once no answer is due."""
    STEPS[frame.context(frames.Decade).todo[0]](d)


def _turn(d: D) -> None:
    """SE7-4.1, SE7-4.2: the next seat takes its turn."""
    d.note(todo=["reductions"])
    seat = turn_seat(d)
    mode = mode_of(d.state, seat)
    d.add(TurnBegun(seat, d.state.turn_in_decade + 1, mode))
    d.ask(frames.ChooseEmpire(mode, choosable(d.state, seat, mode)), seat)


def turn_seat(d: D) -> Seat:
    """SE7-4.1: clockwise from the pawn holder."""
    return ((d.state.pawn or 0) + d.state.turn_in_decade) % d.state.seats


def _reductions(d: D) -> None:
    """SE7-10.1, SE7-10.2: reductions, then the turn is over."""
    if not reductions.ask_first(d):
        _end_turn(d)


def _end_turn(d: D) -> None:
    """SE7-4.7: the next turn, or the end of the decade or of the game."""
    s, seat = d.state, d.state.current.seat
    d.add(TurnEnded(seat))
    if s.turn_in_decade < TURNS:
        d.note(todo=["turn"])
    elif s.decade < s.terms.decades:
        _end_decade(d, seat)
    else:
        ending.finish(d)


def _end_decade(d: D, seat: Seat) -> None:
    """SE7-11.1, SE7-11.2: pawn and hourglass tile."""
    d.note(todo=["next_decade"])
    d.add(PawnPassed(d.state.next_seat(seat)))
    tile = d.state.hourglass[d.state.decade - 1]
    d.add(TileRevealed(d.state.decade, tile))
    d.barrier()
    hourglass.begin(d, tile)


def _next_decade(d: D) -> None:
    """SE7-11.5 to SE7-11.7: markers, monarchs, the next decade."""
    d.add(MarkersShifted(shifted(d)))
    d.add(assigned(d.state))
    d.end()
    start_decade(d, d.state.decade + 1)


def shifted(d: D) -> dict[str, dict[str, str]]:
    """SE7-11.5: III to the tray, II to III, I to II."""
    return {
        name: {action: SHIFT[slot] for action, slot in d.state.empires[name].markers.items() if SHIFT[slot] != "tray"}
        for name in EMPIRES
    }


STEPS: dict[str, Callable[[D], None]] = {
    "turn": _turn,
    "reductions": _reductions,
    "next_decade": _next_decade,
}
"""Step of a decade -> its function."""
