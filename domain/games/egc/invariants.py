"""Invariants of a state, true after every record, and the filling of a scenario's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from domain.games.egc.data import (
    DIPLOMACY,
    EMPIRES,
    INFRASTRUCTURES,
    MAX_ARMIES,
    SEATS,
    TECHNOLOGIES,
    TERRITORIES,
    VICTORY,
    army_id,
    number_of,
)
from domain.games.egc.id_checks import of_counts, of_empires, of_lands, of_relations
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.rules.technology import ranks_of
from domain.games.egc.state import ELIMINATED, PAIR_KEYS, Egc, Empire, empire_of
from domain.kernel.rules.flow import assign
from domain.kernel.rules.ruleset import memo
from domain.types import Seat


def check(s: Egc) -> list[str]:
    """Return the broken invariants, in words. Unknown ids are reported alone, as no other check works with them."""
    return _unknown(s) or [
        *_once(s, _lands, s.lands, s.levels),
        *_once(s, _armies, s.armies, s.garrisons, s.lands, s.over),
        *_once(s, _presence, s.armies, s.garrisons, s.manned),
        *_once(s, _seats, s.empires, s.lands, s.status, s.turn, s.over),
        *_once(s, _relations, s.relations, s.proposals),
        *(broken for seat in SEATS for broken in _sheet(s, seat)),
    ]


def _unknown(s: Egc) -> list[str]:
    return [
        *_once(s, of_lands, s.lands, s.manned, s.levels, s.garrisons, s.neutral_ranks),
        *_once(s, of_empires, s.turn, s.status, s.empires, s.armies),
        *_once(s, of_relations, s.relations, s.peace_turn, s.proposals, s.closed, s.open_ports, s.casus_belli),
        *_once(s, of_counts, s.counts),
    ]


def fill(s: Egc) -> Egc:
    """Derive the rest of a state: territories with armies, ranks from points, numbers and seas of sheets.

    The hidden turns of the counts and the order of ties are the first possible ones.
    """
    manned = {a.territory: empire_of(seat) for seat in SEATS for a in s.armies[seat].values()}
    manned |= dict.fromkeys(s.garrisons, empire_of(None))
    counts = s.count_turns or tuple(first for first, _ in VICTORY["count_windows"])
    s = assign(s, manned=manned, count_turns=counts, tie_order=s.tie_order or tuple(SEATS))
    s = assign(s, empires=_ranked(s) if s.turn else s.empires)
    return assign(s, sheets=tuple(assign(x, next_army=_next(s.armies[i], x.next_army)) for i, x in enumerate(s.sheets)))


def _ranked(s: Egc) -> tuple[Empire, ...]:
    points = [dict.fromkeys(TECHNOLOGIES, 0) | e.points for e in s.empires]
    ranks = ranks_of(points, [e.revenue for e in s.empires], s.tie_order, s.in_play())
    return tuple(assign(e, points=points[i], ranks={**ranks[i], **e.ranks}) for i, e in enumerate(s.empires))


def _next(armies: Iterable[str], number: int) -> int:
    return max([number, *(number_of(army) + 1 for army in armies)])


def _once(s: Egc, part: Callable[[Egc], Iterator[str]], *of: object) -> list[str]:
    return memo(s, f"check {part.__name__}", lambda: list(part(s)), of)


def _lands(s: Egc) -> Iterator[str]:
    for territory, t in TERRITORIES.items():
        land = s.lands[territory]
        if land.owner is not None and (land.protectorate or land.protections):
            yield f"{territory}: owned and protected"
        if land.protectorate and land.protections:
            yield f"{territory}: a protectorate with protections"
        if land.port and not t.seas:
            yield f"{territory}: a port inland"
        for name, level in s.levels.get(territory, {}).items():
            if name == "port" or not 0 < level <= INFRASTRUCTURES[name].top:
                yield f"/levels/{territory}/{name}: {level} is no level of it"


def _armies(s: Egc) -> Iterator[str]:
    for seat in SEATS:
        if len(s.armies[seat]) > MAX_ARMIES:
            yield f"{EMPIRES[seat]}: {len(s.armies[seat])} armies"
        for army, a in s.armies[seat].items():
            if a.divisions < 1 or not 1 <= a.morale <= 9 or not 1 <= a.training <= 10:
                yield f"{army}: {a}"
            if not s.over and s.lands[a.territory].owner != seat:
                yield f"{army}: in {a.territory}, which is not its empire's"
            if army != army_id(seat, number_of(army)):
                yield f"{army}: not an army of {EMPIRES[seat]}"
    for territory, g in s.garrisons.items():
        if s.lands[territory].owner is not None or g.divisions < 1:
            yield f"{territory}: {g}"


def _presence(s: Egc) -> Iterator[str]:
    """EGC-6.1: the public presence of armies is true."""
    there = {a.territory: empire_of(seat) for seat in SEATS for a in s.armies[seat].values()}
    there |= dict.fromkeys(s.garrisons, empire_of(None))
    if there != s.manned:
        yield f"armies are shown where there are none, or not where there are some: {there.items() ^ s.manned.items()}"


def _seats(s: Egc) -> Iterator[str]:
    for seat in SEATS:
        e = s.empires[seat]
        if e.treasury < 0 or not 0 <= e.diplomacy <= DIPLOMACY["max_points"]:
            yield f"{EMPIRES[seat]}: treasury {e.treasury}, points {e.diplomacy}"
        if s.status[seat] == ELIMINATED and s.owned(seat):
            yield f"{EMPIRES[seat]}: eliminated, and there"
        if s.turn and not s.over and s.status[seat] != ELIMINATED and not s.owned(seat):
            yield f"{EMPIRES[seat]}: owns nothing"
    for technology in TECHNOLOGIES if s.turn else ():
        ranks = [s.empires[seat].ranks[technology] for seat in s.in_play()]
        if len(set(ranks)) != len(ranks) or any(not 1 <= r <= len(SEATS) for r in ranks):
            yield f"{technology}: ranks {ranks}"


def _relations(s: Egc) -> Iterator[str]:
    if sorted(s.relations) != sorted(set(PAIR_KEYS.values())):
        yield "relations: some pairs are missing"
    for proposal in s.proposals.values():
        if s.relation(proposal.sender, proposal.target) == "alliance":
            yield f"{proposal}: between allies"


def _sheet(s: Egc, seat: Seat) -> list[str]:
    """EGC-7.0.3, EGC-7.0.8: every sheet is legal, and numbers of armies are not reused."""
    of = (s.over, s.sheets[seat], *s.unsheeted)
    return memo(s, f"check sheet {seat}", lambda: list(_sheet_faults(s, seat)), of)


def _sheet_faults(s: Egc, seat: Seat) -> Iterator[str]:
    sheet, armies = s.sheets[seat], s.armies[seat]
    if any(number_of(army) >= sheet.next_army for army in armies):
        yield f"{EMPIRES[seat]}: the number {sheet.next_army} is used already"
    if s.status[seat] == ELIMINATED and (armies or sheet.orders):
        yield f"{EMPIRES[seat]}: eliminated, with armies or orders"
    if s.turn and not s.over and sheet.orders:
        c = copy_of(s, seat)
        if c.faults or c.funds < 0 or c.points < 0:
            yield f"{EMPIRES[seat]}: {sorted(c.faults)} are illegal, {c.funds} Brz, {c.points} points"
