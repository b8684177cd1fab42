"""Lists of games: the lobby, the tables of a player, results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVarTuple

from sqlalchemy import Select, func, select, tuple_

from domain.tournaments.aggregate.tournament import ENDED
from domain.types import is_tournament_id
from projections import schema
from projections.delayed_views import PLACE_BITS
from projections.game_documents import ResultDoc, StoredSummaryDoc
from projections.live_rows import READ_POSITION, hidden_from, is_live
from projections.tournament_documents import StoredTournamentDoc
from projections.view_store import ViewStore

Columns = TypeVarTuple("Columns")

UNFINISHED = ("open", "running", "over")
"""Status of games that are not closed; `over` after a ruling."""

READ_BY_ALL = (READ_POSITION.scalar_subquery() + 1) * (1 << PLACE_BITS)
"""The end of the places that all partitions have read."""


UNPUBLISHED = ("gen", "held", "adopted")
"""Columns of results that only the ratings read."""


class TableLists:
    """Queries over many games, each read from one snapshot of the live generation."""

    def __init__(self, views: ViewStore) -> None:
        self._views = views

    def list_lobby(
        self,
        status: str = "",
        ruleset: str = "",
        before: int = 0,
        limit: int = 50,
        *,
        after: int = 0,
        free: bool = False,
    ) -> list[tuple[int, StoredSummaryDoc]]:
        """Return public games with the place of their last change, newest first; `before` continues a page.

        `after`: only games with a later place.

        `free`: only games with a seat to take, including seats of players who left.
        """
        t = schema.games
        query = select(t.c.place, t.c.doc).where(is_live(t), t.c.listing == "public")
        query = query.where(t.c.shown_to != schema.AT_THE_TABLE).order_by(t.c.place.desc()).limit(limit)
        for column, value in ((t.c.status, status), (t.c.ruleset, ruleset)):
            if value:
                query = query.where(column == value)
        if before:
            query = query.where(t.c.place < before)
        if after:
            query = query.where(t.c.place > after)
        if free:
            query = query.where(t.c.free > 0)
        with self._views.reading() as db:
            return [(row.place, json.loads(row.doc)) for row in db.execute(query)]

    def list_playing_times(self, ruleset: str, limit: int) -> list[tuple[int, int, int]]:
        """Return seats, longest time for a decision (seconds), and ms from the opening to the end of finished games.

        The newest games come first. Games that did not end by the rules are left out.
        """
        t = schema.games
        query = select(t.c.doc).where(is_live(t), t.c.status == "closed", t.c.ruleset == ruleset)
        query = query.where(t.c.shown_to != schema.AT_THE_TABLE).order_by(t.c.place.desc()).limit(limit)
        with self._views.reading() as db:
            docs: list[StoredSummaryDoc] = [json.loads(row.doc) for row in db.execute(query)]
        return [
            (len(doc["seats"]), max(doc["pace"]["seconds"].values(), default=0), doc["at"] - doc["opened"])
            for doc in docs
            if (ending := doc.get("ending")) and ending["finished"] and "origin" not in doc
        ]

    def find_tournament_summary(self, tournament: str) -> StoredTournamentDoc | None:
        """Return the summary of a tournament, or None before the views have it."""
        t = schema.tournaments
        with self._views.reading() as db:
            row = db.execute(select(t.c.doc).where(is_live(t), t.c.game == tournament)).first()
        found: StoredTournamentDoc | None = json.loads(row.doc) if row else None
        return found

    def list_tournaments(
        self, status: str, ruleset: str, before: int = 0, after: int = 0, limit: int = 50
    ) -> list[tuple[int, StoredTournamentDoc]]:
        """Return public tournaments with the place of their last change, newest first, as `list_lobby` does."""
        t = schema.tournaments
        query = select(t.c.place, t.c.doc).where(is_live(t), t.c.listing == "public")
        query = query.order_by(t.c.place.desc()).limit(limit)
        filters = (
            (status, t.c.status == status),
            (ruleset, t.c.ruleset == ruleset),
            (before, t.c.place < before),
            (after, t.c.place > after),
        )
        for value, condition in filters:
            if value:
                query = query.where(condition)
        with self._views.reading() as db:
            return [(row.place, json.loads(row.doc)) for row in db.execute(query)]

    def list_open_tournaments(self) -> list[str]:
        """Return the open tournaments, of any listing."""
        t = schema.tournaments
        query = select(t.c.game).where(is_live(t), t.c.status.not_in(ENDED))
        with self._views.reading() as db:
            return list(db.scalars(query))

    def list_closed(
        self, ruleset: str = "", player: str = "", after: int = 0, limit: int = 50
    ) -> list[tuple[int, str]]:
        """Return closed public games with the place of their last change, oldest first.

        Ends at the position that all partitions have read; later changes have later places.
        """
        t, r = schema.games, schema.results
        query = select(t.c.place, t.c.game).where(is_live(t), t.c.listing == "public", t.c.status == "closed")
        query = query.where(t.c.shown_to != schema.AT_THE_TABLE, t.c.place > after, t.c.place < READ_BY_ALL)
        query = query.order_by(t.c.place).limit(limit)
        if ruleset:
            query = query.where(t.c.ruleset == ruleset)
        if player:
            query = query.where(t.c.game.in_(select(r.c.game).where(is_live(r), r.c.player == player)))
        with self._views.reading() as db:
            return [(row.place, row.game) for row in db.execute(query)]

    def list_summaries(
        self,
        games: Sequence[str],
        status: str = "",
        before: int = 0,
        limit: int = 50,
        *,
        after: int = 0,
        listing: str = "",
        inside: bool = False,
    ) -> list[tuple[int, StoredSummaryDoc]]:
        """Return those of these games with a place after `after`, like `list_lobby`.

        `inside`: as players of the table see them.
        """
        t = schema.games
        query = select(t.c.place, t.c.doc).where(is_live(t), t.c.game.in_(games), t.c.shown_to != hidden_from(inside))
        filters = (
            (status, t.c.status == status),
            (before, t.c.place < before),
            (after, t.c.place > after),
            (listing, t.c.listing == listing),
        )
        for value, condition in filters:
            if value:
                query = query.where(condition)
        with self._views.reading() as db:
            rows = db.execute(query.order_by(t.c.place.desc()).limit(limit))
            return [(row.place, json.loads(row.doc)) for row in rows]

    def list_unfinished_summaries(self, games: Sequence[str]) -> list[bytes]:
        """Return the stored summaries of the games among these that are not closed, as their players see them."""
        t = schema.games
        query = select(t.c.doc).where(is_live(t), t.c.game.in_(games), t.c.status.in_(UNFINISHED))
        with self._views.reading() as db:
            return [row.doc for row in db.execute(query.where(t.c.shown_to != schema.SPECTATORS))]

    def list_seated_tables(self, player: str, limit: int) -> list[str]:
        """Return the delayed tables at which spectators see the player."""
        t = schema.seated
        with self._views.reading() as db:
            query = select(t.c.game).where(is_live(t), t.c.player == player).distinct().limit(limit)
            return [row.game for row in db.execute(query)]

    def filter_delayed(self, games: Sequence[str]) -> set[str]:
        """Return those of these games that have a spectator delay."""
        t = schema.held_back
        with self._views.reading() as db:
            return {row.game for row in db.execute(select(t.c.game).where(is_live(t), t.c.game.in_(games)))}

    def change_marks(self, games: Sequence[str]) -> dict[str, int]:
        """Return a number for each of these games and tournaments; it changes with every version that a reader sees."""
        marks = dict[str, int]()
        tournaments = [game for game in games if is_tournament_id(game)]
        with self._views.reading() as db:
            for table, ids in ((schema.games, games), (schema.tournaments, tournaments)):
                if ids:
                    t = table.c
                    query = select(t.game, func.sum(t.version).label("mark")).where(is_live(table), t.game.in_(ids))
                    marks |= {row.game: int(row.mark) for row in db.execute(query.group_by(t.game))}
        return marks

    def newest_versions(self, games: Sequence[str]) -> dict[str, int]:
        """Return the newest projected version of each of these games."""
        t = schema.games
        with self._views.reading() as db:
            query = select(t.c.game, t.c.version).where(is_live(t), t.c.game.in_(games))
            return {row.game: row.version for row in db.execute(query.where(t.c.shown_to != schema.SPECTATORS))}

    def list_unfinished(self) -> list[str]:
        """Return all games that are not closed."""
        t = schema.games
        with self._views.reading() as db:
            query = select(t.c.game).where(is_live(t), t.c.status.in_(UNFINISHED))
            rows = db.execute(query.where(t.c.shown_to != schema.SPECTATORS).order_by(t.c.game))
            return [row.game for row in rows]

    def list_places(self, game: str) -> list[tuple[int | None, int | None]] | None:
        """Return place and points by seat of a game that spectators see closed, None of any other game.

        Without a result, both are None for each player.
        """
        t, r = schema.games, schema.results
        with self._views.reading() as db:
            shown = select(t.c.status).where(is_live(t), t.c.game == game, t.c.shown_to != schema.AT_THE_TABLE)
            if db.execute(shown).scalar() != "closed":
                return None
            rows = select(r.c.place, r.c.points).where(is_live(r), r.c.game == game, ~r.c.conceded).order_by(r.c.seat)
            return [(place, points) for place, points in db.execute(rows)]

    def list_results(self, player: str, limit: int = 100, after: str = "", *, own: bool = False) -> list[ResultDoc]:
        """Return a player's results in closed public games, newest first; if `own`, in all closed games.

        Unfinished games have no place and no points. `after` is `at.game.seat` of the previous page's last row.
        """
        t = schema.results
        query = (
            self._results_of(select(t), player, own)
            .order_by(t.c.at.desc(), t.c.game.desc(), t.c.seat.desc())
            .limit(limit)
        )
        if after:
            at, game, seat = after.split(".")
            query = query.where(tuple_(t.c.at, t.c.game, t.c.seat) < tuple_(int(at), game, int(seat)))
        with self._views.reading() as db:
            return [
                {
                    "game": row.game,
                    "ruleset": row.ruleset,
                    "seat": row.seat,
                    "player": row.player,
                    "place": row.place,
                    "points": row.points,
                    "reason": row.reason,
                    "by": row.by,
                    "conceded": row.conceded,
                    "forfeited": row.forfeited,
                    "penalty": row.penalty,
                    "at": row.at,
                }
                for row in db.execute(query)
            ]

    def count_results(self, player: str, *, own: bool = False) -> tuple[int, int, int]:
        """Return the numbers of finished, unfinished and conceded closed games: public ones, or all if `own`."""
        t = schema.results
        counts = select(func.count(t.c.place), func.count(), func.count().filter(t.c.conceded))
        with self._views.reading() as db:
            finished, closed, conceded = db.execute(self._results_of(counts, player, own)).one()
        return finished, closed - finished - conceded, conceded

    def _results_of(self, query: Select[*Columns], player: str, own: bool) -> Select[*Columns]:
        t, games = schema.results, schema.games
        joined = t.join(games, (games.c.gen == t.c.gen) & (games.c.game == t.c.game))
        query = query.select_from(joined).where(is_live(t), t.c.player == player)
        return query if own else query.where(games.c.listing == "public", games.c.shown_to != schema.AT_THE_TABLE)
