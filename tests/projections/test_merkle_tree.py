"""The Merkle tree: RFC 6962 by its definition, at every size."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from domain.transparency.merkle_tree import (
    append_leaf,
    consistency_path,
    inclusion_path,
    leaf_hash,
    list_subtrees,
    range_root,
    root_hash,
    verify_consistency,
    verify_inclusion,
)

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


def filled() -> dict[tuple[int, int], bytes]:
    """Every full subtree that came while the tree grew."""
    found: dict[tuple[int, int], bytes] = {}
    frontier: list[bytes] = []
    for size, leaf in enumerate(LEAVES):
        frontier, more = append_leaf(frontier, size, leaf)
        found |= more
    return found


AT = filled().__getitem__


def test_a_full_subtree_is_kept_once() -> None:
    """40 leaves, 20 pairs, 10 fours, 5 eights, 2 sixteens, 1 of 32."""
    levels = [level for level, _ in filled()]
    assert [levels.count(level) for level in range(7)] == [40, 20, 10, 5, 2, 1, 0]
    for (level, number), node in filled().items():
        assert node == defined(LEAVES[number << level : number + 1 << level])


def test_the_head_grows_leaf_by_leaf() -> None:
    """From the right edge alone."""
    frontier: list[bytes] = []
    assert root_hash(frontier) == defined([])
    for size, leaf in enumerate(LEAVES):
        frontier, _ = append_leaf(frontier, size, leaf)
        assert root_hash(frontier) == defined(LEAVES[: size + 1])
        assert range_root(AT, 0, size + 1) == defined(LEAVES[: size + 1])


@given(st.data())
def test_a_record_is_proved_by_its_path_and_no_other_passes(data: st.DataObject) -> None:
    """Any index in a tree of any size."""
    size = data.draw(st.integers(1, len(LEAVES)))
    index = data.draw(st.integers(0, size - 1))
    head, path = defined(LEAVES[:size]), inclusion_path(AT, index, size)
    assert verify_inclusion(head, LEAVES[index], index, size, path)
    other = data.draw(st.integers(0, len(LEAVES) - 1).filter(lambda i: i != index))
    assert not verify_inclusion(head, LEAVES[other], index, size, path)
    assert not verify_inclusion(head, LEAVES[index], index, size, [*path, path[0] if path else head])
    assert not verify_inclusion(head, LEAVES[index], size, size, path)
    if path:
        assert not verify_inclusion(head, LEAVES[index], index, size, path[:-1])


@given(st.data())
def test_an_older_head_is_extended_and_no_other_tree(data: st.DataObject) -> None:
    """Any two sizes; a leaf that was changed, a path that was cut, or another head do not pass."""
    size = data.draw(st.integers(1, len(LEAVES)))
    old = data.draw(st.integers(1, size))
    head, was = defined(LEAVES[:size]), defined(LEAVES[:old])
    path = consistency_path(AT, old, size)
    assert verify_consistency(head, size, was, old, path)
    changed = [*LEAVES[:size]]
    changed[data.draw(st.integers(0, old - 1))] = leaf_hash("00" * 32)
    assert not verify_consistency(defined(changed), size, was, old, path)
    assert not verify_consistency(head, size, defined(changed[:old]), old, path)
    assert not verify_consistency(head, size, was, old, [*path, head])
    assert not verify_consistency(head, size, was, size + 1, path)
    if path:
        assert not verify_consistency(head, size, was, old, path[:-1])


@given(st.integers(0, 39), st.integers(1, 40))
def test_a_path_needs_few_subtrees(index: int, size: int) -> None:
    """A few for each level, whatever the size."""
    if index < size:
        needed = list_subtrees(lambda at: inclusion_path(at, index, size))
        assert len(needed) <= 2 * size.bit_length()
