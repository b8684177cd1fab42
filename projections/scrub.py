"""The log against its tree: whether every record is still the one that was written, wherever the bytes have changed.

The tree holds the hash of each record's public part, which names the digests of its packs. What a record says is read
from the ledger, what it must be from the views; one who changes both is told by the heads that others keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import bindparam, select

from domain.errors import AnnalsError, WrongKey
from domain.kernel.digest import digest
from domain.ledger import Ledger, LogEntry
from projections import schema
from projections.store import Views

SLICE = 500
"""Records that are looked at at a time."""

_LEAVES = (
    select(schema.leaves.c.game, schema.leaves.c.version, schema.leaves.c.hash)
    .join(schema.generations, schema.generations.c.gen == schema.leaves.c.gen)
    .where(schema.generations.c.live, schema.leaves.c.leaf >= bindparam("first"))
    .order_by(schema.leaves.c.leaf)
    .limit(bindparam("most"))
)


@dataclass(frozen=True)
class Damage:
    """A record that is not what was written."""

    game: str
    version: int
    said: str


def damages(ledger: Ledger, views: Views) -> Iterator[Damage | int]:
    """Each record that is damaged, and after each slice how many have been looked at.

    Ends where the views have not read on, or where a record is missing: from there on nothing has its place.
    """
    position, seen = 0, 0
    while entries := ledger.log(position, SLICE):
        with views.reading() as db:
            leaves = db.execute(_LEAVES, {"first": seen, "most": len(entries)}).all()
        for entry, leaf in zip(entries, leaves, strict=False):
            if (entry.game, entry.version) != (leaf.game, leaf.version):
                yield Damage(leaf.game, leaf.version, "is missing, or is not in its place")
                return
            if said := _fault(entry, leaf.hash):
                yield Damage(leaf.game, leaf.version, said)
        position, seen = entries[-1].position, seen + len(leaves)
        yield seen
        if len(leaves) < len(entries):
            return


def _fault(entry: LogEntry, leaf: str) -> str:
    try:
        record = entry.record
    except WrongKey:
        raise
    except AnnalsError:
        return "cannot be read"
    if record.hash != leaf:
        return "is not the one that stands in the tree"
    if sorted(map(digest, record.packs.values())) != record.public.get("seals", []):
        return "has packs that are not those that were sealed"
    return ""
