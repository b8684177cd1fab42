"""Whether views are of a log: they may be those of a later time, where an older ledger was put back beside them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from domain.errors import AnnalsError
from domain.ledger import Ledger
from projections.schema import generations, parts
from projections.view_store import ViewStore


@dataclass(frozen=True)
class LastRecord:
    """The last record that a part of the live views has read."""

    position: int
    game: str
    version: int
    hash: str


def list_last_records(views: ViewStore) -> set[LastRecord]:
    """Where the parts are; nothing of those that have read nothing."""
    p = parts.c
    live = select(p.position, p.game, p.version, p.hash).join(generations, generations.c.gen == p.gen)
    with views.reading() as db:
        return {LastRecord(*row) for row in db.execute(live.where(generations.c.live, p.position > 0)).all()}


def contains_all(ledger: Ledger, last_records: set[LastRecord]) -> bool:
    """Whether these records stand in the log, at their positions.

    Each names the hash of the one before it, and its salts are of a secret seed: no other history has the same.
    """
    return all(_contains(ledger, last) for last in last_records)


def _contains(ledger: Ledger, record: LastRecord) -> bool:
    for entry in ledger.log(record.position - 1, 1):
        if (entry.position, entry.game, entry.version) != (record.position, record.game, record.version):
            return False
        try:
            return bool(entry.record.hash == record.hash)
        except AnnalsError:  # nobody can read it, and the views could not
            return True
    return False
