"""The view of a seat as a fixed count of numbers, the same for every game: hashed features.

Each value of a view has a place, the CRC-32 of its path modulo the number of features. Numbers are added there by their
logarithm, words and truth values as 1 at the place of path and value together. Two values may share a place; with
thousands of places that seldom matters (Weinberger and others, "Feature hashing for large scale multitask learning",
2009). Equal views give equal numbers on every machine.
"""

from __future__ import annotations

import math
import zlib

import numpy as np
from numpy.typing import NDArray

from domain.kernel.schema.canonical_json import canonical
from domain.types import Json

Features = NDArray[np.float32]
"""Shape (count,), each value from -1 to 1."""

LARGE = math.log1p(1_000_000)
"""Logarithm of the number that counts as 1; larger ones do too."""


def hash_features(doc: Json, count: int) -> Features:
    """Return the features of a JSON document: shape (`count`,), values from -1 to 1."""
    found = np.zeros(count, dtype=np.float32)
    waiting: list[tuple[int, Json]] = [(0, doc)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(zlib.crc32(key.encode(), path), each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(zlib.crc32(b"%d" % at, path), each) for at, each in enumerate(value)]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[path % count] += math.copysign(math.log1p(abs(value)) / LARGE, value)
        elif value is not None:
            found[zlib.crc32(canonical(value), path) % count] += 1
    return np.clip(found, -1, 1, out=found)
