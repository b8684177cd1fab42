"""EGC-8.1 to EGC-8.3: sea access, sea control, straits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from domain.games.egc.data import SEAS, SEATS, TERRITORIES
from domain.games.egc.state import Egc
from domain.types import Seat

Counts = Mapping[str, int]
"""Sea -> number of ports."""


def ports_of(s: Egc, seat: Seat) -> Sequence[str]:
    """EGC-8.1: territories with a port, owned or protected by the empire."""
    return s.holdings.ports[seat]


def ports_by_sea(ports: Iterable[str]) -> dict[str, int]:
    """Return sea -> number of these ports on it."""
    counts: dict[str, int] = {}
    for port in ports:
        for sea in TERRITORIES[port].seas:
            counts[sea] = counts.get(sea, 0) + 1
    return counts


def own_access(s: Egc, seat: Seat, ports: Iterable[str] | None = None) -> set[str]:
    """EGC-8.1: seas with a port of the empire; by its own ports unless others are given."""
    return {sea for port in (ports_of(s, seat) if ports is None else ports) for sea in TERRITORIES[port].seas}


def accessible(s: Egc, seat: Seat, ports: Iterable[str] | None = None) -> set[str]:
    """EGC-8.1: the own access, and that of empires with ports open to this one; not passed on."""
    found = own_access(s, seat, ports)
    for by in s.openers(seat):
        found |= own_access(s, by)
    return found


def controlled(s: Egc, seat: Seat, ports: Iterable[str] | None = None) -> list[str]:
    """EGC-8.2: seas with the empire's level above that of each of its enemies in war, ascending."""
    mine = ports_by_sea(ports_of(s, seat) if ports is None else ports)
    if not mine:
        return []
    weight = 11 - s.rank(seat, "naval")
    enemies = [x for x in SEATS if x != seat and s.hostile(seat, x)]
    rivals = [(11 - s.rank(x, "naval"), ports_by_sea(ports_of(s, x))) for x in enemies]
    return [
        sea for sea in SEAS if sea in mine and all(mine[sea] * weight > w * theirs.get(sea, 0) for w, theirs in rivals)
    ]


def strait_closed(s: Egc, strait: str, seat: Seat) -> bool:
    """EGC-8.3: whether its owner has closed the strait to the empire."""
    return bool(strait) and f"{strait}:{seat}" in s.closed


def common_seas(territory: str, other: str) -> list[str]:
    """Return the seas adjacent to both territories."""
    return [sea for sea in TERRITORIES[territory].seas if sea in TERRITORIES[other].seas]
