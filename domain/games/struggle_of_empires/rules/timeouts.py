"""SOE-18: what is played for a seat whose time is up."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.seats import clockwise
from domain.games.struggle_of_empires.data import SCORING
from domain.games.struggle_of_empires.rules.combat_losses import Options, open_items, options
from domain.games.struggle_of_empires.rules.combat_steps import side_of
from domain.games.struggle_of_empires.rules.setup import free_powers
from domain.games.struggle_of_empires.state import Struggle
from domain.ids import Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Decision


def default(s: Struggle, decision: Decision, seat: Seat) -> Move:
    """SOE-18.1: the default of every decision."""
    return DEFAULTS[decision.kind](s, seat)


def _choose_power(s: Struggle, seat: Seat) -> Move:
    return {"type": "choose_power", "power": free_powers(s)[0]}


def _place_units(s: Struggle, seat: Seat) -> Move:
    held = [region for region in SCORING if region in s.empires[seat].tokens]
    return {"type": "place_unit", "unit": "army", "region": held[0] if held else "german_states"}


def _auction_bid(s: Struggle, seat: Seat) -> Move:
    if s.bidding.standing:
        return {"type": "pass_bid"}
    free = [x for x in clockwise(s.bidding.opener, s.seats) if s.alliance_of(x) is None]
    return {"type": "bid", "amount": 0, "a": free[0], "b": free[1] if len(free) > 1 else None}


def _choose_loss(s: Struggle, seat: Seat) -> Move:
    choices: Options = []
    for loss in open_items(s, side_of(s, seat)):
        choices.append(options(s, loss, choices)[0])
    return {"type": "choose_loss", "choices": choices}


DEFAULTS: dict[str, Callable[[Struggle, Seat], Move]] = {
    "choose_power": _choose_power,
    "place_units": _place_units,
    "auction_bid": _auction_bid,
    "turn": lambda s, seat: {"type": "pass"},
    "request_support": lambda s, seat: {"type": "request_support"},
    "support": lambda s, seat: {"type": "support", "armies": 0, "navies": 0},
    "naval_choice": lambda s, seat: {"type": "naval_choice", "fight": False},
    "assign_alliance_tiles": lambda s, seat: {"type": "assign_alliance_tiles", "naval": []},
    "use_blockade": lambda s, seat: {"type": "use_blockade", "use": False},
    "reserve": lambda s, seat: {"type": "reserve", "use": False},
    "choose_loss": _choose_loss,
    "fighting_withdrawal": lambda s, seat: {"type": "fighting_withdrawal", "use": False},
}
