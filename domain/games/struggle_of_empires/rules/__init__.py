"""The rules, one module per chapter of the rules page: the handlers of moves, and the continuations of frames.

Where to look:
- loans: money.py loan
- auctions: alliances.py
- points: scoring.py score_regions
- trade tiles: tiles.py _trade_region
"""

from __future__ import annotations

from collections.abc import Callable

from domain.games.struggle_of_empires import moves
from domain.games.struggle_of_empires.rules import (
    alliances,
    building,
    buying,
    combat,
    moving,
    settling,
    setup,
    tiles,
    war,
)
from domain.games.struggle_of_empires.rules.actions import do_pass, in_turn
from domain.games.struggle_of_empires.rules.combat import battle, declare, losses, naval, support
from domain.games.struggle_of_empires.state import D, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import Handler, on

HANDLERS: dict[str, Handler[Struggle]] = dict(
    (
        on(moves.ChoosePower, setup.do_choose_power),
        on(moves.PlaceUnit, setup.do_place_unit),
        on(moves.Bid, alliances.do_bid),
        on(moves.PassBid, alliances.do_pass_bid),
        on(moves.Pass, do_pass),
        on(moves.BuyTile, in_turn(buying.do_buy_tile)),
        on(moves.Build, in_turn(building.do_build)),
        on(moves.BuildMilitia, in_turn(building.do_build_militia)),
        on(moves.MoveUnit, in_turn(moving.do_move_unit)),
        on(moves.Colonize, in_turn(settling.do_colonize)),
        on(moves.Enslave, in_turn(settling.do_enslave)),
        on(moves.Attack, in_turn(declare.do_attack)),
        on(moves.UseTile, in_turn(tiles.do_use_tile)),
        on(moves.Support, support.do_support),
        on(moves.RequestSupport, support.do_request_support),
        on(moves.NavalChoice, naval.do_naval_choice),
        on(moves.AssignAllianceTiles, naval.do_assign),
        on(moves.UseBlockade, battle.do_use_blockade),
        on(moves.Reserve, battle.do_reserve),
        on(moves.ChooseLoss, losses.do_choose_loss),
        on(moves.FightingWithdrawal, losses.do_withdrawal),
    )
)
"""Move type -> handler."""

CONTINUATIONS: dict[str, Callable[[D, Frame], None]] = {"war": war.go_war, "combat": combat.go_combat}
"""Frame kind -> continuation, for frames owing no answer."""
