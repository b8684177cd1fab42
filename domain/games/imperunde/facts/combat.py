"""Combats, from the attack to the outcome (IMP-8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import field

from domain.games.imperunde import state_updates, unit_stacks
from domain.games.imperunde.state import Combat, ImpeRunde, Party, Side, Staged
from domain.games.imperunde.unit_stacks import Lot, Told
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Fact, Maybe, Part, declared_classes
from domain.types import Seat

S = ImpeRunde

Outcome = Literal["won", "held", "called_off", "lost_in_storm"]
"""Ended by dice; by an armistice; before it began."""


class Column(Told, frozen=True, kw_only=True):
    """Attacking units, and their path."""

    path: Sequence[str]


class Waiting(Part, frozen=True):
    """A committed lot next to the target; `start` is the first region of its path."""

    region: str
    start: str
    lot: Told


class AttackDeclared(Fact[S], frozen=True):
    """IMP-8.1.2: a seat attacks a region."""

    seat: Seat
    target: str
    units: Sequence[Column]


class CombatStarted(Fact[S], frozen=True):
    """IMP-8.1.2, IMP-8.6.4, IMP-10.6: a combat; `horde` are natives or insurgents, `enemies` are fought afterwards."""

    region: str
    attacker: Party
    defender: Party
    supported: Maybe[bool] = UNSET
    staged: Maybe[Sequence[Waiting]] = UNSET
    horde: Maybe[int] = UNSET
    enemies: Maybe[Sequence[Party]] = UNSET

    def evolve(self, s: S) -> S:
        combat = Combat(
            self.region,
            self.attacker,
            self.defender,
            self.supported or False,
            tuple(Staged(x.region, x.start, *unit_stacks.from_facts((x.lot,))) for x in self.staged or ()),
            horde=self.horde or 0,
            enemies=tuple(self.enemies or ()),
        )
        return assign(s, combat=combat)


class AttackersEntered(Fact[S], frozen=True):
    """IMP-8.1.2: the last step has been made."""

    def evolve(self, s: S) -> S:
        return state_updates.combat(s, staged=())


class NextEnemy(Fact[S], frozen=True):
    """IMP-8.1.5: the next enemy party of a zone is fought; `enemies` come after it."""

    defender: Party
    enemies: Sequence[Party]

    def evolve(self, s: S) -> S:
        return state_updates.combat(s, defender=self.defender, enemies=tuple(self.enemies), round=0, lost=False)


class AttackCalledOff(Fact[S], frozen=True):
    """IMP-8.1.3: an armistice has stopped the attack."""

    region: str

    def evolve(self, s: S) -> S:
        return state_updates.combat(s, called_off=True)


class UnitsChosen(Fact[S], frozen=True):
    """IMP-8.2.1: the fighters of a side in this round."""

    seat: Seat
    side: Side
    units: Sequence[Told]

    def evolve(self, s: S) -> S:
        return state_updates.combat(s, chosen={**s.fight.chosen, self.side: unit_stacks.from_facts(self.units)})


class RoundFought(Fact[S], frozen=True):
    """IMP-8.2.3 to IMP-8.2.6: unit and value of each die, sorted; `horde` is the rest of natives or insurgents."""

    region: str
    round: int
    attacker: Sequence[tuple[str, int]]
    defender: Sequence[tuple[str, int]]
    attacker_lost: Maybe[bool] = UNSET
    horde: Maybe[int] = UNSET

    def evolve(self, s: S) -> S:
        lost = s.fight.lost or self.attacker_lost or False
        horde = s.fight.horde if self.horde is UNSET else self.horde
        return state_updates.combat(s, round=self.round, lost=lost, horde=horde, chosen={})


class ShipCaptured(Fact[S], frozen=True):
    """IMP-8.4.1, IMP-9.4.18: a ship changes its owner, and is pinned."""

    zone: str
    from_: Party = field(name="from")
    by: Party
    ship: Told

    def evolve(self, s: S) -> S:
        unit = self.ship.unit
        if isinstance(self.from_, int):
            s = state_updates.units(s, self.from_, self.zone, unit_stacks.from_facts((self.ship,)), -1)
        else:
            s = state_updates.pirates(s, self.zone, {unit: 1}, -1)
        if isinstance(self.by, int):
            return state_updates.units(s, self.by, self.zone, (Lot(unit, 1, 0, pinned=True),))
        return state_updates.pirates(s, self.zone, {unit: 1})


class Reinforced(Fact[S], frozen=True):
    """IMP-8.3.1: units come into the combat; none: the seat has declined."""

    seat: Seat
    region: str
    units: Sequence[Told]


class PiratesLost(Fact[S], frozen=True):
    """IMP-8.2.6, IMP-10.5: black ships are removed."""

    zone: str
    units: Mapping[str, int]
    cause: Literal["combat", "storm"]

    def evolve(self, s: S) -> S:
        return state_updates.pirates(s, self.zone, self.units, -1)


class CountryConquered(Fact[S], frozen=True):
    """IMP-8.6.1: a seat's units in the combat take a country, free or foreign; `posts` is the new number."""

    country: str
    seat: Seat
    from_: Seat | None = field(name="from")
    posts: int

    def evolve(self, s: S) -> S:
        units = s.fight.units
        entered = state_updates.combat(s, units=())
        return state_updates.country(
            entered, self.country, owner=self.seat, units=units, forts=0, posts=self.posts, fresh_posts=0
        )


class CombatEnded(Fact[S], frozen=True):
    """IMP-8.6: the combat is over, and with it the standing passes for it."""

    region: str
    attacker: Party
    defender: Party
    outcome: Outcome

    def evolve(self, s: S) -> S:
        return assign(state_updates.expire(s, "combat_end"), combat=None)


FACTS = declared_classes(__name__, Fact)
