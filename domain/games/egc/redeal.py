"""Deal anew the parts unknown to some viewers: for forks, for fresh entropy, and for the proof against leaks."""

from __future__ import annotations

from domain.games.egc.data import EMPIRES, INFRASTRUCTURES, SEATS, TECHNOLOGIES, TERRITORIES, VICTORY
from domain.games.egc.facts.armies import LevelsLearnt
from domain.games.egc.facts.base import Force, Troops
from domain.games.egc.facts.opening import CountsDrawn, EmpireFounded, NeutralsDealt, Ranks, TieOrderDrawn
from domain.games.egc.facts.sheets import OrderCancelled
from domain.games.egc.rules.setup import draw_neutral
from domain.games.egc.state import ELIMINATED, D, numbered
from domain.kernel.records.audience import TABLE
from domain.types import DIRECTOR, Seat, Viewer

SECRET = tuple(name for name in INFRASTRUCTURES if name != "port")
"""Infrastructure hidden from others."""


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """Deal anew untouched neutral armies, coming counts, the lot, and the private parts of other seats."""
    if DIRECTOR in keep or d.state.over:
        return
    kept = [int(v) for v in keep if isinstance(v, int)]
    _neutrals(d, kept)
    _counts(d)
    others = [seat for seat in SEATS if seat not in kept and d.state.status[seat] != ELIMINATED]
    others = [seat for seat in others if not _spied_out(d, kept, seat)]
    for seat in others:
        _lands(d, kept, seat)
    ranks = _ranks(d, kept, others)
    for seat in others:
        _empire(d, kept, seat, ranks[seat])


def _spied_territories(d: D, kept: list[Seat]) -> set[str]:
    """Return the territories spied out this turn by one of the viewers."""
    s = d.state
    return {t for k in kept for t, found in s.spied[k].territories.items() if found["turn"] == s.turn}


def _spied_out(d: D, kept: list[Seat], seat: Seat) -> bool:
    """Return whether one of the viewers has spied out the empire this turn."""
    reports = (d.state.spied[k].empires.get(EMPIRES[seat], {}) for k in kept)
    return any(found.get("turn") == d.state.turn for found in reports)


def _neutrals(d: D, kept: list[Seat]) -> None:
    s = d.state
    known = {t for k in kept for t in s.spied[k].territories}
    garrisons: dict[str, Troops] = {t: (g.divisions, g.morale, g.training) for t, g in s.garrisons.items()}
    ranks: dict[str, Ranks] = {t: (r.naval, r.siege) for t, r in s.neutral_ranks.items()}
    levels: dict[str, dict[str, int]] = {}
    for territory in TERRITORIES.values():
        t, land = territory.id, s.lands[territory.id]
        fresh = t in garrisons and garrisons[t][0] == territory.supply
        if fresh and t not in known and land.protectorate is None:
            garrisons[t], ranks[t], found = draw_neutral(d, territory)
            found.pop("port", None)
            levels[t] = found
    d.add(NeutralsDealt(garrisons, ranks, levels), TABLE)


def _counts(d: D) -> None:
    s = d.state
    done = len(s.counts)
    windows = VICTORY["count_windows"][done:]
    coming = [d.draws.roll("count", max(lo, s.turn), hi, TABLE) for lo, hi in windows]
    d.add(CountsDrawn([*s.count_turns[:done], *coming]), TABLE)
    d.add(TieOrderDrawn(d.draws.shuffle("tie_order", list(SEATS), TABLE)), TABLE)


def _lands(d: D, kept: list[Seat], seat: Seat) -> None:
    seen = _spied_territories(d, kept)
    for t in d.state.owned(seat):
        if t not in seen:
            rolled = {name: d.draws.roll("level", 0, INFRASTRUCTURES[name].top, TABLE) for name in SECRET}
            levels = {name: level for name, level in rolled.items() if level}
            d.add(LevelsLearnt(seat, t, levels), (seat,))


def _ranks(d: D, kept: list[Seat], others: list[Seat]) -> dict[Seat, dict[str, int]]:
    """Shuffle ranks among the others; enemies of a viewer keep naval ranks, as sea control shows them (EGC-8.2)."""
    s = d.state
    ranks = {seat: dict(s.empires[seat].ranks) for seat in others}
    for technology in TECHNOLOGIES if s.turn else ():
        free = [x for x in others if technology != "naval" or not any(s.hostile(x, k) for k in kept)]
        dealt = d.draws.shuffle(f"ranks {technology}", [ranks[x][technology] for x in free], TABLE)
        for seat, rank in zip(free, dealt, strict=True):
            ranks[seat][technology] = rank
    return ranks


def _empire(d: D, kept: list[Seat], seat: Seat, ranks: dict[str, int]) -> None:
    s = d.state
    for filed in s.sheets[seat].orders:
        d.add(OrderCancelled(seat, filed.n), (seat,))
    seen = _spied_territories(d, kept)
    armies: dict[str, Force] = {}
    for army, a in numbered(s.armies[seat]):
        if a.territory not in seen:
            divisions, morale, training = (d.draws.roll("army", 1, hi, TABLE) for hi in (300, 9, 10))
            armies[army] = a.territory, divisions, morale, training
    fact = EmpireFounded(
        seat,
        points={t: d.draws.roll("points", 0, 9999, TABLE) for t in s.empires[seat].points},
        ranks=ranks,
        treasury=s.sheets[seat].spent + d.draws.roll("treasury", 0, 999_999, TABLE),
        diplomacy=d.draws.roll("diplomacy", 0, 999, TABLE),
        armies=armies,
        next_army=s.sheets[seat].next_army,
    )
    d.add(fact, (seat,))
