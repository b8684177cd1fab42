"""Mails that wait for their reader: one of each type per table, until the person looks at the table."""

from __future__ import annotations

from domain.accounts.account_tables import AccountTable
from domain.service.database import Statement

ONCE_TYPES = ("turn.due", "deadline.near")
"""Events with one mail per table until the person looks there."""

_MARK = """
INSERT INTO mail_unread
SELECT h.account, d.game, d.type, CAST(? AS BIGINT) FROM deliveries d JOIN webhooks h ON h.id = d.webhook WHERE d.id = ?
ON CONFLICT DO NOTHING"""
_OF_PLAYER = "game = ? AND account IN (SELECT account FROM account_players WHERE player = ?)"


class UnreadMail(AccountTable):
    """The table of unread mails. Every method may raise StoreUnavailable."""

    def has_unread(self, account: str, game: str, type_: str) -> bool:
        """Return whether a mail of that type was sent since the person last looked at the table."""
        query = "SELECT 1 FROM mail_unread WHERE account = ? AND game = ? AND type = ?"
        return bool(self._database.execute(query, (account, game, type_)))

    def mark_seen(self, game: str, player: str) -> None:
        """Note that the person behind a player id looks at a table. Write only after a mail."""
        if self._database.execute(f"SELECT 1 FROM mail_unread WHERE {_OF_PLAYER}", (game, player)):  # noqa: S608 - our own names
            self._database.execute(f"DELETE FROM mail_unread WHERE {_OF_PLAYER}", (game, player))  # noqa: S608 - our own names


def mark_unread(delivery: str, at: int) -> list[Statement]:
    """Return statements that note a sent mail (`at` in ms) until its reader looks at the table."""
    return [(_MARK, (at, delivery))]


def erase_unread(account: str) -> list[Statement]:
    """Return statements that delete an account's unread mails."""
    return [("DELETE FROM mail_unread WHERE account = ?", (account,))]
