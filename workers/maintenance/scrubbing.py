"""The log is read against its tree all the time, round after round, a few records at once."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.errors import StoreUnavailable
from domain.types import Doc
from projections.integrity import Inspector, Place
from projections.leases import hold, keep, kept
from workers.context import Crew

WORK = "scrub"
"""What its lease and its progress are called."""

STEP = 0.2
"""Seconds between two slices."""

KEPT = 5_000
"""ms after which the place is written down: so much is looked at again after a restart."""

REST = 60_000
"""ms from the beginning of a round to that of the next at least."""

PATIENCE = 60.0
"""Seconds that the database may look at its own pages, once in a round."""

log = logging.getLogger("annals.scrub")


class Scrubbing:
    """One step at a time; `rate` is in records a second. Only the holder of its lease works."""

    def __init__(self, crew: Crew, rate: int, rest: int = REST) -> None:
        self._inspector: Inspector = crew.inspector
        self._ledger, self._views, self._owner = crew.ledger, crew.views, f"{crew.node}-{WORK}"
        self._clock: Callable[[], int] = crew.clock
        self._most, self._rest = max(int(rate * STEP), 1), rest
        self._doc: Doc | None = None
        self._kept = 0

    def step(self) -> None:
        """The next slice, or nothing until the next round begins. Raises LeaseLostError and StoreUnavailable."""
        now = self._clock()
        if self._doc is None:
            self._keep(kept(self._views, WORK) or _round(now), now)
        doc = dict(self._doc or {})
        if doc["ended"]:
            if 0 <= now - doc["began"] < self._rest:
                self._renew(doc, now)
                return
            doc = _round(now, doc)
        place = Place(doc["position"], doc["leaf"])
        after = self._inspector.look(place, self._most)
        doc |= {"position": after.position, "leaf": after.leaf}
        if after.leaf - place.leaf < self._most:
            self._end(doc)
        self._renew(doc, self._clock())

    def _end(self, doc: Doc) -> None:
        """What the slices do not see: pages that hold no record, and games that were put right meanwhile."""
        self._inspector.again()
        doc["pages"] = self._complaints()
        doc |= {"ended": True, "took": max(self._clock() - doc["began"], 0), "whole": self._clock()}

    def _complaints(self) -> int:
        try:
            found = self._ledger.complaints(PATIENCE)
        except StoreUnavailable as error:
            found = [str(error)]
        for said in found:
            log.error("the database says of its own pages: %.200s", said)
        return len(found)

    def _renew(self, doc: Doc, now: int) -> None:
        """Write the place down now and then, at the end of a round at once; with it the lease is renewed."""
        ended = doc["ended"] and not (self._doc or {}).get("ended")
        self._doc = doc
        if ended or not 0 <= now - self._kept < KEPT:
            self._keep(doc, now)

    def _keep(self, doc: Doc, now: int) -> None:
        with self._views.transaction() as db:
            hold(db, WORK, self._owner, now)
            keep(db, WORK, doc | {"at": now})
        self._doc, self._kept = doc, now

    def forget(self) -> None:
        """Somebody else may have gone on: the place is read anew."""
        self._doc = None


def _round(now: int, before: Doc | None = None) -> Doc:
    """A round that begins; `took`, `whole` and `pages` are told of the last that has ended."""
    old = {name: (before or {}).get(name) for name in ("took", "whole", "pages")}
    return {"position": 0, "leaf": 0, "began": now, "ended": False, **old}
