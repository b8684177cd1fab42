"""Proofs from the Merkle tree: a record is in the log, and the log has only grown."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from domain.transparency.merkle_tree import (
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
from projections import schema
from projections.delayed_views import NEVER
from projections.pair_lookup import PairLookup
from projections.view_store import ViewStore

_G, _P, _L, _H = schema.generations.c, schema.parts.c, schema.leaves.c, schema.held_back.c
TILE = 256
"""Hashes of a full tile."""
PENDING = -1
"""Leaf number of a record that a partition has read before the tree."""

_NODES = PairLookup(schema.nodes.c.level, schema.nodes.c.number, schema.nodes.c.hash)
_LIVE_TREE = select(_G.gen, _G.leaves).where(_G.live)
_READ_LEAVES = (
    select(_P.version, func.coalesce(_L.leaf, PENDING))
    .outerjoin_from(schema.parts, schema.leaves, (_L.gen == _P.gen) & (_L.game == _P.game) & (_L.version == _P.version))
    .where(_P.gen == bindparam("in_gen"), _P.part != schema.TREE)
)
_FIRST_HIDDEN_LEAF = select(  # a join would be read in the order of the leaves, from the first on
    func.min(
        select(_L.leaf)
        .where(_L.gen == _H.gen, _L.game == _H.game, _L.version == _H.shown + 1)
        .limit(1)
        .correlate(schema.held_back)
        .scalar_subquery()
    )
).where(_H.gen == bindparam("in_gen"), _H.shown < _H.head, _H.at < NEVER)


@dataclass(frozen=True)
class Head:
    """The tree head: the whole log in one hash."""

    size: int
    """Number of records in the tree."""
    position: int
    """Log position of the last record in the tree."""
    root: Hash


@dataclass(frozen=True)
class InclusionProof:
    """Proof of one record in the log of a head."""

    head: Head
    leaf: int
    """Number of the record in the log, from 0."""
    record: str
    """Hash of the record's public part, 64 hex digits."""
    path: list[Hash]


class MerkleProofs:
    """Proofs over the live generation. Each reads a few rows, independent of the log's length.

    The published tree ends before the first record that spectators cannot see yet, because its size would reveal it.
    """

    def __init__(self, views: ViewStore) -> None:
        self._views = views

    def head(self, size: int = 0) -> Head:
        """Return the newest head, or the head of an earlier published `size`."""
        with self._views.reading() as db:
            return _tree_head(db, *_chosen_tree(db, size))

    def count_leaves(self) -> int:
        """Return the number of leaves, also of unpublished ones."""
        with self._views.reading() as db:
            return int(db.execute(_LIVE_TREE).one().leaves)

    def root_at(self, size: int) -> Hash | None:
        """Return the root of the first `size` leaves; None if there are fewer."""
        with self._views.reading() as db:
            gen, leaves = db.execute(_LIVE_TREE).one()
            return _tree_head(db, gen, size).root if 0 < size <= leaves else None

    def tile(self, level: int, number: int, width: int) -> bytes | None:
        """Return the first `width` hashes of a tile of 256 (https://c2sp.org/tlog-tiles); None if one is missing.

        Tiles show unpublished records too: the caller keeps to a published size.
        """
        places = [(8 * level, number * TILE + i) for i in range(width)]
        with self._views.reading() as db:
            hashes = read_subtrees(db, db.execute(_LIVE_TREE).one().gen, places)
        return b"".join(hashes[place] for place in places) if len(hashes) == width else None

    def entries(self, number: int, width: int) -> bytes | None:
        """Return the first `width` entries of an entry bundle: the hashes of records, each after its length."""
        first = number * TILE
        with self._views.reading() as db:
            chosen = _L.gen == db.execute(_LIVE_TREE).one().gen, _L.leaf >= first, _L.leaf < first + width
            rows = db.execute(select(_L.hash).where(*chosen).order_by(_L.leaf)).all()
        return b"".join(b"\0\x20" + bytes.fromhex(made) for (made,) in rows) if len(rows) == width else None

    def prove_inclusion(self, game: str, version: int, size: int = 0) -> InclusionProof | None:
        """Return the proof of a record; None if the tree does not have it yet.

        `size`: the size of an earlier published tree, in place of the newest.
        """
        t = schema.leaves
        with self._views.reading() as db:
            gen, size = _chosen_tree(db, size)
            leaf = db.execute(select(t).filter_by(gen=gen, game=game, version=version)).first()
            if leaf is None or leaf.leaf >= size:
                return None
            path = _read_path(db, gen, lambda at: inclusion_path(at, leaf.leaf, size))
            return InclusionProof(_tree_head(db, gen, size), leaf.leaf, leaf.hash, path)

    def prove_consistency(self, old: int, size: int = 0) -> tuple[Head, list[Hash]] | None:
        """Return the newest head and its consistency path from the head of size `old`; None if the tree is shorter.

        `size`: the size of an earlier published head, in place of the newest.
        """
        with self._views.reading() as db:
            gen, size = _chosen_tree(db, size)
            if not 0 < old <= size:
                return None
            return _tree_head(db, gen, size), _read_path(db, gen, lambda at: consistency_path(at, old, size))


def _chosen_tree(db: Connection, size: int) -> tuple[int, int]:
    """Return the live generation, and `size` or without one the number of published leaves."""
    if not size:
        return _public_tree(db)
    gen, leaves = db.execute(_LIVE_TREE).one()
    return gen, min(size, leaves)


def _public_tree(db: Connection) -> tuple[int, int]:
    """Return the live generation and the number of leaves before the first hidden record.

    Records that a partition has not read yet may be hidden too.
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
    """Return the head of a tree of `size` leaves."""
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
    """Return the root hashes of the stored ones among these subtrees."""
    nodes = _NODES.fetch_all(db, gen, [place for place in subtrees if place[0]])
    leaves = select(_L.leaf, _L.hash).where(
        _L.gen == gen, _L.leaf.in_([number for level, number in subtrees if not level])
    )
    hashes = {(level, number): bytes(made) for level, number, made in nodes}
    return hashes | {(0, leaf): leaf_hash(record) for leaf, record in db.execute(leaves)}
