"""Whether views are of a log: they may be those of a later time, where an older ledger was put back beside them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from domain.errors import AnnalsError
from domain.ledger import Ledger
from projections.schema import generations, leaves
from projections.store import Views


@dataclass(frozen=True)
class Newest:
    """The last record that the live views have read."""

    position: int
    game: str = ""
    version: int = 0
    hash: str = ""


def newest(views: Views) -> Newest:
    """Where the views are; at position 0 if they have read nothing."""
    with views.reading() as db:
        row = db.execute(select(generations).where(generations.c.live)).first()
        if row is None or not row.position:
            return Newest(0)
        leaf = db.execute(select(leaves).filter_by(gen=row.gen, leaf=row.leaves - 1)).first()
    return Newest(row.position, leaf.game, leaf.version, leaf.hash) if leaf else Newest(row.position)


def holds(ledger: Ledger, last: Newest) -> bool:
    """Whether that record stands in the log, at that position.

    It names the hash of the one before it, and its salts are of a secret seed: no other history has the same.
    """
    if not last.position:
        return True
    for entry in ledger.log(last.position - 1, 1):
        if (entry.position, entry.game, entry.version) != (last.position, last.game, last.version):
            return False
        try:
            return bool(entry.record.hash == last.hash)
        except AnnalsError:  # nobody can read it, and the views could not
            return True
    return False
