"""Heartbeat and outages of the service, stored in the ledger's database.

The heart beats after each successful request through the reverse proxy, so a beat means that players could have played.
The first beat after an outage stores the outage first, so none is lost if processes are killed. No deadline after the
start of an outage is played until its deadlines have been moved.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from domain.service.database import Database, Execute, Row, create_tables
from domain.service.service_clock import TABLES

MIN_OUTAGE = 5_000
"""ms between two beats that count as an outage."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS heartbeat (name TEXT PRIMARY KEY, at BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS room (id INTEGER PRIMARY KEY, filler TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS silences (
  began BIGINT PRIMARY KEY, ended BIGINT NOT NULL, settled INTEGER NOT NULL)""",
)
_BEAT = """
INSERT INTO heartbeat VALUES ('service', ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at
WHERE heartbeat.at < excluded.at"""
_NOTE = "INSERT INTO silences VALUES (?, ?, 0) ON CONFLICT DO NOTHING"
_FILL = "INSERT INTO room VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET filler = excluded.filler"
_UNSETTLED = "SELECT began, ended FROM silences WHERE settled = 0 ORDER BY began"
# One statement reads a consistent snapshot.
_TIMES = """
SELECT (SELECT at FROM heartbeat WHERE name = 'service'), (SELECT max(ended) FROM silences),
  (SELECT min(began) FROM silences WHERE settled = 0), (SELECT min(began) FROM leaps WHERE stage < 2)"""

LONGEST_ANSWER = 2_000
"""ms after which a client no longer waits for its response."""


PROBE_BYTES = 256 * 1024
"""Bytes: larger than the record of any request."""


class Heartbeat:
    """The heartbeat of the whole service. Times are ms; every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create missing tables."""
        create_tables(self._database, (*_TABLES, *TABLES))

    def beat(self, asked_at: int, clock: Callable[[], int] | None = None) -> None:
        """Store a beat for a request sent at `asked_at`, unless its response is late by the `clock`.

        Earlier times than the last beat change nothing. The transaction takes the append lock, like a move.
        """

        def write(execute: Execute) -> None:
            if clock is not None and clock() - asked_at > LONGEST_ANSWER:
                return
            last, _ = _parse_times(execute(_TIMES, ()))
            if last is not None and asked_at - last > MIN_OUTAGE:
                execute(_NOTE, (last, clock() if clock else asked_at))
            execute(_BEAT, (asked_at,))

        self._database.run_in_append_order(write)

    def check_write_space(self) -> None:
        """Raise StoreUnavailable if a large record could not be written."""
        filler = secrets.token_hex(PROBE_BYTES // 2)
        self._database.execute(_FILL, (filler,))
        self._database.execute("DELETE FROM room")

    def deadlines_valid_until(self) -> int:
        """Return the time (ms) up to which missed deadlines may be played, or 0.

        Players could act until then. While a forward jump of the clock is pending, the time of the jump is the limit.
        """
        last, silent = _parse_times(self._database.execute(_TIMES))
        return (last or 0) if silent is None else silent

    def last_beat(self) -> int:
        """Return the time of the last beat, ms; 0 for none."""
        return _parse_times(self._database.execute(_TIMES))[0] or 0

    def list_unresolved(self) -> list[tuple[int, int]]:
        """Return the start and end of each outage with deadlines still to be moved."""
        return [(int(began), int(ended)) for began, ended in self._database.execute(_UNSETTLED)]

    def mark_resolved(self, began: int) -> None:
        """Record that the deadlines of an outage have been moved."""
        self._database.execute("UPDATE silences SET settled = 1 WHERE began = ?", (began,))


def _parse_times(rows: Sequence[Row]) -> tuple[int | None, int | None]:
    """Return the last beat, and the start of the first unresolved outage or clock jump."""
    ((beat, ended, silent, leap),) = rows
    return max((t for t in (beat, ended) if t is not None), default=None), min(
        (t for t in (silent, leap) if t is not None), default=None
    )
