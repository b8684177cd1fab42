"""The application of the process for streams: on an event loop, over the application that serves all other requests.

Who may follow what is decided there, as for any request, by one of a few threads; a stream that was let in is then
served on the loop. Refusals, headers, counts and lines of the log are the same as everywhere.
"""

from __future__ import annotations

import asyncio
import io
import os
import secrets
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson
from flask import Flask, Response

from api.services import EXTENSION, Services
from api.streams.hub import Hub
from api.streams.subscriber import Follower

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


ADMITTING = 4
"""Threads that look at who asks."""

LEAVE = 4
"""Seconds in which all are told that the service ends, enough for a machine that does a good deal else. Only who does
not read lets it wait so long; who ends it waits a little longer."""

WRITTEN = 0.3
"""Seconds for the server to write what it was given last: it does so by itself, and does not tell when it has."""

ALIVE = "/healthz"
"""Where the prober asks whether the loop turns, and how many streams are open; no client comes to it."""

STREAMING = "annals.streaming"
"""Stands in the environment of requests that can be answered with a stream."""

Message = MutableMapping[str, Any]
Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def believe(_: WSGIEnvironment) -> None:
    """The request is what it seems to be."""


class Followed(Response):
    """The answer that a stream begins with; what follows is served on the loop."""

    follower: Follower


class Streams:
    """The ASGI application, over the other one."""

    def __init__(self, app: Flask, told: Callable[[WSGIEnvironment], None]) -> None:
        """`told` changes what the application is told of a request, as whoever stands in front has said it."""
        self._app, self._told = app, told
        self._services: Services = app.extensions[EXTENSION]
        self._pool = ThreadPoolExecutor(ADMITTING, "admission")
        self._under_way = 0
        self._hub: Hub | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the process."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        self._under_way += 1
        try:
            if scope["path"] == ALIVE:
                await self._alive(send)
            else:
                await self._serve(scope, receive, send)
        finally:
            self._under_way -= 1

    @property
    def hub(self) -> Hub:
        """Made by the first request, on the loop that serves it."""
        if self._hub is None:
            self._hub = Hub(self._services.reader.marks, self._services.settings.keep_alive)
            self._services.listen(self._hub.heard)
        return self._hub

    # --- the process

    async def _live(self, receive: Receive, send: Send) -> None:
        """Until the process ends. The server would wait for streams to end by themselves, and tell nobody."""
        await receive()
        self._heed_signals()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    def _heed_signals(self) -> None:
        """In the loop's own way a signal can get lost while it is busy: it comes through a pipe that can be full."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._stop))

    def _stop(self) -> None:
        self._leaving = asyncio.get_running_loop().create_task(self._leave())

    async def _leave(self) -> None:
        told = self.hub.open
        try:
            async with asyncio.timeout(LEAVE):
                await self.close()
        except TimeoutError:  # somebody does not read
            pass
        finally:
            if told:
                await asyncio.sleep(WRITTEN)
            os._exit(0)  # nothing is to be saved: what counts is in the databases

    async def close(self) -> None:
        """Take leave of all; returns once every request is answered."""
        await self.hub.close()
        while self._under_way:
            await asyncio.sleep(0.01)

    async def _alive(self, send: Send) -> None:
        body = orjson.dumps({"status": "ok", "streams": self.hub.open})
        headers = {"content-type": "application/json", "request-id": secrets.token_hex(8)}
        await _answer(send, 200, headers.items(), body)

    # --- requests

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        environ = environment(scope)
        self._told(environ)
        answered = partial(self._answered, environ)
        made: Response = await asyncio.get_running_loop().run_in_executor(self._pool, answered)
        try:
            if isinstance(made, Followed) and scope["method"] != "HEAD":
                await self._follow(made, receive, send)
            else:
                body = b"" if scope["method"] == "HEAD" else made.get_data()
                await _answer(send, made.status_code, made.headers.items(), body)
        finally:
            made.close()

    def _answered(self, environ: WSGIEnvironment) -> Response:
        """What the application answers."""
        with self._app.request_context(environ):
            try:
                return self._app.full_dispatch_request()
            except Exception as error:  # noqa: BLE001 - as for any request: the application tells of it, and logs it
                return self._app.handle_exception(error)

    async def _follow(self, made: Followed, receive: Receive, send: Send) -> None:
        """The stream, until it is over or nobody listens."""
        await send(_start(made.status_code, made.headers.items()))
        serving = asyncio.ensure_future(self.hub.follow(made.follower, partial(_write, send)))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({serving, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            over = serving.done()
            serving.cancel()
            await asyncio.gather(serving, gone, return_exceptions=True)
        if over and serving.exception() is None:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    """Returns once the client has."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _write(send: Send, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


def _start(status: int, headers: Iterable[tuple[str, str]]) -> Message:
    told = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": told}


async def _answer(send: Send, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
    await send(_start(status, headers))
    await send({"type": "http.response.body", "body": body, "more_body": False})


def environment(scope: Scope) -> WSGIEnvironment:
    """A request as WSGI has it. It has no body: what is followed is named by its address."""
    client = scope.get("client") or ("", 0)
    found: WSGIEnvironment = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": str(client[0]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": io.BytesIO(),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        STREAMING: True,
    }
    for name, value in scope["headers"]:
        key = "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        joint = "; " if key == "HTTP_COOKIE" else ","
        text = value.decode("latin-1")
        found[key] = f"{found[key]}{joint}{text}" if key in found else text
    return found
