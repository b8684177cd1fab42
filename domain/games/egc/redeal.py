"""Deal anew the parts unknown to some viewers: for forks, for fresh entropy, and for the proof against leaks."""

from __future__ import annotations

from collections import Counter

from domain.games.egc.data import (
    EMPIRES,
    INFRASTRUCTURES,
    MAX_ARMIES,
    SEATS,
    TECHNOLOGIES,
    TERRITORIES,
    VICTORY,
    Territory,
    army_id,
    number_of,
)
from domain.games.egc.facts.armies import LevelsLearnt
from domain.games.egc.facts.base import Force, Troops
from domain.games.egc.facts.opening import CountsDrawn, EmpireFounded, NeutralsDealt, Ranks, TieOrderDrawn
from domain.games.egc.facts.sheets import OrderCancelled, SheetOpened
from domain.games.egc.rules.seas import controlled
from domain.games.egc.rules.setup import draw_neutral
from domain.games.egc.state import ELIMINATED, NEUTRAL, D, numbered
from domain.kernel.records.audience import TABLE
from domain.types import DIRECTOR, Doc, Seat, Viewer

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
    partial = [seat for seat in others if d.state.turn and not d.state.empires[seat].ranks]
    if partial:  # a state folded from fewer facts
        _found_empires(d, kept, partial)
        return
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
    neutral = {t for t, holder in s.manned.items() if holder == NEUTRAL}
    garrisons: dict[str, Troops] = {
        t: (g.divisions, g.morale, g.training) for t, g in s.garrisons.items() if t in neutral
    }
    ranks: dict[str, Ranks] = {t: (r.naval, r.siege) for t, r in s.neutral_ranks.items()}
    levels: dict[str, dict[str, int]] = {}
    for territory in TERRITORIES.values():
        t, land = territory.id, s.lands[territory.id]
        fresh = t in garrisons and garrisons[t][0] == territory.supply
        if fresh and t not in known and land.protectorate is None:
            garrisons[t], ranks[t], found = draw_neutral(d, territory)
            found.pop("port", None)
            levels[t] = found
        elif t in neutral and t not in garrisons:
            garrisons[t], ranks[t], found = _neutral(d, kept, territory)
            if land.protectorate is None or land.protectorate.seat not in kept:
                levels[t] = found
    d.add(NeutralsDealt(garrisons, ranks, levels), TABLE)


def _neutral(d: D, kept: list[Seat], territory: Territory) -> tuple[Troops, Ranks, dict[str, int]]:
    """Return a neutral army, its ranks, and infrastructure: as last spied out by a viewer, or drawn."""
    army, ranks, levels = draw_neutral(d, territory)
    levels.pop("port", None)
    reports = [found for k in kept if (found := d.state.spied[k].territories.get(territory.id))]
    if not reports or not (last := max(reports, key=lambda found: found["turn"]))["armies"]:
        return army, ranks, levels
    (_, divisions, morale, training), *_ = last["armies"]
    found = {name: level for name, level in last["levels"].items() if name != "port" and level}
    return (divisions, morale, training), (last.get("naval_rank"), last.get("siege_rank")), found


def _counts(d: D) -> None:
    s = d.state
    done = len(s.counts)
    windows = VICTORY["count_windows"][done:]
    coming = [d.draws.roll("count", max(lo, s.turn), hi, TABLE) for lo, hi in windows]
    past = s.count_turns[:done] or [count.turn for count in s.counts]
    d.add(CountsDrawn([*past, *coming]), TABLE)
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


def _found_empires(d: D, kept: list[Seat], seats: list[Seat]) -> None:
    """Found empires of which the viewers know public facts and spy reports alone."""
    for seat in seats:
        _lands(d, kept, seat)
    for t in sorted(_spied_territories(d, kept)):
        owner = d.state.lands[t].owner
        if owner is not None and owner in seats:
            found = {name: n for name, n in _report(d, kept, t)["levels"].items() if name != "port" and n}
            d.add(LevelsLearnt(owner, t, found), (owner,))
    ranks = _free_ranks(d, kept, seats)
    for seat in seats:
        spied = _find_spied_out(d, kept, seat) or {}
        armies = _armies(d, kept, seat)
        fact = EmpireFounded(
            seat,
            points={t: d.draws.roll("points", 0, 9999, TABLE) for t in TECHNOLOGIES},
            ranks=ranks[seat],
            treasury=spied.get("treasury", d.draws.roll("treasury", 0, 999_999, TABLE)),
            diplomacy=spied.get("diplomacy", d.draws.roll("diplomacy", 0, 999, TABLE)),
            armies=armies,
            next_army=1 + max(map(number_of, armies), default=0),
        )
        d.add(fact, (seat,))
    for seat in seats:
        d.add(SheetOpened(seat, controlled(d.state, seat)), (seat,))


def _report(d: D, kept: list[Seat], territory: str) -> Doc:
    """Return this turn's report of a viewer on a territory."""
    found = (d.state.spied[k].territories.get(territory) for k in kept)
    return next(report for report in found if report and report["turn"] == d.state.turn)


def _find_spied_out(d: D, kept: list[Seat], seat: Seat) -> Doc | None:
    """Return this turn's report of a viewer on an empire, or None."""
    found = (d.state.spied[k].empires.get(EMPIRES[seat]) for k in kept)
    return next((report for report in found if report and report["turn"] == d.state.turn), None)


def _armies(d: D, kept: list[Seat], seat: Seat) -> dict[str, Force]:
    """Return an army in each territory shown with armies of the empire, and those spied out by a viewer this turn."""
    seen, armies, bare = _spied_territories(d, kept), dict[str, Force](), list[str]()
    for t in (t for t, holder in d.state.manned.items() if holder == EMPIRES[seat]):
        if t not in seen:
            bare.append(t)
            continue
        for army, divisions, morale, training in _report(d, kept, t)["armies"]:
            armies[army] = t, divisions, morale, training
    numbers = (n for n in range(1, MAX_ARMIES + len(bare) + 1) if army_id(seat, n) not in armies)
    for t, number in zip(bare, numbers, strict=False):
        divisions, morale, training = (d.draws.roll("army", 1, hi, TABLE) for hi in (300, 9, 10))
        armies[army_id(seat, number)] = t, divisions, morale, training
    return armies


def _free_ranks(d: D, kept: list[Seat], seats: list[Seat]) -> dict[Seat, dict[str, int]]:
    """Return ranks of the seats: those spied out this turn, and the others left over by the viewers' own."""
    s = d.state
    ranks = {seat: dict((_find_spied_out(d, kept, seat) or {}).get("ranks", {})) for seat in seats}
    in_play = s.in_play()
    every = [1 + place * 9 // max(1, len(in_play) - 1) for place in range(len(in_play))]
    for technology in TECHNOLOGIES:
        known = {x: s.empires[x].ranks[technology] for x in in_play if x not in seats}
        known |= {x: ranks[x][technology] for x in seats if technology in ranks[x]}
        left = list((Counter(every) - Counter(known.values())).elements())
        dealt = d.draws.shuffle(f"ranks {technology}", left, TABLE)
        for seat, rank in zip((x for x in seats if x not in known), dealt, strict=False):
            ranks[seat][technology] = rank
    return ranks
