"""Whom people play with: challenges to a table, tables that are watched, and people who are kept away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.accounts.account_tables import DAY, Rows, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement
from domain.types import Seat

LASTS = 7 * DAY
"""How long a challenge stands that says nothing else, ms."""

MOST_CHALLENGES, MOST_BLOCKS, MOST_WATCHED = 100, 500, 500

_COLUMNS = "game, called, player, seat, by, at, until, answer"
_SELECT = f"SELECT {_COLUMNS} FROM challenges WHERE "  # noqa: S608 - our own names
_PUT = """
INSERT INTO challenges VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT (game, called) DO UPDATE
SET player = excluded.player, seat = excluded.seat, by = excluded.by, at = excluded.at, until = excluded.until,
  answer = ''"""


@dataclass(frozen=True)
class Challenge:
    """Somebody is asked to take a seat at a table, which is kept meanwhile if it is a certain one."""

    game: str
    called: str
    """By what the person was asked for: a name, or a player's id."""
    player: str
    """Who that is; empty if nobody is called so, which the one who asks is not told."""
    seat: Seat | None
    by: str
    """The player who asks."""
    at: int
    until: int
    answer: str = ""
    """`accepted` or `declined`; empty before."""


class Circle(Rows):
    """May raise StoreUnavailable."""

    # --- challenges

    def challenge(self, *asked: Challenge) -> list[Statement]:
        """To be written: these stand, in place of those before them to the same people at the same table."""
        return [
            (_PUT, (c.game, c.called, c.player, -1 if c.seat is None else c.seat, c.by, c.at, c.until)) for c in asked
        ]

    def ask(self, asked: Challenge) -> None:
        """Write it down. Raises AccountError for a seat that is kept for another, and for too many at a table."""

        def work(execute: Execute) -> None:
            others = [c for c in self._read(execute, "game = ?", asked.game) if c.called != asked.called]
            if asked.seat is not None and any(c.seat == asked.seat and self._stands(c) for c in others):
                raise AccountError("seat_reserved")
            if len(others) >= MOST_CHALLENGES:
                raise AccountError("too_many", Message("A table has {most} challenges at most.", most=MOST_CHALLENGES))
            write(execute, self.challenge(asked))

        self._together(work)

    def withdraw(self, game: str, called: str) -> bool:
        """The challenge is gone; whether there was one."""
        statement = "DELETE FROM challenges WHERE game = ? AND called = ? RETURNING called"
        return bool(self._database.execute(statement, (game, called)))

    def answered(self, game: str, players: Sequence[str], answer: str) -> list[Statement]:
        """To be written: what whoever has these ids says to a challenge at that table, if there is one."""
        statement = "UPDATE challenges SET answer = ? WHERE game = ? AND answer = '' AND player = ?"
        return [(statement, (answer, game, player)) for player in players]

    def decline(self, game: str, players: Sequence[str]) -> bool:
        """Say no; whether there was anything to say it to."""
        if not any(c.game == game for c in self.challenges(players)):
            return False
        self._together(lambda execute: write(execute, self.answered(game, players, "declined")))
        return True

    def at_table(self, game: str) -> list[Challenge]:
        """All of a table, the oldest first."""
        return self._read(self._database.execute, "game = ? ORDER BY at, called", game)

    def challenges(self, players: Sequence[str]) -> list[Challenge]:
        """Those to whoever has these ids that stand, the oldest first."""
        found = [c for p in players for c in self._read(self._database.execute, "player = ? ORDER BY at", p)]
        return sorted((c for c in found if self._stands(c)), key=lambda c: (c.at, c.game))

    def kept(self, game: str) -> dict[Seat, str]:
        """Seat -> the player for whom it is kept."""
        return {c.seat: c.player for c in self.at_table(game) if c.seat is not None and self._stands(c)}

    def _stands(self, challenge: Challenge) -> bool:
        return not challenge.answer and challenge.until > self._now()

    def _read(self, execute: Execute, where: str, *params: object) -> list[Challenge]:
        rows = execute(_SELECT + where, params)
        return [Challenge(g, c, p, None if s < 0 else s, by, at, until, a) for g, c, p, s, by, at, until, a in rows]

    # --- who is kept away

    def block(self, account: str, player: str) -> None:
        """Keep that person away. Raises AccountError for too many."""
        self._add("blocks", "player", account, player, MOST_BLOCKS)

    def unblock(self, account: str, player: str) -> None:
        """Keep that person away no longer."""
        self._database.execute("DELETE FROM blocks WHERE account = ? AND player = ?", (account, player))

    def blocks(self, account: str) -> list[tuple[str, int]]:
        """Whom an account keeps away, and since when, ms."""
        rows = self._database.execute("SELECT player, since FROM blocks WHERE account = ? ORDER BY since", (account,))
        return [(str(player), int(since)) for player, since in rows]

    # --- tables that are watched

    def watch(self, account: str, game: str) -> None:
        """Put it on the list. Raises AccountError for too many."""
        self._add("watching", "game", account, game, MOST_WATCHED)

    def unwatch(self, account: str, game: str) -> None:
        """Take it from the list."""
        self._database.execute("DELETE FROM watching WHERE account = ? AND game = ?", (account, game))

    def watched(self, account: str) -> list[str]:
        """The tables on the list, the newest first."""
        rows = self._database.execute(
            "SELECT game FROM watching WHERE account = ? ORDER BY since DESC, game", (account,)
        )
        return [str(game) for (game,) in rows]

    def _add(self, table: str, column: str, account: str, value: str, most: int) -> None:
        def work(execute: Execute) -> None:
            rows = execute(f"SELECT {column} FROM {table} WHERE account = ?", (account,))  # noqa: S608 - our own names
            if (value,) in rows:
                return
            if len(rows) >= most:
                raise AccountError("too_many", Message("A list has {most} entries at most.", most=most))
            execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (account, value, self._now()))  # noqa: S608 - our own names

        self._together(work)

    # --- being forgotten

    def forgotten(self, players: Sequence[str]) -> list[Statement]:
        """To be written with what erases a person, beside what belongs to the account."""
        return [
            (f"DELETE FROM challenges WHERE {column} = ?", (player,))  # noqa: S608 - our own names
            for player in players
            for column in ("player", "by")
        ]
