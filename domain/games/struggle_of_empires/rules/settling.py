"""SOE-7.8: the two actions for taking a marker without a battle."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS
from domain.games.struggle_of_empires.facts.pieces import MarkerRemoved, TokenPlaced
from domain.games.struggle_of_empires.moves import Colonize, Enslave
from domain.games.struggle_of_empires.rules import actions, money
from domain.games.struggle_of_empires.rules.checks import need_action, need_population, require
from domain.games.struggle_of_empires.state import D, Struggle
from domain.kernel.rules.flow import Frame
from domain.types import Seat

COST: int = CONSTANTS["colonize_cost_population"]
_KIND = {"colonize": "pop", "enslave": "slaves"}


def check_colonize(s: Struggle, seat: Seat, move: Colonize) -> None:
    """SOE-7.8.4: the errors of `colonize`, in this order."""
    _check_marker(s, seat, "colonize", move.marker)
    need_population(s, seat, COST, "SOE-7.8.1")


def check_enslave(s: Struggle, seat: Seat, move: Enslave) -> None:
    """SOE-7.8.4: the errors of `enslave`, in this order."""
    _check_marker(s, seat, "enslave", move.marker)
    require(s.empires[seat].units_in("africa", "navy") > 0, "no_navy_in_africa", "SOE-7.8.2")


def _check_marker(s: Struggle, seat: Seat, action: str, marker: str) -> None:
    need_action(s, "SOE-7.8.4")
    require(not s.acting.colonized, "already_colonized", "SOE-7.8.3")
    require(s.lies(marker), "unknown_marker", "SOE-7.8.4", cause="map", marker=marker)
    kind = MARKERS[marker].kind
    require(kind == _KIND[action], "wrong_marker_kind", "SOE-7.8.4", marker=marker, kind=kind)
    require(s.reserve(seat) > 0, "no_control_token", "SOE-1.2")


def do_colonize(d: D, frame: Frame, seat: Seat, move: Colonize) -> None:
    """SOE-7.8.1: pay population, replace the marker by a token."""
    check_colonize(d.state, seat, move)
    actions.take_action(d, "colonize")
    money.pay_population(d, seat, COST)
    _replace(d, seat, move.marker)


def do_enslave(d: D, frame: Frame, seat: Seat, move: Enslave) -> None:
    """SOE-7.8.2: replace the marker by a token."""
    check_enslave(d.state, seat, move)
    actions.take_action(d, "enslave")
    _replace(d, seat, move.marker)


def _replace(d: D, seat: Seat, marker: str) -> None:
    """SOE-7.8.3: the marker leaves the game, a token from the reserve takes its place."""
    region = MARKERS[marker].region
    d.add(MarkerRemoved(seat, marker, region))
    d.add(TokenPlaced(seat, region))
