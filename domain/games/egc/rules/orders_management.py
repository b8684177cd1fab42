"""EGC-7.3 to EGC-7.8: the six management orders, each checked and carried out at its place in the sheet."""

from __future__ import annotations

from domain.games.egc.data import ECONOMY, INFRASTRUCTURES, TERRITORIES, number_of
from domain.games.egc.moves import Build, Demolish, Disband, MergeArmies, Recruit, SplitArmy
from domain.games.egc.order import Order
from domain.games.egc.rules.projection import (
    Check,
    Copy,
    known_army,
    known_infrastructure,
    known_territory,
    need,
    need_room,
    on,
    own_army,
)
from domain.games.egc.state import Army, Filed
from domain.kernel.rules.flow import assign


def _site(c: Copy, move: Build | Demolish, rule: str) -> tuple[str, str]:
    known_territory(move.territory)
    known_infrastructure(move.infrastructure)
    need(c.owns(move.territory), "not_owner", rule)
    return move.territory, move.infrastructure


def build(c: Copy, move: Build, filed: Filed) -> None:
    """EGC-7.3: one level more, at once."""
    territory, name = _site(c, move, "EGC-7.3")
    kind = INFRASTRUCTURES[name]
    need(not kind.coastal or bool(TERRITORIES[territory].seas), "not_coastal", "EGC-7.3")
    need((territory, name) not in c.changed, "level_change_limit", "EGC-7.3")
    level = c.level(territory, name)
    need(level < kind.top, "max_level", "EGC-7.3", level=level)
    c.funds -= kind.cost[level]
    c.put_level(territory, name, level + 1)


def demolish(c: Copy, move: Demolish, filed: Filed) -> None:
    """EGC-7.4: one level less, without refund."""
    territory, name = _site(c, move, "EGC-7.4")
    need((territory, name) not in c.changed, "level_change_limit", "EGC-7.4")
    level = c.level(territory, name)
    need(level > 0, "no_infrastructure", "EGC-7.4")
    c.put_level(territory, name, level - 1)


def recruit(c: Copy, move: Recruit, filed: Filed) -> None:
    """EGC-7.5: a new army, within the centre's capacity this turn."""
    known_territory(move.territory)
    territory, divisions = move.territory, move.divisions
    need(divisions >= 1, "bad_amount", "EGC-7.5")
    need(c.owns(territory), "not_owner", "EGC-7.5")
    need(c.level(territory, "recruitment_centre") > 0, "no_recruitment_centre", "EGC-7.5")
    left = c.capacity(territory)
    need(divisions <= left, "recruitment_capacity", "EGC-7.5", left=left)
    need_room(c, "EGC-7.5")
    c.funds -= ECONOMY["division_cost"] * divisions
    c.raised[territory] = c.raised.get(territory, 0) + divisions
    morale = c.by_rank("morale_start", "officer_training")
    training = c.by_rank("training_start", "land_warfare")
    c.armies[filed.army or ""] = Army(territory, divisions, morale, training)


def split_army(c: Copy, move: SplitArmy, filed: Filed) -> None:
    """EGC-7.6: a new army takes some of the divisions."""
    army, divisions = move.army, move.divisions
    known_army(c, army)
    own_army(c, army)
    old = c.armies[army]
    need(1 <= divisions < old.divisions, "bad_amount", "EGC-7.6", divisions=old.divisions)
    need_room(c, "EGC-7.6")
    c.armies[army] = assign(old, divisions=old.divisions - divisions)
    c.armies[filed.army or ""] = assign(old, divisions=divisions)


def merge_armies(c: Copy, move: MergeArmies, filed: Filed) -> None:
    """EGC-7.7: the smallest number survives; morale and training are weighted means."""
    ids = move.armies
    for army in ids:
        known_army(c, army)
    need(len(ids) >= 2 and len(set(ids)) == len(ids), "bad_amount", "EGC-7.7", cause="armies")
    for army in ids:
        own_army(c, army)
    parts = [c.armies[army] for army in ids]
    need(len({a.territory for a in parts}) == 1, "not_same_territory", "EGC-7.7")
    need(not any(c.ordered.get(army, filed.n) < filed.n for army in ids), "army_already_ordered", "EGC-7.7")
    total = sum(a.divisions for a in parts)
    morale = sum(a.divisions * a.morale for a in parts) // total
    training = sum(a.divisions * a.training for a in parts) // total
    for army in ids:
        del c.armies[army]
    c.armies[min(ids, key=number_of)] = Army(parts[0].territory, total, morale, training)


def disband(c: Copy, move: Disband, filed: Filed) -> None:
    """EGC-7.8: divisions go home."""
    army, divisions = move.army, move.divisions
    known_army(c, army)
    own_army(c, army)
    old = c.armies[army]
    need(1 <= divisions <= old.divisions, "bad_amount", "EGC-7.8", divisions=old.divisions)
    if divisions < old.divisions:
        c.armies[army] = assign(old, divisions=old.divisions - divisions)
        return
    need(c.ordered.get(army, filed.n) >= filed.n, "army_already_ordered", "EGC-7.8")
    del c.armies[army]


MANAGEMENT: dict[type[Order], Check] = dict(
    (
        on(Build, build),
        on(Demolish, demolish),
        on(Recruit, recruit),
        on(SplitArmy, split_army),
        on(MergeArmies, merge_armies),
        on(Disband, disband),
    )
)
