"""Events, markers and pirates (IMP-10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from domain.games.imperunde import state_updates
from domain.games.imperunde.facts.shared import Struck
from domain.games.imperunde.state import OPEN_SEA, WILD, ImpeRunde
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Fact, declared_classes

S = ImpeRunde


class MarkersRemoved(Fact[S], frozen=True):
    """IMP-10.1: storm, calm and black markers are gone, and the events of the turn before forgotten."""

    def evolve(self, s: S) -> S:
        calm = {k: assign(z, marker=None) if z.marker else z for k, z in s.zones.items()}
        clean = {k: assign(c, famine=False, plundered_by=None) if c.black else c for k, c in s.countries.items()}
        return assign(
            s,
            zones={k: z for k, z in calm.items() if z != OPEN_SEA},
            countries={k: c for k, c in clean.items() if c != WILD},
            struck=(),
        )


class LandEvent(Struck, frozen=True):
    """IMP-10.2: an event in a country."""


class SeaEvent(Struck, frozen=True):
    """IMP-10.3: an event in a zone."""


class FamineMarked(Fact[S], frozen=True):
    """IMP-10.4: a country has a famine until the next phase 8."""

    country: str

    def evolve(self, s: S) -> S:
        return state_updates.country(s, self.country, famine=True)


class WeatherMarked(Fact[S], frozen=True):
    """IMP-10.5: a zone has a marker until the next phase 8."""

    zone: str
    marker: Literal["storm", "calm"]

    def evolve(self, s: S) -> S:
        return state_updates.zone(s, self.zone, marker=self.marker)


class PiratesPlaced(Fact[S], frozen=True):
    """IMP-9.4.4, IMP-10.5: black ships appear."""

    zone: str
    units: Mapping[str, int]

    def evolve(self, s: S) -> S:
        return state_updates.pirates(s, self.zone, self.units)


FACTS = declared_classes(__name__, Fact)
