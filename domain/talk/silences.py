"""Silences: for a time somebody writes no words, to a table by its officers, anywhere by moderators.

Moves, proposed treaties and answers to them have no words, and go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from domain.errors import RuleError
from domain.service.database import Database, Row, Statement, placeholders

TABLES = (
    # `person` is a player of the game; with an empty game an account, silent everywhere. Times in ms.
    """CREATE TABLE IF NOT EXISTS talk_silences (
  game TEXT NOT NULL, person TEXT NOT NULL, until BIGINT NOT NULL, reason TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (game, person))""",
    "CREATE INDEX IF NOT EXISTS talk_silences_person ON talk_silences (person)",
)
"""Made with the other tables of talk."""

EVERYWHERE = ""
"""The game of a silence by a moderator: it stops letters too."""

HOUR = 3_600_000
"""One hour, ms."""

MOST_DAYS = 366
"""Longest silence, days."""

_SELECT = "SELECT game, person, until, reason, at FROM talk_silences WHERE until > ? AND "
_SET = """
INSERT INTO talk_silences VALUES (?, ?, ?, ?, ?) ON CONFLICT (game, person) DO UPDATE
SET until = excluded.until, reason = excluded.reason, at = excluded.at"""


class Silence(NamedTuple):
    """A silence in force."""

    game: str
    person: str
    until: int
    reason: str
    at: int

    @property
    def stops_letters(self) -> bool:
        """Return whether letters are stopped as well."""
        return self.game == EVERYWHERE

    @property
    def refusal(self) -> RuleError:
        """Return the error for words of the person."""
        return RuleError("silenced", "", {"until": self.until, "reason": self.reason})


class Silences:
    """The table of silences. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock

    def set(self, game: str, person: str, until: int, reason: str) -> Statement:
        """Return the statement to store a silence in place of an earlier one."""
        return _SET, (game, person, until, reason, self._clock())

    def lift(self, game: str, person: str) -> Statement:
        """Return the statement to end a silence."""
        return "DELETE FROM talk_silences WHERE game = ? AND person = ?", (game, person)

    def find(self, game: str, player: str, account: str) -> Silence | None:
        """Return the silence of the account everywhere, or else of the player at a table, or None."""
        where = "(game = ? AND person = ? OR game = '' AND person = ?) AND person <> '' ORDER BY game"
        return next(map(_parse, self._database.execute(_SELECT + where, (self._clock(), game, player, account))), None)

    def list_by_table(self, game: str) -> list[Silence]:
        """Return the silences at a table, the oldest first."""
        return [_parse(row) for row in self._database.execute(f"{_SELECT}game = ? ORDER BY at", (self._clock(), game))]


def erase_silences(people: Sequence[str]) -> Statement:
    """Return a statement to delete the silences of a person with these ids."""
    return f"DELETE FROM talk_silences WHERE person IN ({placeholders(people)})", people  # noqa: S608 - question marks only


def _parse(row: Row) -> Silence:
    game, person, until, reason, at = row
    return Silence(game, person, int(until), reason, int(at))
