"""Checks shared by several moves. Each raises RuleError with the caller's rule number."""

from __future__ import annotations

from collections.abc import Iterable

from domain.games.common.checks import require
from domain.games.imperunde.data import ANTARCTICA, COUNTRIES, UNITS, ZONES
from domain.games.imperunde.moves import Armies, Want
from domain.games.imperunde.state import ImpeRunde, Party
from domain.types import Json, Seat


def need_country(region: str, rule: str) -> None:
    """IMP-0.3: a country of the board."""
    _need_kind(region in COUNTRIES, region in ZONES, "no_country", region, rule)


def need_zone(region: str, rule: str) -> None:
    """IMP-0.3: a zone of the board."""
    _need_kind(region in ZONES, region in COUNTRIES, "no_zone", region, rule)


def _need_kind(fits: bool, known: bool, cause: str, region: str, rule: str) -> None:
    """Raise RuleError unless `fits`; `cause` tells of a region on the board, but of the other kind."""
    why: dict[str, Json] = {"cause": cause} if known else {}
    require(fits, "unknown_region", rule, region=region, **why)


def need_path(regions: Iterable[str], rule: str) -> None:
    """IMP-0.3, IMP-3.10: regions of either kind, none of them Antarctica."""
    regions = tuple(regions)
    for region in regions:
        require(region in COUNTRIES or region in ZONES or region == ANTARCTICA, "unknown_region", rule, region=region)
    require(ANTARCTICA not in regions, "antarctica_forbidden", "IMP-3.10")


def need_known(lots: Iterable[Want | Armies], rule: str) -> None:
    """IMP-0.3: the units exist."""
    for lot in lots:
        require(lot.unit in UNITS, "unknown_item", rule, item=lot.unit)


def need_some(lots: Iterable[Want | Armies], rule: str) -> None:
    """IMP-0.3: there are units, and of each at least one."""
    lots = tuple(lots)
    require(bool(lots) and all(lot.count for lot in lots), "no_units", rule)


def need_items(lots: Iterable[Want | Armies], rule: str) -> None:
    """IMP-0.3: the units exist, and there are some."""
    lots = tuple(lots)
    need_known(lots, rule)
    need_some(lots, rule)


def need_other_seat(s: ImpeRunde, seat: Seat, target: int, rule: str) -> None:
    """Raise RuleError unless it is another seat of the table."""
    require(target in s.everybody and target != seat, "invalid_target", rule, cause="other_seat", seat=target)


def need_no_home(s: ImpeRunde, region: str, rule: str) -> None:
    """IMP-3.2: no home country of a nation in play."""
    require(not s.is_home(region), "target_is_home_country", rule, country=region)


def need_supply(s: ImpeRunde, party: Party, unit: str, count: int, rule: str) -> None:
    """IMP-1.1: enough pieces in the supply."""
    left = s.supply(party, unit)
    require(count <= left, "supply_exhausted", rule, item=unit, supply=left)


def need_room_at_sea(s: ImpeRunde, seat: Seat, zone: str, rule: str) -> None:
    """IMP-3.8: no friend's warships are in the zone."""
    require(not s.friendly(zone, seat), "friendly_warships_present", rule, zone=zone)
