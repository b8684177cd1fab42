"""IMP-11: windows and standing passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.games.common.checks import require
from domain.games.imperunde.facts.cards import AutoPassSet
from domain.games.imperunde.frames import Window
from domain.games.imperunde.moves import WINDOW_FRAMES, Pass, SetAutoPass
from domain.games.imperunde.state import D, ImpeRunde
from domain.kernel.rules.flow import Frame
from domain.types import Seat

COMBAT_END = "combat_end"
"""A standing pass for the rest of a combat (IMP-11.6)."""


def kind_of(frame: Frame) -> str:
    """Return `open`, `counter`, `combat` or `round`; empty if the frame is no window."""
    return frame.kind.removesuffix("_window") if frame.kind in WINDOW_FRAMES else ""


def seats_to_ask(s: ImpeRunde, entitled: Iterable[Seat]) -> list[Seat]:
    """IMP-11.7: the asked seats, depending on public facts only."""
    return [seat for seat in entitled if s.nations[seat].cards and seat not in s.vacant]


def open_window(d: D, window: Window) -> bool:
    """IMP-11.1: ask the seats at once; standing passes answer in the same record. False: no seat to ask."""
    seats = seats_to_ask(d.state, window.entitled)
    if not seats:
        return False
    d.ask(window, *seats, secret=True)
    kind = kind_of(d.state.top)
    for seat in seats:
        if kind in d.state.auto[seat]:
            d.mark_answered(seat)
    return True


def go_window(d: D, frame: Frame) -> None:
    """IMP-11.3: all have passed."""
    d.end()


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    """IMP-11.3, IMP-11.6, IMP-11.8: the seat does nothing more in this window."""
    for_combat = move.for_combat is True
    require(not for_combat or frame.kind == "round_window", "invalid_choice", "IMP-11.6", cause="round")
    until = COMBAT_END if for_combat else move.until
    if until and not (for_combat and "round" in d.state.auto[seat]):
        _set(d, seat, [kind_of(frame)], until)
    d.mark_answered(seat)


def do_set_auto_pass(d: D, frame: Frame, seat: Seat, move: SetAutoPass) -> None:
    """IMP-11.8: private; answers a window of this kind waiting for the seat."""
    _set(d, seat, move.windows, move.until)
    if move.until != "off" and kind_of(frame) in move.windows and seat in frame.owing:
        d.mark_answered(seat)


def _set(d: D, seat: Seat, windows: Sequence[str], until: str) -> None:
    d.add(AutoPassSet(seat, windows, until), (seat,))
