"""What those who are not at a table with a delay may see of it, and when they see the next of it.

They see the game as it stood the delay before, and it is said here alone how far that is: what is shown of the game is
then read by everybody as of any other. Until a game is started all of it is public at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cachetools import LRUCache
from sqlalchemy import BigInteger, Connection, String, bindparam, func, select, tuple_, update

from domain.compat import cached_property
from domain.errors import StoreDamaged, StoreUnavailable, WrongKey
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.service_clock import ClockRows
from domain.types import MAX_INT, PUBLIC
from projections import schema
from projections.loaded_game import LoadedGame, affected_viewers, load_game, next_game
from projections.view_store import PreparedStatement

NEVER = MAX_INT
"""When what is not there will be shown, ms."""

PAGE = 50
"""Records that are read at once."""

MAX_GAMES = 200
"""Tables whose time has come that are looked at together; a slice shows of so many, or not twice as many, at most."""

PLACE_BITS = 20
"""Bits of a place that number the changes between two positions of the log."""

_H = schema.held_back.c
_ROW = select(_H.game, _H.shown, _H.head, _H.at)
FIND_DELAYED = PreparedStatement(_ROW.where(_H.gen == bindparam("in_gen"), _H.game == bindparam("of_game")))
_AFTER = tuple_(_H.at, _H.game) > tuple_(bindparam("after", type_=BigInteger), bindparam("after_game", type_=String))
_DUE_ROWS = _ROW.where(_H.gen == bindparam("in_gen"), _H.at <= bindparam("by"), _AFTER).order_by(_H.at, _H.game)
FIND_DUE = PreparedStatement(
    _DUE_ROWS.suffix_with(f"LIMIT {MAX_GAMES}")
)  # the library's own limit has a parameter of its own
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
    """When a record of that time may be seen by everybody, ms.

    `leaps` are those of the time of the service, in order: when and by how much. What time has leapt over has not
    passed.
    """
    visible_at = at + delay
    for leapt, ms in jumps:
        if at < leapt - ms // 2 and visible_at > leapt - ms:
            visible_at += ms
    return visible_at


def is_transient(error: Exception) -> bool:
    """Whether nothing is wrong with the game: this process has the key of before, or the store does not answer now."""
    return isinstance(error, (WrongKey, StoreUnavailable)) and not isinstance(error, StoreDamaged)


@dataclass
class DelayedGame:
    """How far spectators see a game."""

    game: str
    shown_version: int = 0
    """Up to which version."""
    head_version: int = 0
    """The newest version."""
    due_at: int = NEVER
    """When they see the next one, ms."""
    loaded: LoadedGame | None = None
    """The game as they see it, if that has changed in this slice."""
    board_game: LoadedGame | None = None
    """The game after the last record that may have changed the board, likewise."""
    place: int = 0
    """Where that change stands among those of all games."""


class DelayedViews:
    """What a pump remembers of the games as spectators see them."""

    def __init__(self, ledger: Ledger, registry: RulesetRegistry, keep: int) -> None:
        self.ledger, self._registry = ledger, registry
        self._cache: LRUCache[str, LoadedGame] = LRUCache(keep)

    def load(self, game: str, version: int) -> LoadedGame:
        """The game as it was after that version."""
        cached = self._cache.get(game)
        if cached is None or cached.game.version != version:
            return load_game(self._registry, self.ledger.read(game, upto=version))
        return cached

    def next_game(self, loaded: LoadedGame, record: Record) -> LoadedGame:
        """The game after one more record."""
        return next_game(self._registry, self.ledger, loaded, record)

    def records(self, game: str, after: int, upto: int) -> Iterator[Record]:
        """Those between two versions, a few in memory at a time."""
        for begin in range(after, upto, PAGE):
            yield from self.ledger.read(game, begin, min(begin + PAGE, upto))

    def remember(self, changed: Iterable[DelayedGame]) -> None:
        """Only after the commit: what was rolled back is not remembered."""
        self._cache.update({delayed.game: delayed.loaded for delayed in changed if delayed.loaded is not None})


def _find_due(db: Connection, gen: int, now: int, owns: Callable[[str], bool]) -> tuple[list[DelayedGame], bool]:
    """This pump's tables whose time has come, the longest due first, and whether there may be more.

    Those of others are passed over, however many they are: their pump may be gone, and they wait for the next one.
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
    """What comes to be shown to spectators in one slice of the log, in the order of the log's own times.

    So views that are made anew have every change at the place where it was.
    """

    def __init__(
        self, delayed_views: DelayedViews, db: Connection, gen: int, now: int, owns: Callable[[str], bool] | None = None
    ) -> None:
        """`now` ms, beyond which nothing is shown; `has`: which games are this pump's, of which time may show more."""
        self._delayed_views, self._db, self._gen, self._now = delayed_views, db, gen, now
        self._position = 0
        self._place: int | None = None
        self.quarantined: set[str] = set()
        """Games that are set aside: nothing more is shown of them."""
        self._games: dict[str, DelayedGame] = {}
        self._due: list[tuple[int, str]] = []
        self._max_position = 0
        ripe, self.has_more = _find_due(db, gen, now, owns) if owns else ([], False)
        """Whether the time of others may have come too."""
        for late in ripe:
            self._games[late.game] = late
            heapq.heappush(self._due, (late.due_at, late.game))

    @property
    def changed_games(self) -> list[DelayedGame]:
        """The games of which more is shown."""
        return [delayed for delayed in self._games.values() if delayed.place and delayed.game not in self.quarantined]

    @property
    def games(self) -> list[DelayedGame]:
        """All that this slice has looked at."""
        return [delayed for delayed in self._games.values() if delayed.game not in self.quarantined]

    @property
    def has_due(self) -> bool:
        """Whether there is anything to show by now."""
        return bool(self._due)

    def set_position(self, position: int) -> int:
        """The log is read up to that position; the place of what the record there changes."""
        self._position = position
        return position << PLACE_BITS

    def save_place(self) -> None:
        """To be called before the commit: later changes come after what was shown in this slice."""
        if self._place is not None:
            SET_PLACE.execute_many(self._db, [{"in_gen": self._gen, "at_place": self._place}])

    def _next_place(self) -> int:
        """After all that anybody may have been told of: whoever shows something waits for who does so at the time."""
        if self._place is None:
            ((self._place,),) = LOCK_PLACE.fetch_all(self._db, in_gen=self._gen)
            ((self._max_position,),) = MAX_POSITION.fetch_all(self._db, in_gen=self._gen)
        reached = max(self._max_position, self._position)
        self._place = max(self._place, reached << PLACE_BITS) + 1
        return self._place

    def add_record(self, record: Record, before: LoadedGame | None, loaded: LoadedGame) -> None:
        """A record was read, which leads from one to the other."""
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
        """Show what may be seen by then, ms, and by now; gives the games of which it cannot be read, with why.

        The version is the last one that is shown.
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
        return ClockRows(self._delayed_views.ledger).list_jumps()

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
        """All of it that may be seen by then."""
        delayed.due_at = NEVER
        loaded = delayed.loaded or self._delayed_views.load(delayed.game, delayed.shown_version)
        place = 0
        for record in self._delayed_views.records(delayed.game, delayed.shown_version, delayed.head_version):
            at = visible_from(record.public["at"], loaded.game.delay, self._clock_jumps)
            if at > limit:
                self._schedule(delayed, at)
                return
            loaded, place = self._delayed_views.next_game(loaded, record), place or self._next_place()
            self._show(delayed, loaded, record, place)

    def _show(self, delayed: DelayedGame, loaded: LoadedGame, record: Record, place: int) -> None:
        delayed.shown_version, delayed.loaded, delayed.place = record.version, loaded, place
        if PUBLIC in affected_viewers(record, loaded):
            delayed.board_game = loaded
