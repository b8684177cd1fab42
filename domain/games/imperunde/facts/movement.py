"""Units in motion, and losses on the way (IMP-6.6, IMP-6.7, IMP-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from domain.games.imperunde import state_updates, unit_stacks
from domain.games.imperunde.facts.shared import Gone, Lost
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat

S = ImpeRunde


class PartStarted(Fact[S], frozen=True):
    """IMP-6.6.2: a seat's units get their moves: armies on land by kind, all units at sea alike."""

    seat: Seat
    land: Mapping[str, int]
    sea: Count

    def evolve(self, s: S) -> S:
        def march(x: Lot) -> Lot:
            return x.with_moves(0 if x.pinned else self.land[x.unit])

        def sail(x: Lot) -> Lot:
            return x.with_moves(0 if x.pinned else self.sea)

        return assign(state_updates.replace_lots(s, self.seat, march, sail), active=self.seat)


class PartEnded(Fact[S], frozen=True):
    """IMP-6.6.3, IMP-10.7: a seat has moved; its units have no moves left."""

    seat: Seat

    def evolve(self, s: S) -> S:
        return assign(state_updates.replace_lots(s, self.seat, Lot.without_moves, Lot.without_moves), active=None)


class PinsRemoved(Fact[S], frozen=True):
    """IMP-6.6.5: captured ships may move again."""

    def evolve(self, s: S) -> S:
        def free(x: Lot) -> Lot:
            return Lot(x.unit, x.count, x.moves_left) if x.pinned else x

        zones = s.zones.copy()
        for k, z in s.zones.items():
            if any(x.pinned for ships in z.fleets.values() for x in ships):
                zones[k] = assign(z, fleets={p: unit_stacks.replace_each(ships, free) for p, ships in z.fleets.items()})
        return assign(s, zones=zones)


class UnitsMoved(Gone, frozen=True):
    """IMP-7.2: one step of units moving together."""


class ArmiesEmbarked(Gone, frozen=True):
    """IMP-6.7.2: armies are aboard transports."""


class UnitsLost(Lost, frozen=True):
    """IMP-7.7, IMP-8.2.6, IMP-9.4, IMP-10.4: units are removed."""

    cause: Literal["storm", "combat", "epidemic", "sabotage", "treason"]


class TransportsSunk(Lost, frozen=True):
    """IMP-6.5.1, IMP-6.6.4: transports without escort are lost with the armies aboard."""


class CountryFreed(Fact[S], frozen=True):
    """IMP-3.4, IMP-8.6.3: a colony, `was` a seat's, is a free country."""

    country: str
    was: Seat

    def evolve(self, s: S) -> S:
        return state_updates.country(s, self.country, owner=None, units=(), forts=0, posts=0, fresh_posts=0)


class WindRisen(Fact[S], frozen=True):
    """IMP-10.7: a seat's ships in a zone get moves by a fair wind."""

    seat: Seat
    zone: str
    moves: Count

    def evolve(self, s: S) -> S:
        fleet = s.zone(self.zone).fleet(self.seat)
        again = unit_stacks.replace_each(fleet, lambda x: x.with_moves(0 if x.pinned else self.moves))
        return assign(state_updates.fleet(s, self.zone, self.seat, again), active=self.seat)


FACTS = declared_classes(__name__, Fact)
