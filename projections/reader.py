"""All reads of the views: each call reads one snapshot of the live generation."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import bindparam, func, literal_column, select, text

from domain.types import MAX_INT, Doc, Json
from projections import schema
from projections.archived_views import ArchivedViewLoader
from projections.board_reader import BoardReader
from projections.leases import load_progress
from projections.live_rows import READ_POSITION, is_live
from projections.merkle_proofs import MerkleProofs
from projections.rating_board import RatingBoard
from projections.row_builders import NO_DECISION
from projections.table_lists import TableLists
from projections.view_store import PreparedStatement, ViewStore


@dataclass(frozen=True)
class DueWork:
    """A job that is due from `at` (ms)."""

    game: str
    decision: str
    work: str
    at: int


class TournamentTable(NamedTuple):
    """Place of a game in a tournament, from 1."""

    tournament: str
    stage: int
    round: int
    pod: int


POSITION = PreparedStatement(READ_POSITION)
_D, _A = schema.due.c, schema.aside.c
DUE = PreparedStatement(
    select(_D.game, _D.decision, _D.work, _D.at)
    .where(is_live(schema.due), _D.at <= bindparam("by"))
    .where((_D.work != literal_column("'lapse'")) | (_D.at <= bindparam("answered_to")))
    .order_by(_D.at)
    .suffix_with(text("LIMIT :most"))  # SQLAlchemy's own limit adds a parameter
)
_T, _G, _O = schema.tournament_tables, schema.games, schema.tournaments
UNREPORTED = PreparedStatement(
    select(_T.c.table_game)
    .join(_G, (_G.c.gen == _T.c.gen) & (_G.c.game == _T.c.table_game))
    .join(_O, (_O.c.gen == _T.c.gen) & (_O.c.game == _T.c.game))
    .where(is_live(_T), ~_T.c.reported, _O.c.status == literal_column("'running'"))
    .where(_G.c.status == literal_column("'closed'"), _G.c.shown_to != literal_column(f"'{schema.AT_THE_TABLE}'"))
)
TOURNAMENT_OF = PreparedStatement(
    select(_T.c.game, _T.c.stage, _T.c.round, _T.c.pod).where(is_live(_T), _T.c.table_game == bindparam("of_game"))
)
QUARANTINED = PreparedStatement(select(_A.game, _A.position, _A.error).where(is_live(schema.aside)))


class Reader(BoardReader, TableLists):
    """All reads of the API and the workers: boards, lists, Merkle proofs, due work and the state of the views."""

    def __init__(self, views: ViewStore, archived_views: ArchivedViewLoader | None = None) -> None:
        super().__init__(views, archived_views)
        self.proofs = MerkleProofs(views)
        self.ratings = RatingBoard(views)

    def read_position(self) -> int:
        """Return the log position that all partitions of the live generation have read."""
        ((position,),) = self._views.fetch_all(POSITION)
        return int(position)

    @property
    def is_damaged(self) -> bool:
        """True if pages of the view database are unreadable. The next start rebuilds it."""
        return self._views.is_damaged

    def has_projector(self, now: int) -> bool:
        """Return True if a projector holds a lease at `now` (ms)."""
        t = schema.parts
        with self._views.reading() as db:
            return db.execute(select(t.c.part).where(is_live(t), t.c.until > now)).first() is not None

    def rebuild_progress(self) -> tuple[int, int] | None:
        """Return the positions of the rebuild and of the live views; None without a rebuild."""
        g, p = schema.generations.c, schema.parts.c
        reached = select(g.live, func.min(p.position).label("position")).join(schema.parts, p.gen == g.gen)
        with self._views.reading() as db:
            rows = {bool(row.live): int(row.position) for row in db.execute(reached.group_by(g.gen, g.live))}
        return (rows[False], rows[True]) if len(rows) == 2 else None

    def wait_for_position(self, position: int, seconds: float) -> bool:
        """Wait until the views reach `position`; return False on timeout. Clients thus read their own writes."""
        end = time.monotonic() + seconds
        pause = 0.001
        while self.read_position() < position:
            if time.monotonic() > end:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        return True

    def list_due(self, now: int, limit: int = 100, *, answered_until: int = MAX_INT) -> list[DueWork]:
        """Return due work, longest overdue first; deadlines only up to `answered_until` (ms)."""
        return [DueWork(*row) for row in self._views.fetch_all(DUE, by=now, answered_to=answered_until, most=limit)]

    def list_unreported(self) -> list[DueWork]:
        """Return the closed tables of tournaments without a reported result."""
        return [DueWork(game, NO_DECISION, "report", 0) for (game,) in self._views.fetch_all(UNREPORTED)]

    def find_tournament(self, game: str) -> TournamentTable | None:
        """Return the place of a game in its tournament, or None for any other game."""
        found = self._views.fetch_all(TOURNAMENT_OF, of_game=game)
        return TournamentTable(*found[0]) if found else None

    def list_tournament_tables(self, games: Collection[str]) -> dict[str, TournamentTable]:
        """Return the places of those of these games with one in a tournament."""
        query = select(_T.c.table_game, _T.c.game, _T.c.stage, _T.c.round, _T.c.pod)
        with self._views.reading() as db:
            rows = db.execute(query.where(is_live(_T), _T.c.table_game.in_(games))) if games else ()
            return {game: TournamentTable(*place) for game, *place in rows}

    def list_games_of(self, ruleset: str) -> list[str]:
        """Return all games of a ruleset, in the order of their ids."""
        t = schema.games
        query = select(t.c.game).where(is_live(t), t.c.ruleset == ruleset).distinct().order_by(t.c.game)
        with self._views.reading() as db:
            return [row.game for row in db.execute(query)]

    def list_interrupted(self, began: int, ended: int) -> list[DueWork]:
        """Return lapses affected by an outage from `began` to `ended` (ms).

        Their remaining time at its end was shorter than the outage, and some seat was not due at its beginning.
        """
        t = schema.due
        query = select(t).where(is_live(t), t.c.work == "lapse", t.c.deadline <= 2 * ended - began, t.c.last > began)
        with self._views.reading() as db:
            rows = db.execute(query.order_by(t.c.game, t.c.decision))
            return [DueWork(r.game, r.decision, r.work, r.at) for r in rows]

    def load_progress(self, work: str) -> Doc:
        """Return the stored progress of background work; empty if it never began."""
        return load_progress(self._views, work)

    def list_quarantined(self) -> list[dict[str, Json]]:
        """Return the games in quarantine."""
        return [
            dict(zip(("game", "position", "error"), row, strict=True)) for row in self._views.fetch_all(QUARANTINED)
        ]
