"""Moves of bots. A bot answers its seat's decisions from that seat's own view.

A bot is a player with an id that names it, so the log needs no other data about bots.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from domain.bots import BOTS
from domain.command_handler import GameConditions
from domain.errors import DecisionClosed, NotSeated, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Play
from domain.kernel.game.seat_players import bot_of
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import DIRECTOR, Seat
from workers.context import WorkerContext, current_context
from workers.jobs import rewinds
from workers.jobs.turns import DONE, GONE, report_stored

MAX_MOVES = 300
"""Moves per job. The next job plays the rest of a long turn."""


@dataclass(frozen=True)
class BotView:
    """A game as passed to bots."""

    rules: AnyRuleset
    game: AnyGame

    @property
    def state(self) -> Any:
        """The state of the game."""
        return self.game.state


def play_bots(game: str, decision: str) -> str:
    """Play the moves of all bots that owe the decision."""
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
    """Return the first bot seat that owes the decision, or None."""
    if now.status != "running":
        return None
    owing = {
        s for d in decisions(rules, now.state, now.lasting.rewinds.count, DIRECTOR) if d.id == decision for s in d.must
    }
    return next((seat for seat in sorted(owing) if bot_of(now.players[seat])), None)


def _run_waiting_rewind(context: WorkerContext, game: AnyGame) -> bool:
    """Run the newest rewind of this version if only a worker is missing; return whether the game has another version.

    A bot is faster than the worker of a rewind: it lets a person go first.
    """
    for request in context.job_requests.list_rewinds(game.id, 1):
        if request.is_ready and request.version == game.version:
            rewinds.run_rewind(request.id)
            return context.ledger.version(game.id) != game.version
    return False


def _play_move(context: WorkerContext, now: BotView, seat: Seat, decision: str) -> bool:
    """Play one bot move; return False if another command was faster or the bot has left."""
    player = now.game.players[seat]
    move = BOTS[bot_of(player)](now, seat, random.Random())  # noqa: S311 - not used for secrets
    if move is None or _run_waiting_rewind(context, now.game):
        return False
    try:
        answer = context.commands.handle(
            now.game.id, Play(seat, [move], decision, "seat"), GameConditions(seat_guard=(seat, player.id))
        )
    except (DecisionClosed, NotSeated):
        return False
    except RuleError:  # another seat moved meanwhile, as in a decision of several seats
        return False
    report_stored(context, answer)
    return True
