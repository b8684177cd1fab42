"""Whether views are of a log: they may be those of a later time, where an older ledger was put back beside them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from domain.errors import AnnalsError
from domain.ledger import Ledger
from projections.schema import generations, parts
from projections.view_store import Views


@dataclass(frozen=True)
class Newest:
    """The last record that a part of the live views has read."""

    position: int
    game: str
    version: int
    hash: str


def newest(views: Views) -> set[Newest]:
    """Where the parts are; nothing of those that have read nothing."""
    p = parts.c
    live = select(p.position, p.game, p.version, p.hash).join(generations, generations.c.gen == p.gen)
    with views.reading() as db:
        return {Newest(*row) for row in db.execute(live.where(generations.c.live, p.position > 0)).all()}


def holds(ledger: Ledger, newest: set[Newest]) -> bool:
    """Whether these records stand in the log, at their positions.

    Each names the hash of the one before it, and its salts are of a secret seed: no other history has the same.
    """
    return all(_stands(ledger, last) for last in newest)


def _stands(ledger: Ledger, last: Newest) -> bool:
    for entry in ledger.log(last.position - 1, 1):
        if (entry.position, entry.game, entry.version) != (last.position, last.game, last.version):
            return False
        try:
            return bool(entry.record.hash == last.hash)
        except AnnalsError:  # nobody can read it, and the views could not
            return True
    return False
