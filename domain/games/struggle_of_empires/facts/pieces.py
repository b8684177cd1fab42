"""Facts of units (SOE-7.5, SOE-7.6), tokens and markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import field

from domain.games.struggle_of_empires import state_updates
from domain.games.struggle_of_empires.data import Unit
from domain.games.struggle_of_empires.state import Moved, Struggle
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes
from domain.types import Seat

Arrival = Literal["arrives", "lost", "turned_back"]
"""Fate of a unit at sea (SOE-15.4)."""


class UnitPlaced(Fact[Struggle], frozen=True):
    """SOE-3.6, SOE-9.5.5: a unit from the supply."""

    seat: Seat
    unit: Unit
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.unit(s, self.seat, self.unit, self.region, 1)


class UnitBuilt(Fact[Struggle], frozen=True):
    """SOE-7.5.3: a unit is placed `at` a region, or nowhere; `militia` builds are left (SOE-7.5.4)."""

    seat: Seat
    unit: Unit
    to: str
    result: Arrival
    dice: Maybe[Sequence[int]] = UNSET
    at: Maybe[str] = UNSET
    militia: Maybe[Count] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        if self.militia is not UNSET:
            s = state_updates.turn(s, militia_left=self.militia)
        return s if self.at is UNSET else state_updates.unit(s, self.seat, self.unit, self.at, 1)


class UnitMoved(Fact[Struggle], frozen=True):
    """SOE-7.6.3: a unit moves to `at` a region, or nowhere; `moves` are left in the move action."""

    seat: Seat
    unit: Unit
    from_: str = field(name="from")
    to: str
    result: Arrival
    dice: Maybe[Sequence[int]] = UNSET
    at: Maybe[str] = UNSET
    moves: Maybe[Count] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        s = state_updates.unit(s, self.seat, self.unit, self.from_, -1)
        if self.at is not UNSET:
            s = state_updates.unit(s, self.seat, self.unit, self.at, 1)
        if self.moves is UNSET:
            return s
        rests = () if self.at is UNSET else (Moved(self.unit, self.at),)
        return state_updates.turn(s, moves_left=self.moves, moved=(*s.acting.moved, *rests))


class UnitLost(Fact[Struggle], frozen=True):
    """SOE-8.8.6: a unit is lost in combat, causing unrest."""

    seat: Seat
    unit: Unit
    region: str
    unrest: Count

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.unrest(
            state_updates.unit(s, self.seat, self.unit, self.region, -1), self.seat, self.unrest
        )


class TokenPlaced(Fact[Struggle], frozen=True):
    """SOE-7.8.3, SOE-8.11: a token from the reserve."""

    seat: Seat
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.token(s, self.seat, self.region, 1)


class TokenRemoved(Fact[Struggle], frozen=True):
    """SOE-8.11.2: a token goes back to the reserve of a beaten seat."""

    seat: Seat
    region: str
    by: Seat

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.token(s, self.seat, self.region, -1)


class MarkerRemoved(Fact[Struggle], frozen=True):
    """SOE-7.8.3, SOE-8.11.3: a marker leaves the game."""

    seat: Seat
    marker: str
    region: str

    def evolve(self, s: Struggle) -> Struggle:
        left = tuple(m for m in s.markers[self.region] if m != self.marker)
        return flow.assign(s, markers={**s.markers, self.region: left}, gone=(*s.gone, self.marker))


FACTS = declared_classes(__name__, Fact)
