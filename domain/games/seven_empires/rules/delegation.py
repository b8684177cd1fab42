"""SE7-4.6: leaving an empire to its monarch, for a unit as compensation."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import CITIES, SUBSTITUTE
from domain.games.seven_empires.facts.pieces import CompensationDeployed
from domain.games.seven_empires.facts.sequence import EmpireDelegated
from domain.games.seven_empires.moves import Delegate
from domain.games.seven_empires.rules.checks import (
    known_empire,
    known_regions,
    known_units,
    need_city_tile,
    need_free_city,
)
from domain.games.seven_empires.rules.turns import need_waiting
from domain.games.seven_empires.state import D, Seven
from domain.games.seven_empires.value_objects import Placing
from domain.kernel.rules.flow import Frame
from domain.types import Seat

RULE = "SE7-4.6"


def check_delegate(s: Seven, seat: Seat, move: Delegate) -> None:
    """SE7-15.4: the errors of `delegate`, in this order."""
    known_empire(move.empire)
    if move.deploy:
        known_regions(move.deploy.region)
        known_units([move.deploy.unit])
    need_waiting(s, move.empire)
    require(s.current.mode == "delegation", "delegation_not_allowed", "SE7-4.2", mode=s.current.mode)
    if move.deploy:
        check_compensation(s, move.deploy)


def check_compensation(s: Seven, placing: Placing) -> None:
    """SE7-4.6: a present product of a city of any empire."""
    region, unit = placing.region, placing.unit
    require(region in CITIES, "not_a_city", RULE, region=region)
    need_free_city(s, region, RULE)
    need_city_tile(s, region, RULE)
    empire = CITIES[region].empire
    primary = s.product(region)
    substitute = SUBSTITUTE.get(primary) == unit
    require(unit == primary or substitute, "cannot_produce", RULE, cause="other", region=region, unit=unit)
    used_up = unit == primary or not s.supply(empire, primary)
    require(used_up, "cannot_produce", RULE, cause="supply", region=region, unit=unit, product=primary)
    require(s.supply(empire, unit) > 0, "supply_exhausted", "SE7-0.10", unit=unit)


def do_delegate(d: D, frame: Frame, seat: Seat, move: Delegate) -> None:
    """SE7-4.6: perhaps a unit; then the monarch chooses the action and is the actor."""
    check_delegate(d.state, seat, move)
    to = d.state.monarch(move.empire) or 0
    d.mark_answered(seat, end=True)
    d.add(EmpireDelegated(seat, move.empire, to))
    if move.deploy:
        _compensate(d, seat, move.deploy)
    d.ask(frames.ChooseDelegatedAction(seat, d.state.current.mode, move.empire), to)


def _compensate(d: D, seat: Seat, placing: Placing) -> None:
    """SE7-4.6: free of charge, before the monarch's choice."""
    primary = d.state.product(placing.region)
    unit = primary if placing.unit == primary else SUBSTITUTE[primary]
    d.add(CompensationDeployed(seat, CITIES[placing.region].empire, placing.region, unit))
