"""The server at `/mcp` of the stream process: each request brings its own token, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import hashlib
import io
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING
from urllib.parse import unquote

import anyio
import msgspec
from cachetools import LRUCache
from flask import Flask
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send
from werkzeug.datastructures import Headers
from werkzeug.test import run_wsgi_app

from api.agents.agent_server import build_server
from api.agents.api_calls import ApiAnswer, ApiCalls, ToolRefusal
from domain.types import Json

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

MAX_CALLERS = 1000
"""Callers with remembered roles, at most."""


class AgentMount:
    """The protocol over HTTP, in the loop of the stream process; tools call the WSGI application in threads."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._closing = asyncio.Event()
        self._roles: LRUCache[bytes, dict[str, str]] = LRUCache(MAX_CALLERS)
        self._lock = threading.Lock()
        server = build_server(self._find_calls, self._fetch_picture, self._closing)
        self._manager = StreamableHTTPSessionManager(server, stateless=True, json_response=True)
        self._ready: asyncio.Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send, left: Callable[[], Awaitable[None]]) -> None:
        """Serve one admitted request, until the client has `left`: the library itself would go on."""
        await self._start()
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_after, left, group.cancel_scope)
            await self._manager.handle_request(scope, receive, send)
            group.cancel_scope.cancel()

    def end_waits(self) -> None:
        """Answer all waits now, since the process ends."""
        self._closing.set()

    async def _start(self) -> None:
        """Start the manager with the first request. It runs until the process ends."""
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._ready))
        await asyncio.shield(self._ready)

    async def _run(self, ready: asyncio.Future[None]) -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._manager.run())
            ready.set_result(None)
            await asyncio.Event().wait()

    def _find_calls(self, request: Request | None) -> ApiCalls:
        """Return the API for the caller of a request."""
        environ = _environ_of(request)

        def send(method: str, path: str, body: Json, headers: dict[str, str]) -> ApiAnswer:
            return self._send(environ, method, f"/v1{path}", body, headers)

        caller = hashlib.sha256(environ.get("HTTP_AUTHORIZATION", "").encode()).digest()
        with self._lock:
            return ApiCalls(send, self._roles.setdefault(caller, {}))

    def _fetch_picture(self, request: Request | None, game: str, form: str) -> bytes:
        environ = _environ_of(request)
        status, _, data = self._request(environ, "GET", f"/games/{game}/board.{form}", b"", {})
        if status >= 400:
            raise ToolRefusal(ApiAnswer(status, {"code": "not_found", "title": "No picture of this table"}))
        return data

    def _send(
        self, environ: WSGIEnvironment, method: str, target: str, body: Json, headers: Mapping[str, str]
    ) -> ApiAnswer:
        data = b"" if method == "GET" else msgspec.json.encode({} if body is None else body)
        status, found, answer = self._request(environ, method, target, data, headers)
        is_json = found.get("Content-Type", "").partition(";")[0].endswith(("/json", "+json"))
        doc = msgspec.json.decode(answer) if is_json and answer else {"text": answer.decode()}
        return ApiAnswer(status, doc, found.get("Retry-After", ""))

    def _request(
        self, environ: WSGIEnvironment, method: str, target: str, data: bytes, headers: Mapping[str, str]
    ) -> tuple[int, Headers, bytes]:
        """Return the application's answer to a request of the same caller, from the same address."""
        path, _, query = target.partition("?")
        inner = {name: value for name, value in environ.items() if name in _KEPT or name.startswith("wsgi.")}
        inner |= {
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote(path).encode().decode("latin-1"),
            "QUERY_STRING": query,
            "wsgi.input": io.BytesIO(data),
            "HTTP_ANNALS_AGENT": "declared",
        }
        if method != "GET":
            inner |= {"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(data))}
        inner |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        parts, status, found = run_wsgi_app(self._app.wsgi_app, inner)
        return int(status[:3]), Headers(found), b"".join(parts)


async def _cancel_after(left: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    await left()
    scope.cancel()


def _environ_of(request: Request | None) -> WSGIEnvironment:
    if request is None:
        raise TypeError("a request over HTTP is expected")
    environ: WSGIEnvironment = request.scope["annals.environ"]
    return environ


_KEPT = {
    "SCRIPT_NAME",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "REMOTE_ADDR",
    "HTTP_HOST",
    "HTTP_AUTHORIZATION",
    "HTTP_ACCEPT_LANGUAGE",
}
"""Members of the served request passed on to a call."""
