"""The Merkle tree: RFC 6962 by its definition, at every size."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from projections.tree import grow, inclusion, leaf_hash, proves, root, subtree

RECORDS = [hashlib.sha256(str(i).encode()).hexdigest() for i in range(40)]
LEAVES = [leaf_hash(r) for r in RECORDS]


def defined(leaves: list[bytes]) -> bytes:
    """MTH of section 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = max(1 << i for i in range(8) if 1 << i < len(leaves))
    return hashlib.sha256(b"\x01" + defined(leaves[:k]) + defined(leaves[k:])).digest()


def test_the_head_grows_leaf_by_leaf() -> None:
    """From the right edge alone."""
    frontier: list[bytes] = []
    assert root(frontier) == defined([])
    for size, leaf in enumerate(LEAVES):
        frontier = grow(frontier, size, leaf)
        assert root(frontier) == defined(LEAVES[: size + 1])
        assert subtree(LEAVES.__getitem__, 0, size + 1) == defined(LEAVES[: size + 1])


@given(st.data())
def test_a_record_is_proved_by_its_path_and_no_other_passes(data: st.DataObject) -> None:
    """Any index in a tree of any size."""
    size = data.draw(st.integers(1, len(LEAVES)))
    index = data.draw(st.integers(0, size - 1))
    head, path = defined(LEAVES[:size]), inclusion(LEAVES.__getitem__, index, size)
    assert proves(head, LEAVES[index], index, size, path)
    other = data.draw(st.integers(0, len(LEAVES) - 1).filter(lambda i: i != index))
    assert not proves(head, LEAVES[other], index, size, path)
    assert not proves(head, LEAVES[index], index, size, [*path, path[0] if path else head])
    assert not proves(head, LEAVES[index], size, size, path)
    if path:
        assert not proves(head, LEAVES[index], index, size, path[:-1])
