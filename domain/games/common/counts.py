"""Counts by id, as they stand in a state: what is not there is not named."""

from __future__ import annotations

from collections.abc import Mapping


def plus(counts: Mapping[str, int], key: str, by: int) -> dict[str, int]:
    """The counts with `key` changed; a count of 0 is left out."""
    changed = {**counts, key: counts.get(key, 0) + by}
    if not changed[key]:
        del changed[key]
    return changed
