"""EGC-7.10: orders of armies: paths, destinations, support."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from domain.errors import RuleError
from domain.games.egc.data import COASTS, ROUND, SEA_LINKS, TERRITORIES
from domain.games.egc.moves import OrderArmy
from domain.games.egc.rules.projection import Copy, known_army, known_territory, need, own_army
from domain.games.egc.rules.seas import common_seas, strait_closed
from domain.games.egc.state import HOSTILE, Egc, Filed
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

RULE = "EGC-7.10.1"


def order_army(c: Copy, move: OrderArmy, filed: Filed) -> None:
    """EGC-7.10."""
    army = move.army
    known_army(c, army)
    if move.territory is not UNSET:
        known_territory(move.territory)
    own_army(c, army)
    if move.path is not UNSET:
        check_move(c, army, move.path, round_of(move))
    elif move.territory is not UNSET:
        check_support(c, army, move.territory)
    c.orders[army] = move


def round_of(move: OrderArmy) -> int:
    """EGC-7.10.1: the round of an army's activation."""
    return ROUND if move.round is UNSET else move.round


def check_move(c: Copy, army: str, path: Sequence[str], chosen: int) -> None:
    """EGC-7.10.1, EGC-7.10.2, in their order; a naval move counts against limit and expeditions."""
    check_form(c.armies[army].territory, path)
    check_round(c, chosen)
    if all(node in TERRITORIES for node in path):
        check_land(c, path)
    else:
        check_naval(c, path)
    if len(path) == 2 or path[1] in COASTS:
        check_target(c.s, c.seat, path[-1])


def check_form(start: str, path: Sequence[str]) -> None:
    """Do the first two checks of EGC-7.10.1."""
    known = all(node in TERRITORIES or node in COASTS for node in path)
    fits = len(path) >= 2 and known and path[0] == start and len(set(path)) == len(path)
    need(fits, "bad_path", RULE)
    need(path[-1] in TERRITORIES, "must_end_on_land", RULE)


def window(c: Copy) -> int:
    """Return the allowed shift of an army's activation, in rounds earlier or later."""
    return c.by_rank("activation_half_width", "logistics")


def check_round(c: Copy, chosen: int) -> None:
    """EGC-7.10.1: the activation round."""
    width = window(c)
    need(ROUND - width <= chosen <= ROUND + width, "activation_round", RULE, lo=ROUND - width, hi=ROUND + width)


def check_land(c: Copy, path: Sequence[str]) -> None:
    """EGC-7.10.1 (a) and (b): by land, or by rail through own territories."""
    for here, there in itertools.pairwise(path):
        need(there in TERRITORIES[here].neighbours, "not_adjacent", RULE, territory=there)
    if len(path) == 2:
        return
    for node in path:
        need(c.owns(node), "not_controlled", RULE, territory=node)
        need(c.level(node, "railway") > 0, "no_railway", RULE, territory=node)


def check_naval(c: Copy, path: Sequence[str]) -> None:
    """EGC-7.10.1 (c): from sea to sea; an expedition for each inaccessible one, but never the first."""
    start, *seas, goal = path
    need(all(sea in COASTS for sea in seas), "bad_path", RULE)
    need(start in COASTS[seas[0]], "not_adjacent", RULE, sea=seas[0])
    need(seas[0] in c.seas, "sea_not_accessible", RULE, sea=seas[0])
    for here, there in itertools.pairwise(seas):
        need(there in SEA_LINKS[here], "not_adjacent", RULE, sea=there)
        need(not strait_closed(c.s, SEA_LINKS[here][there], c.seat), "strait_closed", RULE, sea=there)
    c.explored += sum(sea not in c.seas for sea in seas[1:])
    c.sailed += 1
    need(goal in COASTS[seas[-1]], "not_adjacent", RULE, territory=goal)
    need(c.explored <= c.expeditions, "no_expedition", RULE, used=c.explored, funded=c.expeditions)
    limit = c.by_rank("naval_moves", "naval")
    need(c.sailed <= limit, "naval_move_limit", RULE, limit=limit)


def check_target(s: Egc, seat: Seat, territory: str) -> None:
    """EGC-7.10.2: own and neutral territories always; those of enemies in war, a metropolis in total war."""
    owner = s.lands[territory].owner
    if owner is None or owner == seat:
        return
    relation = s.relation(seat, owner)
    need(relation in HOSTILE, "not_at_war", "EGC-7.10.2")
    need(relation == "total_war" or not s.metropolis(territory), "metropolis_immune", "EGC-7.10.2")


def may_enter(s: Egc, seat: Seat, territory: str) -> bool:
    """Return whether a move may end there (EGC-7.10.2)."""
    try:
        check_target(s, seat, territory)
    except RuleError:
        return False
    return True


def check_support(c: Copy, army: str, territory: str) -> None:
    """EGC-7.10.3."""
    need(not c.owns(territory), "own_territory", "EGC-7.10.3")
    check_target(c.s, c.seat, territory)
    need(in_range(c, c.armies[army].territory, territory), "support_out_of_range", "EGC-7.10.3")


def in_range(c: Copy, here: str, territory: str) -> bool:
    """EGC-7.10.3: a neighbour by land, or over a common sea controlled by the empire."""
    if territory in TERRITORIES[here].neighbours:
        return True
    return any(sea in c.controls for sea in common_seas(here, territory))
