"""IMP-6.5.1.3, IMP-6.6.4: transports without escort are sunk."""

from __future__ import annotations

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.facts.movement import TransportsSunk
from domain.games.imperunde.state import D, ImpeRunde
from domain.games.imperunde.unit_stacks import Lots
from domain.types import Seat


def unescorted(s: ImpeRunde, zone: str, seat: Seat) -> bool:
    """IMP-6.5.1.3: an enemy party is there, and neither own nor friends' warships."""
    escorts = [x for x in s.seats_at(zone) if not s.at_war(seat, x)]
    return not escorts and s.hostile(zone, seat)


def sink(d: D, zone: str) -> None:
    """IMP-6.5.1.3: all transports of the zone without escort."""
    for seat in _carriers(d.state, zone):
        if unescorted(d.state, zone, seat):
            sunk(d, zone, seat, d.state.zone(zone).transports(seat))


def sink_all(d: D, zone: str) -> None:
    """IMP-10.6: the remaining pirates sink all transports."""
    for seat in _carriers(d.state, zone):
        sunk(d, zone, seat, d.state.zone(zone).transports(seat))


def sink_for_active(d: D, *zones: str) -> None:
    """IMP-6.6.4: enemy transports in zones (all, unless named) under the active seat's control."""
    active = d.state.active
    if active is None:
        return
    for zone in zones or sorted(d.state.zones):
        fleets = d.state.zone(zone).fleets
        if len(fleets) > 1 and str(active) in fleets and d.state.controller(zone) == active:
            for seat in _carriers(d.state, zone):
                if d.state.at_war(active, seat):
                    sunk(d, zone, seat, d.state.zone(zone).transports(seat))


def _carriers(s: ImpeRunde, zone: str) -> list[Seat]:
    fleets = s.zone(zone).fleets
    return [x for x in s.order if str(x) in fleets and s.zone(zone).transports(x)]


def sunk(d: D, zone: str, seat: Seat, transports: Lots) -> None:
    """IMP-6.5.1.3: they are lost with the armies aboard."""
    d.add(TransportsSunk(seat, zone, unit_stacks.to_facts(transports)))
