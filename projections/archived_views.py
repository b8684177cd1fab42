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
from domain.ruleset_registry import RulesetRegistry
from projections import documents, schema
from projections.loaded_game import LoadedGame, next_game
from projections.view_store import ViewStore

CACHE_BYTES = 2**24
"""Bytes of documents that a process remembers."""

PAGE = 50
"""Records that are read at once."""

TimelineRow = tuple[int, str, bytes]
"""Of a timeline: version, audience and document."""

GateFactory = Callable[[], AbstractContextManager[None]]
"""Around what folds a whole game: who asks for too much is kept out."""


@dataclass(frozen=True)
class ArchivedViews:
    """What the views had of a closed game."""

    version: int
    at: int
    """When its last record was written, ms."""
    boards: Mapping[str, bytes]
    """Viewer -> board."""
    timeline: Sequence[TimelineRow]
    """The timeline, in the order of the versions, what everybody may read before what audiences may."""

    def page(self, after: int, limit: int) -> Sequence[TimelineRow]:
        """The rows of so many versions after that one."""
        first, end = (bisect_right(self.timeline, at, key=_row_version) for at in (after, after + limit))
        return self.timeline[first:end]

    @property
    def size(self) -> int:
        """Bytes of its documents."""
        return sum(map(len, self.boards.values())) + sum(len(doc) for *_, doc in self.timeline)


class ArchivedViewLoader:
    """Tells games again from their records; safe with threads. Remembers those that were asked for last."""

    def __init__(self, ledger: Ledger, registry: RulesetRegistry) -> None:
        self._ledger, self._registry = ledger, registry
        self._lock = threading.Lock()
        self._cache: LRUCache[str, ArchivedViews] = LRUCache(CACHE_BYTES, lambda views: views.size)

    def find_cached(self, game: str, last_records: Set[tuple[int, int]]) -> ArchivedViews | None:
        """What is remembered of the game, if that is where it ended: version and time, ms.

        A database that came back older may have been told another end of it since.
        """
        with self._lock:
            cached = self._cache.get(game)
        return cached if cached and {(cached.version, cached.at)} == last_records else None

    def load(self, game: str) -> ArchivedViews:
        """The game folded from its beginning: costs as much as an audit of its boards. Raises as `Ledger.read`."""
        views = self._build(game)
        if views.size <= CACHE_BYTES:
            with self._lock:
                self._cache[game] = views
        return views

    def _build(self, game: str) -> ArchivedViews:
        loaded: LoadedGame | None = None
        lines: list[TimelineRow] = []
        after = at = 0
        while records := self._ledger.read(game, after, after + PAGE):
            for record in records:
                before, loaded = loaded, next_game(self._registry, self._ledger, loaded, record)
                documents_by_audience = documents.build_entries(record, before, loaded)
                audiences = sorted(documents_by_audience, reverse=True)
                lines += [
                    (record.version, audience, documents.encode_document(documents_by_audience[audience]))
                    for audience in audiences
                ]
            after, at = after + len(records), records[-1].head.at
        boards = documents.build_boards(loaded, loaded.viewers) if loaded else {}
        return ArchivedViews(after, at, {str(viewer): doc for viewer, doc in boards.items()}, lines)


def _row_version(row: TimelineRow) -> int:
    return row[0]


# --- which games, and what is dropped of them ------------------------------------------------------------------


@dataclass(frozen=True)
class ClosedGame:
    """A closed game, all of which everybody may see."""

    at: int
    """When, ms."""
    game: str
    version: int


def list_closed_before(views: ViewStore, at: int, after: tuple[int, str], limit: int) -> list[ClosedGame]:
    """Games with rows that were closed by then, ms, the oldest first, past that time and game.

    None that is set aside, or of which spectators do not see the end yet.
    """
    t, b, a, g = schema.games.c, schema.boards.c, schema.aside.c, schema.generations.c
    live = select(g.gen).where(g.live).scalar_subquery()
    rows = select(b.game).where(b.gen == live, b.game == t.game).exists()
    excluded = select(a.game).where(a.gen == live).union(select(t.game).where(t.gen == live, t.status != "closed"))
    query = select(t.at, t.game, t.version).where(t.gen == live, t.shown_to != schema.SPECTATORS, t.status == "closed")
    query = query.where(rows, t.at <= at, tuple_(t.at, t.game) > after, t.game.not_in(excluded))
    with views.reading() as db:
        return [ClosedGame(*row) for row in db.execute(query.order_by(t.at, t.game).limit(limit))]


def drop_game_everywhere(views: ViewStore, game: str) -> None:
    """Drop the boards and the timeline of a game, in every generation; its summary, results and leaves stay."""
    with views.transaction() as db:
        for gen in db.execute(select(schema.generations.c.gen)).scalars().all():
            drop_game(db, gen, game)


def drop_game(db: Connection, gen: int, game: str) -> None:
    """The same in one of them."""
    for table in (schema.boards, schema.timeline):
        db.execute(delete(table).filter_by(gen=gen, game=game))
