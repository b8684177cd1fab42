"""The hub: a few threads read each source once for all subscribers; the loop distributes the events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TypeVar

from api.streams.events import Event, EventFormat
from api.streams.source import ANY, EventSource, Permit, StreamUpdate, ViewKey, ViewRequest
from api.streams.subscriber import Subscriber, Write
from domain.errors import AnnalsError

Result = TypeVar("Result")

ReadMarks = Callable[[Sequence[str]], Mapping[str, int]]
"""Returns a number per game. It changes with every visible change of the game."""

READER_THREADS = 4
"""Reader threads per process."""

BATCH_SIZE = 500
"""Games per query."""

log = logging.getLogger("annals.streams")


class Hub:
    """All streams of a process. Use it on its event loop only, except `notify`."""

    def __init__(self, marks: ReadMarks, keep_alive: float) -> None:
        """Create a hub with `keep_alive` seconds between keep-alives."""
        self.keep_alive = keep_alive
        self._marks = marks
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(READER_THREADS, "streams")
        self._feeds: dict[EventSource, Feed] = {}
        self._topics: dict[str, set[Feed]] = {}
        self._subscribers: set[Subscriber] = set()
        self._comparing: asyncio.Task[None] | None = None
        self._again = self._ending = False

    @property
    def open(self) -> int:
        """Number of open streams."""
        return len(self._subscribers)

    async def serve(self, subscriber: Subscriber, write: Write) -> None:
        """Serve one stream until it ends. Errors of `write` propagate."""
        self._subscribers.add(subscriber)
        try:
            if self._ending:
                subscriber.end("bye")
            else:
                self._feed(subscriber.source).join(subscriber)
            await subscriber.run(write, partial(self._read_page, subscriber))
        finally:
            self._subscribers.discard(subscriber)
            if feed := self._feeds.get(subscriber.source):
                feed.leave(subscriber)

    async def run_in_thread(self, call: Callable[[], Result]) -> Result:
        """Run a blocking call in a thread and return its result."""
        return await self._loop.run_in_executor(self._pool, call)

    async def close(self) -> None:
        """Send all clients the final event, and return once the last stream is closed."""
        self._ending = True
        for follower in self._subscribers:
            follower.end("bye")
        while self._subscribers:
            await asyncio.sleep(0.01)
        for task in (self._comparing, *(feed.task for feed in self._feeds.values())):
            if task:
                task.cancel()
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)  # else readers would use closed stores

    # --- feeds

    def _feed(self, source: EventSource) -> Feed:
        if source not in self._feeds:
            feed = self._feeds[source] = Feed(self, source)
            self.subscribe(feed, (), source.topics)
            feed.task = self._loop.create_task(self._run(feed))
        return self._feeds[source]

    async def _run(self, feed: Feed) -> None:
        try:
            await feed.run()
        except AnnalsError as error:  # store unavailable or game quarantined: the client gets the reason on reconnect
            log.info("streams ended: %s", error)
        except Exception:
            log.exception("streams ended")
        finally:
            del self._feeds[feed.source]
            self.subscribe(feed, feed.source.topics, ())
            feed.end("bye")

    async def _read_page(self, subscriber: Subscriber, after: int, upto: int) -> tuple[list[Event], int]:
        return await self.run_in_thread(lambda: subscriber.source.read_history(subscriber.key, after, upto))

    # --- what has changed

    def subscribe(self, feed: Feed, before: Iterable[str], now: Iterable[str]) -> None:
        """Replace a feed's topics."""
        for topic in before:
            if feeds := self._topics.get(topic):
                feeds.discard(feed)
                if not feeds:
                    del self._topics[topic]
        for topic in now:
            self._topics.setdefault(topic, set()).add(feed)

    def notify(self, games: frozenset[str]) -> None:
        """Announce changed games, or any game for an empty set. Callable from any thread."""
        with suppress(RuntimeError):  # the loop is closed: no subscribers are left
            self._loop.call_soon_threadsafe(self._wake_feeds, games)

    def _wake_feeds(self, games: frozenset[str]) -> None:
        if self._ending:  # no more reads
            return
        for game in games:
            for feed in self._topics.get(game, ()):
                feed.wake()
        for feed in self._topics.get(ANY, ()):
            feed.wake()
        if not games:
            self._again = True
            self._comparing = self._comparing or self._loop.create_task(self._compare())

    async def _compare(self) -> None:
        """Find changed games with few queries, and wake their feeds."""
        try:
            while self._again:
                self._again = False
                newest = await self.run_in_thread(partial(self._read_marks, sorted(self._topics)))
                for feed in self._feeds.values():
                    feed.compare(newest)
        except AnnalsError:  # each feed handles its own errors
            for feed in self._feeds.values():
                feed.wake()
        finally:
            self._comparing = None

    def _read_marks(self, games: Sequence[str]) -> dict[str, int]:
        parts = (games[begin : begin + BATCH_SIZE] for begin in range(0, len(games), BATCH_SIZE))
        return {game: mark for part in parts for game, mark in self._marks(part).items()}


class Feed:
    """The subscribers of one source, served by one task."""

    task: asyncio.Task[None]

    def __init__(self, hub: Hub, source: EventSource) -> None:
        self.source = source
        self._hub = hub
        self._joining: list[Subscriber] = []
        self._views: dict[ViewKey, set[Subscriber]] = {}
        self._states: dict[ViewKey, object] = {}
        self._woken = asyncio.Event()
        self._keep_alive_due = False
        """True if subscribers without news get a keep-alive."""

    def join(self, subscriber: Subscriber) -> None:
        """Add a subscriber: it gets a snapshot, then news."""
        self._joining.append(subscriber)
        self.wake()

    def leave(self, subscriber: Subscriber) -> None:
        """Remove a subscriber, and the state of its view without other subscribers."""
        if subscriber in self._joining:
            self._joining.remove(subscriber)
        members = self._views.get(subscriber.key, set())
        members.discard(subscriber)
        if not members:
            self._views.pop(subscriber.key, None)
            self._states.pop(subscriber.key, None)

    def wake(self) -> None:
        """Schedule an update."""
        self._woken.set()

    def compare(self, newest: Mapping[str, int]) -> None:
        """Schedule an update if a game's mark differs from the last update's."""
        if any(newest.get(game, mark) != mark for game, mark in self.source.topics.items()):
            self.wake()

    def end(self, word: str) -> None:
        """End all streams of this feed."""
        for follower in [*self._joining, *self._members()]:
            follower.end(word)
            self.leave(follower)

    def _members(self) -> Iterator[Subscriber]:
        return (follower for members in self._views.values() for follower in members)

    async def run(self) -> None:
        """Serve the feed as long as it has subscribers.

        Keep-alives follow the clock only: their timing must not reveal hidden activity.
        """
        clock = asyncio.get_running_loop().time
        due = clock() + self._hub.keep_alive
        while self._joining or self._views:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._woken.wait()
            self._keep_alive_due = clock() >= due
            due = clock() + self._hub.keep_alive if self._keep_alive_due else due
            self._woken.clear()
            await self._update()
            await asyncio.sleep(self.source.pause)

    async def _update(self) -> None:
        joining, before = list(self._joining), self.source.topics
        begins = {follower.key for follower in joining}
        requests = {view: ViewRequest(self._states.get(view), view in begins) for view in {*self._views, *begins}}
        listening = [(f.key, f.permit, f in joining or self._keep_alive_due) for f in (*joining, *self._members())]
        updates, ended = await self._hub.run_in_thread(partial(_read_source, self.source, requests, listening))
        self._hub.subscribe(self, before, self.source.topics)
        for key, update in updates.items():
            self._send_update(key, update, ended)
        for follower in joining:
            if follower in self._joining:
                self._start(follower, updates[follower.key], ended)

    def _send_update(self, key: ViewKey, update: StreamUpdate, ended: set[Permit]) -> None:
        """Send a view's news, encoded once per format."""
        chunks: dict[EventFormat, bytes] = {}
        if key in self._views:
            self._states[key] = update.state
        for follower in list(self._views.get(key, ())):
            if follower.permit in ended:
                follower.end("bye")
            elif update.news:
                form = follower.format
                chunks[form] = chunks.get(form) or form.encode_all(update.news)
                follower.give(chunks[form], update.version)
            elif self._keep_alive_due:
                follower.give_keep_alive()
            if update.last_event:
                follower.end(update.last_event)
            if follower.is_over:
                self.leave(follower)

    def _start(self, subscriber: Subscriber, update: StreamUpdate, ended: set[Permit]) -> None:
        self._joining.remove(subscriber)
        if subscriber.permit in ended:
            subscriber.end("bye")
            return
        subscriber.begin(update.snapshot, update.version)
        if update.last_event:
            subscriber.end(update.last_event)
        else:
            self._views.setdefault(subscriber.key, set()).add(subscriber)
            self._states[subscriber.key] = update.state


def _read_source(
    source: EventSource,
    requests: Mapping[ViewKey, ViewRequest],
    listening: Sequence[tuple[ViewKey, Permit | None, bool]],
) -> tuple[Mapping[ViewKey, StreamUpdate], set[Permit]]:
    """Return the updates, and the ended permits among subscribers with something to send.

    Permits are checked after the read: data committed after a permit's end is not in the update.
    """
    updates = source.read_updates(requests)
    permits = {permit for view, permit, speaks in listening if permit and (speaks or updates[view].news)}
    return updates, {permit for permit in permits if not permit.is_valid()}
