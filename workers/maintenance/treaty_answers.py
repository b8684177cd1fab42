"""Answers of the service's bots to treaties. Each comes from what the bot's seat may know."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

from domain.errors import RuleError, StoreUnavailable
from domain.kernel.game.game import AnyGame
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.game.seat_players import is_bot
from domain.kernel.rules.ruleset import AnyRuleset
from domain.talk.message_rules import check_time
from domain.talk.talk_store import TABLE, Entry, MailboxReader, Post
from domain.talk.treaty_rules import check_running, choose_answer, find_leader
from domain.types import PUBLIC, Seat
from workers.context import WorkerContext

BOT_PREFIX = "bot-"
"""Begin of the ids of bots."""

REST_SECONDS = 5.0
"""Seconds between two looks for treaties: a bot answers within a minute."""

AGAIN_SECONDS = 60.0
"""Seconds after which a treaty without a possible answer is tried again."""

MOST_AT_ONCE = 50
"""Treaties in one look."""

log = logging.getLogger("annals.bots")


class TreatyAnswers:
    """Answers the treaties proposed to bots. Several processes may do so: a seat answers once."""

    def __init__(self, context: WorkerContext, notify_changed: Callable[[str], None]) -> None:
        """`notify_changed` is called with each game that has an answer."""
        self._context, self._notify_changed = context, notify_changed
        self._next_at = 0.0
        self._waiting: dict[tuple[str, Seat, int], float] = {}

    def step(self) -> int:
        """Answer what is open if it is time; return the number of answers. A failing store stops nothing else."""
        if time.monotonic() < self._next_at:
            return 0
        self._next_at = time.monotonic() + REST_SECONDS
        self._waiting = {key: until for key, until in self._waiting.items() if until > time.monotonic()}
        try:
            found = self._context.talk.list_unanswered(BOT_PREFIX, MOST_AT_ONCE + len(self._waiting))
            return sum(self._try_to_answer(*key) for key in found if key not in self._waiting)
        except StoreUnavailable as error:
            log.warning("no bot answers a treaty now: %s", error)
            return 0

    def _try_to_answer(self, game: str, seat: Seat, entry: int) -> bool:
        try:
            if self._answer(game, seat, entry):
                self._notify_changed(game)
                return True
            self._waiting[game, seat, entry] = math.inf
            return False
        except StoreUnavailable:
            raise
        except RuleError:  # not the time for letters, or answered by another process
            pass
        except Exception as error:  # noqa: BLE001 - one damaged game must not stop the others, nor the projector
            log.warning("no bot answers in %s: %s", game, type(error).__name__)
        self._waiting[game, seat, entry] = time.monotonic() + AGAIN_SECONDS
        return False

    def _answer(self, game: str, seat: Seat, entry: int) -> bool:
        """Answer a treaty; return False if that will never be possible: no bot, a treaty erased, a game closed."""
        now = self._context.commands.game(game)
        if now.status == "closed":
            return False
        player = now.players[seat].id if seat in now.players else ""
        found = self._context.talk.find_entry(MailboxReader(game, seat, (player,)), entry)
        if not is_bot(player) or found is None or found.message is None:
            return False
        rules = self._context.registry.get(now.ruleset)
        check_running(now)
        check_time(rules.meta.talk, now, self._context.clock(), private=found.conversation != TABLE)
        self._context.talk.post(self._make_post(rules, now, seat, found))
        return True

    def _make_post(self, rules: AnyRuleset, now: AnyGame, seat: Seat, found: Entry) -> Post:
        known = state_known_to(rules, self._context.ledger.read(now.id), PUBLIC)
        treaty = (found.message or {})["treaty"]
        answer = choose_answer(seat, found.seat, treaty, find_leader(rules, known))
        seats = range(now.table.seats) if found.conversation == TABLE else map(int, found.conversation.split("-"))
        return Post(
            now.id,
            seat,
            now.players[seat].id,
            found.conversation,
            {each: now.players[each].id if each in now.players else "" for each in seats},
            now.table.seats,
            now.version,
            (now.version, now.hash),
            "",
            answer=(found.number, answer),
        )
