"""The last answer of each witness that was asked, for `annals doctor`; in the ledger's database."""

from __future__ import annotations

from dataclasses import dataclass

from domain.service.database import Database, create_tables

_TABLES = (
    """CREATE TABLE IF NOT EXISTS witness_reports (
  name TEXT PRIMARY KEY, size BIGINT NOT NULL, at BIGINT NOT NULL, failure TEXT NOT NULL)""",
)
_SUCCESS = """
INSERT INTO witness_reports VALUES (?, ?, ?, '') ON CONFLICT (name) DO UPDATE
SET size = excluded.size, at = excluded.at, failure = ''"""
_FAILURE = """
INSERT INTO witness_reports VALUES (?, 0, 0, ?) ON CONFLICT (name) DO UPDATE SET failure = excluded.failure"""


@dataclass(frozen=True)
class WitnessReport:
    """The last answer of a witness."""

    name: str
    size: int
    """Size of the last checkpoint that it cosigned, 0 for none."""
    at: int
    """Time of that cosignature, ms since 1970 UTC."""
    failure: str
    """Reason of a later failure; empty if there is none."""


class WitnessReports:
    """Stores the reports. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def migrate(self) -> None:
        """Create missing tables."""
        create_tables(self._database, _TABLES)

    def list_all(self) -> list[WitnessReport]:
        """Return a report for each witness that has been asked."""
        rows = self._database.execute("SELECT name, size, at, failure FROM witness_reports ORDER BY name")
        return [WitnessReport(str(name), int(size), int(at), str(failure)) for name, size, at, failure in rows]

    def record_success(self, name: str, size: int, now: int) -> None:
        """Record a cosignature of the checkpoint of this size."""
        self._database.execute(_SUCCESS, (name, size, now))

    def record_failure(self, name: str, failure: str) -> None:
        """Record a failed request; size and time of the last cosignature stay."""
        self._database.execute(_FAILURE, (name, failure))
