"""What must hold after every record, and how what a viewer cannot know is dealt anew."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.egc.data import (
    DIPLOMACY,
    EMPIRES,
    INFRASTRUCTURES,
    MAX_ARMIES,
    SEATS,
    TECHNOLOGIES,
    TERRITORIES,
    army_id,
    number_of,
)
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.state import ELIMINATED, PAIR_KEYS, Egc, empire_of


def check(s: Egc) -> list[str]:
    """Broken invariants, in words; none in a sound state."""
    return [*_lands(s), *_armies(s), *_presence(s), *_seats(s), *_relations(s), *_sheets(s)]


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
                yield f"{territory}: {name} {level}"


def _armies(s: Egc) -> Iterator[str]:
    for seat in SEATS:
        if len(s.armies[seat]) > MAX_ARMIES:
            yield f"{EMPIRES[seat]}: {len(s.armies[seat])} armies"
        for army, a in s.armies[seat].items():
            if a.divisions < 1 or not 1 <= a.morale <= 9 or not 1 <= a.training <= 10:
                yield f"{army}: {a}"
            if not s.over and s.lands[a.territory].owner != seat:
                yield f"{army}: in {a.territory}, which is not its empire's"
            if army != army_id(seat, number_of(army)) or number_of(army) >= s.sheets[seat].next_army:
                yield f"{army}: not an army of {EMPIRES[seat]}"
    for territory, g in s.garrisons.items():
        if s.lands[territory].owner is not None or g.divisions < 1:
            yield f"{territory}: {g}"


def _presence(s: Egc) -> Iterator[str]:
    """EGC-6.1: what is shown of the armies is true."""
    there = {a.territory: empire_of(seat) for seat in SEATS for a in s.armies[seat].values()}
    there |= dict.fromkeys(s.garrisons, empire_of(None))
    if there != s.manned:
        yield f"armies are shown where there are none, or not where there are some: {there.items() ^ s.manned.items()}"


def _seats(s: Egc) -> Iterator[str]:
    for seat in SEATS:
        e = s.empires[seat]
        if e.treasury < 0 or not 0 <= e.diplomacy <= DIPLOMACY["max_points"]:
            yield f"{EMPIRES[seat]}: treasury {e.treasury}, points {e.diplomacy}"
        if s.status[seat] == ELIMINATED and (s.owned(seat) or s.armies[seat] or s.sheets[seat].orders):
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


def _sheets(s: Egc) -> Iterator[str]:
    """EGC-7.0.3: every sheet is legal as it stands."""
    for seat in SEATS if s.turn and not s.over else ():
        if s.sheets[seat].orders:
            c = copy_of(s, seat)
            if c.faults or c.funds < 0 or c.points < 0:
                yield f"{EMPIRES[seat]}: {sorted(c.faults)} are illegal, {c.funds} Brz, {c.points} points"
