"""Views of archived games. Their boards and timelines are dropped from the views and rendered again on demand."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from cachetools import LRUCache
from sqlalchemy import Connection, ScalarSelect, Select, delete, select, tuple_, update

from domain.errors import UnknownGame
from domain.types import is_import_id
from projections import documents, schema
from projections.loaded_game import LoadedGame
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory

CACHE_BYTES = 2**24
"""Bytes of documents cached per process. Without them each request renders its game again: three requests take 2.5 to 3
times as long (`python -m tests.perf.history`).
"""

PAGE = 50
"""Records per read."""

TimelineRow = tuple[int, str, bytes]
"""A timeline row: version, audience and document."""

GateFactory = Callable[[], AbstractContextManager[None]]
"""Makes the context in which a whole game is folded; it refuses callers over their rate."""


@dataclass(frozen=True)
class ArchivedViews:
    """The rendered views of a closed game."""

    version: int
    at: int
    """Time of the last record, ms."""
    boards: Mapping[str, bytes]
    """Viewer -> board."""
    timeline: Sequence[TimelineRow]
    """Timeline rows by version; the public row of a version comes first."""
    summary: bytes

    def page(self, after: int, limit: int) -> Sequence[TimelineRow]:
        """Return the rows of the `limit` versions after version `after`."""
        first, end = (bisect_right(self.timeline, at, key=_row_version) for at in (after, after + limit))
        return self.timeline[first:end]

    @property
    def size(self) -> int:
        """Size of all documents in bytes."""
        return len(self.summary) + sum(map(len, self.boards.values())) + sum(len(doc) for *_, doc in self.timeline)


class ArchivedViewLoader:
    """Renders views of archived games from their records and caches the most recent ones. Thread-safe."""

    def __init__(self, history: ViewerHistory) -> None:
        self._ledger, self._history = history.ledger, history
        self._lock = threading.Lock()
        self._cache: LRUCache[str, ArchivedViews] = LRUCache(CACHE_BYTES, lambda views: views.size)

    def find_cached(self, game: str, last_records: Set[tuple[int, int]]) -> ArchivedViews | None:
        """Return the cached views of a game if their version and time (ms) are those of its last record.

        After the restore of an older database, a game can have a different end than the cached one.
        """
        with self._lock:
            cached = self._cache.get(game)
        return cached if cached and {(cached.version, cached.at)} == last_records else None

    def find_imported(self, game: str, gate: GateFactory) -> ArchivedViews | None:
        """Return the views of an imported game, or None for an unknown one. They never change."""
        if not self._ledger.version(game):
            return None
        with self._lock:
            cached = self._cache.get(game)
        if cached is None:
            with gate(), suppress(UnknownGame):
                cached = self.load(game)
        return cached

    def load(self, game: str) -> ArchivedViews:
        """Fold the game from its first record and return its views. Raise UnknownGame, or as `Ledger.read`.

        Costs as much as an audit of the game's boards. An import may be deleted in between: nothing of it is cached.
        """
        views = self._build(game)
        if not views.version or (is_import_id(game) and views.version != self._ledger.version(game)):
            raise UnknownGame(game)
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
                before, loaded = loaded, self._history.next_game(loaded, record)
                documents_by_audience = documents.build_entries(record, before, loaded)
                audiences = sorted(documents_by_audience, reverse=True)
                lines += [
                    (record.version, audience, documents.encode_document(documents_by_audience[audience]))
                    for audience in audiences
                ]
            after, at = after + len(records), records[-1].head.at
        boards = documents.build_boards(loaded, loaded.viewers) if loaded else {}
        summary = documents.encode_document(documents.build_summary(loaded)) if loaded else b""
        return ArchivedViews(after, at, {str(viewer): doc for viewer, doc in boards.items()}, lines, summary)


def _row_version(row: TimelineRow) -> int:
    return row[0]


# --- which games, and what is dropped of them ------------------------------------------------------------------


@dataclass(frozen=True)
class ClosedGame:
    """A closed game that is public to its end."""

    at: int
    """Time of the last record, ms."""
    game: str
    version: int


def list_closed_before(views: ViewStore, at: int, after: tuple[int, str], limit: int) -> list[ClosedGame]:
    """Return games closed at or before `at` (ms) that still have rows, oldest first, after the key `after`.

    Ended tournaments without the mark of the archive are among them. Leaves out quarantined games, and games with an
    end that spectators cannot see yet.
    """
    t, b, a, g = schema.games.c, schema.boards.c, schema.aside.c, schema.generations.c
    live = select(g.gen).where(g.live).scalar_subquery()
    rows = select(b.game).where(b.gen == live, b.game == t.game).exists()
    excluded = select(a.game).where(a.gen == live).union(select(t.game).where(t.gen == live, t.status != "closed"))
    query = select(t.at, t.game, t.version).where(t.gen == live, t.shown_to != schema.SPECTATORS, t.status == "closed")
    query = query.where(rows, t.at <= at, tuple_(t.at, t.game) > after, t.game.not_in(excluded))
    tournaments = _select_ended_tournaments(live, at, after)
    with views.reading() as db:
        found = [*db.execute(query.order_by(t.at, t.game).limit(limit)), *db.execute(tournaments.limit(limit))]
    return sorted((ClosedGame(*row) for row in found), key=lambda game: (game.at, game.game))[:limit]


def _select_ended_tournaments(live: ScalarSelect[int], at: int, after: tuple[int, str]) -> Select[tuple[int, str, int]]:
    t, a = schema.tournaments.c, schema.aside.c
    query = select(t.at, t.game, t.version).where(t.gen == live, t.status.in_(("finished", "cancelled")), ~t.archived)
    query = query.where(t.at <= at, tuple_(t.at, t.game) > after)
    return query.where(t.game.not_in(select(a.game).where(a.gen == live))).order_by(t.at, t.game)


def drop_game_everywhere(views: ViewStore, game: str) -> None:
    """Drop boards, timeline, keyframes and outlines of a game in every generation; summary, results and leaves stay."""
    with views.transaction() as db:
        for gen in db.execute(select(schema.generations.c.gen)).scalars().all():
            drop_game(db, gen, game)


def drop_game(db: Connection, gen: int, game: str) -> None:
    """Drop boards, timeline, keyframes and outlines of a game in one generation; mark a tournament as archived."""
    db.execute(update(schema.tournaments).filter_by(gen=gen, game=game).values(archived=True))
    for table in (schema.boards, schema.timeline, schema.keyframes, schema.outlines):
        db.execute(delete(table).filter_by(gen=gen, game=game))
