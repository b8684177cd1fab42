"""Closed games that rest in the archive: their boards and timelines leave the views, and are told again when asked."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass

from cachetools import LRUCache
from sqlalchemy import Connection, delete, select, tuple_

from domain.ledger import Ledger
from domain.ruleset_registry import Catalogue
from projections import documents, schema
from projections.loaded_game import Known, following
from projections.view_store import Views

KEPT = 2**24
"""Bytes of documents that a process remembers."""

PAGE = 50
"""Records that are read at once."""

Row = tuple[int, str, bytes]
"""Of a timeline: version, audience and document."""

Passage = Callable[[], AbstractContextManager[None]]
"""Around what folds a whole game: who asks for too much is kept out."""


@dataclass(frozen=True)
class Told:
    """What the views had of a closed game."""

    version: int
    at: int
    """When its last record was written, ms."""
    boards: Mapping[str, bytes]
    """Viewer -> board."""
    lines: Sequence[Row]
    """The timeline, in the order of the versions, what everybody may read before what audiences may."""

    def page(self, after: int, limit: int) -> Sequence[Row]:
        """The rows of so many versions after that one."""
        first, end = (bisect_right(self.lines, at, key=_version) for at in (after, after + limit))
        return self.lines[first:end]

    @property
    def size(self) -> int:
        """Bytes of its documents."""
        return sum(map(len, self.boards.values())) + sum(len(doc) for *_, doc in self.lines)


class Retold:
    """Tells games again from their records; safe with threads. Remembers those that were asked for last."""

    def __init__(self, ledger: Ledger, catalogue: Catalogue) -> None:
        self._ledger, self._catalogue = ledger, catalogue
        self._lock = threading.Lock()
        self._kept: LRUCache[str, Told] = LRUCache(KEPT, lambda told: told.size)

    def known(self, game: str, ends: Set[tuple[int, int]]) -> Told | None:
        """What is remembered of the game, if that is where it ended: version and time, ms.

        A database that came back older may have been told another end of it since.
        """
        with self._lock:
            found = self._kept.get(game)
        return found if found and {(found.version, found.at)} == ends else None

    def told(self, game: str) -> Told:
        """The game folded from its beginning: costs as much as an audit of its boards. Raises as `Ledger.read`."""
        found = self._tell(game)
        if found.size <= KEPT:
            with self._lock:
                self._kept[game] = found
        return found

    def _tell(self, game: str) -> Told:
        known: Known | None = None
        lines: list[Row] = []
        after = at = 0
        while records := self._ledger.read(game, after, after + PAGE):
            for record in records:
                before, known = known, following(self._catalogue, self._ledger, known, record)
                told = documents.entries(record, before, known)
                audiences = sorted(told, reverse=True)
                lines += [(record.version, audience, documents.rendered(told[audience])) for audience in audiences]
            after, at = after + len(records), records[-1].head.at
        boards = documents.boards(known, known.viewers) if known else {}
        return Told(after, at, {str(viewer): doc for viewer, doc in boards.items()}, lines)


def _version(row: Row) -> int:
    return row[0]


# --- which games, and what is dropped of them ------------------------------------------------------------------


@dataclass(frozen=True)
class Closed:
    """A closed game, all of which everybody may see."""

    at: int
    """When, ms."""
    game: str
    version: int


def closed_before(views: Views, at: int, after: tuple[int, str], limit: int) -> list[Closed]:
    """Games with rows that were closed by then, ms, the oldest first, past that time and game.

    None that is set aside, or of which spectators do not see the end yet.
    """
    t, b, a, g = schema.games.c, schema.boards.c, schema.aside.c, schema.generations.c
    live = select(g.gen).where(g.live).scalar_subquery()
    rows = select(b.game).where(b.gen == live, b.game == t.game).exists()
    others = select(a.game).where(a.gen == live).union(select(t.game).where(t.gen == live, t.status != "closed"))
    query = select(t.at, t.game, t.version).where(t.gen == live, t.shown_to != schema.SPECTATORS, t.status == "closed")
    query = query.where(rows, t.at <= at, tuple_(t.at, t.game) > after, t.game.not_in(others))
    with views.reading() as db:
        return [Closed(*row) for row in db.execute(query.order_by(t.at, t.game).limit(limit))]


def forget_everywhere(views: Views, game: str) -> None:
    """Drop the boards and the timeline of a game, in every generation; its summary, results and leaves stay."""
    with views.transaction() as db:
        for gen in db.execute(select(schema.generations.c.gen)).scalars().all():
            forget(db, gen, game)


def forget(db: Connection, gen: int, game: str) -> None:
    """The same in one of them."""
    for table in (schema.boards, schema.timeline):
        db.execute(delete(table).filter_by(gen=gen, game=game))
