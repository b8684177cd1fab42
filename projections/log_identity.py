"""Identity check of views and log. After a restore, views can be newer than the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from domain.errors import AnnalsError
from domain.ledger import Ledger
from projections.schema import generations, parts
from projections.view_store import ViewStore


@dataclass(frozen=True)
class LastRecord:
    """The last record read by a partition of the live views."""

    position: int
    game: str
    version: int
    hash: str


def list_last_records(views: ViewStore) -> set[LastRecord]:
    """Return the last record of each partition that has read any."""
    p = parts.c
    live = select(p.position, p.game, p.version, p.hash).join(generations, generations.c.gen == p.gen)
    with views.reading() as db:
        return {LastRecord(*row) for row in db.execute(live.where(generations.c.live, p.position > 0)).all()}


def contains_all(ledger: Ledger, last_records: set[LastRecord]) -> bool:
    """Return True if the log has all these records at their positions.

    Each record names its predecessor's hash and has salts from a secret seed, so no other history has the same record.
    """
    return all(_contains(ledger, last) for last in last_records)


def _contains(ledger: Ledger, record: LastRecord) -> bool:
    for entry in ledger.log(record.position - 1, 1):
        if (entry.position, entry.game, entry.version) != (record.position, record.game, record.version):
            return False
        try:
            return bool(entry.record.hash == record.hash)
        except AnnalsError:  # unreadable, also for the views
            return True
    return False
