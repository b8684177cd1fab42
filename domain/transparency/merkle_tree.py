"""The Merkle tree over all records (RFC 6962): one head proves the whole log, a short path one record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

Hash = bytes
Subtree = tuple[int, int]
"""A full subtree: its level (0 is a leaf, level n has 2**n leaves) and its number on that level."""

SubtreeReader = Callable[[Subtree], Hash]
"""Returns the root hash of a full subtree."""


def leaf_hash(record: str) -> Hash:
    """Return the leaf of a record from its hash (64 hex digits)."""
    return hashlib.sha256(b"\x00" + bytes.fromhex(record)).digest()


def node_hash(left: Hash, right: Hash) -> Hash:
    """Return the hash of an inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def append_leaf(frontier: Sequence[Hash], size: int, leaf: Hash) -> tuple[list[Hash], list[tuple[Subtree, Hash]]]:
    """Append a leaf; return the new right edge and the subtrees filled. An edge lists full subtrees, largest first."""
    new_frontier, level, number = [*frontier, leaf], 0, size
    filled = [((level, number), leaf)]
    while number & 1:
        right = new_frontier.pop()
        new_frontier.append(node_hash(new_frontier.pop(), right))
        level, number = level + 1, number >> 1
        filled.append(((level, number), new_frontier[-1]))
    return new_frontier, filled


def frontier_subtrees(size: int) -> list[Subtree]:
    """Return the full subtrees on the right edge of a tree of `size` leaves, largest first."""
    levels = [level for level in range(size.bit_length()) if size >> level & 1]
    return [(level, (size >> level) - 1) for level in reversed(levels)]


def root_hash(frontier: Sequence[Hash]) -> Hash:
    """Return the root hash of a tree from its right edge."""
    if not frontier:
        return hashlib.sha256(b"").digest()
    head = frontier[-1]
    for left in reversed(frontier[:-1]):
        head = node_hash(left, head)
    return head


def _split(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << (size - 1).bit_length() - 1


def range_root(read: SubtreeReader, first: int, size: int) -> Hash:
    """Return the root over leaves first..first+size-1, a range of the tree itself."""
    k = _split(size) if size > 1 else 1
    if size in (1, 2 * k):
        return read(((size - 1).bit_length(), first // size))
    return node_hash(range_root(read, first, k), range_root(read, first + k, size - k))


def inclusion_path(read: SubtreeReader, index: int, size: int) -> list[Hash]:
    """Return the path of leaf `index` in a tree of `size` leaves, from the leaf upwards."""

    def path(first: int, n: int) -> list[Hash]:
        if n == 1:
            return []
        k = _split(n)
        if index < first + k:
            return [*path(first, k), range_root(read, first + k, n - k)]
        return [*path(first + k, n - k), range_root(read, first, k)]

    return path(0, size)


def consistency_path(read: SubtreeReader, old: int, size: int) -> list[Hash]:
    """Return the path from the tree of size `old` (1..size) to that of `size` (RFC 6962, section 2.1.2)."""

    def path(m: int, first: int, n: int, gate: bool) -> list[Hash]:
        if m == n:
            return [] if gate else [range_root(read, first, n)]
        k = _split(n)
        if m <= k:
            return [*path(m, first, k, gate), range_root(read, first + k, n - k)]
        return [*path(m - k, first + k, n - k, gate=False), range_root(read, first, k)]

    return path(old, 0, size, gate=True)


def list_subtrees(path: Callable[[SubtreeReader], object]) -> list[Subtree]:
    """Return the subtrees of a path, for reading them all in one query."""
    needed: list[Subtree] = []

    def note(place: Subtree) -> Hash:
        needed.append(place)
        return b""

    path(note)
    return needed


def verify_inclusion(head: Hash, leaf: Hash, index: int, size: int, path: Sequence[Hash]) -> bool:
    """Return True if the path leads from the leaf to the head."""
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


def verify_consistency(head: Hash, size: int, old_head: Hash, old: int, path: Sequence[Hash]) -> bool:
    """Return True if the path proves that the new head only adds to the old one (RFC 9162, section 2.1.4.2)."""
    if not 0 < old <= size:
        return False
    if old == size:
        return head == old_head and not path
    hashes = [old_head, *path] if old & (old - 1) == 0 else list(path)
    if not hashes:
        return False  # a truncated path
    older, newer = old - 1, size - 1
    while older & 1:
        older, newer = older >> 1, newer >> 1
    first, *rest = hashes
    was = now = first
    for node in rest:
        if not newer:
            return False
        if older & 1 or older == newer:
            was, now = node_hash(node, was), node_hash(node, now)
            while not older & 1 and older:
                older, newer = older >> 1, newer >> 1
        else:
            now = node_hash(now, node)
        older, newer = older >> 1, newer >> 1
    return not newer and was == old_head and now == head
