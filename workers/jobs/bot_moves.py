"""Moves of bots. A bot answers its seat's decisions from that seat's own view.

A bot is a player with an id that names it, so the log needs no other data about bots.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from domain.bots import BOTS, THINKING
from domain.command_handler import GameConditions
from domain.errors import DecisionClosed, NotSeated, RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.play_commands import Play
from domain.kernel.game.seat_players import bot_of
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import DIRECTOR, Seat
from workers.context import WorkerContext, current_context
from workers.jobs import rewinds
from workers.jobs.turns import DONE, GONE, report_stored

MAX_MOVES = 300
"""Moves per job. The next job plays the rest of a long turn."""

MAX_THINKING_SECONDS = 10.0
"""Time after which a thinking job begins no other move: the bots of other tables wait for it."""


@dataclass(frozen=True)
class BotView:
    """A game as passed to bots."""

    rules: AnyRuleset
    game: AnyGame
    read_records: Callable[[], Sequence[Record]]

    def known_to(self, seat: Seat) -> Any:
        """Return the state folded only from the facts readable by the seat."""
        return state_known_to(self.rules, self.read_records(), seat)

    @property
    def state(self) -> Any:
        """The state of the game."""
        return self.game.state


def play_bots(game: str, decision: str) -> str:
    """Play the moves of all bots owing the decision, except thinking ones."""
    return _play_all(game, decision, thinking=False)


def think(game: str, decision: str) -> str:
    """Play the moves of all thinking bots owing the decision, for a few seconds; the next job goes on."""
    return _play_all(game, decision, thinking=True)


def _play_all(game: str, decision: str, *, thinking: bool) -> str:
    context, result, began = current_context(), GONE, time.monotonic()
    for _ in range(MAX_MOVES):
        now = context.commands.game(game)
        rules = context.registry.get(now.ruleset)
        seat = _next_bot_seat(rules, now, decision, thinking)
        if seat is None:
            return result
        view = BotView(rules, now, partial(_read_until, context, now))
        if not _play_move(context, view, seat, decision):
            return result
        result = DONE
        if thinking and time.monotonic() - began > MAX_THINKING_SECONDS:
            return result
    return result


def _read_until(context: WorkerContext, now: AnyGame) -> Sequence[Record]:
    """Return the records up to the version seen by the bot, though others may follow by now."""
    return [record for record in context.ledger.read(now.id) if record.version <= now.version]


def _next_bot_seat(rules: AnyRuleset, now: AnyGame, decision: str, thinking: bool) -> Seat | None:
    """Return the first seat of a bot of this kind owing the decision, or None."""
    if now.status != "running":
        return None
    owing = {
        s for d in decisions(rules, now.state, now.lasting.rewinds.count, DIRECTOR) if d.id == decision for s in d.must
    }
    bots = {seat: bot_of(now.players[seat]) for seat in sorted(owing)}
    return next((seat for seat, bot in bots.items() if bot and (bot in THINKING) == thinking), None)


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
