"""Small assignments to the state, shared by facts."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.common.counts import add_count
from domain.games.common.seats import replace_at
from domain.games.seven_empires.state import NONE, Seven
from domain.kernel.rules.flow import assign
from domain.types import Seat

S = Seven


def empire(s: S, name: str, **change: object) -> S:
    """Change fields of one empire."""
    return assign(s, empires={**s.empires, name: assign(s.empires[name], **change)})


def markers(s: S, name: str, action: str, slot: str) -> S:
    """Move a marker to a slot."""
    return empire(s, name, markers={**s.empires[name].markers, action: slot})


def turn(s: S, **change: object) -> S:
    """Change fields of the turn record."""
    return assign(s, turn=assign(s.current, **change))


def movement(s: S, **change: object) -> S:
    """Change fields of the movement."""
    return assign(s, movement=assign(s.moving, **change))


def card(s: S, seat: Seat, *cards: str) -> S:
    """Add cards to a hand."""
    return assign(s, hands=replace_at(s.hands, seat, (*s.hands[seat], *cards)))


def unit(s: S, name: str, kind: str, region: str, by: int = 1) -> S:
    """Add (or take away) units in a region."""
    here = s.units.get(region, {})
    there = {**here, name: add_count(here.get(name, NONE), kind, by)}
    if not there[name]:
        del there[name]
    units = {**s.units, region: there}
    if not there:
        del units[region]
    return assign(s, units=units)


def moved_out(s: S, kind: str, region: str) -> S:
    """SE7-0.12: one movable unit fewer in a region."""
    able = dict(s.moving.able)
    left = add_count(able.pop(region), kind, -1)
    return movement(s, able={**able, region: left} if left else able)


def flag(s: S, region: str, name: str) -> S:
    """Place a flag in a region, in place of any other."""
    return assign(s, flags={**s.flags, region: name})


def monarchs(s: S, found: Mapping[str, Seat | None]) -> S:
    """Give every monarch tile to a seat, or to none."""
    return assign(s, empires={name: assign(s.empires[name], monarch=seat) for name, seat in found.items()})
