"""Reported messages: kept until the report is settled, also from an erasure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from domain.service.database import Database, Row, Statement, placeholders
from domain.types import Seat

TABLES = (
    # `id` is that of the report. `entries`: places in the mailbox, rising. `player` has reported them.
    """CREATE TABLE IF NOT EXISTS talk_reports (
  id TEXT PRIMARY KEY, game TEXT NOT NULL, mailbox INTEGER NOT NULL, player TEXT NOT NULL, handler TEXT NOT NULL,
  entries TEXT NOT NULL, at BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS talk_reports_game ON talk_reports (game, at)",
    # The keys of these messages wait for the outcome of an open report.
    """CREATE TABLE IF NOT EXISTS talk_held (
  report TEXT NOT NULL, game TEXT NOT NULL, number BIGINT NOT NULL, PRIMARY KEY (report, number))""",
    "CREATE INDEX IF NOT EXISTS talk_held_number ON talk_held (game, number)",
)
"""Made with the other tables of talk."""

Handler = Literal["officers", "moderators"]
"""The officers of the table without a stake in the game, or the moderators: they settle the report."""

MOST_REPORTED = 20
"""Messages of one report."""

HELD = "SELECT 1 FROM talk_held h WHERE h.game = {0}.game AND h.number = {0}.number"
"""Condition for a message of a table held by an open report."""

_INSERT = "INSERT INTO talk_reports VALUES (?, ?, ?, ?, ?, ?, ?)"
_SELECT = "SELECT id, game, mailbox, player, handler, entries FROM talk_reports WHERE "


@dataclass(frozen=True)
class ReportedMessages:
    """The messages of a report, in the mailbox of its author."""

    id: str
    game: str
    mailbox: Seat
    player: str
    handler: Handler
    entries: Sequence[int]


class MessageReports:
    """The tables of reported messages. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database, self._clock = database, clock

    def add(self, reported: ReportedMessages, numbers: Sequence[int]) -> list[Statement]:
        """Return statements to store the messages of a report; `numbers` are their numbers at the table."""
        entries = json.dumps(list(reported.entries))
        row = (reported.id, reported.game, reported.mailbox, reported.player, reported.handler, entries, self._clock())
        held = "INSERT INTO talk_held VALUES (?, ?, ?)"
        return [(_INSERT, row), *((held, (reported.id, reported.game, number)) for number in numbers)]

    def find(self, report: str) -> ReportedMessages | None:
        """Return the messages of a report, or None."""
        return next(map(_parse, self._database.execute(f"{_SELECT}id = ?", (report,))), None)

    def list_by_table(self, game: str) -> list[ReportedMessages]:
        """Return the messages of all reports about a table, the oldest first."""
        return [_parse(row) for row in self._database.execute(f"{_SELECT}game = ? ORDER BY at, id", (game,))]

    def list_open(self, games: Sequence[str]) -> list[str]:
        """Return the tables among these with open reports to their officers."""
        found = "SELECT DISTINCT t.game FROM talk_reports t JOIN reports r ON r.id = t.id WHERE r.settled = 0"
        query = f"{found} AND t.handler = 'officers' AND t.game IN ({placeholders(games)})"
        return [str(game) for (game,) in self._database.execute(query, games)] if games else []

    def list_waiting(self) -> list[str]:
        """Return the tables with open reports to their officers."""
        found = "SELECT DISTINCT t.game FROM talk_reports t JOIN reports r ON r.id = t.id"
        rows = self._database.execute(f"{found} WHERE r.settled = 0 AND t.handler = 'officers' ORDER BY t.game")
        return [str(game) for (game,) in rows]

    def hand_on(self, game: str) -> None:
        """Give the open reports to the officers of a table to the moderators."""
        is_open = "EXISTS (SELECT 1 FROM reports r WHERE r.id = talk_reports.id AND r.settled = 0)"
        statement = (
            f"UPDATE talk_reports SET handler = 'moderators' WHERE game = ? AND handler = 'officers' AND {is_open}"  # noqa: S608 - our own names
        )
        self._database.execute(statement, (game,))

    def scrub(self) -> None:
        """Remove texts erased by a settled report from the files too."""
        self._database.scrub_deleted_pages()


def settle(report: str, *, upheld: bool) -> list[Statement]:
    """Return statements to let the messages of a report go; the texts of an upheld one are erased."""
    of = f"{HELD.format('talk_messages')} AND h.report = ?"
    marked = f"UPDATE talk_messages SET erased = 'report' WHERE erased = '' AND EXISTS ({of})"  # noqa: S608 - our own names
    return [*([(marked, (report,))] if upheld else []), *_release("?", (report,))]


def erase_reports(players: Sequence[str]) -> list[Statement]:
    """Return statements to delete the messages reported by a person with these ids."""
    own = f"player IN ({placeholders(players)})"
    return [
        *_release(f"SELECT id FROM talk_reports WHERE {own}", players),  # noqa: S608 - question marks only
        (f"DELETE FROM talk_reports WHERE {own}", players),  # noqa: S608 - question marks only
    ]


def _release(reports: str, params: Sequence[str]) -> list[Statement]:
    """Return statements to end the holds of reports: texts erased meanwhile go, unless held by another one."""

    def waits(table: str) -> str:
        held = HELD.format(table)
        return f"EXISTS ({held} AND h.report IN ({reports})) AND NOT EXISTS ({held} AND h.report NOT IN ({reports}))"

    erased = "SELECT 1 FROM talk_messages m WHERE m.game = talk_keys.game AND m.number = talk_keys.number"
    keys = f"DELETE FROM talk_keys WHERE EXISTS ({erased} AND m.erased <> '') AND {waits('talk_keys')}"  # noqa: S608 - our own names
    texts = f"UPDATE talk_messages SET sealed = '' WHERE erased <> '' AND {waits('talk_messages')}"  # noqa: S608 - our own names
    return [
        (keys, (*params, *params)),
        (texts, (*params, *params)),
        (f"DELETE FROM talk_held WHERE report IN ({reports})", params),  # noqa: S608 - our own names
    ]


def _parse(row: Row) -> ReportedMessages:
    id_, game, mailbox, player, handler, entries = row
    return ReportedMessages(id_, game, int(mailbox), player, handler, tuple(json.loads(entries)))
