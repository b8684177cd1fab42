"""EGC-3: the set-up. Home territories come from the data; everything else is drawn, in this order."""

from __future__ import annotations

from domain.games.egc import frames
from domain.games.egc.data import (
    DIPLOMACY,
    ECONOMY,
    HOMES,
    INFRASTRUCTURES,
    METROPOLIS,
    NEUTRAL,
    SEATS,
    TERRITORIES,
    VICTORY,
    WITH_PORT,
    Territory,
)
from domain.games.egc.facts.base import Troops
from domain.games.egc.facts.opening import CountsDrawn, GameSetUp, NeutralsDealt, Ranks, TieOrderDrawn
from domain.games.egc.rules.seats import vacate
from domain.games.egc.state import ACTIVE, D, Egc, Empire, Land, Sheet, Spied, Terms, at_peace
from domain.kernel.records.audience import TABLE
from domain.kernel.rules.meta import Table
from domain.types import Seat


def _home_levels(seat: Seat) -> dict[str, int]:
    """EGC-3.3."""
    levels = METROPOLIS["with_port" if WITH_PORT[seat] else "without_port"]
    return {name: level for name, level in levels.items() if level and name != "port"}


def home_revenue(seat: Seat) -> int:
    """EGC-3.5: the revenue remembered at the start."""
    revenue: int = ECONOMY["national_multiplier"] * TERRITORIES[HOMES[seat]].value
    return revenue


def blank(table: Table) -> Egc:
    """Return the state before the set-up: homes are owned, all are at peace (EGC-3.3, EGC-3.4)."""
    lands = {t.id: Land(t.home_of, port=t.home_of is not None and WITH_PORT[t.home_of]) for t in TERRITORIES.values()}
    n = table.seats
    return Egc(
        n,
        terms=Terms(**{name: table.options[name] for name in ("turn_zero_timeout", "allow_vacant_seats")}),
        status=(ACTIVE,) * n,
        vp=(0,) * n,
        lands=lands,
        relations=at_peace(),
        empires=tuple(Empire(revenue=home_revenue(seat)) for seat in SEATS),
        armies=tuple({} for _ in SEATS),
        sheets=(Sheet(),) * n,
        spied=(Spied(),) * n,
        reports=tuple({} for _ in SEATS),
        levels={HOMES[seat]: _home_levels(seat) for seat in SEATS},
    )


def setup(d: D) -> None:
    """EGC-3.1: count turns, tie order, neutral territories; then turn zero."""
    counts = [d.draws.roll("count", lo, hi, TABLE) for lo, hi in VICTORY["count_windows"]]
    d.add(CountsDrawn(counts), TABLE)
    d.add(TieOrderDrawn(d.draws.shuffle("tie_order", list(SEATS), TABLE)), TABLE)
    ports = _deal_neutrals(d)
    d.add(GameSetUp(ports))
    for seat in d.state.vacant:
        vacate(d, seat)
    d.ask(frames.ZERO[d.state.terms.turn_zero_timeout](), *d.state.active())


def _deal_neutrals(d: D) -> list[str]:
    """EGC-3.1.3, EGC-3.2: deal; return the territories with a port, seen by everybody."""
    garrisons: dict[str, Troops] = {}
    ranks: dict[str, Ranks] = {}
    levels: dict[str, dict[str, int]] = {}
    ports: list[str] = []
    for territory in TERRITORIES.values():
        if territory.home_of is not None:
            continue
        garrison, rank, found = draw_neutral(d, territory)
        garrisons[territory.id], ranks[territory.id] = garrison, rank
        if found.pop("port", 0):
            ports.append(territory.id)
        if found:
            levels[territory.id] = found
    d.add(NeutralsDealt(garrisons, ranks, levels), TABLE)
    return ports


def draw_neutral(d: D, territory: Territory) -> tuple[Troops, Ranks, dict[str, int]]:
    """Return the army of a neutral territory, its battle ranks, and the infrastructure."""

    def roll(label: str, name: str) -> int:
        lo, hi = NEUTRAL[name]
        return d.draws.roll(label, lo, hi, TABLE)

    army = territory.supply, roll("neutral_morale", "morale"), roll("neutral_training", "training")
    naval = roll("neutral_naval", "naval_rank") if territory.seas else None
    levels = {name: _level(d, name) for name, i in INFRASTRUCTURES.items() if territory.seas or not i.coastal}
    siege = roll("neutral_siege", "siege_rank") if levels["fortification"] else None
    return army, (naval, siege), {name: level for name, level in levels.items() if level}


def _level(d: D, name: str) -> int:
    """Draw a level: one chance in ten for each further one."""
    level = 0
    while level < INFRASTRUCTURES[name].top:
        if d.draws.roll("neutral_infra", 1, 100, TABLE) > NEUTRAL["infrastructure_chance_percent"]:
            break
        level += 1
    return level


def starting_points(income: int) -> int:
    """EGC-4.4: diplomacy points at the start of turn 1."""
    points: int = DIPLOMACY["start_points"] + income
    return points
