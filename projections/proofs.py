"""Proofs from the Merkle tree: that a record stands in the log, and that the log has only grown."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, Row, select, tuple_

from projections import schema
from projections.store import Views
from projections.tree import At, Hash, consistency, inclusion, places, root


@dataclass(frozen=True)
class Head:
    """The whole log in one hash."""

    size: int
    """Records in the tree."""
    position: int
    """How far the log was read."""
    root: Hash


@dataclass(frozen=True)
class Inclusion:
    """That one record stands in the log of a head."""

    head: Head
    leaf: int
    """Its number in the log, from 0."""
    record: str
    """The hash of its public part, 64 hex digits."""
    path: list[Hash]


class Proofs:
    """Reads the live generation; each proof takes a few rows, however long the log is."""

    def __init__(self, views: Views) -> None:
        self._views = views

    def head(self) -> Head:
        """The newest head."""
        with self._views.reading() as db:
            return _head(_live(db))

    def inclusion(self, game: str, version: int) -> Inclusion | None:
        """The proof of a record; None if the tree does not hold it (yet)."""
        t = schema.leaves
        with self._views.reading() as db:
            live = _live(db)
            found = db.execute(select(t).filter_by(gen=live.gen, game=game, version=version)).first()
            if found is None:
                return None
            path = _made(db, live.gen, lambda at: inclusion(at, found.leaf, live.leaves))
        return Inclusion(_head(live), found.leaf, found.hash, path)

    def consistency(self, old: int) -> tuple[Head, list[Hash]] | None:
        """The newest head, and the path that proves that it extends the one of size `old`; None if it is shorter."""
        with self._views.reading() as db:
            live = _live(db)
            if not 0 < old <= live.leaves:
                return None
            return _head(live), _made(db, live.gen, lambda at: consistency(at, old, live.leaves))


def _live(db: Connection) -> Row[tuple[int, ...]]:
    return db.execute(select(schema.generations).where(schema.generations.c.live)).one()


def _head(row: Row[tuple[int, ...]]) -> Head:
    return Head(row.leaves, row.position, root([bytes.fromhex(h) for h in json.loads(row.frontier)]))


def _made(db: Connection, gen: int, path: Callable[[At], list[Hash]]) -> list[Hash]:
    t = schema.nodes
    wanted = tuple_(t.c.level, t.c.number).in_(places(path))
    rows = db.execute(select(t.c.level, t.c.number, t.c.hash).where(t.c.gen == gen, wanted))
    found = {(row.level, row.number): bytes(row.hash) for row in rows}
    return path(found.__getitem__)
