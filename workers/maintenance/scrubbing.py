"""Continuous scrub: compares the log with the Merkle tree, round after round, in small slices."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import StoreUnavailable
from domain.types import Doc
from projections.integrity import Inspector, ScrubPlace
from projections.leases import acquire_lease, load_progress, save_progress
from workers.context import WorkerContext

LEASE_NAME = "scrub"
"""Name of the lease and of the progress row."""

STEP_SECONDS = 0.2
"""Seconds between two slices."""

SAVE_MS = 5_000
"""ms between two saves of the progress. A restart repeats at most this much."""

REST_MS = 60_000
"""Shortest time between the starts of two rounds, ms."""

PAGE_CHECK_SECONDS = 60.0
"""Time limit of the database's own page check, once a round, seconds."""

log = logging.getLogger("annals.scrub")


class Scrubber:
    """Scrubs `rate` records a second, slice by slice, while it holds the lease."""

    def __init__(self, context: WorkerContext, rate: int, rest: int = REST_MS) -> None:
        self._inspector: Inspector = context.inspector
        self._ledger, self._views, self._owner = context.ledger, context.views, f"{context.node}-{LEASE_NAME}"
        self._clock: Callable[[], int] = context.clock
        self._slice = max(int(rate * STEP_SECONDS), 1)
        self._rest = rest
        self._progress: Doc | None = None
        self._saved_at = 0

    def step(self) -> None:
        """Check the next slice, or nothing until the next round is due. Raises LeaseLostError and StoreUnavailable."""
        now = self._clock()
        if self._progress is None:
            self._save(load_progress(self._views, LEASE_NAME) or _new_round(now), now)
        doc = dict(self._progress or {})
        if doc["ended"]:
            if 0 <= now - doc["began"] < self._rest:
                self._save_if_due(doc, now)
                return
            doc = _new_round(now, doc)
        place = ScrubPlace(doc["position"], doc["leaf"])
        after = self._inspector.check_next(place, self._slice)
        doc |= {"position": after.position, "leaf": after.leaf}
        if after.leaf - place.leaf < self._slice:
            self._end_round(doc)
        self._save_if_due(doc, self._clock())

    def _end_round(self, doc: Doc) -> None:
        """Check all that slices do not cover: pages without records, and games repaired meanwhile."""
        self._inspector.recheck()
        doc["pages"] = self._count_bad_pages()
        doc |= {"ended": True, "took": max(self._clock() - doc["began"], 0), "whole": self._clock()}

    def _count_bad_pages(self) -> int:
        try:
            errors = self._ledger.admin.list_integrity_errors(PAGE_CHECK_SECONDS)
        except StoreUnavailable as error:
            errors = [str(error)]
        for message in errors:
            log.error("the database says of its own pages: %.200s", message)
        return len(errors)

    def _save_if_due(self, doc: Doc, now: int) -> None:
        """Save progress and renew the lease every SAVE_MS, and at the end of a round."""
        ended = doc["ended"] and not (self._progress or {}).get("ended")
        self._progress = doc
        if ended or not 0 <= now - self._saved_at < SAVE_MS:
            self._save(doc, now)

    def _save(self, doc: Doc, now: int) -> None:
        with self._views.transaction() as db:
            acquire_lease(db, LEASE_NAME, self._owner, now)
            save_progress(db, LEASE_NAME, doc | {"at": now})
        self._progress, self._saved_at = doc, now

    def discard_progress(self) -> None:
        """Read the progress again before the next slice, because another process may have continued."""
        self._progress = None


def _new_round(now: int, before: Doc | None = None) -> Doc:
    """Return the progress of a new round; `took`, `whole` and `pages` are those of the previous one."""
    old = {name: (before or {}).get(name) for name in ("took", "whole", "pages")}
    return {"position": 0, "leaf": 0, "began": now, "ended": False, **old}
