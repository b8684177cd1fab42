"""The hub: what is followed is read once for all who follow it, by a few threads, and handed to each on the loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from api.streams.events import Event, Form
from api.streams.source import ANY, Pass, Source, Told, View, Wish
from api.streams.subscriber import Follower, Write
from domain.errors import AnnalsError

Result = TypeVar("Result")

Marks = Callable[[Sequence[str]], Mapping[str, int]]
"""A number of each of these games that is another one whenever more of it is shown."""

READERS = 4
"""Threads that read for all streams of a process."""

TOGETHER = 500
"""Games that are asked after in one statement."""

log = logging.getLogger("annals.streams")


class Hub:
    """All streams of a process. Belongs to one event loop, but for `heard`."""

    def __init__(self, marks: Marks, keep_alive: float) -> None:
        """`keep_alive`: seconds between two signs of life."""
        self.keep_alive = keep_alive
        self._marks = marks
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(READERS, "streams")
        self._feeds: dict[Source, Feed] = {}
        self._topics: dict[str, set[Feed]] = {}
        self._followers: set[Follower] = set()
        self._comparing: asyncio.Task[None] | None = None
        self._again = self._ending = False

    @property
    def open(self) -> int:
        """How many streams there are."""
        return len(self._followers)

    async def follow(self, follower: Follower, write: Write) -> None:
        """Serve one stream until it is over; raises what `write` raises."""
        self._followers.add(follower)
        try:
            if self._ending:
                follower.end("bye")
            else:
                self._feed(follower.source).join(follower)
            await follower.run(write, partial(self._page, follower))
        finally:
            self._followers.discard(follower)
            if feed := self._feeds.get(follower.source):
                feed.leave(follower)

    async def read(self, call: Callable[[], Result]) -> Result:
        """What that call answers; in a thread, since it may block."""
        return await self._loop.run_in_executor(self._pool, call)

    async def close(self) -> None:
        """Take leave of all; returns once all have gone."""
        self._ending = True
        for follower in self._followers:
            follower.end("bye")
        while self._followers:
            await asyncio.sleep(0.01)
        for task in (self._comparing, *(feed.task for feed in self._feeds.values())):
            if task:
                task.cancel()
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)  # or who reads still would use closed stores

    # --- feeds

    def _feed(self, source: Source) -> Feed:
        if source not in self._feeds:
            feed = self._feeds[source] = Feed(self, source)
            self.subscribe(feed, (), source.topics)
            feed.task = self._loop.create_task(self._run(feed))
        return self._feeds[source]

    async def _run(self, feed: Feed) -> None:
        try:
            await feed.run()
        except AnnalsError as error:  # the store is away, or the game was set aside: who comes again is told why
            log.info("streams ended: %s", error)
        except Exception:
            log.exception("streams ended")
        finally:
            del self._feeds[feed.source]
            self.subscribe(feed, feed.source.topics, ())
            feed.end("bye")

    async def _page(self, follower: Follower, after: int, upto: int) -> tuple[list[Event], int]:
        return await self.read(lambda: follower.source.told(follower.view, after, upto))

    # --- what has changed

    def subscribe(self, feed: Feed, before: Iterable[str], now: Iterable[str]) -> None:
        """These topics concern the feed from now on, instead of those before."""
        for topic in before:
            if feeds := self._topics.get(topic):
                feeds.discard(feed)
                if not feeds:
                    del self._topics[topic]
        for topic in now:
            self._topics.setdefault(topic, set()).add(feed)

    def heard(self, games: frozenset[str]) -> None:
        """These games may have changed, any if none is named; from any thread."""
        with suppress(RuntimeError):  # the loop has ended: nobody follows any more
            self._loop.call_soon_threadsafe(self._stir, games)

    def _stir(self, games: frozenset[str]) -> None:
        if self._ending:  # nothing is read any more
            return
        for game in games:
            for feed in self._topics.get(game, ()):
                feed.stir()
        for feed in self._topics.get(ANY, ()):
            feed.stir()
        if not games:
            self._again = True
            self._comparing = self._comparing or self._loop.create_task(self._compare())

    async def _compare(self) -> None:
        """Any game may have changed: which have, in few statements."""
        try:
            while self._again:
                self._again = False
                newest = await self.read(partial(self._newest, sorted(self._topics)))
                for feed in self._feeds.values():
                    feed.compare(newest)
        except AnnalsError:  # each feed will find out by itself
            for feed in self._feeds.values():
                feed.stir()
        finally:
            self._comparing = None

    def _newest(self, games: Sequence[str]) -> dict[str, int]:
        parts = (games[begin : begin + TOGETHER] for begin in range(0, len(games), TOGETHER))
        return {game: mark for part in parts for game, mark in self._marks(part).items()}


class Feed:
    """Those who follow one source, looked after by one task."""

    task: asyncio.Task[None]

    def __init__(self, hub: Hub, source: Source) -> None:
        self.source = source
        self._hub = hub
        self._joining: list[Follower] = []
        self._views: dict[View, set[Follower]] = {}
        self._states: dict[View, object] = {}
        self._stirred = asyncio.Event()
        self._signing = False
        """Whether all who are told nothing are given a sign of life."""

    def join(self, follower: Follower) -> None:
        """It is given what there is, and from then on what is new."""
        self._joining.append(follower)
        self.stir()

    def leave(self, follower: Follower) -> None:
        """It is given nothing any more; nothing is kept for a view that nobody has."""
        if follower in self._joining:
            self._joining.remove(follower)
        members = self._views.get(follower.view, set())
        members.discard(follower)
        if not members:
            self._views.pop(follower.view, None)
            self._states.pop(follower.view, None)

    def stir(self) -> None:
        """Something may be new."""
        self._stirred.set()

    def compare(self, newest: Mapping[str, int]) -> None:
        """Something is new if one of its games has another mark than when it was told."""
        if any(newest.get(game, mark) != mark for game, mark in self.source.topics.items()):
            self.stir()

    def end(self, word: str) -> None:
        """For all of them."""
        for follower in [*self._joining, *self._members()]:
            follower.end(word)
            self.leave(follower)

    def _members(self) -> Iterator[Follower]:
        return (follower for members in self._views.values() for follower in members)

    async def run(self) -> None:
        """As long as somebody follows.

        Signs of life come by the clock alone: they must not tell when something has happened that is not shown yet.
        """
        clock = asyncio.get_running_loop().time
        due = clock() + self._hub.keep_alive
        while self._joining or self._views:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._stirred.wait()
            self._signing = clock() >= due
            due = clock() + self._hub.keep_alive if self._signing else due
            self._stirred.clear()
            await self._look()
            await asyncio.sleep(self.source.pause)

    async def _look(self) -> None:
        joining, before = list(self._joining), self.source.topics
        begins = {follower.view for follower in joining}
        wishes = {view: Wish(self._states.get(view), view in begins) for view in {*self._views, *begins}}
        listening = [(f.view, f.who, f in joining or self._signing) for f in (*joining, *self._members())]
        found, void = await self._hub.read(partial(_read, self.source, wishes, listening))
        self._hub.subscribe(self, before, self.source.topics)
        for view, told in found.items():
            self._tell(view, told, void)
        for follower in joining:
            if follower in self._joining:
                self._begin(follower, found[follower.view], void)

    def _tell(self, view: View, told: Told, void: set[Pass]) -> None:
        """What is new for a view, written once in each form."""
        chunks: dict[Form, bytes] = {}
        if view in self._views:
            self._states[view] = told.state
        for follower in list(self._views.get(view, ())):
            if follower.who in void:
                follower.end("bye")
            elif told.news:
                form = follower.form
                chunks[form] = chunks.get(form) or form.chunk(told.news)
                follower.give(chunks[form], told.version)
            elif self._signing:
                follower.sign()
            if told.last_word:
                follower.end(told.last_word)
            if follower.over:
                self.leave(follower)

    def _begin(self, follower: Follower, told: Told, void: set[Pass]) -> None:
        self._joining.remove(follower)
        if follower.who in void:
            follower.end("bye")
            return
        follower.begin(told.whole, told.version)
        if told.last_word:
            follower.end(told.last_word)
        else:
            self._views.setdefault(follower.view, set()).add(follower)
            self._states[follower.view] = told.state


def _read(
    source: Source, wishes: Mapping[View, Wish], listening: Sequence[tuple[View, Pass | None, bool]]
) -> tuple[Mapping[View, Told], set[Pass]]:
    """What is to be told, and whose pass has ended of those who are to be told something.

    The passes are looked at last: what comes after one has ended is not in what was read before.
    """
    found = source.look(wishes)
    asked = {who for view, who, speaks in listening if who and (speaks or found[view].news)}
    return found, {who for who in asked if not who.lasts()}
