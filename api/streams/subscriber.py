"""One open stream: its queue of unsent data, and the sending coroutine."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from api.streams.events import Event, EventFormat, make_event, with_last_id
from api.streams.source import EventSource, Permit, ViewKey
from domain.errors import AnnalsError

Write = Callable[[bytes], Awaitable[None]]
Page = Callable[[int, int], Awaitable[tuple[list[Event], int]]]

MOST_WAITING = 256 * 1024
"""Largest queue of a slow client, bytes. Slower clients must reconnect."""

PATIENCE = 30.0
"""Longest time for one write, seconds."""


@dataclass(eq=False)
class Subscriber:
    """One stream. Belongs to the event loop."""

    source: EventSource
    key: ViewKey
    format: EventFormat
    seconds: float
    """Longest duration of the stream, seconds."""
    permit: Permit | None = None
    """The credential, or None for public sources."""
    last_id: int = 0
    """Last id sent; at first the client's own, or 0."""
    last_given: float = 0.0
    """Time of the last queued data, on the loop's clock."""
    _waiting: deque[tuple[bytes, int]] = field(default_factory=deque)
    _bytes: int = 0
    _last_event: str = ""
    _has_event: bool = False
    _snapshot: tuple[tuple[Event, ...], int] | None = None
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """True once the stream accepts no more data."""
        return bool(self._last_event)

    # --- what a feed gives it

    def begin(self, snapshot: tuple[Event, ...], version: int) -> None:
        """Queue the snapshot at a version. Later data follows it."""
        self._snapshot = snapshot, version
        self._wake()

    def give(self, chunk: bytes, version: int) -> None:
        """Queue news up to a version. A full queue ends the stream, and the client must reconnect."""
        if self._bytes + len(chunk) > MOST_WAITING and self._waiting:
            self._waiting.clear()
            self._bytes = 0
            self.end("bye")
        if self._last_event:
            return
        self._waiting.append((chunk, version))
        self._bytes += len(chunk)
        self._wake()

    def give_keep_alive(self) -> None:
        """Queue a keep-alive if the queue is empty."""
        if not self._waiting and self._snapshot is None:
            self.give(self.format.keep_alive, self.last_id)

    def end(self, last_event: str) -> None:
        """End the stream after the queued data, with this event as the last."""
        self._last_event = self._last_event or last_event
        self._wake()

    def _wake(self) -> None:
        self.last_given = asyncio.get_running_loop().time()
        self._woken.set()

    # --- what it sends

    async def run(self, write: Write, page: Page) -> None:
        """Send until the stream ends or its time is up. Errors of `write` propagate.

        Raise TimeoutError for a client that does not read.
        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.seconds
        await self._send(write, self.format.preamble)
        while not self._last_event and loop.time() < ends:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(ends):
                    await self._woken.wait()
            self._woken.clear()
            try:
                await self._send_snapshot(write, page)
            except AnnalsError:  # the client gets the reason on reconnect
                self._drop_waiting()
            await self._drain(write)
        await self._send(
            write, self.format.encode(make_event(self._last_event or "bye", {self.source.id_kind: self.last_id}))
        )

    def _drop_waiting(self) -> None:
        """Drop the queue after a gap and end the stream: the client reconnects from its last id."""
        self._waiting.clear()
        self.end("bye")

    async def _drain(self, write: Write) -> None:
        while self._waiting:
            chunk, version = self._waiting.popleft()
            self._bytes -= len(chunk)
            await self._send(write, chunk)
            self.last_id = version

    async def _send_snapshot(self, write: Write, page: Page) -> None:
        """Send the snapshot and the missed events, page by page to limit memory."""
        if self._snapshot is None:
            return
        (snapshot, head), self._snapshot = self._snapshot, None
        first, *others = snapshot or (None,)
        parts: list[Event] = [first] if first else []
        upto = self.last_id if 0 < self.last_id <= head else head
        while upto < head:
            events, upto = await page(upto, head)
            if self._last_event == "bye":  # the permit ended meanwhile, or the client is too slow
                self._drop_waiting()
                return
            parts += events
            if upto < head:
                await self._send(write, self.format.encode_all(with_last_id(parts, upto)))
                self.last_id, parts = upto, []
        await self._send(write, self.format.encode_all(with_last_id([*parts, *others], head)))
        self.last_id = head

    async def _send(self, write: Write, chunk: bytes) -> None:
        if not self._has_event and chunk and chunk not in (self.format.preamble, self.format.keep_alive):
            self._has_event, chunk = True, self.format.first + chunk
        if chunk:
            async with asyncio.timeout(PATIENCE):
                await write(chunk)
