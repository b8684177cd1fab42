"""When somebody who asked was answered last, and when nobody was: rows beside the log, kept with it.

The heart beats whenever the API has answered through its front door, so a beat stands for "a player could have played".
A silence is written down by whoever beats after it, before the beat: so none is missed, whoever is killed meanwhile.
Until its deadlines have been moved it stands unsettled, and no deadline after its beginning is played.
"""

from __future__ import annotations

from domain.tables import Database, create

SILENCE = 5_000
"""ms between two beats that are an outage."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS heartbeat (name TEXT PRIMARY KEY, at BIGINT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS silences (
  began BIGINT PRIMARY KEY, ended BIGINT NOT NULL, settled INTEGER NOT NULL)""",
)
_BEAT = """
INSERT INTO heartbeat VALUES ('service', ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at
WHERE heartbeat.at < excluded.at"""
_NOTE = "INSERT INTO silences VALUES (?, ?, 0) ON CONFLICT DO NOTHING"
_UNSETTLED = "SELECT began, ended FROM silences WHERE settled = 0 ORDER BY began"
# One statement sees one moment. Who was killed between the two rows has left the silence, whose end is a beat as well.
_KNOWN = """
SELECT (SELECT at FROM heartbeat WHERE name = 'service'), (SELECT max(ended) FROM silences),
  (SELECT min(began) FROM silences WHERE settled = 0)"""


class Outages:
    """The heartbeat of the service as a whole. Times in ms; may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create the tables that are missing."""
        create(self._database, _TABLES)

    def beat(self, now: int) -> None:
        """Who asked at that time was answered; a time before the last one changes nothing."""
        last, _ = self._known()
        if last is not None and now - last > SILENCE:
            self._database.execute(_NOTE, (last, now))
        self._database.execute(_BEAT, (now,))

    def answered(self) -> int:
        """Deadlines up to then may be played: until then nobody was kept from answering in time. 0: none."""
        last, silent = self._known()
        return (last or 0) if silent is None else silent

    def _known(self) -> tuple[int | None, int | None]:
        """The last beat, and when the first silence began that is not settled."""
        ((beat, ended, silent),) = self._database.execute(_KNOWN)
        return max((t for t in (beat, ended) if t is not None), default=None), silent

    def unsettled(self) -> list[tuple[int, int]]:
        """Outages whose deadlines are still to be moved: when each began and ended."""
        return [(int(began), int(ended)) for began, ended in self._database.execute(_UNSETTLED)]

    def settle(self, began: int) -> None:
        """Its deadlines have been moved."""
        self._database.execute("UPDATE silences SET settled = 1 WHERE began = ?", (began,))
