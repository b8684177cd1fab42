"""ASGI application of the stream process, on top of the WSGI application.

A few threads pass each request to the WSGI application, for authorization as usual; the loop then serves accepted
streams. Refusals, headers, limits and log lines are those of ordinary requests.
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

import msgspec
from flask import Flask, Response

from api.services import EXTENSION, ApiServices
from api.streams.hub import Hub
from api.streams.subscriber import Subscriber

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

    from api.agents.mount import AgentMount


ADMISSION_THREADS = 4
"""Threads for authorization."""

SHUTDOWN_SECONDS = 4
"""Seconds to send all clients the final event at shutdown.

Only unread streams take that long. The supervisor waits a little longer.
"""

FLUSH_SECONDS = 0.3
"""Seconds for the server to flush its last writes; it does not report completion."""

HEALTH_PATH = "/healthz"
"""Path of the health check: it tests the loop and reports open streams. Clients do not use it."""

STREAMING = "annals.streaming"
"""Environment key of requests with streams allowed."""

AsgiMessage = MutableMapping[str, Any]
Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]


def no_proxy_fix(_: WSGIEnvironment) -> None:
    """Leave the request unchanged."""


class StreamResponse(Response):
    """Response headers of a stream. The loop sends its events."""

    subscriber: Subscriber


class AgentExchange(Response):
    """Response headers of an admitted request of an agent. The loop answers it."""


class StreamApp:
    """The ASGI application on top of the WSGI application."""

    threads = ADMISSION_THREADS

    def __init__(self, app: Flask, proxy_fix: Callable[[WSGIEnvironment], None]) -> None:
        """Wrap `app`. `proxy_fix` writes the reverse proxy's values into each request."""
        self._app, self._proxy_fix = app, proxy_fix
        self._services: ApiServices = app.extensions[EXTENSION]
        self._pool = ThreadPoolExecutor(self.threads, "admission")
        self._active_requests = 0
        self._hub: Hub | None = None
        self._agents: asyncio.Future[AgentMount] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the lifespan of the process."""
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        self._active_requests += 1
        try:
            if scope["path"] == HEALTH_PATH:
                await self._answer_health(send)
            else:
                await self._serve(scope, receive, send)
        finally:
            self._active_requests -= 1

    @property
    def hub(self) -> Hub:
        """The hub, created by the first request on its loop."""
        if self._hub is None:
            self._hub = Hub(self._services.reader.change_marks, self._services.settings.keep_alive)
            self._services.listen(self._hub.notify)
        return self._hub

    # --- the process

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        """Serve until shutdown. The server itself would wait for open streams to end."""
        await receive()
        self._handle_signals()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    def _handle_signals(self) -> None:
        """Install signal handlers. asyncio's own can lose signals under load, when their pipe is full."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(self._stop))

    def _stop(self) -> None:
        self._leaving = asyncio.get_running_loop().create_task(self._shut_down())

    async def _shut_down(self) -> None:
        has_streams = self.hub.open
        try:
            async with asyncio.timeout(SHUTDOWN_SECONDS):
                await self.close()
        except TimeoutError:  # a client does not read
            pass
        finally:
            if has_streams:
                await asyncio.sleep(FLUSH_SECONDS)
            try:
                await self.finish()
            finally:
                os._exit(0)  # no state to save: the databases have it

    async def finish(self) -> None:
        """Do what is left before the process ends."""

    async def close(self) -> None:
        """Tell all clients to reconnect, and return once every request is answered."""
        if self._agents is not None and self._agents.done():
            self._agents.result().end_waits()
        await self.hub.close()
        while self._active_requests:
            await asyncio.sleep(0.01)

    async def _answer_health(self, send: Send) -> None:
        body = msgspec.json.encode({"status": "ok", "streams": self.hub.open})
        headers = {"content-type": "application/json", "request-id": secrets.token_hex(8)}
        await _send_response(send, 200, headers.items(), body)

    # --- requests

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(receive, self.longest_body)
        environ = self.make_environ(scope, body)
        dispatch = partial(self._dispatch, environ)
        response: Response = await asyncio.get_running_loop().run_in_executor(self._pool, dispatch)
        try:
            if isinstance(response, StreamResponse) and scope["method"] != "HEAD":
                await self._serve_stream(response, receive, send)
            elif isinstance(response, AgentExchange):
                inner = {**scope, "annals.environ": environ}
                agents = await self._find_agents()
                left = partial(wait_for_disconnect, receive)
                await agents(inner, _replay(body, receive), _with_headers(response, send), left)
            else:
                await self.send_plain(response, environ, receive, send)
        finally:
            response.close()

    @property
    def longest_body(self) -> int:
        """Bytes of a body, at most."""
        return self._services.settings.max_body

    def make_environ(self, scope: Scope, _: bytes) -> WSGIEnvironment:
        """Return a request as a WSGI environment, with the reverse proxy's values."""
        environ = wsgi_environ(scope)
        self._proxy_fix(environ)
        return environ

    async def send_plain(self, response: Response, environ: WSGIEnvironment, _: Receive, send: Send) -> None:
        """Send an ordinary response, such as a refusal."""
        content = b"" if environ["REQUEST_METHOD"] == "HEAD" else response.get_data()
        await _send_response(send, response.status_code, response.headers.items(), content)

    async def _find_agents(self) -> AgentMount:
        """Return the server of agents. The first request imports its library in a thread: it takes a while."""
        if self._agents is None:
            self._agents = asyncio.get_running_loop().run_in_executor(self._pool, self._make_agents)
        return await asyncio.shield(self._agents)

    def _make_agents(self) -> AgentMount:
        from api.agents.mount import AgentMount  # noqa: PLC0415 - an extra

        return AgentMount(self._app)

    def _dispatch(self, environ: WSGIEnvironment) -> Response:
        """Return the WSGI application's response."""
        with self._app.request_context(environ):
            try:
                return self._app.full_dispatch_request()
            except Exception as error:  # noqa: BLE001 - as for any request: the application tells of it, and logs it
                return self._app.handle_exception(error)

    async def _serve_stream(self, response: StreamResponse, receive: Receive, send: Send) -> None:
        """Serve the stream until it ends or the client disconnects."""
        await send(start_message(response.status_code, response.headers.items()))
        serving = asyncio.ensure_future(self.hub.serve(response.subscriber, partial(_write, send)))
        disconnect = asyncio.ensure_future(wait_for_disconnect(receive))
        try:
            await asyncio.wait({serving, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            disconnect.cancel()
            over = serving.done()
            serving.cancel()
            await asyncio.gather(serving, disconnect, return_exceptions=True)
        if over and serving.exception() is None:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _read_body(receive: Receive, most: int) -> bytes:
    """Return the first bytes of the body, read to its end: nginx writes all of it before it reads the answer."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body = (body + message.get("body", b""))[: most + 1]
        if not message.get("more_body"):
            break
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a channel with the body, then the rest of the messages."""
    messages: list[AsgiMessage] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> AsgiMessage:
        return messages.pop() if messages else await receive()

    return again


def _with_headers(response: Response, send: Send) -> Send:
    """Return a channel with the response's headers added to those of the answer."""
    more = [(name, value) for name, value in response.headers.items() if not name.lower().startswith("content-")]

    async def sending(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
            message = {**message, "headers": [*kept, *start_message(200, more)["headers"]]}
        await send(message)

    return sending


async def wait_for_disconnect(receive: Receive) -> None:
    """Return after the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _write(send: Send, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


def start_message(status: int, headers: Iterable[tuple[str, str]]) -> AsgiMessage:
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {"type": "http.response.start", "status": status, "headers": encoded}


async def _send_response(send: Send, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
    await send(start_message(status, headers))
    await send({"type": "http.response.body", "body": body, "more_body": False})


def wsgi_environ(scope: Scope) -> WSGIEnvironment:
    """Return a request as a WSGI environment without a body: streams are selected by URL."""
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
