"""IMP-8.1.2, IMP-8.1.3: the approach of an attack's units to the combat, and their return from a cancelled attack."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import COUNTRIES, ZONES, is_warship
from domain.games.imperunde.facts.movement import UnitsMoved
from domain.games.imperunde.rules.movement import Group, free_if_empty, march, moves_after, weather
from domain.games.imperunde.state import D, Staged
from domain.games.imperunde.unit_stacks import Lots
from domain.types import Seat


def approach(d: D, seat: Seat, groups: Sequence[Group]) -> list[Staged]:
    """IMP-8.1.2.1: group by group; a country emptied by it is free when the last group is in place."""
    staged = []
    for g in groups:
        arrived = march(d, seat, g, len(g.path) - 2)
        staged += [Staged(g.path[-2], g.path[0], lot) for lot in arrived]
    for start in dict.fromkeys(g.path[0] for g in groups if len(g.path) > 2):
        if start in COUNTRIES:
            free_if_empty(d, start)
    return staged


def charge(d: D, seat: Seat, target: str, staged: Sequence[Staged]) -> Lots:
    """IMP-8.1.2.3: the last step, all units together, with the rolls of a stormy zone; return the arrivals."""
    come: Lots = ()
    regions = dict.fromkeys(x.region for x in staged)
    for region in regions:
        going = unit_stacks.change((), [x.lot for x in staged if x.region == region])
        left = [moves_after(d.state, x, region, target) for x in going]
        _enter(d, seat, going, region, target, left)
        come = unit_stacks.change(come, (x.with_moves(n) for x, n in zip(going, left, strict=True)))
    if target in ZONES:
        come = weather(d, seat, target, come)
    for region in regions:
        if region in COUNTRIES:
            free_if_empty(d, region)
    return come


def _enter(d: D, seat: Seat, going: Lots, region: str, target: str, left: list[int]) -> None:
    d.add(UnitsMoved(seat, region, target, unit_stacks.to_facts(going), left))


def call_off(d: D, seat: Seat, staged: Sequence[Staged]) -> None:
    """IMP-8.1.3: the units stay; warships among friends go back to the start of their path."""
    for x in staged:
        if is_warship(x.lot.unit) and x.region != x.start and d.state.friendly(x.region, seat):
            step_back(d, seat, x)


def step_back(d: D, seat: Seat, x: Staged) -> None:
    """IMP-8.1.3: with 0 moves."""
    d.add(UnitsMoved(seat, x.region, x.start, unit_stacks.to_facts((x.lot,)), (0,)))
