"""Collects cosignatures of the newest checkpoint: each witness is asked in a thread of its own.

No move and no read waits for a witness. One that fails is asked again, ever more seldom.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from domain.errors import AnnalsError
from domain.transparency.checkpoint_store import CheckpointStore, StoredCheckpoint
from domain.transparency.policy_file import KnownWitness
from domain.transparency.signed_note import Signature, SignedNote
from domain.transparency.tlog_proof import AddCheckpoint
from domain.transparency.witness_reports import WitnessReports
from projections.merkle_proofs import MerkleProofs
from workers.context import WorkerContext
from workers.maintenance.witness_client import OtherSizeError, WitnessError, request_cosignatures

MAX_REQUESTS = 3
"""Most requests for one checkpoint: each answer with another size leads to the next."""

FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0
"""Seconds until a failed request is made again; each failure doubles them."""

log = logging.getLogger("annals.log")


class CosignatureCollector:
    """Asks all witnesses. Its methods return at once."""

    def __init__(self, context: WorkerContext, proofs: MerkleProofs) -> None:
        store, reports = context.checkpoints, WitnessReports(context.ledger)
        self._clients = [_WitnessThread(each, store, reports, proofs, context) for each in context.witnesses]

    @property
    def is_answered(self) -> bool:
        """Return whether some witness cosigned when it was last asked."""
        return any(client.is_up for client in self._clients)

    def start(self, checkpoint: StoredCheckpoint) -> None:
        """Ask each witness that is idle, and has not cosigned this checkpoint."""
        for client in self._clients:
            client.start(checkpoint)

    def join(self, seconds: float) -> None:
        """Wait for the requests under way."""
        for client in self._clients:
            client.join(seconds)


class _WitnessThread:
    def __init__(
        self,
        witness: KnownWitness,
        store: CheckpointStore,
        reports: WitnessReports,
        proofs: MerkleProofs,
        context: WorkerContext,
    ) -> None:
        self._witness, self._store, self._reports = witness, store, reports
        self._proofs, self._clock = proofs, context.clock
        self._thread: threading.Thread | None = None
        self._size = 0
        """Size of its largest checkpoint, as far as known."""
        self._cosigned = b""
        """Root that it cosigned last."""
        self._failures, self._next_at = 0, 0.0
        self.is_up = False
        """Tells that the last request succeeded."""

    def start(self, checkpoint: StoredCheckpoint) -> None:
        is_due = checkpoint.root != self._cosigned and time.monotonic() >= self._next_at
        if is_due and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(
                target=self._run, args=(checkpoint,), name=f"witness {self._witness.name}", daemon=True
            )
            self._thread.start()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, checkpoint: StoredCheckpoint) -> None:
        """Ask for one checkpoint, and record the result."""
        try:
            cosignatures = self._ask(checkpoint)
            note = SignedNote(SignedNote.parse(checkpoint.note).text, tuple(cosignatures))
            self._store.show_note(note, self._clock())
            self._size, self._cosigned = checkpoint.size, checkpoint.root
            self._failures, self._next_at, self.is_up = 0, 0.0, True
            self._reports.record_success(self._witness.name, checkpoint.size, self._clock())
        except WitnessError as error:
            self._fail(str(error))
        except AnnalsError as error:
            self._fail(f"our store: {type(error).__name__}", stored=False)
        except Exception:
            log.exception("a request to witness %s has failed", self._witness.name)
            self._fail("a fault of ours", stored=False)

    def _ask(self, checkpoint: StoredCheckpoint) -> Sequence[Signature]:
        note = SignedNote.parse(checkpoint.note)
        for _ in range(MAX_REQUESTS):
            path: Sequence[bytes] = ()
            if self._size:
                found = self._proofs.prove_consistency(self._size, checkpoint.size)
                if found is None or found[0].root != checkpoint.root:
                    raise WitnessError("the tree has no proof of this checkpoint now")
                path = found[1]
            try:
                return request_cosignatures(self._witness, AddCheckpoint(self._size, path, note))
            except OtherSizeError as error:
                if error.size > checkpoint.size:
                    raise WitnessError(f"{error}, more than were signed here: {checkpoint.size}") from None
                if error.size == self._size:
                    raise WitnessError("it refuses the size that it named") from None
                self._size = error.size
        raise WitnessError("it named another size each time")

    def _fail(self, failure: str, *, stored: bool = True) -> None:
        self._failures, self.is_up = self._failures + 1, False
        pause = min(FIRST_PAUSE * 2 ** min(self._failures - 1, 10), LONGEST_PAUSE)
        self._next_at = time.monotonic() + pause
        log.warning("witness %s has not cosigned the checkpoint: %s", self._witness.name, failure)
        if stored:
            try:
                self._reports.record_failure(self._witness.name, failure)
            except AnnalsError:  # the next failure is recorded
                return
