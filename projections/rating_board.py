"""Ratings of people from the results of public tables. Each process folds them from the rows, and goes on from there.

Nothing is stored: after a ruling on a table of a tournament, or a rebuild of the views, they are folded from zero.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, or_, select

from domain.fork_safety import reset_after_fork
from domain.ratings import RatedSeat, RatedTable, Ratings
from projections import schema
from projections.live_rows import is_live
from projections.table_lists import READ_BY_ALL
from projections.view_store import ViewStore

PeopleReader = Callable[[Sequence[str]], Collection[str]]
"""Return those of these player ids that are the own ids of people's accounts, erased ones included."""

Rulings = dict[str, str]
"""Game -> places by seat from a ruling, separated by commas; `-` if the table does not count."""

NO_COUNT = "-"

_GENERATION = select(schema.generations.c.gen).where(schema.generations.c.live)


class RatingBoard:
    """The ratings as of now."""

    def __init__(self, views: ViewStore) -> None:
        self._views = views
        self._reset()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, since an absent thread may hold it."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._begin(0, {})

    def _begin(self, gen: int, rulings: Rulings) -> None:
        self._gen = gen
        self._rulings = rulings
        self._place = 0
        self._ratings = Ratings()

    def refresh(self, list_people: PeopleReader) -> Ratings:
        """Return the ratings with all tables known to spectators by now."""
        with self._lock:
            with self._views.reading() as db:
                gen, rulings = db.execute(_GENERATION).scalar() or 0, _read_rulings(db)
                if (gen, rulings) != (self._gen, self._rulings):
                    self._begin(gen, rulings)
                rows = _read_results(db, self._place)
            people = list_people(sorted({row.player for row in rows if row.player}))
            self._ratings.add(_build_tables(rows, rulings, frozenset(people)))
            self._place = rows[-1].order if rows else self._place
            return self._ratings


def _read_rulings(db: Connection) -> Rulings:
    t = schema.tournament_tables
    query = select(t.c.table_game, t.c.counts, t.c.places).where(is_live(t), t.c.table_game != "")
    ruled = db.execute(query.where(or_(~t.c.counts, t.c.places != "")))
    return {row.table_game: row.places if row.counts else NO_COUNT for row in ruled}


class _RatedResult(NamedTuple):
    """A row of results, with the place of its game's end among all changes."""

    order: int
    game: str
    seat: int
    player: str
    ruleset: str
    place: int | None
    conceded: bool
    held: bool
    adopted: bool
    at: int


def _read_results(db: Connection, after: int) -> Sequence[_RatedResult]:
    """Return the results of the public tables shown to spectators after a place, in the order of these places."""
    r, g = schema.results.c, schema.games
    joined = schema.results.join(g, (g.c.gen == r.gen) & (g.c.game == r.game))
    query = select(g.c.place, r.game, r.seat, r.player, r.ruleset, r.place, r.conceded, r.held, r.adopted, r.at)
    query = query.select_from(joined).where(is_live(schema.results), g.c.listing == "public", g.c.status == "closed")
    query = query.where(g.c.shown_to != schema.AT_THE_TABLE, g.c.place > after, g.c.place < READ_BY_ALL)
    return [_RatedResult._make(row) for row in db.execute(query.order_by(g.c.place, r.game, r.seat))]


def _build_tables(rows: Iterable[_RatedResult], rulings: Rulings, people: frozenset[str]) -> Iterable[RatedTable]:
    """Yield the rated tables: those with places, without the seats of others than these people.

    A person with less than two thirds of the decisions of a seat, like everybody else there, is a leaver.
    """
    for game, found in groupby(rows, key=lambda row: row.game):
        seats = list(found)
        ended = [row for row in seats if not row.conceded]
        ruled = rulings.get(game, "")
        own = [row.place for row in ended if row.place is not None]
        if ruled == NO_COUNT or len(own) < len(ended):
            continue
        places = list(map(int, ruled.split(","))) if ruled else own
        given_up = {row.seat for row in seats if row.conceded}
        rated = tuple(
            RatedSeat(row.player, place, row.seat in given_up)
            for row, place in zip(ended, places, strict=True)
            if row.player in people and row.held
        )
        absent = {row.player for row in ended if not row.held and not row.adopted}
        leavers = people & ({row.player for row in seats if row.conceded} | absent)
        stayed = {seat.player for seat in rated}
        family = seats[0].ruleset.partition("@")[0]
        yield RatedTable(game, seats[0].at, family, rated, tuple(sorted(leavers - stayed)))
