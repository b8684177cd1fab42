"""IMP-11.9: what the engine enters for a seat that misses its deadline, or is vacant."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.imperunde import lots
from domain.games.imperunde.data import FIGHTERS, ROLL_ORDER
from domain.games.imperunde.moves import WINDOW_FRAMES
from domain.games.imperunde.rules.setup import fleet_zones
from domain.games.imperunde.rules.sides import side_units
from domain.games.imperunde.state import ImpeRunde
from domain.ids import Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Decision, Frame


def default(s: ImpeRunde, decision: Decision, seat: Seat) -> Move:
    """IMP-11.9."""
    return default_move(s, s.top, seat)


def default_move(s: ImpeRunde, frame: Frame, seat: Seat) -> Move:
    """The default of the top frame."""
    make = _MADE.get(frame.kind)
    return make(s, frame, seat) if make else dict(_FIXED[frame.kind])


def _fleet(s: ImpeRunde, frame: Frame, seat: Seat) -> Move:
    zone = fleet_zones(s, s.nations[seat].home, seat)[0]
    return {"type": "place_home_fleet", "frigate": zone, "ship_of_the_line": zone}


def _fighters(s: ImpeRunde, frame: Frame, seat: Seat) -> Move:
    """Best dice first, pinned first."""
    best = sorted(side_units(s, frame.data["side"]), key=lambda x: (ROLL_ORDER[x.unit], not x.pinned, x.moves_left))
    chosen = lots.change((), list(lots.singles(best))[:FIGHTERS])
    return {"type": "choose_units", "units": [_named(x) for x in chosen]}


def _named(lot: lots.Lot) -> Move:
    return {"unit": lot.unit, "count": lot.count, "moves_left": lot.moves_left}


_MADE: dict[str, Callable[[ImpeRunde, Frame, Seat], Move]] = {"setup_fleet": _fleet, "choose_units": _fighters}

_FIXED: dict[str, Move] = {
    "setup_colony": {"type": "equip_colony", "choice": "armies", "units": [{"unit": "artillery", "count": 1}]},
    "diplomacy": {"type": "ready"},
    "goal_vote": {"type": "vote_goal", "approve": False},
    "budget": {"type": "set_budget", "repay": 0, "borrow": 0},
    "investment": {"type": "end_investments"},
    "movement": {"type": "end_movement"},
    "embarkation": {"type": "end_embarkation"},
    "fair_wind": {"type": "end_fair_wind"},
    "reinforce": {"type": "reinforce", "groups": []},
    "theft": {"type": "choose_stolen_card", "card": None},
    **{window: {"type": "pass"} for window in WINDOW_FRAMES},
}
