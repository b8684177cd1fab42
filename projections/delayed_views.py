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
from domain.ruleset_registry import Catalogue
from domain.service.service_clock import Clocks
from domain.types import MAX_INT, PUBLIC
from projections import schema
from projections.loaded_game import Known, folded, following, touched
from projections.view_store import Prepared

NEVER = MAX_INT
"""When what is not there will be shown, ms."""

PAGE = 50
"""Records that are read at once."""

MOST = 200
"""Tables whose time has come that are looked at together; a slice shows of so many, or not twice as many, at most."""

CHANGES = 20
"""Bits of a place that number the changes between two positions of the log."""

_H = schema.held_back.c
_ROW = select(_H.game, _H.shown, _H.head, _H.at)
HELD = Prepared(_ROW.where(_H.gen == bindparam("in_gen"), _H.game == bindparam("of_game")))
_AFTER = tuple_(_H.at, _H.game) > tuple_(bindparam("after", type_=BigInteger), bindparam("after_game", type_=String))
_BY = _ROW.where(_H.gen == bindparam("in_gen"), _H.at <= bindparam("by"), _AFTER).order_by(_H.at, _H.game)
RIPE = Prepared(_BY.suffix_with(f"LIMIT {MOST}"))  # the library's own limit has a parameter of its own
PLACE = Prepared(
    select(schema.generations.c.place).where(schema.generations.c.gen == bindparam("in_gen")).with_for_update()
)
PLACED = Prepared(
    update(schema.generations)
    .where(schema.generations.c.gen == bindparam("in_gen"))
    .values(place=bindparam("at_place"))
)
REACHED = Prepared(select(func.max(schema.parts.c.position)).where(schema.parts.c.gen == bindparam("in_gen")))
STOP = Prepared(
    update(schema.held_back)
    .where(_H.gen == bindparam("in_gen"), _H.game == bindparam("of_game"))
    .values(at=bindparam("never"))
)


def due(at: int, delay: int, leaps: Iterable[tuple[int, int]]) -> int:
    """When a record of that time may be seen by everybody, ms.

    `leaps` are those of the time of the service, in order: when and by how much. What time has leapt over has not
    passed.
    """
    found = at + delay
    for leapt, ms in leaps:
        if at < leapt - ms // 2 and found > leapt - ms:
            found += ms
    return found


def passes(error: Exception) -> bool:
    """Whether nothing is wrong with the game: this process has the key of before, or the store does not answer now."""
    return isinstance(error, (WrongKey, StoreUnavailable)) and not isinstance(error, StoreDamaged)


@dataclass
class Late:
    """How far spectators see a game."""

    game: str
    shown: int = 0
    """Up to which version."""
    head: int = 0
    """The newest version."""
    at: int = NEVER
    """When they see the next one, ms."""
    known: Known | None = None
    """The game as they see it, if that has changed in this slice."""
    board: Known | None = None
    """The game after the last record that may have changed the board, likewise."""
    place: int = 0
    """Where that change stands among those of all games."""


class Spectators:
    """What a pump remembers of the games as spectators see them."""

    def __init__(self, ledger: Ledger, catalogue: Catalogue, keep: int) -> None:
        self.ledger, self._catalogue = ledger, catalogue
        self._kept: LRUCache[str, Known] = LRUCache(keep)

    def known(self, game: str, version: int) -> Known:
        """The game as it was after that version."""
        found = self._kept.get(game)
        if found is None or found.game.version != version:
            return folded(self._catalogue, self.ledger.read(game, upto=version))
        return found

    def after(self, known: Known, record: Record) -> Known:
        """The game after one more record."""
        return following(self._catalogue, self.ledger, known, record)

    def records(self, game: str, after: int, upto: int) -> Iterator[Record]:
        """Those between two versions, a few in memory at a time."""
        for begin in range(after, upto, PAGE):
            yield from self.ledger.read(game, begin, min(begin + PAGE, upto))

    def keep(self, changed: Iterable[Late]) -> None:
        """Only after the commit: what was rolled back is not remembered."""
        self._kept.update({held.game: held.known for held in changed if held.known is not None})


def _ripe(db: Connection, gen: int, now: int, has: Callable[[str], bool]) -> tuple[list[Late], bool]:
    """This pump's tables whose time has come, the longest due first, and whether there may be more.

    Those of others are passed over, however many they are: their pump may be gone, and they wait for the next one.
    """
    found: list[Late] = []
    game, at = "", -1
    while True:
        rows = RIPE.rows(db, in_gen=gen, by=now, after=at, after_game=game)
        found += [Late(*row) for row in rows if has(row[0])]
        if len(rows) < MOST or len(found) >= MOST:
            return found, len(rows) == MOST
        game, _, _, at = rows[-1]


class Shown:
    """What comes to be shown to spectators in one slice of the log, in the order of the log's own times.

    So views that are made anew have every change at the place where it was.
    """

    def __init__(
        self, spectators: Spectators, db: Connection, gen: int, now: int, has: Callable[[str], bool] | None = None
    ) -> None:
        """`now` ms, beyond which nothing is shown; `has`: which games are this pump's, of which time may show more."""
        self._spectators, self._db, self._gen, self._now = spectators, db, gen, now
        self._position = 0
        self._place: int | None = None
        self.aside: set[str] = set()
        """Games that are set aside: nothing more is shown of them."""
        self._held: dict[str, Late] = {}
        self._ripe: list[tuple[int, str]] = []
        self._reached = 0
        ripe, self.more = _ripe(db, gen, now, has) if has else ([], False)
        """Whether the time of others may have come too."""
        for late in ripe:
            self._held[late.game] = late
            heapq.heappush(self._ripe, (late.at, late.game))

    @property
    def changed(self) -> list[Late]:
        """The games of which more is shown."""
        return [held for held in self._held.values() if held.place and held.game not in self.aside]

    @property
    def held(self) -> list[Late]:
        """All that this slice has looked at."""
        return [held for held in self._held.values() if held.game not in self.aside]

    @property
    def waits(self) -> bool:
        """Whether there is anything to show by now."""
        return bool(self._ripe)

    def at(self, position: int) -> int:
        """The log is read up to that position; the place of what the record there changes."""
        self._position = position
        return position << CHANGES

    def done(self) -> None:
        """To be called before the commit: later changes come after what was shown in this slice."""
        if self._place is not None:
            PLACED.run(self._db, [{"in_gen": self._gen, "at_place": self._place}])

    def _next_place(self) -> int:
        """After all that anybody may have been told of: whoever shows something waits for who does so at the time."""
        if self._place is None:
            ((self._place,),) = PLACE.rows(self._db, in_gen=self._gen)
            ((self._reached,),) = REACHED.rows(self._db, in_gen=self._gen)
        reached = max(self._reached, self._position)
        self._place = max(self._place, reached << CHANGES) + 1
        return self._place

    def follow(self, record: Record, before: Known | None, known: Known) -> None:
        """A record was read, which leads from one to the other."""
        delay = known.game.delay
        if not delay:
            return
        held = self._of(known.game.id)
        held.head = record.version
        begins = before is None or before.game.status == "open"
        if begins and record.kind != "started" and held.shown == record.version - 1:
            self._show(held, known, record, self._position << CHANGES)
        elif held.at == NEVER:
            self._wait(held, due(record.public["at"], delay, self._leaps))

    def until(self, at: int | None = None) -> Iterator[tuple[str, int, Exception]]:
        """Show what may be seen by then, ms, and by now; gives the games of which it cannot be read, with why.

        The version is the last one that is shown.
        """
        by = self._now if at is None else min(at, self._now)
        while self._ripe and self._ripe[0][0] <= by:
            held = self._held[heapq.heappop(self._ripe)[1]]
            if held.at > by or held.game in self.aside:
                continue
            try:
                self._go_on(held, by)
            except Exception as error:
                if passes(error):
                    raise
                yield held.game, held.shown, error

    @cached_property
    def _leaps(self) -> list[tuple[int, int]]:
        return Clocks(self._spectators.ledger).leapt()

    def _of(self, game: str) -> Late:
        if game not in self._held:
            rows = HELD.rows(self._db, in_gen=self._gen, of_game=game)
            self._held[game] = Late(*rows[0]) if rows else Late(game)
        return self._held[game]

    def _wait(self, held: Late, at: int) -> None:
        held.at = at
        if at <= self._now:
            heapq.heappush(self._ripe, (at, held.game))

    def _go_on(self, held: Late, by: int) -> None:
        """All of it that may be seen by then."""
        held.at = NEVER
        known = held.known or self._spectators.known(held.game, held.shown)
        place = 0
        for record in self._spectators.records(held.game, held.shown, held.head):
            at = due(record.public["at"], known.game.delay, self._leaps)
            if at > by:
                self._wait(held, at)
                return
            known, place = self._spectators.after(known, record), place or self._next_place()
            self._show(held, known, record, place)

    def _show(self, held: Late, known: Known, record: Record, place: int) -> None:
        held.shown, held.known, held.place = record.version, known, place
        if PUBLIC in touched(record, known):
            held.board = known
