"""Digests: what stands at the tables of a person, told together, at the hour that was asked for.

Many ask for the same hour. So they are made as fast as mail goes, a few at once, and nothing else waits for them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence

from domain.accounts.account_tables import DAY
from domain.errors import StoreUnavailable, WrongKey
from domain.notifications.email_subscriptions import DIGEST, Mailbox, Mailboxes
from domain.notifications.outbox import Notice, Outbox
from domain.types import Doc
from projections.delayed_views import CHANGES
from projections.reader import Reader
from workers.notifications.table_status import PARTS, owed

TOGETHER = 500
"""Games that are asked after in one statement."""

AT_ONCE = 20
"""Digests that wait to be sent; further ones are made when these are gone."""

SECONDS = 0.5
"""After so many one look begins no further one."""

MOST = 50
"""Games that a part of a digest names; of others it tells how many there are."""

log = logging.getLogger("annals.notices")


class Digests:
    """May raise StoreUnavailable. A digest has the same id however often it is made."""

    def __init__(self, outbox: Outbox, mailboxes: Mailboxes, reader: Reader) -> None:
        self._outbox, self._mailboxes, self._reader = outbox, mailboxes, reader

    def look(self, now: int) -> None:
        """Write down those that are due, `now` in ms; one that would tell nothing is none."""
        end = time.monotonic() + SECONDS
        if due := self._mailboxes.due(AT_ONCE):
            for webhook in due[: AT_ONCE - self._outbox.ready(DIGEST, AT_ONCE)]:
                self._see_to(webhook, now)
                if time.monotonic() > end:
                    return

    def _see_to(self, webhook: str, now: int) -> None:
        """Whatever is wrong with one mailbox or its tables, the others go on."""
        try:
            box = self._mailboxes.at(webhook)
            if box and 0 < box.next <= now:
                self._make(box, now)
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - it may say what the mailbox holds
            log.warning("the digest for %s is put off: %s", webhook, type(error).__name__)
            self._mailboxes.postpone(webhook)

    def _make(self, box: Mailbox, now: int) -> None:
        read = self._reader.position()  # before anything is read: what comes in meanwhile is told twice, or next time
        told = self._told(box, now)
        if any(told[part] for part in PARTS):
            self._outbox.owe([Notice(box.webhook, DIGEST, (str(box.next),), now, told)])
        self._mailboxes.told(box, read)

    def _told(self, box: Mailbox, now: int) -> Doc:
        seats = self._mailboxes.seats(box.account)
        games, after = list(seats), ((box.last + 1) << CHANGES) - 1
        lines = [line for doc in self._tables(games, "running") for line in self._owed(doc, seats[doc["game"]])]
        soon = [line for line in lines if line["deadline"] is not None and line["deadline"] <= now + DAY]
        found = {
            "near": sorted(soon, key=lambda line: int(line["deadline"])),
            "turns": [line for line in lines if line not in soon],
            "ended": [
                {"game": doc["game"], "ruleset": doc["ruleset"]}
                for status in ("over", "closed")
                for doc in self._tables(games, status, after)
            ],
        }
        more = {part: max(len(found[part]) - MOST, 0) for part in PARTS}
        return {**{part: found[part][:MOST] for part in PARTS}, "more": more}

    def _tables(self, games: Sequence[str], status: str, after: int = 0) -> Iterator[Doc]:
        for begin in range(0, len(games), TOGETHER):
            part = games[begin : begin + TOGETHER]
            yield from (doc for _, doc in self._reader.of(part, status, after=after, limit=len(part), inside=True))

    def _owed(self, doc: Doc, roles: Sequence[str]) -> Iterator[Doc]:
        for seat in [int(role) for role in roles if role.isdigit()]:
            for decision in owed(self._reader, doc, seat)[:1]:
                due = decision.get("due", {}).get(str(seat))
                yield {"game": doc["game"], "ruleset": doc["ruleset"], "seat": seat, "deadline": due}
