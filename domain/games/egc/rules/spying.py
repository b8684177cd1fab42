"""EGC-7.11: spies report at once, as of the start of the turn."""

from __future__ import annotations

from domain.errors import RuleError
from domain.games.egc.data import EMPIRES, INFRASTRUCTURES, SEAT, TERRITORIES
from domain.games.egc.facts.sheets import EmpireReport, EmpireSpied, TerritoryReport, TerritorySpied
from domain.games.egc.moves import SpyEmpire, SpyTerritory
from domain.games.egc.rules.projection import Copy, known_empire, known_territory, need, need_other
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.rules.supply import capacity
from domain.games.egc.state import D, Egc, numbered
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

RULE = "EGC-7.11"


def territory_price(c: Copy) -> int:
    """Return the cost of spying on a territory."""
    return c.by_rank("spy_territory_cost", "exploration")


def empire_price(c: Copy) -> int:
    """Return the cost of spying on an empire."""
    return c.by_rank("spy_empire_cost", "exploration")


def _pay(d: D, seat: Seat, price: int) -> int:
    c = copy_of(d.state, seat)
    if c.funds < price:
        raise RuleError("insufficient_funds", "EGC-7.0.5", {"missing": price - c.funds})
    return d.state.sheets[seat].spent + price


def spy_territory(d: D, frame: Frame, seat: Seat, move: SpyTerritory) -> None:
    """EGC-7.11: a foreign or a neutral territory."""
    territory = move.territory
    known_territory(territory)
    c = copy_of(d.state, seat)
    need(not c.owns(territory), "own_territory", RULE)
    spent = _pay(d, seat, territory_price(c))
    d.add(TerritorySpied(seat, territory, spent, territory_report(d.state, territory)), (seat,))
    d.barrier()


def territory_report(s: Egc, territory: str) -> TerritoryReport:
    """Return levels, neutral ranks, supply and every army."""
    levels = {name: s.level(territory, name) for name in INFRASTRUCTURES}
    owner = s.lands[territory].owner
    if owner is not None:
        there = [(i, a) for i, a in numbered(s.armies[owner]) if a.territory == territory]
        armies = [(i, a.divisions, a.morale, a.training) for i, a in there]
        return TerritoryReport(s.turn, levels, capacity(s, territory), armies)
    ranks, g = s.neutral_ranks.get(territory), s.garrisons.get(territory)
    return TerritoryReport(
        s.turn,
        levels,
        TERRITORIES[territory].supply,
        [(f"N-{territory}", g.divisions, g.morale, g.training)] if g else [],
        ranks.naval if ranks else UNSET,
        ranks.siege if ranks else UNSET,
    )


def spy_empire(d: D, frame: Frame, seat: Seat, move: SpyEmpire) -> None:
    """EGC-7.11: treasury, revenue, points, ranks and strength of another empire."""
    known_empire(move.empire)
    other, c = SEAT[move.empire], copy_of(d.state, seat)
    need_other(c, other, RULE)
    spent = _pay(d, seat, empire_price(c))
    d.add(EmpireSpied(seat, EMPIRES[other], spent, empire_report(d.state, other)), (seat,))
    d.barrier()


def empire_report(s: Egc, seat: Seat) -> EmpireReport:
    """Return the report as of the start of the turn: sheets are not in it."""
    e, armies = s.empires[seat], s.armies[seat].values()
    return EmpireReport(
        s.turn,
        treasury=e.treasury,
        revenue=e.revenue,
        diplomacy=e.diplomacy,
        ranks=e.ranks,
        armies=len(armies),
        divisions=sum(a.divisions for a in armies),
    )
