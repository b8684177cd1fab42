"""Ranking: groups of equals, and places with tie-breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.types import Seat


def groups(values: Mapping[Seat, int]) -> list[list[Seat]]:
    """Return a dense ranking: the seats with the highest value, those with the next lower one, and so on."""
    return [[seat for seat in sorted(values) if values[seat] == v] for v in sorted(set(values.values()), reverse=True)]


def places(keys: Sequence[Any]) -> list[int]:
    """Return the place of each key, 1 for the greatest; equal keys share it and use up the places below."""
    return [1 + sum(other > key for other in keys) for key in keys]
