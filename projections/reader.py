"""Reading the views: each call sees one moment of the live generation."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Select, Table, bindparam, func, literal_column, select, text, tuple_

from domain.kernel.records.audience import ALL_KEY, may_read
from domain.types import MAX_INT, PUBLIC, Doc, Json, Viewer
from projections import schema
from projections.archived_views import Passage, Retold, Told
from projections.delayed_views import CHANGES
from projections.leases import kept
from projections.merkle_proofs import Proofs
from projections.view_store import Prepared, Views

Columns = TypeVarTuple("Columns")


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
_POSITION = select(func.min(schema.parts.c.position)).where(_live(schema.parts))
_READ_BY_ALL = (_POSITION.scalar_subquery() + 1) * (1 << CHANGES)
POSITION = Prepared(_POSITION)
BOARD = Prepared(
    select(schema.boards.c.version, schema.boards.c.doc).where(
        _live(schema.boards), schema.boards.c.game == bindparam("of_game"), schema.boards.c.viewer == bindparam("by")
    )
)
AT_THE_TABLE = select(schema.boards.c.viewer, schema.boards.c.version, schema.boards.c.doc).where(
    _live(schema.boards),
    schema.boards.c.game == bindparam("of_game"),
    schema.boards.c.viewer.in_((schema.AT_THE_TABLE, PUBLIC)),
)
GAME = Prepared(
    select(schema.games.c.doc).where(
        _live(schema.games), schema.games.c.game == bindparam("of_game"), schema.games.c.shown_to != bindparam("others")
    )
)
SHOWN = Prepared(
    select(schema.games.c.shown_to, schema.games.c.version).where(
        _live(schema.games), schema.games.c.game == bindparam("of_game")
    )
)
_D, _A = schema.due.c, schema.aside.c
DUE = Prepared(
    select(_D.game, _D.decision, _D.work, _D.at)
    .where(_live(schema.due), _D.at <= bindparam("by"))
    .where((_D.work != literal_column("'lapse'")) | (_D.at <= bindparam("answered_to")))
    .order_by(_D.at)
    .suffix_with(text("LIMIT :most"))  # the library's own limit has a parameter of its own
)
ASIDE = Prepared(select(_A.game, _A.position, _A.error).where(_live(schema.aside)))
STATUS = select(schema.games.c.status, schema.games.c.version, schema.games.c.at).where(
    _live(schema.games), schema.games.c.game == bindparam("of_game")
)


def _others(inside: bool) -> str:
    """Whose summaries of tables with a delay are not asked for."""
    return schema.SPECTATORS if inside else schema.AT_THE_TABLE


REMEMBERED = 50_000
"""Games without a delay that a process knows to be so."""


class Reader:
    """All reads of the API and the workers.

    Boards and timelines of archived games are told again by `retold`; `whole` is around what folds a whole game.
    """

    def __init__(self, views: Views, retold: Retold | None = None) -> None:
        self._views, self._retold = views, retold
        self._plain: set[str] = set()
        self.proofs = Proofs(views)

    def position(self) -> int:
        """How far all parts of the live generation have read the log."""
        ((found,),) = self._views.found(POSITION)
        return int(found)

    @property
    def damaged(self) -> bool:
        """Whether pages of the views cannot be read, until a start makes them anew."""
        return self._views.damaged

    def pumped(self, now: int) -> bool:
        """Whether a pump works on the views, ms: without one nobody does what is asked for."""
        t = schema.parts
        with self._views.reading() as db:
            return db.execute(select(t.c.part).where(_live(t), t.c.until > now)).first() is not None

    def rebuilding(self) -> tuple[int, int] | None:
        """How far a rebuild has read the log, and how far it must; None if there is none."""
        g, p = schema.generations.c, schema.parts.c
        reached = select(g.live, func.min(p.position).label("position")).join(schema.parts, p.gen == g.gen)
        with self._views.reading() as db:
            rows = {bool(row.live): int(row.position) for row in db.execute(reached.group_by(g.gen, g.live))}
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

    def board(self, game: str, viewer: Viewer, *, inside: bool = False, whole: Passage = nullcontext) -> Board | None:
        """The board of a viewer; None for an unknown game or seat.

        `inside`: the public one as those at the table see it, not as spectators do.
        """
        found = self._kept(game, viewer, inside)
        if found is None and (told := self._told(game, whole)) and (doc := told.boards.get(str(viewer))):
            return Board(told.version, doc)
        return found

    def _kept(self, game: str, viewer: Viewer, inside: bool) -> Board | None:
        if inside and viewer == PUBLIC:
            with self._views.reading() as db:
                rows = {row.viewer: row for row in db.execute(AT_THE_TABLE, {"of_game": game})}
            reader = schema.AT_THE_TABLE if schema.AT_THE_TABLE in rows else PUBLIC
            found = [(rows[reader].version, rows[reader].doc)] if reader in rows else []
        else:
            reader = str(viewer)
            found = self._views.found(BOARD, of_game=game, by=reader)
        return next((Board(version, self._views.shown(game, reader, doc)) for version, doc in found), None)

    def game(self, game: str, *, inside: bool = False) -> dict[str, Json] | None:
        """The summary of a game, as spectators see it, or those at the table (`inside`)."""
        found = self._views.found(GAME, of_game=game, others=_others(inside))
        return next((json.loads(doc) for (doc,) in found), None)

    def shown(self, game: str) -> dict[str, int]:
        """Who sees a game up to which version (`all`; or `table` and `public`); nothing of an unknown one."""
        return dict(self._views.found(SHOWN, of_game=game))

    def plain(self, game: str) -> bool:
        """Whether all see the same of a game, so far as the views know it: that stays so, and is asked once."""
        if game in self._plain:
            return True
        if schema.ALL not in self.shown(game):
            return False
        if len(self._plain) >= REMEMBERED:
            self._plain = set()
        self._plain.add(game)
        return True

    def seated(self, player: str, limit: int) -> list[str]:
        """The tables with a delay at which spectators see that player."""
        t = schema.seated
        with self._views.reading() as db:
            query = select(t.c.game).where(_live(t), t.c.player == player).distinct().limit(limit)
            return [row.game for row in db.execute(query)]

    def delayed(self, games: Sequence[str]) -> set[str]:
        """Which of these games spectators see late."""
        t = schema.held_back
        with self._views.reading() as db:
            return {row.game for row in db.execute(select(t.c.game).where(_live(t), t.c.game.in_(games)))}

    def marks(self, games: Sequence[str]) -> dict[str, int]:
        """A number of each of these games that is another one whenever more of it is shown to anybody."""
        t = schema.games
        with self._views.reading() as db:
            query = select(t.c.game, func.sum(t.c.version).label("mark")).where(_live(t), t.c.game.in_(games))
            return {row.game: int(row.mark) for row in db.execute(query.group_by(t.c.game))}

    def versions(self, games: Sequence[str]) -> dict[str, int]:
        """The newest version that the views know of each of these games."""
        t = schema.games
        with self._views.reading() as db:
            query = select(t.c.game, t.c.version).where(_live(t), t.c.game.in_(games))
            return {row.game: row.version for row in db.execute(query.where(t.c.shown_to != schema.SPECTATORS))}

    def lobby(
        self, status: str = "", ruleset: str = "", before: int = 0, limit: int = 50, *, free: bool = False
    ) -> list[tuple[int, dict[str, Json]]]:
        """Public games with the place of their last change, the newest first; `before` continues a page.

        `free`: only those where a seat can be taken, also of a player who has left.
        """
        t = schema.games
        query = select(t.c.place, t.c.doc).where(_live(t), t.c.listing == "public")
        query = query.where(t.c.shown_to != schema.AT_THE_TABLE).order_by(t.c.place.desc()).limit(limit)
        for column, value in ((t.c.status, status), (t.c.ruleset, ruleset)):
            if value:
                query = query.where(column == value)
        if before:
            query = query.where(t.c.place < before)
        if free:
            query = query.where(t.c.free > 0)
        with self._views.reading() as db:
            return [(row.place, json.loads(row.doc)) for row in db.execute(query)]

    def closed(self, ruleset: str = "", player: str = "", after: int = 0, limit: int = 50) -> list[tuple[int, str]]:
        """Public games that were finished or given up, with the place at which that was shown, the oldest first.

        Up to where all parts have read: what comes later has a later place.
        """
        t, r = schema.games, schema.results
        query = select(t.c.place, t.c.game).where(_live(t), t.c.listing == "public", t.c.status == "closed")
        query = query.where(t.c.shown_to != schema.AT_THE_TABLE, t.c.place > after, t.c.place < _READ_BY_ALL)
        query = query.order_by(t.c.place).limit(limit)
        if ruleset:
            query = query.where(t.c.ruleset == ruleset)
        if player:
            query = query.where(t.c.game.in_(select(r.c.game).where(_live(r), r.c.player == player)))
        with self._views.reading() as db:
            return [(row.place, row.game) for row in db.execute(query)]

    def of(
        self,
        games: Sequence[str],
        status: str = "",
        before: int = 0,
        limit: int = 50,
        *,
        after: int = 0,
        listing: str = "",
        inside: bool = False,
    ) -> list[tuple[int, dict[str, Json]]]:
        """Those of these games, as in the lobby, with a place after `after`; `inside`: as at the tables."""
        t = schema.games
        query = select(t.c.place, t.c.doc).where(_live(t), t.c.game.in_(games), t.c.shown_to != _others(inside))
        narrowed = (
            (status, t.c.status == status),
            (before, t.c.place < before),
            (after, t.c.place > after),
            (listing, t.c.listing == listing),
        )
        for wanted, where in narrowed:
            if wanted:
                query = query.where(where)
        with self._views.reading() as db:
            rows = db.execute(query.order_by(t.c.place.desc()).limit(limit))
            return [(row.place, json.loads(row.doc)) for row in rows]

    def _told(self, game: str, whole: Passage, after: int = 0) -> Told | None:
        """A closed game of which the views have no rows; None for any other, and for one with nothing after that."""
        if self._retold is None:
            return None
        with self._views.reading() as db:
            rows = db.execute(STATUS, {"of_game": game}).all()
        if {row.status for row in rows} != {"closed"} or all(row.version <= after for row in rows):
            return None
        if found := self._retold.known(game, {(row.version, row.at) for row in rows}):
            return found
        with whole():
            return self._retold.told(game)

    def timeline(
        self, game: str, viewer: Viewer, after: int = 0, limit: int = 100, *, whole: Passage = nullcontext
    ) -> list[dict[str, Json]]:
        """Entries after a version, the viewer's own beside the public ones of the same version."""
        t = schema.timeline
        query = select(t.c.version, t.c.audience, t.c.doc).where(_live(t), t.c.game == game, t.c.version > after)
        query = query.where(t.c.version <= after + limit).order_by(t.c.version, t.c.audience.desc())
        with self._views.reading() as db:
            rows = [(row.version, row.audience, row.doc) for row in db.execute(query)]
        if not rows and limit > 0 and (told := self._told(game, whole, after)):
            return _entries(told.page(after, limit), viewer)
        readable = ((v, key, doc) for v, key, doc in rows if may_read(key, viewer))
        return _entries(((v, key, self._views.shown(game, key, doc)) for v, key, doc in readable), viewer)

    def results(self, player: str, limit: int = 100, after: str = "") -> list[dict[str, Json]]:
        """The closed games of a player, the newest first; only public ones, since everybody may ask.

        Those that were not finished have neither place nor points. `after` is `at.game.seat` of the page before.
        """
        t = schema.results
        query = self._listed(select(t), player).order_by(t.c.at.desc(), t.c.game.desc(), t.c.seat.desc()).limit(limit)
        if after:
            at, game, seat = after.split(".")
            query = query.where(tuple_(t.c.at, t.c.game, t.c.seat) < tuple_(int(at), game, int(seat)))
        with self._views.reading() as db:
            return [{str(k): v for k, v in row.items() if k != "gen"} for row in db.execute(query).mappings()]

    def counted(self, player: str) -> tuple[int, int]:
        """How many closed public games of a player were finished, and how many were not."""
        t = schema.results
        with self._views.reading() as db:
            finished, closed = db.execute(self._listed(select(func.count(t.c.place), func.count()), player)).one()
        return finished, closed - finished

    def _listed(self, query: Select[*Columns], player: str) -> Select[*Columns]:
        t, games = schema.results, schema.games
        listed = t.join(games, (games.c.gen == t.c.gen) & (games.c.game == t.c.game))
        query = query.select_from(listed).where(_live(t), t.c.player == player, games.c.listing == "public")
        return query.where(games.c.shown_to != schema.AT_THE_TABLE)

    def due(self, now: int, limit: int = 100, *, answered: int = MAX_INT) -> list[Due]:
        """Work that is due now, the longest overdue first; of deadlines only those up to `answered`."""
        return [Due(*row) for row in self._views.found(DUE, by=now, answered_to=answered, most=limit)]

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
            query = select(t.c.game).where(_live(t), t.c.status.in_(("open", "running")))
            rows = db.execute(query.where(t.c.shown_to != schema.SPECTATORS).order_by(t.c.game))
            return [row.game for row in rows]

    def progress(self, work: str) -> Doc:
        """How far work in the background has come; nothing if it was never begun."""
        return kept(self._views, work)

    def aside(self) -> list[dict[str, Json]]:
        """Games that could not be projected."""
        return [dict(zip(("game", "position", "error"), row, strict=True)) for row in self._views.found(ASIDE)]


def _entries(rows: Iterable[tuple[int, str, bytes]], viewer: Viewer) -> list[dict[str, Json]]:
    """Of a timeline: what everybody may read before what audiences may."""
    out: dict[int, Doc] = {}
    for version, audience, doc in rows:
        if audience == ALL_KEY:
            out.setdefault(version, {}).update(json.loads(doc))
        elif may_read(audience, viewer):
            out.setdefault(version, {}).setdefault("own", []).append(json.loads(doc))
    return [out[v] for v in sorted(out)]
