"""When the service was up last, and when it was not: rows beside the log, kept with it."""

from __future__ import annotations

from domain.tables import Database, create

_TABLES = (
    "CREATE TABLE IF NOT EXISTS heartbeat (name TEXT PRIMARY KEY, at BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS outages (began BIGINT PRIMARY KEY, ended BIGINT NOT NULL)",
)
_BEAT = """
INSERT INTO heartbeat VALUES ('service', ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at
WHERE heartbeat.at < excluded.at"""


class Outages:
    """The heartbeat of the service as a whole. Times in ms; may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create the tables that are missing."""
        create(self._database, _TABLES)

    def beat(self, now: int) -> None:
        """The service is up; a time before the last one changes nothing."""
        self._database.execute(_BEAT, (now,))

    def last(self) -> int | None:
        """When it was up last; None if it never was."""
        rows = self._database.execute("SELECT at FROM heartbeat WHERE name = 'service'")
        return int(rows[0][0]) if rows else None

    def note(self, began: int, ended: int) -> int:
        """Write down an outage; when it ended by what was written first, so that a second try finds the same."""
        self._database.execute("INSERT INTO outages VALUES (?, ?) ON CONFLICT DO NOTHING", (began, ended))
        return int(self._database.execute("SELECT ended FROM outages WHERE began = ?", (began,))[0][0])
