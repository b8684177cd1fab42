"""The process for streams inside a test: an event loop in a thread, and answers as those of the test client are."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from werkzeug.datastructures import Headers

from api.streams.asgi import AsgiMessage, Scope, StreamApp

T = TypeVar("T")
PATIENCE = 20
"""Seconds that a test waits for what must come."""


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="test streams", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns there."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        self.loop.close()


class Answer:
    """An answer while it comes; `response` gives its pieces, and ends with it.

    The client reads a piece whenever the test takes one, and `ahead` further ones.
    """

    def __init__(self, on: Loop, app: StreamApp, scope: Scope, ahead: int = 1000, body: bytes = b"") -> None:
        self._on, self._body = on, body
        self._pieces: queue.Queue[AsgiMessage | None] = queue.Queue()
        self._room = asyncio.Semaphore(ahead + 1)
        self._left = asyncio.Event()
        self._is_read = False
        self._work = asyncio.run_coroutine_threadsafe(self._serve(app, scope), on.loop)
        start = self._piece()
        assert start is not None, self._work.exception()
        self.status_code: int = start["status"]
        self.headers = Headers([(name.decode().title(), value.decode("latin-1")) for name, value in start["headers"]])
        self.mimetype = self.headers.get("Content-Type", "").partition(";")[0]
        self.response = self._read()

    async def _serve(self, app: StreamApp, scope: Scope) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            self._pieces.put(None)

    async def _send(self, message: AsgiMessage) -> None:
        await self._room.acquire()
        self._pieces.put(message)

    async def _receive(self) -> AsgiMessage:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    def _piece(self) -> AsgiMessage | None:
        found = self._pieces.get(timeout=PATIENCE)
        self._on.loop.call_soon_threadsafe(self._room.release)
        return found

    def _read(self) -> Iterator[bytes]:
        while (found := self._piece()) is not None:
            if found["body"]:
                yield found["body"]
            if not found.get("more_body"):
                return

    def until(self, *words: str) -> str:
        """What comes, up to the piece with which all of these have come."""
        seen = ""
        while not all(word in seen for word in words):
            seen += next(self.response).decode()
        return seen

    @property
    def data(self) -> bytes:
        """All of it, until it ends."""
        return b"".join(self.response)

    @property
    def text(self) -> str:
        if not hasattr(self, "_text"):
            self._text = self.data.decode()
        return self._text

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    def close(self) -> None:
        """The client goes; returns once the service has noticed."""
        self._on.loop.call_soon_threadsafe(self._left.set)
        self._work.exception(PATIENCE)

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def scope(
    path: str, headers: Mapping[str, str], method: str = "GET", address: str = "127.0.0.1", scheme: str = "http"
) -> Scope:
    """A request as the server tells of it."""
    parts = urlsplit(path)
    named = {"host": "localhost", **{name.lower(): value for name, value in headers.items()}}
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": scheme,
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named.items()],
        "client": (address, 1),
    }
