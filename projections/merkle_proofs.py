"""Proofs from the Merkle tree: that a record stands in the log, and that the log has only grown."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select, tuple_

from projections import schema
from projections.delayed_views import NEVER
from projections.merkle_tree import At, Hash, Place, consistency, edge, inclusion, leaf_hash, places, root
from projections.view_store import Views

_G, _P, _L, _H = schema.generations.c, schema.parts.c, schema.leaves.c, schema.held_back.c
PENDING = -1
"""The leaf of what a part has read before the tree has."""

_LIVE = select(_G.gen, _G.leaves).where(_G.live)
_READ = (
    select(_P.version, func.coalesce(_L.leaf, PENDING))
    .outerjoin_from(schema.parts, schema.leaves, (_L.gen == _P.gen) & (_L.game == _P.game) & (_L.version == _P.version))
    .where(_P.gen == bindparam("in_gen"), _P.part != schema.TREE)
)
_HIDDEN = (
    select(func.min(_L.leaf))
    .join_from(
        schema.held_back, schema.leaves, (_L.gen == _H.gen) & (_L.game == _H.game) & (_L.version == _H.shown + 1)
    )
    .where(_H.gen == bindparam("in_gen"), _H.shown < _H.head, _H.at < NEVER)
)


@dataclass(frozen=True)
class Head:
    """The whole log in one hash."""

    size: int
    """Records in the tree."""
    position: int
    """Of the last of them in the log."""
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
    """Reads the live generation; each proof takes a few rows, however long the log is.

    For everybody the tree ends before the first record that spectators may not know of: its size would tell them.
    """

    def __init__(self, views: Views) -> None:
        self._views = views

    def head(self) -> Head:
        """The newest head."""
        with self._views.reading() as db:
            return _head(db, *_shown(db))

    def inclusion(self, game: str, version: int) -> Inclusion | None:
        """The proof of a record; None if the tree does not hold it (yet)."""
        t = schema.leaves
        with self._views.reading() as db:
            gen, size = _shown(db)
            found = db.execute(select(t).filter_by(gen=gen, game=game, version=version)).first()
            if found is None or found.leaf >= size:
                return None
            path = _made(db, gen, lambda at: inclusion(at, found.leaf, size))
            return Inclusion(_head(db, gen, size), found.leaf, found.hash, path)

    def consistency(self, old: int) -> tuple[Head, list[Hash]] | None:
        """The newest head, and the path that proves that it extends the one of size `old`; None if it is shorter."""
        with self._views.reading() as db:
            gen, size = _shown(db)
            if not 0 < old <= size:
                return None
            return _head(db, gen, size), _made(db, gen, lambda at: consistency(at, old, size))


def _shown(db: Connection) -> tuple[int, int]:
    """The live generation, and how many leaves everybody may know of: they end before the first that is held back.

    What a part has not read yet may be held back as well.
    """
    gen, size = db.execute(_LIVE).one()
    read = [0 if version == 0 else leaf + 1 for version, leaf in db.execute(_READ, {"in_gen": gen}) if leaf != PENDING]
    hidden = db.execute(_HIDDEN, {"in_gen": gen}).scalar()
    return gen, min(size, *read, size if hidden is None else hidden)


def _head(db: Connection, gen: int, size: int) -> Head:
    """Of a tree of that size."""
    t = schema.leaves
    position = db.execute(select(t.c.position).filter_by(gen=gen, leaf=size - 1)).scalar()
    return Head(size, position or 0, _made(db, gen, lambda at: [root([at(place) for place in edge(size)])])[0])


def _made(db: Connection, gen: int, path: Callable[[At], list[Hash]]) -> list[Hash]:
    return path(full_subtrees(db, gen, places(path)).__getitem__)


def full_subtrees(db: Connection, gen: int, wanted: Collection[Place]) -> dict[Place, Hash]:
    """The roots of those that are there."""
    n, at = schema.nodes.c, tuple_(schema.nodes.c.level, schema.nodes.c.number)
    nodes = select(n.level, n.number, n.hash).where(n.gen == gen, at.in_([place for place in wanted if place[0]]))
    leaves = select(_L.leaf, _L.hash).where(
        _L.gen == gen, _L.leaf.in_([number for level, number in wanted if not level])
    )
    found = {(level, number): bytes(made) for level, number, made in db.execute(nodes)}
    return found | {(0, leaf): leaf_hash(record) for leaf, record in db.execute(leaves)}
