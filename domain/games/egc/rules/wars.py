"""EGC-14.7: casus belli; the lasting ones are derived from present agreements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from domain.games.egc.data import CASUS_BELLI, SEATS
from domain.games.egc.state import PAIR_KEYS, Egc
from domain.types import Seat


def lasting(s: Egc, holder: Seat, against: Seat) -> Iterator[str]:
    """Return the kinds lasting as long as a permission; none in the peace turn of the two."""
    if s.peace_turn.get(PAIR_KEYS[holder, against]) == s.turn:
        return
    if any(by == against and key.endswith(f":{holder}") for key, by in s.closed.items()):
        yield "straits_closed"
    others = (x for x in SEATS if x not in (holder, against))
    if any(f"{against}:{x}" in s.open_ports and s.hostile(holder, x) for x in others):
        yield "ports_opened"


def kinds_held(s: Egc, holder: Seat, against: Seat) -> list[str]:
    """Return all kinds usable in the turn's sheets, in the order of the rules."""
    kept = [k for k in CASUS_BELLI if s.casus_belli.get(f"{holder}:{against}:{k}", 0) >= s.turn]
    return [*lasting(s, holder, against), *kept]


def all_kinds_held(s: Egc) -> dict[tuple[Seat, Seat], list[str]]:
    """Return (holder, other) -> the kinds held, in the order of seats, without pairs that hold none."""
    return {pair: kinds for pair in _pairs_with_reasons(s) if (kinds := kinds_held(s, *pair))}


def _pairs_with_reasons(s: Egc) -> list[tuple[Seat, Seat]]:
    """Return the pairs that may hold a kind: looking at all would take longer than the rest of a board."""
    if s.turn < 1:
        return list(permutations(SEATS, 2))
    pairs = {(int(key.rpartition(":")[2]), by) for key, by in s.closed.items()}
    pairs |= {(int(holder), int(against)) for holder, against, _ in (key.split(":") for key in s.casus_belli)}
    for against, x in (map(int, key.split(":")) for key in s.open_ports):
        pairs |= {(holder, against) for holder in SEATS if holder not in (against, x) and s.hostile(holder, x)}
    return sorted(pair for pair in pairs if len({*pair}) > 1)


def has_casus_belli(s: Egc, holder: Seat, against: Seat) -> bool:
    """EGC-7.12: whether one is valid this turn."""
    return bool(kinds_held(s, holder, against))
