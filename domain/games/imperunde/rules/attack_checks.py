"""IMP-8.1.1: the checks of attacks and reinforcements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from domain.games.common.checks import require
from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import COUNTRIES, FIGHTERS, is_army, is_warship
from domain.games.imperunde.moves import Attack, Way
from domain.games.imperunde.rules.checks import need_items, need_path
from domain.games.imperunde.rules.movement import Group, check_link, check_step, moves_needed, need_units, take
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Lots
from domain.types import Seat

RULE = "IMP-8.1.1"


def need_target(s: ImpeRunde, seat: Seat, target: str) -> None:
    """IMP-8.1.1.3: the region can be attacked by this seat."""
    if target in COUNTRIES:
        owner = s.country(target).owner
        require(not s.is_home(target) or owner == seat, "target_is_home_country", RULE, country=target)
        require(owner != seat, "own_territory", RULE, country=target)
        require(owner is None or s.at_war(seat, owner), "not_at_war", RULE, seat=owner)
    else:
        require(s.hostile(target, seat), "nothing_to_attack", RULE, zone=target)
        require(not s.friendly(target, seat), "friendly_warships_present", RULE, zone=target)


def need_fit(unit: str, target: str) -> None:
    """IMP-8.1.1.2: a country needs armies, a zone needs warships."""
    fits, cause = (is_army(unit), "country") if target in COUNTRIES else (is_warship(unit), "zone")
    require(fits, "wrong_unit_for_target", RULE, cause=cause, unit=unit)


def check_groups(s: ImpeRunde, seat: Seat, target: str, groups: Sequence[Way], present: int = 0) -> None:
    """IMP-8.1.1.1, IMP-8.1.1.2: the checks of the groups without their paths."""
    require(all(g.path[-1] == target for g in groups), "malformed_move", RULE, at="/groups")
    need_path([target, *(region for g in groups for region in g.path)], RULE)
    need_items(groups, RULE)
    count = sum(g.count for g in groups) + present
    require(count <= FIGHTERS, "too_many_units", RULE, units=count, highest=FIGHTERS)
    for g in groups:
        need_fit(g.unit, target)


def check_attack_path(s: ImpeRunde, seat: Seat, unit: str, path: Sequence[str]) -> None:
    """IMP-8.1.1.4: ordinary moves up to the staging region, and the last step."""
    for a, b in pairwise(path[:-1]):
        check_step(s, seat, unit, a, b)
    check_link(s, seat, unit, path[-2], path[-1], RULE)


def check_paths(s: ImpeRunde, seat: Seat, target: str, groups: Sequence[Way]) -> list[Group]:
    """IMP-8.1.1.4: group by group; demands on the same lots add up."""
    taken: dict[str, Lots] = {}
    found = []
    for g in groups:
        start, path = g.path[0], tuple(g.path)
        have = unit_stacks.change(s.lots_in(seat, start), taken.get(start, ()), -1)
        need_units(have, [g], RULE)
        check_attack_path(s, seat, g.unit, path)
        group = Group(take(have, [g], partial(moves_needed, s, path), RULE), path)
        taken[start] = unit_stacks.change(taken.get(start, ()), group.lots)
        found.append(group)
    return found


def check_attack(s: ImpeRunde, seat: Seat, move: Attack) -> list[Group]:
    """IMP-8.1.1: the errors of `attack`, in this order; return the moving groups."""
    target, groups = move.target, move.groups
    check_groups(s, seat, target, groups)
    need_target(s, seat, target)
    return check_paths(s, seat, target, groups)
