"""SOE-18: moves played for a seat after its deadline."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.seats import clockwise
from domain.games.struggle_of_empires.data import SCORING
from domain.games.struggle_of_empires.moves import (
    AssignAllianceTiles,
    Bid,
    ChooseLoss,
    ChoosePower,
    FightingWithdrawal,
    NavalChoice,
    Pass,
    PassBid,
    PlaceUnit,
    RequestSupport,
    Reserve,
    Support,
    UseBlockade,
)
from domain.games.struggle_of_empires.rules.combat.losses import Options, open_items, options
from domain.games.struggle_of_empires.rules.combat.steps import side_of
from domain.games.struggle_of_empires.rules.setup import free_powers
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.rules.flow import Decision
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def default(s: Struggle, decision: Decision, seat: Seat) -> Move:
    """SOE-18.1: the default of every decision."""
    return DEFAULTS[decision.kind](s, seat)


def _choose_power(s: Struggle, seat: Seat) -> Move:
    return ChoosePower(free_powers(s)[0])


def _place_units(s: Struggle, seat: Seat) -> Move:
    held = [region for region in SCORING if region in s.empires[seat].tokens]
    return PlaceUnit("army", held[0] if held else "german_states")


def _auction_bid(s: Struggle, seat: Seat) -> Move:
    if s.bidding.standing:
        return PassBid()
    free = [x for x in clockwise(s.bidding.opener, s.seats) if s.alliance_of(x) is None]
    return Bid(0, free[0], free[1] if len(free) > 1 else None)


def _choose_loss(s: Struggle, seat: Seat) -> Move:
    choices: Options = []
    for loss in open_items(s, side_of(s, seat)):
        choices.append(options(s, loss, choices)[0])
    return ChooseLoss(choices)


DEFAULTS: dict[str, Callable[[Struggle, Seat], Move]] = {
    "choose_power": _choose_power,
    "place_units": _place_units,
    "auction_bid": _auction_bid,
    "turn": lambda s, seat: Pass(),
    "request_support": lambda s, seat: RequestSupport(),
    "support": lambda s, seat: Support(0, 0),
    "naval_choice": lambda s, seat: NavalChoice(False),
    "assign_alliance_tiles": lambda s, seat: AssignAllianceTiles([]),
    "use_blockade": lambda s, seat: UseBlockade(False),
    "reserve": lambda s, seat: Reserve(False),
    "choose_loss": _choose_loss,
    "fighting_withdrawal": lambda s, seat: FightingWithdrawal(False),
}
