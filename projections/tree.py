"""The Merkle tree over all records (RFC 6962): one head proves the whole log, a short path one record in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

Hash = bytes
Leaf = Callable[[int], Hash]
"""The hash of a leaf by its number."""


def leaf_hash(record: str) -> Hash:
    """The leaf of a record, of its hash (64 hex digits)."""
    return hashlib.sha256(b"\x00" + bytes.fromhex(record)).digest()


def node_hash(left: Hash, right: Hash) -> Hash:
    """An inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def grow(frontier: Sequence[Hash], size: int, leaf: Hash) -> list[Hash]:
    """The right edge after one more leaf: the roots of the full subtrees, largest first."""
    out = [*frontier, leaf]
    while size & 1:
        right = out.pop()
        out.append(node_hash(out.pop(), right))
        size >>= 1
    return out


def root(frontier: Sequence[Hash]) -> Hash:
    """The head of the tree."""
    if not frontier:
        return hashlib.sha256(b"").digest()
    head = frontier[-1]
    for left in reversed(frontier[:-1]):
        head = node_hash(left, head)
    return head


def _split(size: int) -> int:
    """The largest power of two below size."""
    return 1 << (size - 1).bit_length() - 1


def subtree(leaf: Leaf, first: int, size: int) -> Hash:
    """The root over leaves first..first+size-1."""
    if size == 1:
        return leaf(first)
    k = _split(size)
    return node_hash(subtree(leaf, first, k), subtree(leaf, first + k, size - k))


def inclusion(leaf: Leaf, index: int, size: int) -> list[Hash]:
    """The path that proves leaf `index` in the tree of that size, from the leaf upwards."""

    def path(first: int, n: int) -> list[Hash]:
        if n == 1:
            return []
        k = _split(n)
        if index < first + k:
            return [*path(first, k), subtree(leaf, first + k, n - k)]
        return [*path(first + k, n - k), subtree(leaf, first, k)]

    return path(0, size)


def proves(head: Hash, leaf: Hash, index: int, size: int, path: Sequence[Hash]) -> bool:
    """Whether the path leads from the leaf to the head."""
    if not 0 <= index < size:
        return False
    node, last, left = leaf, size - 1, list(path)
    while last:
        if index & 1 or index == last:
            if not left:
                return False
            node = node_hash(left.pop(0), node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            if not left:
                return False
            node = node_hash(node, left.pop(0))
        index, last = index >> 1, last >> 1
    return not left and node == head
