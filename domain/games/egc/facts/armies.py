"""P1 to P7: sheets carried out, marches and battles, conquest, hunger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from domain.games.common.seats import replace_at
from domain.games.egc.data import SEATS
from domain.games.egc.facts.base import (
    Force,
    Invested,
    News,
    Reported,
    Step,
    Stepped,
    Troops,
    forces,
    garrisons,
    strengths,
)
from domain.games.egc.state import Egc, Investment
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes
from domain.types import Seat

Round: TypeAlias = tuple[int, int, int, int, int, int, Mapping[str, Count]]
"""EGC-9.12: qualities of attacker and defender, protection, encirclement, losses of both, those of supporters."""


class ResolutionStarted(Stepped, frozen=True):
    """EGC-5.1: a turn is resolved; reports and news are cleared."""

    turn: Count

    def evolve(self, s: Egc) -> Egc:
        return assign(s, reports=tuple({} for _ in SEATS), news=())


# --- P2 ------------------------------------------------------------------------------------------------------


class SheetCarriedOut(Reported, frozen=True):
    """EGC-7.0.2: the costs and changes of an empire's sheet; `armies` and `levels` only if different."""

    orders: Count
    spies: Count
    treasury: Count
    diplomacy: Count
    armies: Maybe[Mapping[str, Force | None]] = UNSET
    levels: Maybe[Mapping[str, Mapping[str, Count]]] = UNSET
    links: Maybe[Sequence[str]] = UNSET
    investments: Maybe[Sequence[Invested]] = UNSET

    def evolve(self, s: Egc) -> Egc:
        old = s.empires[self.seat]
        under_way = self.investments
        empire = assign(
            old,
            treasury=self.treasury,
            diplomacy=self.diplomacy,
            links=old.links if self.links is UNSET else tuple(self.links),
            investments=old.investments if under_way is UNSET else tuple(Investment(*i) for i in under_way),
        )
        return assign(
            s,
            empires=replace_at(s.empires, self.seat, empire),
            reports=self.extended_reports(s),
            levels={**s.levels, **self.levels} if self.levels else s.levels,
            armies=forces(s, self.seat, self.armies) if self.armies else s.armies,
        )


class PortsChanged(News, frozen=True):
    """EGC-6.2: territories with a port built or demolished."""

    built: Sequence[str]
    demolished: Sequence[str]

    def change(self, s: Egc) -> Egc:
        lands = dict(s.lands)
        for territory in (*self.built, *self.demolished):
            lands[territory] = assign(lands[territory], port=territory in self.built)
        return assign(s, lands=lands)


# --- P4, P5 --------------------------------------------------------------------------------------------------


class CombatFought(Reported, frozen=True):
    """EGC-9.12: one pair of armies, for each empire in it; pairs stand for attacker and defender."""

    territory: str
    attacker: str
    defender: str
    attacking: str
    defending: str
    before: tuple[Count, Count]
    losses: tuple[Count, Count]
    supporters: Sequence[tuple[str, Count, bool]]
    """Army, divisions left, whether it withdrew."""
    fort: Count
    landing: bool
    significant: bool
    winner: str | None
    winning: str | None
    goes: Sequence[tuple[str, str | None]]
    """The losing army, and the goal of its retreat; null: destroyed."""
    morale: tuple[Count, Count]
    rounds: Sequence[Round]


class ArmyTurnedBack(Reported, frozen=True):
    """EGC-8.7: an army may not fight the armies found at its goal; `to` null: destroyed."""

    army: str
    territory: str
    to: str | None


class ArmiesMarched(Reported, frozen=True):
    """EGC-6.3: a seat's changed armies; null for a lost one."""

    armies: Mapping[str, Force | None]

    def evolve(self, s: Egc) -> Egc:
        return assign(s, armies=forces(s, self.seat, self.armies), reports=self.extended_reports(s))


class NeutralsSet(Stepped, frozen=True):
    """EGC-6.5: changed neutral armies, seen by nobody; null for a lost one."""

    garrisons: Mapping[str, Troops | None]

    def evolve(self, s: Egc) -> Egc:
        return assign(s, garrisons=garrisons(s, self.garrisons))


class BattleFought(News, frozen=True):
    """EGC-6.2: the empires in a battle, and the holder of the place after it."""

    territory: str
    empires: Sequence[str]
    held_by: str | None


class ArmiesDrilled(Reported, frozen=True):
    """EGC-10.1: army -> new training, army -> new morale."""

    trained: Mapping[str, Count]
    rested: Mapping[str, Count]

    def evolve(self, s: Egc) -> Egc:
        armies = dict(s.armies[self.seat])
        for army, training in self.trained.items():
            armies[army] = assign(armies[army], training=training)
        for army, morale in self.rested.items():
            armies[army] = assign(armies[army], morale=morale)
        return assign(s, armies=replace_at(s.armies, self.seat, armies), reports=self.extended_reports(s))


# --- P6, P7 --------------------------------------------------------------------------------------------------


class TerritoryConquered(News, frozen=True):
    """EGC-11.1: a territory has another owner; `loser` null: it was neutral."""

    territory: str
    seat: Seat
    turn: Count
    loser: Seat | None

    def change(self, s: Egc) -> Egc:
        old = s.lands[self.territory]
        land = assign(
            old,
            owner=self.seat,
            conquered_turn=self.turn,
            protectorate=None,
            protections={},
            doubled_turn=self.turn if self.loser is None else old.doubled_turn,
        )
        levels = {k: v for k, v in s.levels.get(self.territory, {}).items() if k != "fortification"}
        return assign(s, lands={**s.lands, self.territory: land}, levels={**s.levels, self.territory: levels})


class LevelsLearnt(Fact[Egc], frozen=True):
    """EGC-6.3: a seat knows the infrastructure of a territory it holds."""

    seat: Seat
    territory: str
    levels: Mapping[str, Count]
    step: Maybe[Step] = UNSET

    def evolve(self, s: Egc) -> Egc:
        return assign(s, levels={**s.levels, self.territory: self.levels})


class SupplyLost(Reported, frozen=True):
    """EGC-11.4: divisions starved in a territory; `left` by army."""

    territory: str
    divisions: Count
    total: Count
    capacity: Count
    left: Mapping[str, Count]

    def evolve(self, s: Egc) -> Egc:
        return assign(s, armies=strengths(s, self.seat, self.left), reports=self.extended_reports(s))


FACTS = declared_classes(__name__, Fact)
