"""Memory of proofs: a verdict holds for the same bytes, as long as the process and its code live."""

from __future__ import annotations

import hashlib
import threading
from typing import Generic, TypeVar

from cachetools import LRUCache

MAX_PROOFS = 1_000
"""Files whose proof a process remembers."""

Verdict = TypeVar("Verdict")


class ProofMemory(Generic[Verdict]):
    """SHA-256 of a file -> verdict of its proof. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: LRUCache[bytes, Verdict] = LRUCache(MAX_PROOFS)

    def find(self, digest: bytes) -> Verdict | None:
        """Return the verdict on a file, or None."""
        with self._lock:
            return self._known.get(digest)

    def remember(self, digest: bytes, verdict: Verdict) -> None:
        """Store the verdict on a file."""
        with self._lock:
            self._known[digest] = verdict


def digest_of(file: bytes) -> bytes:
    """Return the key of a file."""
    return hashlib.sha256(file).digest()
