"""Spectator delay: the views of a delayed table for readers who do not play there.

Spectators see the game as it was `delay` seconds ago. Only this module decides which version that is; all others read
the rows for spectators like those of any game. Until its start, a game is public without delay.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import BigInteger, Connection, String, bindparam, func, select, tuple_, update

from domain.compat import cached_property
from domain.errors import StoreDamaged, StoreUnavailable, WrongKey
from domain.kernel.records.record import Record
from domain.service.service_clock import ClockRows
from domain.types import MAX_INT, PUBLIC
from projections import schema
from projections.loaded_game import LoadedGame, affected_viewers
from projections.view_store import PreparedStatement
from projections.viewer_history import ViewerHistory

NEVER = MAX_INT
"""Due time (ms) of a table with nothing left to show."""

MAX_GAMES = 200
"""Due tables per query. One slice shows fewer than twice as many."""

PLACE_BITS = 20
"""Bits of a place that number the changes between two log positions."""

_H = schema.held_back.c
_ROW = select(_H.game, _H.shown, _H.head, _H.at)
FIND_DELAYED = PreparedStatement(_ROW.where(_H.gen == bindparam("in_gen"), _H.game == bindparam("of_game")))
_AFTER = tuple_(_H.at, _H.game) > tuple_(bindparam("after", type_=BigInteger), bindparam("after_game", type_=String))
_DUE_ROWS = _ROW.where(_H.gen == bindparam("in_gen"), _H.at <= bindparam("by"), _AFTER).order_by(_H.at, _H.game)
FIND_DUE = PreparedStatement(_DUE_ROWS.suffix_with(f"LIMIT {MAX_GAMES}"))  # SQLAlchemy's own limit adds a parameter
LOCK_PLACE = PreparedStatement(
    select(schema.generations.c.place).where(schema.generations.c.gen == bindparam("in_gen")).with_for_update()
)
SET_PLACE = PreparedStatement(
    update(schema.generations)
    .where(schema.generations.c.gen == bindparam("in_gen"))
    .values(place=bindparam("at_place"))
)
MAX_POSITION = PreparedStatement(
    select(func.max(schema.parts.c.position)).where(schema.parts.c.gen == bindparam("in_gen"))
)
STOP_SHOWING = PreparedStatement(
    update(schema.held_back)
    .where(_H.gen == bindparam("in_gen"), _H.game == bindparam("of_game"))
    .values(at=bindparam("never"))
)


def visible_from(at: int, delay: int, jumps: Iterable[tuple[int, int]]) -> int:
    """Return the time (ms) from which spectators may see a record written at `at`.

    `jumps` are the jumps of the service clock in order, as (time, ms). Time skipped by a jump does not count as delay.
    """
    visible_at = at + delay
    for leapt, ms in jumps:
        if at < leapt - ms // 2 and visible_at > leapt - ms:
            visible_at += ms
    return visible_at


def is_transient(error: Exception) -> bool:
    """Return True if the error is not the game's fault: the process has an old key or the store does not answer."""
    return isinstance(error, (WrongKey, StoreUnavailable)) and not isinstance(error, StoreDamaged)


@dataclass
class DelayedGame:
    """A delayed game and the version up to which spectators see it."""

    game: str
    shown_version: int = 0
    """Newest version visible to spectators."""
    head_version: int = 0
    """Newest version."""
    due_at: int = NEVER
    """Time (ms) at which spectators see the next version."""
    loaded: LoadedGame | None = None
    """The game as spectators see it, if that changed in this slice."""
    board_game: LoadedGame | None = None
    """The game after the last shown record of this slice that may have changed the board."""
    place: int = 0
    """Place of the change in the order of all games' changes."""


def _find_due(db: Connection, gen: int, now: int, owns: Callable[[str], bool]) -> tuple[list[DelayedGame], bool]:
    """Return this projector's due tables, longest overdue first, and True if there may be more.

    Reads past all tables of other projectors, because those may be gone and their tables stay due.
    """
    games: list[DelayedGame] = []
    game, at = "", -1
    while True:
        rows = FIND_DUE.fetch_all(db, in_gen=gen, by=now, after=at, after_game=game)
        games += [DelayedGame(*row) for row in rows if owns(row[0])]
        if len(rows) < MAX_GAMES or len(games) >= MAX_GAMES:
            return games, len(rows) == MAX_GAMES
        game, _, _, at = rows[-1]


class SpectatorSlice:
    """Changes that become visible to spectators during one slice of the log, in order of the log's times.

    Rebuilt views therefore have every change at its original place.
    """

    def __init__(
        self, history: ViewerHistory, db: Connection, gen: int, now: int, owns: Callable[[str], bool] | None = None
    ) -> None:
        """Show nothing beyond `now` (ms). `owns` tells which games this projector may show."""
        self._history, self._db, self._gen, self._now = history, db, gen, now
        self._position = 0
        self._place: int | None = None
        self.quarantined: set[str] = set()
        """Games in quarantine: nothing more of them is shown."""
        self._games: dict[str, DelayedGame] = {}
        self._due: list[tuple[int, str]] = []
        self._max_position = 0
        ripe, has_more = _find_due(db, gen, now, owns) if owns else ([], False)
        self.has_more = has_more
        """True if more tables may be due than were read."""
        for late in ripe:
            self._games[late.game] = late
            heapq.heappush(self._due, (late.due_at, late.game))

    @property
    def changed_games(self) -> list[DelayedGame]:
        """Games with newly visible versions."""
        return [delayed for delayed in self._games.values() if delayed.place and delayed.game not in self.quarantined]

    @property
    def games(self) -> list[DelayedGame]:
        """All games read in this slice."""
        return [delayed for delayed in self._games.values() if delayed.game not in self.quarantined]

    @property
    def has_due(self) -> bool:
        """True if a table is due."""
        return bool(self._due)

    def set_position(self, position: int) -> int:
        """Store the log position of the record being read and return the place of its changes."""
        self._position = position
        return position << PLACE_BITS

    def save_place(self) -> None:
        """Store the last place, so that later changes come after those of this slice. Call before the commit."""
        if self._place is not None:
            SET_PLACE.execute_many(self._db, [{"in_gen": self._gen, "at_place": self._place}])

    def _next_place(self) -> int:
        """Return a place after all places in use. Locks the generation's place until the transaction ends."""
        if self._place is None:
            ((self._place,),) = LOCK_PLACE.fetch_all(self._db, in_gen=self._gen)
            ((self._max_position,),) = MAX_POSITION.fetch_all(self._db, in_gen=self._gen)
        reached = max(self._max_position, self._position)
        self._place = max(self._place, reached << PLACE_BITS) + 1
        return self._place

    def add_record(self, record: Record, before: LoadedGame | None, loaded: LoadedGame) -> None:
        """Take note of a record that leads from game `before` to `loaded`."""
        delay = loaded.game.delay
        if not delay:
            return
        delayed = self._find_game(loaded.game.id)
        delayed.head_version = record.version
        begins = before is None or before.game.status == "open"
        if begins and record.kind != "started" and delayed.shown_version == record.version - 1:
            self._show(delayed, loaded, record, self._position << PLACE_BITS)
        elif delayed.due_at == NEVER:
            self._schedule(delayed, visible_from(record.public["at"], delay, self._clock_jumps))

    def show_until(self, time: int | None = None) -> Iterator[tuple[str, int, Exception]]:
        """Show all versions due at `time` (ms) and by now.

        Yields game, last shown version and error of each unreadable game.
        """
        limit = self._now if time is None else min(time, self._now)
        while self._due and self._due[0][0] <= limit:
            delayed = self._games[heapq.heappop(self._due)[1]]
            if delayed.due_at > limit or delayed.game in self.quarantined:
                continue
            try:
                self._show_due_records(delayed, limit)
            except Exception as error:
                if is_transient(error):
                    raise
                yield delayed.game, delayed.shown_version, error

    @cached_property
    def _clock_jumps(self) -> list[tuple[int, int]]:
        return ClockRows(self._history.ledger).list_jumps()

    def _find_game(self, game: str) -> DelayedGame:
        if game not in self._games:
            rows = FIND_DELAYED.fetch_all(self._db, in_gen=self._gen, of_game=game)
            self._games[game] = DelayedGame(*rows[0]) if rows else DelayedGame(game)
        return self._games[game]

    def _schedule(self, delayed: DelayedGame, time: int) -> None:
        delayed.due_at = time
        if time <= self._now:
            heapq.heappush(self._due, (time, delayed.game))

    def _show_due_records(self, delayed: DelayedGame, limit: int) -> None:
        """Show all of the game's records due at `limit` (ms)."""
        delayed.due_at = NEVER
        loaded = delayed.loaded or self._history.load_whole(delayed.game, delayed.shown_version)
        place = 0
        for record in self._history.read_records(delayed.game, delayed.shown_version, delayed.head_version):
            at = visible_from(record.public["at"], loaded.game.delay, self._clock_jumps)
            if at > limit:
                self._schedule(delayed, at)
                return
            loaded, place = self._history.next_game(loaded, record), place or self._next_place()
            self._show(delayed, loaded, record, place)

    def _show(self, delayed: DelayedGame, loaded: LoadedGame, record: Record, place: int) -> None:
        delayed.shown_version, delayed.loaded, delayed.place = record.version, loaded, place
        if PUBLIC in affected_viewers(record, loaded):
            delayed.board_game = loaded
