"""Relations between people: challenges to a table, watched tables, and blocked players."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.accounts.account_tables import DAY, AccountTable, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Statement, placeholders
from domain.service.hidden_players import is_shown
from domain.types import Seat

DEFAULT_LIFETIME = 7 * DAY
"""Default lifetime of a challenge, ms."""

MOST_CHALLENGES, MOST_BLOCKS, MOST_WATCHED, MOST_RELATIONS = 100, 500, 500, 100

AT_ONCE = 500
"""Most people of one query."""

_COLUMNS = "game, called, player, seat, by, at, until, answer"
_SELECT = f"SELECT {_COLUMNS} FROM challenges WHERE "  # noqa: S608 - our own names
_PUT = """
INSERT INTO challenges VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT (game, called) DO UPDATE
SET player = excluded.player, seat = excluded.seat, by = excluded.by, at = excluded.at, until = excluded.until,
  answer = ''"""


_DECLARED = f"""
SELECT me.player, other.player FROM accounts me JOIN relations ON relations.account = me.id
JOIN account_players ON account_players.player = relations.player AND {is_shown("relations.player")}
JOIN accounts other ON other.id = account_players.account
"""  # noqa: S608 - our own names


@dataclass(frozen=True)
class Challenge:
    """An invitation of a person to a table; a seat, if named, is reserved meanwhile."""

    game: str
    called: str
    """The name or player id as typed by the challenger."""
    player: str
    """The player id, empty if unknown; the challenger does not learn it."""
    seat: Seat | None
    by: str
    """The challenger's player id."""
    at: int
    until: int
    answer: str = ""
    """`accepted` or `declined`; empty while open."""


class SocialGraph(AccountTable):
    """The tables of relations. Every method may raise StoreUnavailable."""

    # --- challenges

    def insert_challenges(self, *challenges: Challenge) -> list[Statement]:
        """Return statements that store challenges, in place of earlier ones to the same people at the same table."""
        return [
            (_PUT, (c.game, c.called, c.player, -1 if c.seat is None else c.seat, c.by, c.at, c.until))
            for c in challenges
        ]

    def send_challenge(self, challenge: Challenge) -> None:
        """Store a challenge; raise AccountError for a reserved seat, or too many challenges at the table."""

        def work(execute: Execute) -> None:
            others = [c for c in self._select(execute, "game = ?", challenge.game) if c.called != challenge.called]
            if challenge.seat is not None and any(c.seat == challenge.seat and self._is_open(c) for c in others):
                raise AccountError("seat_reserved")
            if len(others) >= MOST_CHALLENGES:
                raise AccountError("too_many", Message("A table has {most} challenges at most.", most=MOST_CHALLENGES))
            write(execute, self.insert_challenges(challenge))

        self._in_transaction(work)

    def withdraw(self, game: str, called: str) -> bool:
        """Delete a challenge; return whether it existed."""
        statement = "DELETE FROM challenges WHERE game = ? AND called = ? RETURNING called"
        return bool(self._database.execute(statement, (game, called)))

    def answer(self, game: str, players: Sequence[str], answer: str) -> list[Statement]:
        """Return statements that store the answer of a person with these ids to challenges at a table."""
        statement = "UPDATE challenges SET answer = ? WHERE game = ? AND answer = '' AND player = ?"
        return [(statement, (answer, game, player)) for player in players]

    def decline(self, game: str, players: Sequence[str]) -> bool:
        """Decline the challenges of a person with these ids at a table; return whether there were any."""
        if not any(c.game == game for c in self.list_challenges(players)):
            return False
        self._in_transaction(lambda execute: write(execute, self.answer(game, players, "declined")))
        return True

    def list_by_table(self, game: str) -> list[Challenge]:
        """Return all challenges at a table, oldest first."""
        return self._select(self._database.execute, "game = ? ORDER BY at, called", game)

    def list_challenges(self, players: Sequence[str]) -> list[Challenge]:
        """Return the open challenges to a person with these ids, oldest first."""
        challenges = [c for p in players for c in self._select(self._database.execute, "player = ? ORDER BY at", p)]
        return sorted((c for c in challenges if self._is_open(c)), key=lambda c: (c.at, c.game))

    def list_reserved_seats(self, game: str) -> dict[Seat, str]:
        """Return the reserved seats of a table, each with its player id."""
        return {c.seat: c.player for c in self.list_by_table(game) if c.seat is not None and self._is_open(c)}

    def _is_open(self, challenge: Challenge) -> bool:
        return not challenge.answer and challenge.until > self._now()

    def _select(self, execute: Execute, where: str, *params: object) -> list[Challenge]:
        rows = execute(_SELECT + where, params)
        return [Challenge(g, c, p, None if s < 0 else s, by, at, until, a) for g, c, p, s, by, at, until, a in rows]

    # --- who is kept away

    def block(self, account: str, player: str) -> None:
        """Block a player; raise AccountError for too many."""
        self._add("blocks", "player", account, player, MOST_BLOCKS)

    def unblock(self, account: str, player: str) -> None:
        """Unblock a player."""
        self._database.execute("DELETE FROM blocks WHERE account = ? AND player = ?", (account, player))

    def list_blocks(self, account: str) -> list[tuple[str, int]]:
        """Return the players blocked by an account, with the time, ms."""
        rows = self._database.execute("SELECT player, since FROM blocks WHERE account = ? ORDER BY since", (account,))
        return [(str(player), int(since)) for player, since in rows]

    # --- relations

    def set_relations(self, account: str, players: Sequence[str]) -> None:
        """Store an account's declared relations, in place of earlier ones."""
        rows = [("INSERT INTO relations VALUES (?, ?, ?)", (account, player, self._now())) for player in {*players}]
        clear: Statement = ("DELETE FROM relations WHERE account = ?", (account,))
        self._in_transaction(lambda execute: write(execute, [clear, *rows]))

    def list_relations(self, account: str) -> list[str]:
        """Return the players of an account's declared relations."""
        rows = self._database.execute("SELECT player FROM relations WHERE account = ? ORDER BY player", (account,))
        return [str(player) for (player,) in rows]

    def list_mutual_relations(self, players: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs, the smaller id first, of these accounts' own player ids with relations declared by both."""
        declared = set[tuple[str, str]]()
        for start in range(0, len(players), AT_ONCE):
            some = players[start : start + AT_ONCE]
            query = f"{_DECLARED} WHERE me.player IN ({placeholders(some)})"
            declared |= {(str(one), str(other)) for one, other in self._database.execute(query, some)}
        return {(one, other) for one, other in declared if one < other and (other, one) in declared}

    # --- tables that are watched

    def watch(self, account: str, game: str) -> None:
        """Add a table to the watched ones; raise AccountError for too many."""
        self._add("watching", "game", account, game, MOST_WATCHED)

    def unwatch(self, account: str, game: str) -> None:
        """Remove a table from the watched ones."""
        self._database.execute("DELETE FROM watching WHERE account = ? AND game = ?", (account, game))

    def list_watched(self, account: str) -> list[str]:
        """Return the watched tables, newest first."""
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

        self._in_transaction(work)

    # --- being forgotten

    def erase(self, players: Sequence[str]) -> list[Statement]:
        """Return statements that delete the challenges to and by a person; `Accounts.erase` deletes the rest."""
        return [
            (f"DELETE FROM challenges WHERE {column} = ?", (player,))  # noqa: S608 - our own names
            for player in players
            for column in ("player", "by")
        ]
