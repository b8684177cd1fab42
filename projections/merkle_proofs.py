"""Proofs from the Merkle tree: that a record stands in the log, and that the log has only grown."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select, tuple_

from projections import schema
from projections.delayed_views import NEVER
from projections.merkle_tree import (
    Hash,
    Subtree,
    SubtreeReader,
    consistency_path,
    frontier_subtrees,
    inclusion_path,
    leaf_hash,
    list_subtrees,
    root_hash,
)
from projections.view_store import ViewStore

_G, _P, _L, _H = schema.generations.c, schema.parts.c, schema.leaves.c, schema.held_back.c
PENDING = -1
"""The leaf of what a part has read before the tree has."""

_LIVE_TREE = select(_G.gen, _G.leaves).where(_G.live)
_READ_LEAVES = (
    select(_P.version, func.coalesce(_L.leaf, PENDING))
    .outerjoin_from(schema.parts, schema.leaves, (_L.gen == _P.gen) & (_L.game == _P.game) & (_L.version == _P.version))
    .where(_P.gen == bindparam("in_gen"), _P.part != schema.TREE)
)
_FIRST_HIDDEN_LEAF = (
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
class InclusionProof:
    """That one record stands in the log of a head."""

    head: Head
    leaf: int
    """Its number in the log, from 0."""
    record: str
    """The hash of its public part, 64 hex digits."""
    path: list[Hash]


class MerkleProofs:
    """Reads the live generation; each proof takes a few rows, however long the log is.

    For everybody the tree ends before the first record that spectators may not know of: its size would tell them.
    """

    def __init__(self, views: ViewStore) -> None:
        self._views = views

    def head(self) -> Head:
        """The newest head."""
        with self._views.reading() as db:
            return _tree_head(db, *_public_tree(db))

    def prove_inclusion(self, game: str, version: int) -> InclusionProof | None:
        """The proof of a record; None if the tree does not hold it (yet)."""
        t = schema.leaves
        with self._views.reading() as db:
            gen, size = _public_tree(db)
            leaf = db.execute(select(t).filter_by(gen=gen, game=game, version=version)).first()
            if leaf is None or leaf.leaf >= size:
                return None
            path = _read_path(db, gen, lambda at: inclusion_path(at, leaf.leaf, size))
            return InclusionProof(_tree_head(db, gen, size), leaf.leaf, leaf.hash, path)

    def prove_consistency(self, old: int) -> tuple[Head, list[Hash]] | None:
        """The newest head, and the path that proves that it extends the one of size `old`; None if it is shorter."""
        with self._views.reading() as db:
            gen, size = _public_tree(db)
            if not 0 < old <= size:
                return None
            return _tree_head(db, gen, size), _read_path(db, gen, lambda at: consistency_path(at, old, size))


def _public_tree(db: Connection) -> tuple[int, int]:
    """The live generation, and how many leaves everybody may know of: they end before the first that is held back.

    What a part has not read yet may be held back as well.
    """
    gen, size = db.execute(_LIVE_TREE).one()
    readable = [
        0 if version == 0 else leaf + 1
        for version, leaf in db.execute(_READ_LEAVES, {"in_gen": gen})
        if leaf != PENDING
    ]
    hidden = db.execute(_FIRST_HIDDEN_LEAF, {"in_gen": gen}).scalar()
    return gen, min(size, *readable, size if hidden is None else hidden)


def _tree_head(db: Connection, gen: int, size: int) -> Head:
    """Of a tree of that size."""
    t = schema.leaves
    position = db.execute(select(t.c.position).filter_by(gen=gen, leaf=size - 1)).scalar()
    return Head(
        size,
        position or 0,
        _read_path(db, gen, lambda at: [root_hash([at(place) for place in frontier_subtrees(size)])])[0],
    )


def _read_path(db: Connection, gen: int, path: Callable[[SubtreeReader], list[Hash]]) -> list[Hash]:
    return path(read_subtrees(db, gen, list_subtrees(path)).__getitem__)


def read_subtrees(db: Connection, gen: int, subtrees: Collection[Subtree]) -> dict[Subtree, Hash]:
    """The roots of those that are there."""
    n, at = schema.nodes.c, tuple_(schema.nodes.c.level, schema.nodes.c.number)
    nodes = select(n.level, n.number, n.hash).where(n.gen == gen, at.in_([place for place in subtrees if place[0]]))
    leaves = select(_L.leaf, _L.hash).where(
        _L.gen == gen, _L.leaf.in_([number for level, number in subtrees if not level])
    )
    hashes = {(level, number): bytes(made) for level, number, made in db.execute(nodes)}
    return hashes | {(0, leaf): leaf_hash(record) for leaf, record in db.execute(leaves)}
