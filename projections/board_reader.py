"""Reads of single games: boards, summaries and timelines."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass

import msgspec
from sqlalchemy import bindparam, select

from domain.kernel.records.audience import ALL_KEY, may_read
from domain.types import PUBLIC, Doc, Json, Viewer, is_import_id
from projections import schema
from projections.archived_views import ArchivedViewLoader, ArchivedViews, GateFactory
from projections.game_documents import StoredSummaryDoc
from projections.live_rows import hidden_from, is_live
from projections.view_store import PreparedStatement, ViewStore


@dataclass(frozen=True)
class Board:
    """A rendered board and the version of its last change."""

    version: int
    doc: bytes


# Built once: building a statement takes longer than running it.
BOARD = PreparedStatement(
    select(schema.boards.c.version, schema.boards.c.doc).where(
        is_live(schema.boards), schema.boards.c.game == bindparam("of_game"), schema.boards.c.viewer == bindparam("by")
    )
)
PUBLIC_BOARDS = select(schema.boards.c.viewer, schema.boards.c.version, schema.boards.c.doc).where(
    is_live(schema.boards),
    schema.boards.c.game == bindparam("of_game"),
    schema.boards.c.viewer.in_((schema.AT_THE_TABLE, PUBLIC)),
)
SUMMARY = PreparedStatement(
    select(schema.games.c.doc).where(
        is_live(schema.games),
        schema.games.c.game == bindparam("of_game"),
        schema.games.c.shown_to != bindparam("others"),
    )
)
SHOWN_VERSIONS = PreparedStatement(
    select(schema.games.c.shown_to, schema.games.c.version).where(
        is_live(schema.games), schema.games.c.game == bindparam("of_game")
    )
)
STATUS = select(schema.games.c.status, schema.games.c.version, schema.games.c.at).where(
    is_live(schema.games), schema.games.c.game == bindparam("of_game")
)

_T = schema.timeline.c
TIMELINE = PreparedStatement(
    select(_T.version, _T.audience, _T.doc)
    .where(is_live(schema.timeline), _T.game == bindparam("of_game"))
    .where(_T.version > bindparam("after"), _T.version <= bindparam("upto"))
    .order_by(_T.version, _T.audience.desc())
)

MAX_REMEMBERED = 50_000
"""Games without a delay remembered per process."""


class BoardReader:
    """Boards, summaries and timelines of games, each read from one snapshot of the live generation.

    `archived_views` renders archived games from their records; `gate` limits the games folded at once.
    """

    def __init__(self, views: ViewStore, archived_views: ArchivedViewLoader | None = None) -> None:
        self._views, self._archived_views = views, archived_views
        self._same_for_all: set[str] = set()

    def find_board(
        self, game: str, viewer: Viewer, *, inside: bool = False, gate: GateFactory = nullcontext
    ) -> Board | None:
        """Return the board of a viewer; None for an unknown game or seat.

        `inside`: the public board as players of the table see it, without the spectators' delay.
        """
        board = self._find_stored_board(game, viewer, inside)
        if (
            board is None
            and (archived := self._load_archived(game, gate))
            and (doc := archived.boards.get(str(viewer)))
        ):
            return Board(archived.version, doc)
        return board

    def _find_stored_board(self, game: str, viewer: Viewer, inside: bool) -> Board | None:
        if inside and viewer == PUBLIC:
            with self._views.reading() as db:
                rows = {row.viewer: row for row in db.execute(PUBLIC_BOARDS, {"of_game": game})}
            reader = schema.AT_THE_TABLE if schema.AT_THE_TABLE in rows else PUBLIC
            boards = [(rows[reader].version, rows[reader].doc)] if reader in rows else []
        else:
            reader = str(viewer)
            boards = self._views.fetch_all(BOARD, of_game=game, by=reader)
        return next((Board(version, self._views.open_document(game, reader, doc)) for version, doc in boards), None)

    def find_summary(
        self, game: str, *, inside: bool = False, gate: GateFactory = nullcontext
    ) -> StoredSummaryDoc | None:
        """Return the summary of a game as spectators see it, or as its players do (`inside`)."""
        if is_import_id(game):
            imported = self._load_archived(game, gate)
            return msgspec.json.decode(imported.summary) if imported else None
        found = self._views.fetch_all(SUMMARY, of_game=game, others=hidden_from(inside))
        return next((msgspec.json.decode(doc) for (doc,) in found), None)

    def shown_versions(self, game: str) -> dict[str, int]:
        """Return kind of reader -> newest version (`all`; or `table` and `public`); empty for an unknown game."""
        return dict(self._views.fetch_all(SHOWN_VERSIONS, of_game=game))

    def is_same_for_all(self, game: str) -> bool:
        """Return True if the game has no spectator delay, as far as the views know.

        The answer never changes, so it is cached.
        """
        if is_import_id(game) or game in self._same_for_all:
            return True
        if schema.ALL not in self.shown_versions(game):
            return False
        if len(self._same_for_all) >= MAX_REMEMBERED:
            self._same_for_all = set()
        self._same_for_all.add(game)
        return True

    def read_timeline(
        self, game: str, viewer: Viewer, after: int = 0, limit: int = 100, *, gate: GateFactory = nullcontext
    ) -> list[dict[str, Json]]:
        """Return the entries after a version; a viewer's own part is inside the public entry of the same version."""
        rows = self._views.fetch_all(TIMELINE, of_game=game, after=after, upto=after + limit)
        if not rows and limit > 0 and (archived := self._load_archived(game, gate, after)):
            return merge_entries(archived.page(after, limit), viewer)
        readable = ((v, key, doc) for v, key, doc in rows if may_read(key, viewer))
        return merge_entries(((v, key, self._views.open_document(game, key, doc)) for v, key, doc in readable), viewer)

    def _load_archived(self, game: str, gate: GateFactory, after: int = 0) -> ArchivedViews | None:
        """Return the views of an archived game; None for others and if nothing follows version `after`."""
        if self._archived_views is None:
            return None
        if is_import_id(game):
            imported = self._archived_views.find_imported(game, gate)
            return imported if imported and imported.version > after else None
        with self._views.reading() as db:
            rows = db.execute(STATUS, {"of_game": game}).all()
        if {row.status for row in rows} != {"closed"} or all(row.version <= after for row in rows):
            return None
        if cached := self._archived_views.find_cached(game, {(row.version, row.at) for row in rows}):
            return cached
        with gate():
            return self._archived_views.load(game)


def merge_entries(rows: Iterable[tuple[int, str, bytes]], viewer: Viewer) -> list[dict[str, Json]]:
    """Merge timeline rows (version, audience, document) into a viewer's entries, one for each version."""
    out: dict[int, Doc] = {}
    for version, audience, doc in rows:
        if audience == ALL_KEY:
            out.setdefault(version, {}).update(msgspec.json.decode(doc))
        elif may_read(audience, viewer):
            out.setdefault(version, {}).setdefault("own", []).append(msgspec.json.decode(doc))
    return [out[v] for v in sorted(out)]
