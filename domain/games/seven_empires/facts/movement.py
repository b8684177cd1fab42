"""Facts of movement, fights and flags (SE7-8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import field

from domain.games.seven_empires import state_updates
from domain.games.seven_empires.data import Unit
from domain.games.seven_empires.state import Seven
from domain.games.seven_empires.value_objects import Step
from domain.kernel.schema.declarations import UNSET, Fact, Maybe, declared_classes
from domain.types import Seat

Outcome = Literal["both_fall", "attacker_stands", "counter_fight"]
"""Outcome of a fight; in a counter-fight both fall."""


class ShipMoved(Fact[Seven], frozen=True):
    """SE7-8.2: a ship has crossed to the last sea of its path."""

    empire: str
    unit: Unit
    from_: str = field(name="from")
    path: Sequence[str]
    to: str

    def evolve(self, s: Seven) -> Seven:
        s = state_updates.moved_out(
            state_updates.unit(s, self.empire, self.unit, self.from_, -1), self.unit, self.from_
        )
        return state_updates.unit(s, self.empire, self.unit, self.to)


class FleetsDone(Fact[Seven], frozen=True):
    """SE7-8.1: armies move from now on, and ships no more."""

    empire: str

    def evolve(self, s: Seven) -> Seven:
        return state_updates.movement(s, armies=True)


class ArmyMoved(Fact[Seven], frozen=True):
    """SE7-8.5: an army has come to the region of its last step; `used` are the seas with a two-master's transport."""

    empire: str
    unit: Unit
    from_: str = field(name="from")
    steps: Sequence[Step]
    to: str
    used: Maybe[Sequence[str]] = UNSET

    def evolve(self, s: Seven) -> Seven:
        s = state_updates.moved_out(
            state_updates.unit(s, self.empire, self.unit, self.from_, -1), self.unit, self.from_
        )
        s = state_updates.unit(s, self.empire, self.unit, self.to)
        return s if self.used is UNSET else state_updates.movement(s, used=(*s.moving.used, *self.used))


class PassageAsked(Fact[Seven], frozen=True):
    """SE7-8.7: the monarch of the empire with an army in a region is asked to let another pass."""

    seat: Seat
    blocking: str
    empire: str
    unit: Unit
    through: str
    to: str


class PassageGranted(Fact[Seven], frozen=True):
    """SE7-8.7: a monarch lets an army pass."""

    seat: Seat
    empire: str
    through: str


class PassageRefused(Fact[Seven], frozen=True):
    """SE7-8.7: a monarch does not let an army pass; it stays where it was."""

    seat: Seat
    empire: str
    through: str

    def evolve(self, s: Seven) -> Seven:
        return state_updates.movement(s, refused=(*s.moving.refused, self.through))


class Fought(Fact[Seven], frozen=True):
    """SE7-8.4, SE7-8.10, SE7-8.11: two units have fought; the target falls, and mostly the attacker too."""

    region: str
    empire: str
    unit: Unit
    against: str
    target: Unit
    outcome: Outcome

    def evolve(self, s: Seven) -> Seven:
        s = state_updates.unit(s, self.against, self.target, self.region, -1)
        return (
            s if self.outcome == "attacker_stands" else state_updates.unit(s, self.empire, self.unit, self.region, -1)
        )


class FlagPlaced(Fact[Seven], frozen=True):
    """SE7-8.15: a flag of an empire is placed in a region; the flag of `replaced` goes back."""

    empire: str
    region: str
    replaced: Maybe[str] = UNSET

    def evolve(self, s: Seven) -> Seven:
        return state_updates.flag(s, self.region, self.empire)


FACTS = declared_classes(__name__, Fact)
