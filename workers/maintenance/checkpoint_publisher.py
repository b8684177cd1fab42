"""Signs a checkpoint of the log whenever its published part has grown; the owner of the tree does this.

Witnesses then cosign it. Readers see it at the first cosignature, but at the latest after the next interval. Nobody
waits for a witness that did not answer the last time.
"""

from __future__ import annotations

import logging
import time

from domain.errors import NoteError, WrongKey
from domain.transparency.checkpoint import Checkpoint
from domain.transparency.checkpoint_store import ANOTHER_LOG, FORGOTTEN, SHORTER_LOG, StoredCheckpoint
from domain.transparency.signed_note import SignedNote
from projections.merkle_proofs import Head
from projections.reader import Reader
from workers.context import WorkerContext
from workers.log_throttle import LogThrottle
from workers.maintenance.cosignature_collector import CosignatureCollector

INTERVAL = 1.0
"""Shortest time between two checkpoints, seconds. Moves never wait for one."""

log = logging.getLogger("annals.log")


class CheckpointPublisher:
    """Signs checkpoints; readers see them at once."""

    def __init__(self, context: WorkerContext, reader: Reader) -> None:
        self._context, self._reader, self._store = context, reader, context.checkpoints
        self._proofs = reader.proofs
        self.cosignatures = CosignatureCollector(context, self._proofs)
        self._next_at = 0.0
        self._seen: StoredCheckpoint | None = None
        """The largest that this process has seen or signed, also if its server is lost."""
        self._log_throttle = LogThrottle()

    def publish(self) -> None:
        """Sign a checkpoint if the log has grown; may raise StoreUnavailable.

        The published part can shrink while the records of a delayed table come back into view; then nothing is signed.
        A log without the signed one halts signing, and so does a store without one that this process knows.
        """
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + INTERVAL
        head, signed, now = self._proofs.head(), self._store.largest, self._context.clock()
        forgotten = self._is_forgotten(signed)
        self._seen = signed
        if forgotten:
            self._halt(FORGOTTEN, now)
        else:
            self._publish_head(head, signed, now)

    def _publish_head(self, head: Head, signed: StoredCheckpoint | None, now: int) -> None:
        if signed:
            self._show(signed, now)
        if head.size <= (signed.size if signed else 0):
            if signed and head.size < signed.size and self._is_shorter(signed.size):
                self._halt(SHORTER_LOG, now)
            elif signed:
                self.cosignatures.start(signed)
            return
        if signed and self._proofs.root_at(signed.size) != signed.root:
            self._halt(ANOTHER_LOG, now)
            return
        try:
            new = self._store.sign(head.size, head.root, now, show=not self.cosignatures.is_answered)
        except (NoteError, WrongKey) as error:
            if self._log_throttle(str(error)):
                log.warning("no checkpoint is signed: %s", error)
            return
        if new:
            self._seen = new
            self.cosignatures.start(new)

    def _show(self, signed: StoredCheckpoint, now: int) -> None:
        """Show the last checkpoint if no witness was in time."""
        shown = self._store.public
        if shown is None or shown.size < signed.size:
            self._store.show_note(SignedNote.parse(signed.note), now)

    def _is_shorter(self, size: int) -> bool:
        """Return whether the log has fewer records than `size`: new views take a while to read all of them."""
        has_read_all = not self._context.ledger.log(self._reader.read_position(), 1)
        return has_read_all and self._proofs.count_leaves() < size

    def _is_forgotten(self, signed: StoredCheckpoint | None) -> bool:
        """Return whether the store has lost a checkpoint that was signed under its present name."""
        seen = self._seen
        if seen is None or (signed and (signed.size, signed.root) == (seen.size, seen.root)):
            return False
        if signed and signed.size > seen.size:
            return False
        name = Checkpoint.parse(SignedNote.parse(seen.note).text).origin
        return any(key.origin == name and not key.until for key in self._store.keys)

    def _halt(self, reason: str, now: int) -> None:
        self._store.halt(reason, now)
        if self._log_throttle(reason):
            log.error("checkpoints are no longer signed: %s", reason)
