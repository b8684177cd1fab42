"""IMP-7: movement. Checks come first, for the whole path; then the units go step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from domain.games.common.checks import require
from domain.games.imperunde import unit_stacks as lots
from domain.games.imperunde.data import COUNTRIES, ZONES, is_army, is_warship
from domain.games.imperunde.facts.movement import CountryFreed, UnitsLost, UnitsMoved
from domain.games.imperunde.moves import MoveUnits, Want
from domain.games.imperunde.rules.checks import need_items, need_path
from domain.games.imperunde.rules.dice import losses
from domain.games.imperunde.rules.sinking import sink_for_active
from domain.games.imperunde.state import D, ImpeRunde
from domain.games.imperunde.unit_stacks import Lot, Lots
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

RULE = "IMP-7.2"
NEVER = 99
"""A number of moves beyond any unit's."""

Wants = Sequence[Want]


@dataclass(frozen=True)
class Group:
    """Units on the same path."""

    lots: Lots
    path: tuple[str, ...]


# --- taking units from lots (IMP-0.5) ------------------------------------------------------------------------


def need_units(have: Lots, wants: Wants, rule: str) -> None:
    """IMP-0.3: enough units for the move; demands on the same lots are added up."""
    require(
        _allot(have, wants, lambda _: 0, _fewest_moves) is not None, "not_enough_units", rule, units=lots.to_json(have)
    )


def take(have: Lots, wants: Wants, moves: Callable[[str], int], rule: str) -> Lots:
    """IMP-0.5: for moving, the units with the fewest sufficient moves."""
    taken = _allot(have, wants, moves, _fewest_moves)
    cause = "landing" if any(moves(want.unit) >= NEVER for want in wants) else "spent"
    require(taken is not None, "not_enough_moves", rule, cause=cause, units=lots.to_json(have))
    return taken or ()


def take_fighters(have: Lots, wants: Wants) -> Lots:
    """IMP-0.5: for fighting, pinned first, then those with the fewest moves. There are enough of them."""
    return _allot(have, wants, lambda _: 0, _pinned_first) or ()


def _fewest_moves(lot: Lot) -> tuple[int, bool]:
    return lot.moves_left, not lot.pinned


def _pinned_first(lot: Lot) -> tuple[bool, int]:
    return not lot.pinned, lot.moves_left


def _allot(
    have: Lots, wants: Wants, moves: Callable[[str], int], order: Callable[[Lot], tuple[int, int]]
) -> Lots | None:
    """Return the lots serving all wants, wants with `moves_left` first; None if some cannot be served."""
    left, taken = have, []
    for want in sorted(wants, key=lambda w: w.moves_left is UNSET):
        count = want.count
        for lot in sorted(left, key=order):
            if not count or lot.unit != want.unit or lot.moves_left < moves(lot.unit):
                continue
            if want.moves_left in (UNSET, lot.moves_left):
                part = lot.with_count(min(count, lot.count))
                left, count = lots.change(left, (part,), -1), count - part.count
                taken.append(part)
        if count:
            return None
    return lots.change((), taken)


# --- checks of a path ----------------------------------------------------------------------------------------


def fair_wind(s: ImpeRunde) -> bool:
    """Return whether the active seat moves by a fair wind (IMP-10.7)."""
    return s.phase == 8


def _afloat(path: Sequence[str]) -> int:
    """Return the number of steps paid with ship moves: all up to the landing, included."""
    if path[0] in COUNTRIES:
        return 0
    return next((i for i, region in enumerate(path) if region in COUNTRIES), len(path) - 1)


def moves_needed(s: ImpeRunde, path: Sequence[str], unit: str) -> int:
    """IMP-7.2, IMP-7.3: moves needed by a unit for a whole path."""
    ship, steps = _afloat(path), len(path) - 1
    if not ship or ship == steps:
        return steps
    return ship if steps - ship <= _after_landing(s, unit) else NEVER


def _after_landing(s: ImpeRunde, unit: str) -> int:
    """IMP-7.3: moves left to an army after landing."""
    return 1 if unit == "cavalry" and not fair_wind(s) else 0


def moves_after(s: ImpeRunde, lot: Lot, a: str, b: str) -> int:
    """IMP-7.2, IMP-7.3: moves left to a lot after the step from a to b."""
    landing = a in ZONES and b in COUNTRIES
    return _after_landing(s, lot.unit) if landing else lot.moves_left - 1


def check_step(s: ImpeRunde, seat: Seat, unit: str, a: str, b: str, rule: str = RULE) -> None:
    """IMP-7.2: one step of a path without attack."""
    check_link(s, seat, unit, a, b, rule)
    if b in ZONES:
        require(not s.hostile(b, seat), "enemy_warships_present", rule, zone=b)
    else:
        require(s.is_own(seat, b), "not_your_country", rule, country=b)


def check_link(s: ImpeRunde, seat: Seat, unit: str, a: str, b: str, rule: str) -> None:
    """IMP-7.2: a unit of this kind can go from a to b, with anybody there."""
    if a in COUNTRIES:
        require(b not in ZONES, "cannot_embark_now", rule, zone=b)
        return require(b in COUNTRIES[a].lands, "not_adjacent", rule, country=b)
    require(b in ZONES or is_army(unit), "wrong_unit_for_target", rule, cause="country", unit=unit)
    if b in ZONES:
        canal = s.canal_open(a, b, seat)
        require(b in ZONES[a].seas or canal is not None, "not_adjacent", rule, zone=b)
        require(canal is not False, "canal_closed", "IMP-3.11", zone=b)
    else:
        require(b in ZONES[a].shores, "not_adjacent", rule, country=b)
    return require(s.zone(a).marker != "calm", "becalmed", "IMP-7.6", zone=a)


def check_path(s: ImpeRunde, seat: Seat, units: Iterable[str], path: Sequence[str], left: str = "") -> None:
    """IMP-7.2: step by step; `left` is a country free after the units' departure."""
    units = tuple(dict.fromkeys(units))
    for a, b in pairwise(path):
        for unit in units:
            check_step(s, seat, unit, a, b)
            require(b != left, "not_your_country", RULE, cause="left", country=b)
    if path[-1] in ZONES and any(map(is_warship, units)):
        require(not s.friendly(path[-1], seat), "friendly_warships_present", RULE, zone=path[-1])


def check_move(s: ImpeRunde, seat: Seat, move: MoveUnits) -> Group:
    """IMP-7.2: the errors of `move`, in this order; return the moving units."""
    path, wants = move.path, move.units
    need_path(path, RULE)
    need_items(wants, RULE)
    have = s.lots_in(seat, path[0])
    need_units(have, wants, RULE)
    left = left_behind(s, path[0], sum(w.count for w in wants))
    check_path(s, seat, (w.unit for w in wants), path, left)
    return Group(take(have, wants, partial(moves_needed, s, path), RULE), tuple(path))


def left_behind(s: ImpeRunde, region: str, leaving: int) -> str:
    """IMP-3.4: the country left without any piece by these armies; empty if there is none."""
    country = s.country(region)
    kept = country.forts or country.posts or s.is_home(region)
    stays = kept or lots.total(country.units) > leaving
    return region if region in COUNTRIES and not stays else ""


# --- going ---------------------------------------------------------------------------------------------------


def do_move(d: D, frame: Frame, seat: Seat, move: MoveUnits) -> None:
    """IMP-7.2: all named units go the whole path."""
    group = check_move(d.state, seat, move)
    march(d, seat, group, len(group.path) - 1, leave=free_if_empty)
    sink_for_active(d)


def march(d: D, seat: Seat, group: Group, steps: int, leave: Callable[[D, str], None] | None = None) -> Lots:
    """IMP-7.2: some steps of the path; return the arrivals. `leave` is called with each region left."""
    going = group.lots
    for done in range(steps):
        if not going:
            break
        a, b = group.path[done], group.path[done + 1]
        going = step(d, seat, going, a, b, [moves_after(d.state, x, a, b) for x in going])
        if leave:
            leave(d, a)
    return going


def step(d: D, seat: Seat, going: Lots, a: str, b: str, left: Sequence[int]) -> Lots:
    """IMP-7.4, IMP-7.7: one step together; storm rolls, then enemy transports sink."""
    d.add(UnitsMoved(seat, a, b, lots.to_facts(going), left))
    come = lots.change((), (x.with_moves(n) for x, n in zip(going, left, strict=True)))
    if b not in ZONES:
        return come
    come = weather(d, seat, b, come)
    if any(is_warship(x.unit) for x in come):
        sink_for_active(d, b)
    return come


def weather(d: D, seat: Seat, zone: str, come: Lots) -> Lots:
    """IMP-7.7: ships entering a stormy zone roll; return the survivors."""
    if d.state.zone(zone).marker != "storm":
        return come
    lost = losses(d, come)
    if lost:
        d.add(UnitsLost(seat, zone, lots.to_facts(lost), "storm"))
    return lots.change(come, lost, -1)


def free_if_empty(d: D, region: str) -> None:
    """IMP-0.7, IMP-3.4: a colony without pieces is free at once."""
    country = d.state.country(region)
    if country.owner is not None and country.empty and not d.state.is_home(region):
        d.add(CountryFreed(region, country.owner))
