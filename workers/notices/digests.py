"""Digests: what stands at the tables of a person, told together, at the hour that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from domain.beside.notices.mailboxes import DIGEST, Mailbox, Mailboxes
from domain.beside.notices.outbox import Notice, Outbox
from domain.beside.people.rows import DAY
from domain.ids import Doc
from projections.reader import Reader

TOGETHER = 500
"""Games that are asked after in one statement."""


class Digests:
    """May raise StoreUnavailable. A digest has the same id however often it is made."""

    def __init__(self, outbox: Outbox, mailboxes: Mailboxes, reader: Reader) -> None:
        self._outbox, self._mailboxes, self._reader = outbox, mailboxes, reader

    def look(self, now: int) -> None:
        """Write down those that are due, `now` in ms; one that would tell nothing is none."""
        for box in self._mailboxes.due():
            told = self._told(box, now)
            if any(told.values()):
                self._outbox.owe([Notice(box.webhook, DIGEST, (str(box.next),), now, told)])
            self._mailboxes.told(box)

    def _told(self, box: Mailbox, now: int) -> Doc:
        seats = self._mailboxes.seats(box.account)
        found = list(self._tables(list(seats)))
        owed = [line for doc in found for line in self._owed(doc, seats[doc["game"]])]
        soon = [line for line in owed if line["deadline"] is not None and line["deadline"] <= now + DAY]
        over = [doc for doc in found if doc["status"] in ("over", "closed") and doc["at"] > box.last]
        return {
            "near": sorted(soon, key=lambda line: int(line["deadline"])),
            "turns": [line for line in owed if line not in soon],
            "ended": [{"game": doc["game"], "ruleset": doc["ruleset"]} for doc in over],
        }

    def _tables(self, games: Sequence[str]) -> Iterator[Doc]:
        for begin in range(0, len(games), TOGETHER):
            part = games[begin : begin + TOGETHER]
            yield from (doc for _, doc in self._reader.of(part, limit=len(part), inside=True))

    def _owed(self, doc: Doc, roles: Sequence[str]) -> Iterator[Doc]:
        """What is owed at a table, as the seats themselves see it: of a secret decision others know less."""
        for seat in [int(role) for role in roles if role.isdigit()]:
            board = self._reader.board(doc["game"], seat, inside=True) if seat in doc["waiting_for"] else None
            found: list[Doc] = orjson.loads(board.doc)["decisions"] if board else []
            top: Doc = found[0] if found else {"must": []}
            if seat in top["must"]:
                due = top.get("due", {}).get(str(seat))
                yield {"game": doc["game"], "ruleset": doc["ruleset"], "seat": seat, "deadline": due}
