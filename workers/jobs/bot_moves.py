"""Bots at tables: they answer what their seats owe, each from what its seat may see.

A bot sits as a player whose id says which bot it is, so that the log tells of it and nothing else needs to be kept.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from domain.bots import BOTS
from domain.errors import DecisionClosed, NotSeated, RuleError
from domain.kernel.game.game import AnyGame, bot_of
from domain.kernel.game.play_commands import Play
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import DIRECTOR, Seat
from workers.context import WorkerContext, current_context
from workers.jobs.turns import DONE, GONE, report_stored

MAX_MOVES = 300
"""Moves of one job: what is left of a long turn is played by the next one."""


@dataclass(frozen=True)
class BotView:
    """A game as it is, as bots are shown it."""

    rules: AnyRuleset
    game: AnyGame

    @property
    def state(self) -> Any:
        """The state of the game."""
        return self.game.state


def play_bots(game: str, decision: str) -> str:
    """The moves of all bots that owe that decision, until they owe it no longer."""
    context, result = current_context(), GONE
    for _ in range(MAX_MOVES):
        now = context.commands.game(game)
        rules = context.registry.get(now.ruleset)
        seat = _next_bot_seat(rules, now, decision)
        if seat is None:
            return result
        if not _play_move(context, BotView(rules, now), seat, decision):
            return result
        result = DONE
    return result


def _next_bot_seat(rules: AnyRuleset, now: AnyGame, decision: str) -> Seat | None:
    """The first seat of a bot that owes it."""
    if now.status != "running":
        return None
    owing = {s for d in decisions(rules, now.state, now.rewinds, DIRECTOR) if d.id == decision for s in d.must}
    return next((seat for seat in sorted(owing) if bot_of(now.players[seat])), None)


def _play_move(context: WorkerContext, now: BotView, seat: Seat, decision: str) -> bool:
    """One move of a bot; whether it was made. Somebody else may have been faster, or may have put the bot out."""
    player = now.game.players[seat]
    move = BOTS[bot_of(player)](now, seat, random.Random())  # noqa: S311 - no secret hangs on it
    if move is None:
        return False
    try:
        answer = context.commands.handle(
            now.game.id, Play(seat, [move], decision, "seat"), seat_guard=(seat, player.id)
        )
    except (DecisionClosed, NotSeated):
        return False
    except RuleError:  # the game has moved on between looking and moving, as in a decision of several
        return False
    report_stored(context, answer)
    return True
