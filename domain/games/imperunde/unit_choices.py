"""The move builder's questions for units: lots, paths, attacks, embarkation. Products are never listed."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from domain.games.common.checks import is_legal
from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import COUNTRIES, FIGHTERS
from domain.games.imperunde.moves import Attack, ChooseUnits, Embark, MoveUnits, Reinforce, Want, Way
from domain.games.imperunde.rules import embarkation, routes
from domain.games.imperunde.rules.movement import check_path, left_behind, moves_after
from domain.games.imperunde.rules.sides import side_units
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Lot, Lots
from domain.kernel.rules.choices import Builder, Choice, Option, one, span
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import memo
from domain.types import Json, Seat

T = TypeVar("T")

Asks: TypeAlias = Generator[Choice, Json, T]
"""Questions for a part of a move."""

# --- units ---------------------------------------------------------------------------------------------------


def _kind(lot: Lot) -> Json:
    return {"unit": lot.unit, "moves_left": lot.moves_left}


def _merged(units: Lots) -> Lots:
    """Return the lots as a command can name them: pinned ones and those without moves are the same."""
    return unit_stacks.change((), (Lot(x.unit, x.count, x.moves_left) for x in units))


def _to_want(lot: Lot) -> Want:
    return Want(lot.unit, lot.count, lot.moves_left)


def pick_lots(units: Lots, lo: int, hi: int) -> Asks[list[Want]]:
    """Ask for lots in order, each with a number, `lo` to `hi` units in all; `null` ends the list."""
    chosen: list[Want] = []
    left, count = list(_merged(units)), 0
    while left and count < hi:
        rest = [x for i, x in enumerate(left) if count + sum(y.count for y in left[i:]) >= lo]
        lot = yield one("units", [*([Option(None, ends=True)] if count >= lo else []), *map(_kind, rest)])
        if lot is None:
            break
        at = next(i for i, x in enumerate(left) if _kind(x) == lot)
        after = sum(x.count for x in left[at + 1 :])
        number = yield span("count", max(1, lo - count - after), min(left[at].count, hi - count))
        chosen.append(_to_want(left[at].with_count(number)))
        left, count = left[at + 1 :], count + number
    return chosen


# --- movement ------------------------------------------------------------------------------------------------


def can_move(s: ImpeRunde, seat: Seat) -> bool:
    """Return whether some unit of the seat can make a step (IMP-7.2)."""
    return bool(_movers(s, seat))


def _movers(s: ImpeRunde, seat: Seat) -> dict[str, Lots]:
    """Return region -> lots able to leave it."""

    def find() -> dict[str, Lots]:
        out: dict[str, Lots] = {}
        for region, lot in routes.movable(s, seat):
            if destinations(s, seat, (lot,), (region,)):
                out[region] = (*out.get(region, ()), lot)
        return out

    return memo(s, f"movers {seat}", find)


def destinations(s: ImpeRunde, seat: Seat, units: Lots, path: tuple[str, ...], left: str = "") -> list[str]:
    """Return the regions in reach of all the units; a path can end in them, or go on from them."""
    able = [b for b in _next_steps(s, seat, units, path[-1]) if b != left]
    return [
        b for b in able if _can_end(s, seat, units, (*path, b)) or destinations_after(s, seat, units, path, b, left)
    ]


def destinations_after(s: ImpeRunde, seat: Seat, units: Lots, path: tuple[str, ...], b: str, left: str) -> list[str]:
    """Return the destinations from b, after the step to it."""
    return destinations(s, seat, _arrived(s, units, path[-1], b), (*path, b), left)


def _next_steps(s: ImpeRunde, seat: Seat, units: Lots, region: str) -> list[str]:
    if any(x.moves_left < 1 for x in units):
        return []
    reach = [set(routes.steps(s, seat, x.unit, region)) for x in units]
    return sorted(set.intersection(*reach))


def _arrived(s: ImpeRunde, units: Lots, a: str, b: str) -> Lots:
    return tuple(x.with_moves(moves_after(s, x, a, b)) for x in units)


def _can_end(s: ImpeRunde, seat: Seat, units: Lots, path: tuple[str, ...]) -> bool:
    return is_legal(check_path, s, seat, [x.unit for x in units], path[-2:])


def build_move(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    """Ask for lots from one region, one after the other, then for the path step by step (IMP-7.2)."""
    movers = _movers(s, seat)
    start = yield one("from", movers)
    units: list[Lot] = []
    left = list(movers[start])
    while left:
        able = [x for x in left if destinations(s, seat, (*units, x), (start,), _emptied(s, start, (*units, x)))]
        if not able:
            break
        lot = yield one("units", [*([Option(None, ends=True)] if units else []), *map(_kind, able)])
        if lot is None:
            break
        at = next(i for i, x in enumerate(left) if _kind(x) == lot)
        units.append(left[at].with_count((yield span("count", 1, left[at].count))))
        left = left[at + 1 :]
    path = yield from _path(s, seat, tuple(units), start)
    return MoveUnits([_to_want(x) for x in units], path)


def _emptied(s: ImpeRunde, start: str, units: Lots) -> str:
    return left_behind(s, start, unit_stacks.total(units))


def _path(s: ImpeRunde, seat: Seat, units: Lots, start: str) -> Asks[tuple[str, ...]]:
    """Ask for region after region; `null` ends the path where it can end."""
    path: tuple[str, ...] = (start,)
    left = _emptied(s, start, units)
    while able := destinations(s, seat, units, path, left):
        stop = len(path) > 1 and _can_end(s, seat, units, path)
        region = yield one("path", [*([Option(None, ends=True)] if stop else []), *able])
        if region is None:
            break
        units, path = _arrived(s, units, path[-1], region), (*path, region)
    return path


# --- combat --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Offer:
    """A lot, and a path for its units into a combat."""

    lot: Lot
    path: tuple[str, ...]

    @property
    def source(self) -> tuple[str, str, int]:
        """The source of its units; offers of one lot share them."""
        return self.path[0], self.lot.unit, self.lot.moves_left

    def to_json(self) -> Json:
        """Return the offer in the form of an option."""
        return {"unit": self.lot.unit, "moves_left": self.lot.moves_left, "path": list(self.path)}

    def one(self) -> Way:
        """Return one unit of it."""
        return Way(self.lot.unit, 1, self.lot.moves_left, path=self.path)


def attack_options(s: ImpeRunde, seat: Seat) -> dict[str, list[Offer]]:
    """Return target -> lots with their paths."""

    def find() -> dict[str, list[Offer]]:
        out: dict[str, list[Offer]] = {}
        for start, lot in routes.movable(s, seat):
            for target, paths in routes.attacks(s, seat, lot, start).items():
                if routes.attackable(s, seat, target):
                    out.setdefault(target, []).extend(Offer(lot, path) for path in paths)
        return dict(sorted(out.items()))

    return memo(s, f"attacks {seat}", find)


def pick_groups(ways: list[Offer], least: int, most: int) -> Asks[list[Way]]:
    """Ask for units one by one, each with its path, in the order of the options; `null` ends the list."""
    groups: list[Way] = []
    used: dict[tuple[str, str, int], int] = {}
    while len(groups) < most:
        shown = [w.to_json() for w in ways if used.get(w.source, 0) < w.lot.count]
        if not shown:
            break
        pick = yield one("groups", [*([Option(None, ends=True)] if len(groups) >= least else []), *shown])
        if pick is None:
            break
        at = next(i for i, w in enumerate(ways) if w.to_json() == pick)
        used[ways[at].source] = used.get(ways[at].source, 0) + 1
        groups.append(ways[at].one())
        ways = ways[at:]
    return groups


def can_attack(s: ImpeRunde, seat: Seat) -> bool:
    """Return whether some unit of the seat can come into a combat (IMP-8.1.1)."""
    return bool(attack_options(s, seat))


def build_attack(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    """Ask for the target, then unit by unit with its path (IMP-8.1.1)."""
    options = attack_options(s, seat)
    target = yield one("target", options)
    return Attack(target, (yield from pick_groups(options[target], 1, FIGHTERS)))


def build_reinforce(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    """Ask unit by unit with its path; none declines (IMP-8.3.1)."""
    ways = [Offer(x, p) for start, x, paths in routes.reinforcement_paths(s, seat, s.fight.region) for p in paths]
    most = FIGHTERS - unit_stacks.total(side_units(s, "attacker"))
    return Reinforce((yield from pick_groups(ways, 0, most)))


def build_choose_units(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    """Ask for three units, lot by lot (IMP-8.2.1)."""
    return ChooseUnits(
        (yield from pick_lots(side_units(s, frame.context(frames.ChooseUnits).side), FIGHTERS, FIGHTERS))
    )


# --- embarkation ---------------------------------------------------------------------------------------------


def ports(s: ImpeRunde, seat: Seat) -> dict[str, list[str]]:
    """Return country with armies -> zones open for their embarkation."""

    def find() -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for country in [s.nations[seat].home, *s.colonies(seat)]:
            if s.country(country).units:
                zones = COUNTRIES[country].coasts
                able = [z for z in zones if is_legal(embarkation.need_embarkation_zone, s, seat, country, z)]
                out |= {country: able} if able else {}
        return out

    return memo(s, f"ports {seat}", find)


def build_embark(s: ImpeRunde, frame: Frame, seat: Seat) -> Builder:
    """Ask for country and zone, then lot by lot (IMP-6.7.1)."""
    able = ports(s, seat)
    country = yield one("from", able)
    zone = yield one("zone", able[country])
    return Embark(country, zone, (yield from pick_lots(s.country(country).units, 1, 999)))
