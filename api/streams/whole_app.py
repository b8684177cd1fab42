"""ASGI application of a service in one process: streams and agents on the loop, all other requests in threads."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from flask import Flask, Response

from api.streams.asgi import AsgiMessage, Receive, Scope, Send, StreamApp, start_message, wait_for_disconnect

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

THREADS = 24
"""Concurrent requests, without streams. Some wait for the views."""

LEAVE_SECONDS = 10.0
"""Seconds for all other parts of the process to end."""


class WholeApp(StreamApp):
    """The ASGI application of a service in one process."""

    threads = THREADS

    def __init__(self, app: Flask, proxy_fix: Callable[[WSGIEnvironment], None], leave: Callable[[], None]) -> None:
        """Wrap `app`, as the base does. `leave` ends the other parts of the process."""
        super().__init__(app, proxy_fix)
        self._leave = leave

    @property
    def longest_body(self) -> int:
        """Bytes of a body, at most. Nginx allows as many for imports alone."""
        return self._services.settings.max_import_body

    def make_environ(self, scope: Scope, body: bytes) -> WSGIEnvironment:
        """Return a request as a WSGI environment with its body."""
        environ = super().make_environ(scope, body)
        environ["wsgi.input"] = io.BytesIO(body)
        environ["wsgi.input_terminated"] = True
        environ["CONTENT_LENGTH"] = str(len(body))
        environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
        environ.pop("HTTP_CONTENT_LENGTH", None)
        return environ

    async def send_plain(self, response: Response, environ: WSGIEnvironment, receive: Receive, send: Send) -> None:
        """Send an ordinary response, piece by piece as a thread makes it, until the client disconnects."""
        chunks, status, headers = response.get_wsgi_response(environ)
        await send(start_message(int(status.partition(" ")[0]), headers))
        if response.is_sequence:
            await send({"type": "http.response.body", "body": b"".join(chunks), "more_body": False})
            return
        loop = asyncio.get_running_loop()
        gone = asyncio.ensure_future(wait_for_disconnect(receive))

        def send_pieces() -> None:
            for piece in chunks:  # all in one thread, to which the context of the request belongs
                if gone.done():
                    return
                message = {"type": "http.response.body", "body": piece, "more_body": True}
                asyncio.run_coroutine_threadsafe(_send(send, message), loop).result()

        try:
            await loop.run_in_executor(self._pool, send_pieces)
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def finish(self) -> None:
        """End the other parts of the process, after the last answer."""
        async with asyncio.timeout(LEAVE_SECONDS):
            await asyncio.get_running_loop().run_in_executor(None, self._leave)


async def _send(send: Send, message: AsgiMessage) -> None:
    await send(message)
