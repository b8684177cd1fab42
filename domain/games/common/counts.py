"""Counts by id, as in a state: zero counts have no entry."""

from __future__ import annotations

from collections.abc import Mapping


def add_count(counts: Mapping[str, int], key: str, by: int) -> dict[str, int]:
    """Return the counts with `key` changed; a count of 0 is left out."""
    changed = {**counts, key: counts.get(key, 0) + by}
    if not changed[key]:
        del changed[key]
    return changed
