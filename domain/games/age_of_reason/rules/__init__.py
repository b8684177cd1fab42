"""The rules, one module per chapter of the rules page: the handlers of moves, and the continuations of frames.

Where to look:
- trade: placing.py _trade
- loans: money.py loan_for
- unrest after a battle: battle/result.py _unrest
- points: scoring.py score_regions
"""

from __future__ import annotations

from collections.abc import Callable

from domain.games.age_of_reason import moves
from domain.games.age_of_reason.rules import (
    attacking,
    battle,
    coalitions,
    converting,
    game_turn,
    placing,
    setup,
    turns,
)
from domain.games.age_of_reason.rules.battle import commit, dice
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import Handler, on

HANDLERS: dict[str, Handler[AgeOfReason]] = dict(
    (
        on(moves.ChoosePower, setup.do_choose_power),
        on(moves.Bid, coalitions.do_bid),
        on(moves.PassBid, coalitions.do_pass_bid),
        on(moves.Place, placing.do_place),
        on(moves.Convert, converting.do_convert),
        on(moves.Attack, attacking.do_attack),
        on(moves.Pass, turns.do_pass),
        on(moves.Commit, commit.do_commit),
        on(moves.Hire, commit.do_hire),
        on(moves.TakeBack, commit.do_take_back),
        on(moves.Reserves, dice.do_reserves),
    )
)
"""Move type -> handler."""

CONTINUATIONS: dict[str, Callable[[D, Frame], None]] = {
    "game_turn": game_turn.go_game_turn,
    "battle": battle.go_battle,
    "commit": commit.go_commit,
    "hire": commit.go_hire,
}
"""Frame kind -> continuation, for frames owing no answer."""

may = commit.may
