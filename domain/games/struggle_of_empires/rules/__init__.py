"""The rules, one module per chapter of the rules page: what each move does, and how the flow goes on by itself."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.struggle_of_empires.rules import (
    alliances,
    building,
    buying,
    combat,
    combat_battle,
    combat_declare,
    combat_losses,
    combat_naval,
    combat_support,
    moving,
    settling,
    setup,
    tiles,
    war,
)
from domain.games.struggle_of_empires.rules.actions import Handler, do_pass, in_turn
from domain.games.struggle_of_empires.state import D
from domain.kernel.flow import Frame

DO: dict[str, Handler] = {
    "choose_power": setup.do_choose_power,
    "place_unit": setup.do_place_unit,
    "bid": alliances.do_bid,
    "pass_bid": alliances.do_pass_bid,
    "pass": do_pass,
    "buy_tile": in_turn(buying.do_buy_tile),
    "build": in_turn(building.do_build),
    "build_militia": in_turn(building.do_build_militia),
    "move_unit": in_turn(moving.do_move_unit),
    "colonize": in_turn(settling.do_colonize),
    "enslave": in_turn(settling.do_enslave),
    "attack": in_turn(combat_declare.do_attack),
    "use_tile": in_turn(tiles.do_use_tile),
    "support": combat_support.do_support,
    "request_support": combat_support.do_request_support,
    "naval_choice": combat_naval.do_naval_choice,
    "assign_alliance_tiles": combat_naval.do_assign,
    "use_blockade": combat_battle.do_use_blockade,
    "reserve": combat_battle.do_reserve,
    "choose_loss": combat_losses.do_choose_loss,
    "fighting_withdrawal": combat_losses.do_withdrawal,
}
"""Move type -> handler, in the order of SOE-22."""

GO: dict[str, Callable[[D, Frame], None]] = {"war": war.go_war, "combat": combat.go_combat}
"""Frames that owe nobody."""
