"""Group chats of tables and tournaments: one address for each, for turns, or for rounds and results.

The address is stored as a row of `webhooks`, so that chats share deliveries and retries.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from domain.accounts.account_settings import UTC_NAME
from domain.accounts.account_tables import AccountTable, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.notifications.outbox import Notice, Outbox
from domain.notifications.webhook_urls import parse_webhook_url
from domain.notifications.webhooks import CHAT, FEED_TYPES, Webhooks, delete_webhooks
from domain.service.database import Execute, Row, Statement
from domain.types import is_tournament_id

TYPES = ("turn.due", "game.over", "seat.left")
"""Events for the chat of a table; tournaments have FEED_TYPES."""

INTRODUCTION = "chat.set"
"""Type of the first message."""

MOST = 50
"""Chats of one account."""

_SELECT = """
SELECT c.game, c.account, c.webhook, c.language, h.host, h.state, h.made, s.zone
FROM chats c JOIN webhooks h ON h.id = c.webhook LEFT JOIN account_settings s ON s.account = c.account WHERE """
_HOOK = "INSERT INTO webhooks VALUES (?, ?, 'chat', ?, ?, ?, ?, 'on', ?, ?, 0, 0, 0, 0, 0, 0)"
_OTHERS = "SELECT count(*) FROM chats WHERE account = ? AND game <> ?"


@dataclass(frozen=True)
class Chat:
    """The group chat of a table, without its address."""

    game: str
    """The table, or the tournament."""
    account: str
    """The account behind the address."""
    webhook: str
    """Id of its row of `webhooks`."""
    language: str
    host: str
    state: str
    """`on`, or `off` after days without a success."""
    made: int
    zone: str
    """Time zone of its messages: that of the account."""


@dataclass(frozen=True)
class ChatRequest:
    """A requested chat of a table; `ruleset` is for its first message."""

    game: str
    ruleset: str
    url: str
    language: str


class Chats(AccountTable):
    """The table of chats. Every method may raise StoreUnavailable."""

    def find(self, game: str) -> Chat | None:
        """Return the chat of a table, or None."""
        return self._find_one("c.game = ?", game)

    def list_by_account(self, account: str) -> list[Chat]:
        """Return the chats of an account, by game."""
        rows = self._database.execute(f"{_SELECT}c.account = ? ORDER BY c.game", (account,))
        return [_parse_chat(row) for row in rows]

    def find_by_webhook(self, webhook: str) -> Chat | None:
        """Return the chat with that row of `webhooks`, or None."""
        return self._find_one("c.webhook = ?", webhook)

    def _find_one(self, where: str, value: str) -> Chat | None:
        return next((_parse_chat(row) for row in self._database.execute(_SELECT + where, (value,))), None)

    def save(
        self, account: str, chat: ChatRequest, mode: str, since: int, extra_statements: Sequence[Statement]
    ) -> None:
        """Store a table's chat in place of its previous one, and a first message to it.

        `since` is the log position after which events count. Raises AccountError for a forbidden URL, and for too many.
        """
        aim, now, webhook = parse_webhook_url(chat.url, mode), self._now(), secrets.token_hex(8)
        box = Webhooks(self._database, self._keys, self._now).seal_box(webhook, chat.url, [])
        data = {"game": chat.game, "ruleset": chat.ruleset}
        types = FEED_TYPES if is_tournament_id(chat.game) else TYPES
        introduction = Notice(webhook, INTRODUCTION, (chat.game,), now, data, chat.game)

        def work(execute: Execute) -> None:
            if int(execute(_OTHERS, (account, chat.game))[0][0]) >= MOST:
                raise AccountError("too_many", Message("An account has {most} chats at most.", most=MOST))
            write(execute, _delete_chats("game = ?", chat.game))
            execute(_HOOK, (webhook, account, chat.game, " ".join(types), aim.host, box, now, since))
            execute("INSERT INTO chats VALUES (?, ?, ?, ?)", (chat.game, account, webhook, chat.language))
            Outbox(self._database, self._keys, self._now).insert(execute, [introduction])
            write(execute, extra_statements)

        self._for_account(account, work)

    def remove(self, game: str, extra_statements: Sequence[Statement]) -> bool:
        """Delete a table's chat with all its deliveries; return whether there was one."""

        def work(execute: Execute) -> bool:
            if not execute("SELECT 1 FROM chats WHERE game = ?", (game,)):
                return False
            write(execute, [*_delete_chats("game = ?", game), *extra_statements])
            return True

        return self._in_transaction(work)

    def erase(self, account: str) -> list[Statement]:
        """Return statements that delete the chats of an account."""
        return _delete_chats("account = ?", account)


def _delete_chats(where: str, value: str) -> list[Statement]:
    return [
        *delete_webhooks(f"about = '{CHAT}' AND {where}", value),
        (f"DELETE FROM chats WHERE {where}", (value,)),  # noqa: S608 - our own names
    ]


def _parse_chat(row: Row) -> Chat:
    game, account, webhook, language, host, state, made, zone = row
    return Chat(game, account, webhook, language, host, state, int(made), zone or UTC_NAME)
