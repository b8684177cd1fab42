"""The server of a replicated database, and whether its commits wait for another one."""

from __future__ import annotations

from dataclasses import dataclass

from domain.service.database import Database, Execute


@dataclass(frozen=True)
class Replication:
    """State of the server that is asked; SQLite has neither timelines nor standbys."""

    timeline: int
    """Grows whenever another server takes over, or a backup is restored to a point in time."""
    is_confirmed: bool
    """Whether a commit returns only once a synchronous standby has stored it too."""
    has_standbys: bool
    """Whether any server receives its changes, or is expected back."""

    @property
    def may_lose(self) -> bool:
        """Return whether a standby could take over without the newest commits."""
        return self.has_standbys and not self.is_confirmed


def read_replication(database: Database, execute: Execute | None = None) -> Replication:
    """Return the state of the server, with `execute` of the one of that transaction. Raises StoreUnavailable."""
    ((timeline, confirmed, standbys),) = (execute or database.execute)(database.replication_query, ())
    return Replication(int(timeline), bool(confirmed), bool(standbys))
