"""A service that shows another game than before: a forged one, of which clients must not let themselves be told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GAME = "00000000-0000-4000-8000-000000000007"
FIRST, SECOND = "a" * 64, "b" * 64
MOVED = {
    "seat": 0,
    "player": "p",
    "token": "t",
    "game": GAME,
    "version": 7,
    "head": FIRST,
    "position": 9,
    "records": [],
}


class Forger(BaseHTTPRequestHandler):
    """Acknowledges a move as one record, and tells another one at that version later."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, json.dumps(MOVED).encode())

    def do_GET(self) -> None:
        entry = {"version": 7, "head": self.server.head}  # type: ignore[attr-defined] # set by `forging`
        if "/talk/" in self.path:
            self.answer(200, b'{"items": [], "next": null}')
        elif "/stream" in self.path:
            self.answer(
                200,
                f"id: 7\nevent: board\ndata: {json.dumps({**entry, 'head': SECOND})}\n\n".encode(),
                "text/event-stream",
            )
        else:
            self.answer(200, json.dumps({"items": [entry] if entry["head"] else [], "next": None}).encode())

    def answer(self, status: int, data: bytes, media: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@contextmanager
def forging(head: str) -> Iterator[str]:
    """The address of a service whose timeline has this head at version 7; empty: it has no such record."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Forger) as server:
        server.head = head  # type: ignore[attr-defined] # read by Forger
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
