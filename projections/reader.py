"""Reading the views: each call sees one moment of the live generation."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Table, bindparam, select

from domain.ids import MAX_INT, Doc, Json, Viewer
from domain.kernel.audience import ALL_KEY, may_read
from projections import schema
from projections.progress import kept
from projections.proofs import Proofs
from projections.store import Views


@dataclass(frozen=True)
class Board:
    """A rendered board and the version at which it last changed."""

    version: int
    doc: bytes


@dataclass(frozen=True)
class Due:
    """Work that somebody must do from `at` (ms) on."""

    game: str
    decision: str
    work: str
    at: int


def _live(table: Table) -> ColumnElement[bool]:
    found = select(schema.generations.c.gen).where(schema.generations.c.live).scalar_subquery()
    return table.c.gen == found


# Made once: building a statement takes longer than running it.
POSITION = select(schema.generations.c.position).where(schema.generations.c.live)
BOARD = select(schema.boards.c.version, schema.boards.c.doc).where(
    _live(schema.boards), schema.boards.c.game == bindparam("of_game"), schema.boards.c.viewer == bindparam("by")
)
GAME = select(schema.games.c.doc).where(_live(schema.games), schema.games.c.game == bindparam("of_game"))


class Reader:
    """All reads of the API and the workers."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self.proofs = Proofs(views)

    def position(self) -> int:
        """How far the live generation has read the log."""
        with self._views.reading() as db:
            return int(db.execute(POSITION).scalar_one())

    def pumped(self, now: int) -> bool:
        """Whether a pump works on the views, ms: without one nobody does what is asked for."""
        t = schema.leases
        with self._views.reading() as db:
            return db.execute(select(t.c.name).where(t.c.until > now)).first() is not None

    def rebuilding(self) -> tuple[int, int] | None:
        """How far a rebuild has read the log, and how far it must; None if there is none."""
        t = schema.generations
        with self._views.reading() as db:
            rows = {bool(row.live): int(row.position) for row in db.execute(select(t.c.live, t.c.position))}
        return (rows[False], rows[True]) if len(rows) == 2 else None

    def wait(self, position: int, seconds: float) -> bool:
        """Whether the views reach that position in time: a client reads its own writes."""
        end = time.monotonic() + seconds
        pause = 0.001
        while self.position() < position:
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        return True

    def board(self, game: str, viewer: Viewer) -> Board | None:
        """The board of a viewer; None for an unknown game or seat."""
        with self._views.reading() as db:
            row = db.execute(BOARD, {"of_game": game, "by": str(viewer)}).first()
        return None if row is None else Board(row.version, self._views.shown(game, str(viewer), row.doc))

    def game(self, game: str) -> dict[str, Json] | None:
        """The summary of a game."""
        with self._views.reading() as db:
            row = db.execute(GAME, {"of_game": game}).first()
        return None if row is None else json.loads(row.doc)

    def versions(self, games: Sequence[str]) -> dict[str, int]:
        """The newest version that the views know of each of these games."""
        t = schema.games
        with self._views.reading() as db:
            rows = db.execute(select(t.c.game, t.c.version).where(_live(t), t.c.game.in_(games)))
            return {row.game: row.version for row in rows}

    def lobby(
        self, status: str = "", ruleset: str = "", before: int = 0, limit: int = 50, *, free: bool = False
    ) -> list[tuple[int, dict[str, Json]]]:
        """Public games with the log position of their last record, the newest first; `before` continues a page.

        `free`: only those where a seat can be taken, also of a player who has left.
        """
        t = schema.games
        query = select(t.c.position, t.c.doc).where(_live(t), t.c.listing == "public")
        query = query.order_by(t.c.position.desc()).limit(limit)
        for column, value in ((t.c.status, status), (t.c.ruleset, ruleset)):
            if value:
                query = query.where(column == value)
        if before:
            query = query.where(t.c.position < before)
        if free:
            query = query.where(t.c.free > 0)
        with self._views.reading() as db:
            return [(row.position, json.loads(row.doc)) for row in db.execute(query)]

    def of(
        self, games: Sequence[str], status: str = "", before: int = 0, limit: int = 50
    ) -> list[tuple[int, dict[str, Json]]]:
        """Those of these games, as in the lobby."""
        t = schema.games
        query = select(t.c.position, t.c.doc).where(_live(t), t.c.game.in_(games))
        for wanted, where in ((status, t.c.status == status), (before, t.c.position < before)):
            if wanted:
                query = query.where(where)
        with self._views.reading() as db:
            rows = db.execute(query.order_by(t.c.position.desc()).limit(limit))
            return [(row.position, json.loads(row.doc)) for row in rows]

    def timeline(self, game: str, viewer: Viewer, after: int = 0, limit: int = 100) -> list[dict[str, Json]]:
        """Entries after a version, the viewer's own beside the public ones of the same version."""
        t = schema.timeline
        query = select(t.c.version, t.c.audience, t.c.doc).where(_live(t), t.c.game == game, t.c.version > after)
        query = query.where(t.c.version <= after + limit).order_by(t.c.version, t.c.audience.desc())
        out: dict[int, Doc] = {}
        with self._views.reading() as db:
            for row in db.execute(query):
                if row.audience == ALL_KEY:
                    out.setdefault(row.version, {}).update(json.loads(row.doc))
                elif may_read(row.audience, viewer):
                    out.setdefault(row.version, {}).setdefault("own", []).append(self._own(game, row.audience, row.doc))
        return [out[v] for v in sorted(out)]

    def _own(self, game: str, audience: str, doc: bytes) -> Doc:
        part: Doc = json.loads(self._views.shown(game, audience, doc))
        return part

    def results(self, player: str, limit: int = 100) -> list[dict[str, Json]]:
        """The closed games of a player, the newest first; only public ones, since everybody may ask.

        Those that were not finished have neither place nor points.
        """
        t, games = schema.results, schema.games
        listed = t.join(games, (games.c.gen == t.c.gen) & (games.c.game == t.c.game))
        with self._views.reading() as db:
            rows = db.execute(
                select(t)
                .select_from(listed)
                .where(_live(t), t.c.player == player, games.c.listing == "public")
                .order_by(t.c.at.desc())
                .limit(limit)
            ).mappings()
            return [{str(k): v for k, v in row.items() if k != "gen"} for row in rows]

    def due(self, now: int, limit: int = 100, *, answered: int = MAX_INT) -> list[Due]:
        """Work that is due now, the longest overdue first; of deadlines only those up to `answered`."""
        t = schema.due
        query = select(t).where(_live(t), t.c.at <= now, (t.c.work != "lapse") | (t.c.at <= answered))
        with self._views.reading() as db:
            query = query.order_by(t.c.at).limit(limit)
            return [Due(r.game, r.decision, r.work, r.at) for r in db.execute(query)]

    def interrupted(self, began: int, ended: int) -> list[Due]:
        """Lapses that had less time left when that time ended than it took, and were not due for all when it began."""
        t = schema.due
        query = select(t).where(_live(t), t.c.work == "lapse", t.c.deadline <= 2 * ended - began, t.c.last > began)
        with self._views.reading() as db:
            rows = db.execute(query.order_by(t.c.game, t.c.decision))
            return [Due(r.game, r.decision, r.work, r.at) for r in rows]

    def unfinished(self) -> list[str]:
        """The games that are not over."""
        t = schema.games
        with self._views.reading() as db:
            rows = db.execute(select(t.c.game).where(_live(t), t.c.status.in_(("open", "running"))).order_by(t.c.game))
            return [row.game for row in rows]

    def progress(self, work: str) -> Doc:
        """How far work in the background has come; nothing if it was never begun."""
        return kept(self._views, work)

    def aside(self) -> list[dict[str, Json]]:
        """Games that could not be projected."""
        t = schema.aside
        with self._views.reading() as db:
            rows = db.execute(select(t.c.game, t.c.position, t.c.error).where(_live(t))).mappings()
            return [{str(k): v for k, v in row.items()} for row in rows]
