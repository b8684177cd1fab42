"""Set-up and turn zero (EGC-3, EGC-4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from domain.games.common.seats import replace_at
from domain.games.egc.facts.base import Force, Troops, forces
from domain.games.egc.state import NEUTRAL, Egc, Garrison, NeutralRanks
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Count, Fact, declared_classes
from domain.types import Seat

Ranks: TypeAlias = tuple[int | None, int | None]
"""Naval and siege rank of a neutral army; null: the worst."""


class CountsDrawn(Fact[Egc], frozen=True):
    """EGC-3.1: the turns of the victory counts, known to nobody."""

    turns: Sequence[Count]

    def evolve(self, s: Egc) -> Egc:
        return assign(s, count_turns=tuple(self.turns))


class TieOrderDrawn(Fact[Egc], frozen=True):
    """EGC-3.1: the lot to break ties, known to nobody."""

    seats: Sequence[Seat]

    def evolve(self, s: Egc) -> Egc:
        return assign(s, tie_order=tuple(self.seats))


class NeutralsDealt(Fact[Egc], frozen=True):
    """EGC-3.1, EGC-3.2: neutral armies with their ranks, and the infrastructure hidden from others."""

    garrisons: Mapping[str, Troops]
    ranks: Mapping[str, Ranks]
    levels: Mapping[str, Mapping[str, Count]]

    def evolve(self, s: Egc) -> Egc:
        garrisons = {t: Garrison(*troops) for t, troops in self.garrisons.items()}
        ranks = {t: NeutralRanks(*pair) for t, pair in self.ranks.items()}
        return assign(s, garrisons=garrisons, neutral_ranks=ranks, levels={**s.levels, **self.levels})


class GameSetUp(Fact[Egc], frozen=True):
    """EGC-3.1: the neutral territories with a port."""

    ports: Sequence[str]

    def evolve(self, s: Egc) -> Egc:
        lands = dict(s.lands)
        for territory in self.ports:
            lands[territory] = assign(lands[territory], port=True)
        return assign(s, lands=lands, manned={t: NEUTRAL for t, land in lands.items() if land.owner is None})


class AllocationFiled(Fact[Egc], frozen=True):
    """EGC-7.1: a seat's points of turn zero."""

    seat: Seat
    points: Mapping[str, Count]

    def evolve(self, s: Egc) -> Egc:
        sheet = assign(s.sheets[self.seat], allocation=self.points)
        return assign(s, sheets=replace_at(s.sheets, self.seat, sheet))


class EmpireFounded(Fact[Egc], frozen=True):
    """EGC-4.4: the start of an empire; `next_army` is the number of the next army."""

    seat: Seat
    points: Mapping[str, Count]
    ranks: Mapping[str, Count]
    treasury: Count
    diplomacy: Count
    armies: Mapping[str, Force]
    next_army: Count

    def evolve(self, s: Egc) -> Egc:
        seat = self.seat
        empire = assign(
            s.empires[seat],
            treasury=self.treasury,
            diplomacy=self.diplomacy,
            points=self.points,
            ranks=self.ranks,
        )
        sheet = assign(s.sheets[seat], next_army=self.next_army, allocation={})
        return assign(
            s,
            empires=replace_at(s.empires, seat, empire),
            armies=forces(s, seat, self.armies),
            sheets=replace_at(s.sheets, seat, sheet),
        )


FACTS = declared_classes(__name__, Fact)
