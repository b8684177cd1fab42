"""Facts of cities, palaces and units outside movement (SE7-2.11, SE7-4.6, SE7-5, SE7-6, SE7-9.1, SE7-10.2)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.seven_empires import state_updates
from domain.games.seven_empires.data import Unit
from domain.games.seven_empires.state import Seven
from domain.games.seven_empires.value_objects import Placed, Removed
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat


def _placed(s: Seven, empire: str, units: Sequence[Placed]) -> Seven:
    for placed in units:
        s = state_updates.unit(s, empire, placed.unit, placed.region, placed.number)
    return s


class StartingUnitsPlaced(Fact[Seven], frozen=True):
    """SE7-2.11: the first units of an empire."""

    empire: str
    units: Sequence[Placed]

    def evolve(self, s: Seven) -> Seven:
        return _placed(s, self.empire, self.units)


class CompensationDeployed(Fact[Seven], frozen=True):
    """SE7-4.6: a delegating seat deploys a unit of an empire of its choice."""

    seat: Seat
    empire: str
    region: str
    unit: Unit

    def evolve(self, s: Seven) -> Seven:
        return state_updates.unit(s, self.empire, self.unit, self.region)


class CityBuilt(Fact[Seven], frozen=True):
    """SE7-5.1: a city has reached a level."""

    empire: str
    region: str
    level: Count

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, levels={**s.levels, self.region: self.level})


class UnitsDeployed(Fact[Seven], frozen=True):
    """SE7-5.2, SE7-9.1: units from the supply are placed in own cities."""

    empire: str
    units: Sequence[Placed]

    def evolve(self, s: Seven) -> Seven:
        return _placed(s, self.empire, self.units)


class PalaceBuilt(Fact[Seven], frozen=True):
    """SE7-6.1: a palace shows its new number of crowns."""

    empire: str
    region: str
    crowns: Count

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, palaces={**s.palaces, self.region: self.crowns})


class UnitsReduced(Fact[Seven], frozen=True):
    """SE7-10.2: a seat removes the excess units of a region."""

    seat: Seat
    empire: str
    region: str
    units: Sequence[Removed]

    def evolve(self, s: Seven) -> Seven:
        for removed in self.units:
            s = state_updates.unit(s, self.empire, removed.unit, self.region, -removed.number)
        return s


class EventUnitPlaced(Fact[Seven], frozen=True):
    """SE7-11.2: a monarch places the unit of a tile."""

    seat: Seat
    empire: str
    unit: Unit
    region: str

    def evolve(self, s: Seven) -> Seven:
        return state_updates.unit(s, self.empire, self.unit, self.region)


FACTS = declared_classes(__name__, Fact)
