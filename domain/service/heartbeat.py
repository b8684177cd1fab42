"""When somebody who asked was answered last, and when nobody was: rows beside the log, kept with it.

The heart beats whenever the API has answered through its front door, so a beat stands for "a player could have played".
A silence is written down by whoever beats after it, before the beat: so none is missed, whoever is killed meanwhile.
Until its deadlines have been moved it stands unsettled, and no deadline after its beginning is played.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from domain.service.database import Database, Execute, Row, create
from domain.service.service_clock import TABLES

SILENCE = 5_000
"""ms between two beats that are an outage."""

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
# One statement sees one moment.
_KNOWN = """
SELECT (SELECT at FROM heartbeat WHERE name = 'service'), (SELECT max(ended) FROM silences),
  (SELECT min(began) FROM silences WHERE settled = 0), (SELECT min(began) FROM leaps WHERE stage < 2)"""

LATE = 2_000
"""ms after which who has asked does not wait for an answer any more."""


ROOM = 256 * 1024
"""Bytes: more than the largest request makes of a record."""


class Outages:
    """The heartbeat of the service as a whole. Times in ms; may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create the tables that are missing."""
        create(self._database, (*_TABLES, *TABLES))

    def beat(self, asked: int, clock: Callable[[], int] | None = None) -> None:
        """Who asked at that time is answered, if that is soon by the `clock`; a time before the last changes nothing.

        It waits where a move would wait, for it stands for one.
        """

        def write(execute: Execute) -> None:
            if clock is not None and clock() - asked > LATE:
                return
            last, _ = _last(execute(_KNOWN, ()))
            if last is not None and asked - last > SILENCE:
                execute(_NOTE, (last, clock() if clock else asked))
            execute(_BEAT, (asked,))

        self._database.among_appends(write)

    def take_room(self) -> None:
        """Raises StoreUnavailable where a large record would not be taken: a beat needs less than any record."""
        filler = secrets.token_hex(ROOM // 2)
        self._database.execute(_FILL, (filler,))
        self._database.execute("DELETE FROM room")

    def answered(self) -> int:
        """Deadlines up to then may be played: until then nobody was kept from answering in time. 0: none.

        While a clock that was set forward is being made good, none that comes after that was noticed.
        """
        last, silent = _last(self._database.execute(_KNOWN))
        return (last or 0) if silent is None else silent

    def beaten(self) -> int:
        """When somebody who asked was answered last, ms; 0: never."""
        return _last(self._database.execute(_KNOWN))[0] or 0

    def unsettled(self) -> list[tuple[int, int]]:
        """Outages whose deadlines are still to be moved: when each began and ended."""
        return [(int(began), int(ended)) for began, ended in self._database.execute(_UNSETTLED)]

    def settle(self, began: int) -> None:
        """Its deadlines have been moved."""
        self._database.execute("UPDATE silences SET settled = 1 WHERE began = ?", (began,))


def _last(rows: Sequence[Row]) -> tuple[int | None, int | None]:
    """The last beat, and when the first silence or leap began that is not settled."""
    ((beat, ended, silent, leap),) = rows
    return max((t for t in (beat, ended) if t is not None), default=None), min(
        (t for t in (silent, leap) if t is not None), default=None
    )
