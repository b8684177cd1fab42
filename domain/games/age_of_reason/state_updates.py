"""Small assignments to the state, shared by facts."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.age_of_reason.state import AgeOfReason
from domain.games.common.counts import add_count
from domain.games.common.seats import replace_at
from domain.kernel.rules.flow import assign
from domain.types import Seat

S = AgeOfReason


def empire(s: S, seat: Seat, **change: object) -> S:
    """Change fields of one seat's empire."""
    return assign(s, empires=replace_at(s.empires, seat, assign(s.empires[seat], **change)))


def turn(s: S, **change: object) -> S:
    """Change fields of the turn record."""
    return assign(s, turn=assign(s.acting, **change))


def battle(s: S, **change: object) -> S:
    """Change fields of the battle."""
    return assign(s, battle=assign(s.fight, **change))


def token(s: S, power: str, region: str, by: int) -> S:
    """Add (or take away) a token of a power in a region."""
    return assign(s, tokens={**s.tokens, power: add_count(s.tokens.get(power, {}), region, by)})


def left_bag(s: S, markers: Sequence[str]) -> tuple[str, ...]:
    """Return the bag without some markers."""
    return tuple(marker for marker in s.bag if marker not in markers)


def marker_gone(s: S, marker: str, region: str) -> S:
    """Remove a marker from the map and the game."""
    left = tuple(m for m in s.markers[region] if m != marker)
    markers = {**s.markers, region: left}
    if not left:
        del markers[region]
    return assign(s, markers=markers, gone=(*s.gone, marker))
