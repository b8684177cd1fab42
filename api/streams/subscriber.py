"""One open stream: what waits to be sent to it, and the coroutine that sends it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from api.streams.events import Event, Form, event, marked
from api.streams.source import Pass, Source, View
from domain.errors import AnnalsError

Write = Callable[[bytes], Awaitable[None]]
Page = Callable[[int, int], Awaitable[tuple[list[Event], int]]]

MOST_WAITING = 256 * 1024
"""Bytes that wait for a reader who is slow; one that falls further behind is asked to come again."""

PATIENCE = 30.0
"""Seconds that a reader may take for one piece."""


@dataclass(eq=False)
class Follower:
    """Somebody who follows a source; belongs to the event loop."""

    source: Source
    view: View
    form: Form
    seconds: float
    """How long the stream may last."""
    who: Pass | None = None
    """What has let it in; None for what is open to all."""
    last: int = 0
    """The version up to which everything was sent; at the beginning the one that the client names, or 0."""
    spoken: float = 0.0
    """When something was given to it last, on the loop's clock."""
    _waiting: deque[tuple[bytes, int]] = field(default_factory=deque)
    _bytes: int = 0
    _word: str = ""
    _begun: tuple[tuple[Event, ...], int] | None = None
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """Whether nothing is given to it any more."""
        return bool(self._word)

    # --- what a feed gives it

    def begin(self, whole: tuple[Event, ...], version: int) -> None:
        """What there is, up to that version; what is given from now on comes after it."""
        self._begun = whole, version
        self._given()

    def give(self, chunk: bytes, version: int) -> None:
        """What is new up to a version; a reader who leaves too much of it lying has to come again."""
        if self._bytes + len(chunk) > MOST_WAITING and self._waiting:
            self._waiting.clear()
            self._bytes = 0
            self.end("bye")
        if self._word:
            return
        self._waiting.append((chunk, version))
        self._bytes += len(chunk)
        self._given()

    def sign(self) -> None:
        """A sign of life, unless something waits anyway."""
        if not self._waiting and self._begun is None:
            self.give(self.form.alive, self.last)

    def end(self, word: str) -> None:
        """The stream is over once what waits is sent; that event is the last."""
        self._word = self._word or word
        self._given()

    def _given(self) -> None:
        self.spoken = asyncio.get_running_loop().time()
        self._woken.set()

    # --- what it sends

    async def run(self, write: Write, page: Page) -> None:
        """Until it is over, or the time is up; raises what `write` raises, and TimeoutError for who does not read."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.seconds
        await self._send(write, self.form.opening)
        while not self._word and loop.time() < ends:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(ends):
                    await self._woken.wait()
            self._woken.clear()
            try:
                await self._start(write, page)
            except AnnalsError:  # who comes again is told why
                self._part()
            await self._drain(write)
        await self._send(write, self.form.line(event(self._word or "bye", {self.source.counts: self.last})))

    def _part(self) -> None:
        """It comes again, from what it was sent last: whatever waits comes after something that it has missed."""
        self._waiting.clear()
        self.end("bye")

    async def _drain(self, write: Write) -> None:
        while self._waiting:
            chunk, version = self._waiting.popleft()
            self._bytes -= len(chunk)
            await self._send(write, chunk)
            self.last = version

    async def _start(self, write: Write, page: Page) -> None:
        """What there is, with what the client has missed; page by page, so that little of it waits in memory."""
        if self._begun is None:
            return
        (whole, head), self._begun = self._begun, None
        first, *others = whole or (None,)
        parts: list[Event] = [first] if first else []
        upto = self.last if 0 < self.last <= head else head
        while upto < head:
            told, upto = await page(upto, head)
            if self._word == "bye":  # its pass has ended meanwhile, or it is too slow
                self._part()
                return
            parts += told
            if upto < head:
                await self._send(write, self.form.chunk(marked(parts, upto)))
                self.last, parts = upto, []
        await self._send(write, self.form.chunk(marked([*parts, *others], head)))
        self.last = head

    async def _send(self, write: Write, chunk: bytes) -> None:
        if chunk:
            async with asyncio.timeout(PATIENCE):
                await write(chunk)
