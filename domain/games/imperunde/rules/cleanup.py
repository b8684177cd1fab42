"""IMP-6.5: clean-up of sea zones."""

from __future__ import annotations

from domain.games.imperunde import frames
from domain.games.imperunde.data import ZONES
from domain.games.imperunde.rules import combat
from domain.games.imperunde.rules.sinking import sink
from domain.games.imperunde.state import D, ImpeRunde, Party
from domain.kernel.rules.flow import Frame
from domain.types import Seat

_WHEEL = tuple(ZONES)


def start(d: D) -> None:
    """IMP-6.5.1: the zones one by one, in the order of the sea wheel."""
    d.ask(frames.Cleanup(0))


def go_cleanup(d: D, frame: Frame) -> None:
    """IMP-6.5.1: the next combat; without one, the phase is over."""
    for at in range(frame.context(frames.Cleanup).at, len(_WHEEL)):
        zone = _WHEEL[at]
        if zone not in d.state.zones:
            continue
        if pair := next_pair(d.state, zone):
            d.note(at=at)
            return combat.start_at_sea(d, zone, *pair)
        sink(d, zone)
    return d.end()


def next_pair(s: ImpeRunde, zone: str) -> tuple[Seat, Party] | None:
    """IMP-6.5.1.1, IMP-6.5.1.2: the next two parties to fight in a zone; pirates are always last."""
    seats = s.seats_at(zone)
    for i, seat in enumerate(seats):
        for other in seats[i + 1 :]:
            if s.at_war(seat, other):
                return seat, other
    return (seats[0], "pirates") if seats and s.zone(zone).pirates else None
