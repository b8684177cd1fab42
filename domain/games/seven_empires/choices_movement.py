"""Move builder for movements: the start, the unit, then step by step."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from domain.games.common.checks import is_legal
from domain.games.seven_empires.data import ARMIES, BORDERS, CITIES, DATA_ORDER, LAND, SEA, SHIPS, UNITS
from domain.games.seven_empires.moves import EndMovement, MoveLand, MoveShip
from domain.games.seven_empires.rules import neutral, transport
from domain.games.seven_empires.rules.fights import check_last_city
from domain.games.seven_empires.rules.passage import check_refused
from domain.games.seven_empires.state import Seven
from domain.games.seven_empires.value_objects import Step
from domain.kernel.rules.choices import Builder, Choice, Option, one
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET
from domain.types import Json, Seat

Path = tuple[str, ...]
Way = Path | None
"""The way of a step: over these seas, or None for a land border."""


def movement(s: Seven, seat: Seat) -> Builder:
    """SE7-8: a ship, an army, or the end."""
    kinds = ["move_ship"] * bool(sailing(s)) + ["move_land"] * bool(marching(s))
    kind = yield one("type", [Option("end_movement", ends=True), *kinds])
    if kind == "end_movement":
        return EndMovement()
    return (yield from (_ship(s) if kind == "move_ship" else _army(s)))


def _movers(s: Seven, types: Sequence[str]) -> Iterator[tuple[str, str]]:
    """SE7-0.12: where units of these types can still move."""
    able = s.moving.able
    for region in sorted(able, key=DATA_ORDER.__getitem__):
        yield from ((region, unit) for unit in UNITS if unit in types and unit in able[region])


# --- ships ----------------------------------------------------------------------------------------------------


def sailing(s: Seven) -> dict[str, dict[str, list[Path]]]:
    """SE7-8.1 to SE7-8.3: region -> ship -> its paths."""
    return memo(s, "sailing", lambda: {} if s.moving.armies else _sailing(s))


def _sailing(s: Seven) -> dict[str, dict[str, list[Path]]]:
    found: dict[str, dict[str, list[Path]]] = {}
    for region, unit in _movers(s, SHIPS):
        paths = [path for path in _paths(s, region, (), BORDERS[unit]) if not s.units_of(path[-1], s.acting)]
        if paths:
            found.setdefault(region, {})[unit] = paths
    return found


def _paths(s: Seven, start: str, path: Path, left: int) -> Iterator[Path]:
    here = path[-1] if path else start
    anchor = CITIES[here].anchor if here in CITIES else None
    for sea in (anchor,) if anchor else SEA[here]:
        if sea not in (start, *path) and is_legal(neutral.check_passage, s, (sea,)):
            yield (*path, sea)
            if left > 1:
                yield from _paths(s, start, (*path, sea), left - 1)


def _ship(s: Seven) -> Builder:
    ships = sailing(s)
    start = yield one("from", ships)
    unit = yield one("unit", ships[start])
    path: list[str] = []
    while options := list(_following(ships[start][unit], path)):
        sea = yield one("path", options)
        if sea is None:
            break
        path.append(sea)
    return MoveShip(start, unit, path)


def _following(paths: list[Path], path: list[str]) -> Iterator[str | None]:
    """Yield the next seas of the paths with this beginning, first None if one of them may end here."""
    n = len(path)
    longer = [p[n] for p in paths if len(p) > n and list(p[:n]) == path]
    if longer and tuple(path) in paths:
        yield None
    yield from dict.fromkeys(longer)


# --- armies ---------------------------------------------------------------------------------------------------


def marching(s: Seven) -> dict[str, list[str]]:
    """SE7-8.5: region -> armies there able to move."""
    return memo(s, "marching", lambda: _marching(s))


def _marching(s: Seven) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for region, unit in _movers(s, ARMIES):
        if any(True for _ in _firsts(s, region, unit)):
            found.setdefault(region, []).append(unit)
    return found


def ways(s: Seven, here: str, used: Sequence[str]) -> dict[str, list[Way]]:
    """SE7-8.5, SE7-8.6: region one step away -> how it is reached."""

    def find() -> dict[str, list[Way]]:
        found: dict[str, list[Way]] = {region: [None] for region in LAND[here]}
        for region, seas in transport.chains(s, here, used).items():
            found.setdefault(region, []).extend(seas)
        return found

    return memo(s, f"ways {here} {' '.join(used)}", find)


def targets(s: Seven, start: str, unit: str, end: str) -> list[str | None]:
    """SE7-8.8, SE7-8.12, SE7-13.2: types of units to fight there; None for an empty region."""
    if neutral.peaceful(s) and not neutral.ends(s, end):
        return []
    found = s.foreign(end, s.acting)
    types: list[str | None] = [u for u in UNITS if u in found[1]] if found else [None]
    return [target for target in types if is_legal(check_last_city, s, start, unit, end, target)]


def _passes_through(s: Seven, region: str) -> bool:
    """SE7-8.7, SE7-13.2: whether a move may pass the region."""
    return is_legal(check_refused, s, region) and is_legal(neutral.check_passage, s, (region,))


def _used_ships(s: Seven, way: Way) -> list[str]:
    """Return the seas with a two-master's transport used, after this way."""
    return sorted([*s.moving.used, *transport.two_masters(s, way or ())])


def _seconds(s: Seven, start: str, unit: str, middle: str, way: Way) -> list[str]:
    """Return the possible ends of a move, after its first step to `middle` on this way."""

    def find() -> list[str]:
        if not _passes_through(s, middle):
            return []
        reached = ways(s, middle, _used_ships(s, way))
        return [end for end in reached if end != start and targets(s, start, unit, end)]

    return memo(s, f"seconds {start} {unit} {middle} {' '.join(way or ())}", find)


def _first_ways(s: Seven, start: str, unit: str, region: str) -> list[Way]:
    """Return the ways of a first step with a possible completion of the move."""
    reached = ways(s, start, sorted(s.moving.used))[region]
    if targets(s, start, unit, region):
        return reached
    return [way for way in reached if _seconds(s, start, unit, region, way)]


def _firsts(s: Seven, start: str, unit: str) -> Iterator[str]:
    reached = ways(s, start, sorted(s.moving.used))
    return (region for region in reached if _first_ways(s, start, unit, region))


def _army(s: Seven) -> Builder:
    starts = marching(s)
    start = yield one("from", starts)
    unit = yield one("unit", starts[start])
    steps = yield from _ways(s, start, unit)
    fit = targets(s, start, unit, steps[-1].to)
    target = fit[0] if len(fit) == 1 else (yield one("target", fit))
    return MoveLand(start, unit, steps, UNSET if target is None else target)


def _ways(s: Seven, start: str, unit: str) -> Generator[Choice, Json, list[Step]]:
    """SE7-8.5: one step, or two; null ends the way after the first."""
    to = yield one("to", memo(s, f"firsts {start} {unit}", lambda: list(_firsts(s, start, unit))))
    way = yield from _way(_first_ways(s, start, unit, to))
    seconds = _seconds(s, start, unit, to, way)
    stay: list[str | None] = [None] if targets(s, start, unit, to) else []
    onward = (yield one("to", [*stay, *seconds])) if seconds else None
    if onward is None:
        return [_step(to, way)]
    second = yield from _way(ways(s, to, _used_ships(s, way))[onward])
    return [_step(to, way), _step(onward, second)]


def _way(reached: Sequence[Way]) -> Generator[Choice, Json, Way]:
    """Ask for the way of a step if there are several; null for a land border."""
    if len(reached) == 1:
        return reached[0]
    via = yield one("via", [None if way is None else list(way) for way in reached])
    return None if via is None else tuple(via)


def _step(to: str, way: Way) -> Step:
    return Step(to, UNSET if way is None else list(way))
