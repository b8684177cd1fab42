"""Series of tournaments that people follow: the newest event of each, by account.

With the record that names the next event, those who follow go over to it. They are told of it.
"""

from __future__ import annotations

from domain.accounts.account_tables import AccountTable, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement

MOST = 100
"""Series that an account follows."""

_ADD = "INSERT INTO followed_series VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_GO_ON = """
INSERT INTO followed_series SELECT account, CAST(? AS TEXT), since FROM followed_series WHERE tournament = ?
ON CONFLICT DO NOTHING"""


class FollowedSeries(AccountTable):
    """The table of followed series. Every method may raise StoreUnavailable."""

    def follow(self, account: str, tournament: str) -> None:
        """Let an account follow the series of a tournament; raise AccountError for too many."""

        def work(execute: Execute) -> None:
            others = "SELECT count(*) FROM followed_series WHERE account = ? AND tournament <> ?"
            if int(execute(others, (account, tournament))[0][0]) >= MOST:
                raise AccountError("too_many", Message("A list has {most} entries at most.", most=MOST))
            execute(_ADD, (account, tournament, self._now()))

        self._for_account(account, work)

    def unfollow(self, account: str, tournament: str) -> None:
        """End it."""
        statement = ("DELETE FROM followed_series WHERE account = ? AND tournament = ?", (account, tournament))
        self._in_transaction(lambda execute: write(execute, [statement]))

    def list_by_account(self, account: str) -> list[str]:
        """Return the newest event of each series that an account follows, the last one followed first."""
        rows = self._database.execute(
            "SELECT tournament FROM followed_series WHERE account = ? ORDER BY since DESC, tournament", (account,)
        )
        return [str(tournament) for (tournament,) in rows]

    def erase(self, account: str) -> list[Statement]:
        """Return statements that delete everything that an account follows."""
        return [("DELETE FROM followed_series WHERE account = ?", (account,))]


def pass_on(tournament: str, following: str) -> list[Statement]:
    """Return statements after which those who follow a tournament follow the next event instead."""
    return [
        (_GO_ON, (following, tournament)),
        ("DELETE FROM followed_series WHERE tournament = ?", (tournament,)),
    ]
