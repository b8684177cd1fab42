"""Mail digests: the state of a person's tables, sent at the hour of their choice.

Many people choose the same hour. Digests are made in small groups, as fast as mail leaves, and delay nothing else.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from datetime import datetime

from domain.accounts.account_tables import DAY
from domain.errors import StoreUnavailable, WrongKey
from domain.notifications.email_subscriptions import (
    DIGEST,
    DIGEST_PARTS,
    EVENT_PART,
    EmailSubscription,
    EmailSubscriptions,
)
from domain.notifications.outbox import Notice, Outbox
from domain.types import Doc
from projections.delayed_views import PLACE_BITS
from projections.game_documents import StoredSummaryDoc
from projections.reader import Reader
from projections.table_describer import list_owed

BATCH_SIZE = 500
"""Games per query."""

MAX_WAITING = 20
"""Digests in the outbox. More are made once these are sent."""

MAX_SECONDS = 0.5
"""Time limit for making digests in one pass, seconds."""

MAX_LINES = 50
"""Lines of one part of a digest; the rest is only counted."""

LONGEST_AGO = 8 * DAY
"""Time (ms) after which a notice of a tournament is no news any more: a week, and time for retries."""

log = logging.getLogger("annals.notices")


class DigestProducer:
    """Makes digests. A repeated digest has the same id. May raise StoreUnavailable."""

    def __init__(self, outbox: Outbox, subscriptions: EmailSubscriptions, reader: Reader) -> None:
        self._outbox, self._subscriptions, self._reader = outbox, subscriptions, reader

    def enqueue_due(self, now: int) -> None:
        """Enqueue all digests due at `now` (ms), without empty ones."""
        end = time.monotonic() + MAX_SECONDS
        if due := self._subscriptions.list_due(MAX_WAITING):
            for webhook in due[: MAX_WAITING - self._outbox.count_due(DIGEST, MAX_WAITING)]:
                self._enqueue_safely(webhook, now)
                if time.monotonic() > end:
                    return

    def _enqueue_safely(self, webhook: str, now: int) -> None:
        """Enqueue one person's digest; postpone it on errors, so that the others continue."""
        try:
            box = self._subscriptions.find_by_webhook(webhook)
            if box and 0 < box.next <= now:
                self._enqueue(box, now)
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - the message may contain private data
            log.warning("the digest for %s is put off: %s", webhook, type(error).__name__)
            self._subscriptions.postpone_digest(webhook)

    def _enqueue(self, box: EmailSubscription, now: int) -> None:
        position = self._reader.read_position()  # before all other reads, so that nothing new is lost
        kept = self._outbox.list_kept(box.webhook)
        digest = self._build_digest(box, now, [doc for _, doc in kept])
        if any(digest[part] for part in DIGEST_PARTS):
            self._outbox.enqueue([Notice(box.webhook, DIGEST, (str(box.next),), now, digest)])
        self._outbox.mark_told(id_ for id_, _ in kept)
        self._subscriptions.record_digest(box, position)

    def _build_digest(self, box: EmailSubscription, now: int, kept: Sequence[Doc]) -> Doc:
        """Return the contents of a digest; `kept` are notices of tournaments since the last one."""
        seats = self._subscriptions.list_seats(box.account)
        games, after = list(seats), ((box.last + 1) << PLACE_BITS) - 1
        lines = [
            line for doc in self._list_summaries(games, "running") for line in self._owed_lines(doc, seats[doc["game"]])
        ]
        soon = [line for line in lines if line["deadline"] is not None and line["deadline"] <= now + DAY]
        lines_by_part = {
            "near": sorted(soon, key=lambda line: int(line["deadline"])),
            "turns": [line for line in lines if line not in soon],
            "ended": [
                {"game": doc["game"], "ruleset": doc["ruleset"]}
                for status in ("over", "closed")
                for doc in self._list_summaries(games, status, after)
                if not doc.get("ruling")
            ],
            EVENT_PART: [_event_line(doc) for doc in sorted(kept, key=_order) if _is_new(doc, now)],
        }
        more = {part: max(len(lines_by_part[part]) - MAX_LINES, 0) for part in DIGEST_PARTS}
        return {**{part: lines_by_part[part][:MAX_LINES] for part in DIGEST_PARTS}, "more": more}

    def _list_summaries(self, games: Sequence[str], status: str, after: int = 0) -> Iterator[StoredSummaryDoc]:
        for begin in range(0, len(games), BATCH_SIZE):
            part = games[begin : begin + BATCH_SIZE]
            found = self._reader.list_summaries(part, status, after=after, limit=len(part), inside=True)
            yield from (doc for _, doc in found if "origin" not in doc)  # forks send no notices

    def _owed_lines(self, doc: StoredSummaryDoc, roles: Sequence[str]) -> Iterator[Doc]:
        for seat in [int(role) for role in roles if role.isdigit()]:
            for decision in list_owed(self._reader, doc, seat)[:1]:
                due = decision.get("due", {}).get(str(seat))
                yield {
                    "game": doc["game"],
                    "ruleset": doc["ruleset"],
                    "seat": seat,
                    "decision": decision["id"],
                    "deadline": due,
                }


def _order(doc: Doc) -> tuple[str, int]:
    """Return the order of kept notices: by time, then by version."""
    return doc["timestamp"], doc["data"]["version"]


def _event_line(doc: Doc) -> Doc:
    """Return the line of a kept notice."""
    return {"type": doc["type"], **doc["data"]}


def _is_new(doc: Doc, now: int) -> bool:
    """Return False for a notice of long ago, after an outage or a late subscription."""
    return datetime.fromisoformat(doc["timestamp"]).timestamp() * 1000 >= now - LONGEST_AGO
