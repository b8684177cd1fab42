"""Reach of a lot: searches of at most three steps, for reinforcements, choices and bots."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.common.checks import is_legal
from domain.games.imperunde.data import COUNTRIES, ZONES, is_army
from domain.games.imperunde.rules.attack_checks import need_target
from domain.games.imperunde.rules.movement import check_link, check_step, moves_after
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.rules.ruleset import memo
from domain.types import Seat

Path = tuple[str, ...]


def links(s: ImpeRunde, seat: Seat, unit: str, region: str) -> list[str]:
    """IMP-7.2: regions a unit can go to from a region, with anybody there."""

    def find() -> list[str]:
        if region in COUNTRIES:
            return sorted(COUNTRIES[region].lands)
        near = [*s.seas(region, seat), *(sorted(ZONES[region].shores) if is_army(unit) else ())]
        return [b for b in near if is_legal(check_link, s, seat, unit, region, b, "")]

    return memo(s, f"links {seat} {is_army(unit)} {region}", find)


def steps(s: ImpeRunde, seat: Seat, unit: str, region: str) -> list[str]:
    """Return the regions a unit can move to from a region (IMP-7.2)."""

    def find() -> list[str]:
        return [b for b in links(s, seat, unit, region) if is_legal(check_step, s, seat, unit, region, b)]

    return memo(s, f"steps {seat} {is_army(unit)} {region}", find)


def walks(s: ImpeRunde, seat: Seat, lot: Lot, start: str) -> Iterator[tuple[Path, Lot]]:
    """Yield every path of the lot, the empty one included, with the lot as it is at the end."""
    stack: list[tuple[Path, Lot]] = [((start,), lot)]
    while stack:
        path, left = stack.pop()
        yield path, left
        if left.moves_left > 0:
            reach = steps(s, seat, lot.unit, path[-1])
            stack += [((*path, b), left.with_moves(moves_after(s, left, path[-1], b))) for b in reach]


def attacks(s: ImpeRunde, seat: Seat, lot: Lot, start: str) -> dict[str, list[Path]]:
    """Return region -> paths of the lot into a combat there; targets are not judged."""

    def find() -> dict[str, list[Path]]:
        by_target: dict[str, list[Path]] = {}
        for path, left in walks(s, seat, lot, start):
            if left.moves_left > 0:
                for b in links(s, seat, lot.unit, path[-1]):
                    if (b in COUNTRIES) == is_army(lot.unit):
                        by_target.setdefault(b, []).append((*path, b))
        return {b: sorted(paths, key=lambda p: (len(p), p)) for b, paths in by_target.items()}

    return memo(s, f"attacks {seat} {lot.unit} {lot.moves_left} {start}", find)


def attackable(s: ImpeRunde, seat: Seat, region: str) -> bool:
    """IMP-8.1.1.3: whether the seat may attack it."""
    return memo(s, f"attackable {seat} {region}", lambda: is_legal(need_target, s, seat, region))


def movable(s: ImpeRunde, seat: Seat) -> list[tuple[str, Lot]]:
    """Return the regions and lots of a seat with moves left."""
    own = [(k, c.units) for k, c in s.countries.items() if c.owner == seat]
    own += [(k, z.fleet(seat)) for k, z in s.zones.items()]
    return [(k, lot) for k, lots in sorted(own) for lot in lots if lot.moves_left]


def reinforcement_paths(s: ImpeRunde, seat: Seat, target: str) -> list[tuple[str, Lot, list[Path]]]:
    """IMP-8.3.2: lots able to come into the combat in a region, with their paths."""

    def find() -> list[tuple[str, Lot, list[Path]]]:
        able = [
            (start, lot)
            for start, lot in movable(s, seat)
            if start != target and is_army(lot.unit) == (target in COUNTRIES)
        ]
        ways = [(start, lot, attacks(s, seat, lot, start).get(target, [])) for start, lot in able]
        return [x for x in ways if x[2]]

    return memo(s, f"comers {seat} {target}", find)
