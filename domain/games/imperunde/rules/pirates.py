"""IMP-10.6: pirates appear and attack."""

from __future__ import annotations

from domain.games.imperunde import frames
from domain.games.imperunde.facts.events import PiratesPlaced
from domain.games.imperunde.rules import combat
from domain.games.imperunde.rules.sinking import sink_all
from domain.games.imperunde.state import D
from domain.kernel.rules.flow import Frame


def appear(d: D, zone: str, frigates: int) -> None:
    """IMP-9.4.4, IMP-10.5: black frigates, as many as are left; then they attack."""
    count = min(frigates, d.state.supply("pirates", "frigate"))
    if count:
        d.add(PiratesPlaced(zone, {"frigate": count}))
    d.ask(frames.Pirates(zone))


def go_pirates(d: D, frame: Frame) -> None:
    """IMP-10.6: against each seat with warships in turn order; surviving pirates sink all transports."""
    zone = frame.context(frames.Pirates).zone
    seats = d.state.seats_at(zone)
    if seats and d.state.zone(zone).pirates:
        return combat.start_at_sea(d, zone, "pirates", seats[0])
    if d.state.zone(zone).pirates:
        sink_all(d, zone)
    return d.end()
