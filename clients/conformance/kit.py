"""Conformance tests for clients: a proxy before a real service that injects faults.

    python kit.py http://127.0.0.1:8000 -- python example.py {address}

The command runs twice, with the kit's address for `{address}`: it opens a table with bots of the service, takes a seat,
plays to the end and exits with 0. In the second run its token ends in mid-stream, and it must give up. The kit prints
one line for each case and exits with 0 if all passed. It needs only the standard library.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

CASES = {
    "lost_answer": "a move was stored, its answer lost: the same request comes again, with the same key",
    "too_many_requests": "429: the same request comes again after Retry-After, with the same key",
    "not_answering": "503: the same request comes again after Retry-After, with the same key",
    "decision_closed": "409: the client looks before it moves again, and does not repeat the request",
    "stale_version": "412: the client looks before it moves again, and does not repeat the request",
    "stream_cut": "a stream that breaks within an event is taken up with Last-Event-ID of the last whole one",
    "stream_bye": "after `bye` the client comes again with Last-Event-ID",
    "unknown_members": "members and kinds of events that no document names are left alone, to the end of the game",
    "token_ended": "a token that ends in mid-stream: the client gives up, with an exit status that is not 0",
}

MOVES = {2: "lost_answer", 4: "too_many_requests", 6: "not_answering", 8: "decision_closed", 10: "stale_version"}
"""Number of a POST to /moves -> its fault."""

STREAMS = {1: "stream_cut", 2: "stream_bye"}
STATUS = {"too_many_requests": 429, "not_answering": 503, "decision_closed": 409, "stale_version": 412}
AGAIN = ("lost_answer", "too_many_requests", "not_answering")
WAIT = 1
"""Seconds in Retry-After."""

BODY_MOST, PATIENCE, ASKED_MOST = 1 << 20, 300, 6
"""Bytes of a request; seconds for a run of the client; requests allowed after the end of a token."""


@dataclass
class Pending:
    """A move with a fault, until the client's next move shows its reaction."""

    case: str
    key: str
    body: bytes
    at: float
    looked: bool = False


@dataclass
class Kit:
    """State of one run: faults so far and results."""

    service: str
    ending: bool = False
    """Tells that the token ends in this run."""
    results: dict[str, str] = field(default_factory=dict)
    """Case -> '' if it passed, else the reason."""
    moves: int = 0
    streams: int = 0
    pending: Pending | None = None
    cut: tuple[str, str] | None = None
    """Case of the interrupted stream, and the id of its last whole event."""
    ended: str = ""
    """Authorization header of the ended token."""
    after: int = 0
    """Requests with the ended token."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def judge_move(self, key: str, body: bytes) -> str:
        """Judge the reaction to the last fault; return the fault for this move, or ''."""
        with self.lock:
            before, self.pending = self.pending, None
            if before:
                self.results[before.case] = judge(before, key, body)
            self.moves += 1
            case = "" if self.ending else MOVES.get(self.moves, "")
            if case:
                self.pending = Pending(case, key, body, time.monotonic())
            return case

    def note_look(self) -> None:
        """Note that the client has read the state of the game."""
        with self.lock:
            if self.pending:
                self.pending.looked = True

    def judge_stream(self, last: str) -> str:
        """Judge the client's reconnection; return the fault for this stream, or ''."""
        with self.lock:
            if self.cut:
                case, whole = self.cut
                self.results[case] = "" if last == whole else f"Last-Event-ID is {last!r}, {whole!r} is expected"
                self.cut = None
            self.streams += 1
            return "token_ended" if self.ending else STREAMS.get(self.streams, "")

    def has_ended(self, authorization: str) -> bool:
        """Return whether the token has ended, and count the request."""
        with self.lock:
            if not self.ended or authorization != self.ended:
                return False
            self.after += 1
            return True


def judge(before: Pending, key: str, body: bytes) -> str:
    """Return the reason if this move is a wrong reaction to the last fault, else ''."""
    same = key == before.key and body == before.body
    if before.case in AGAIN:
        if not (key and same):
            return "it was not sent again with its Idempotency-Key"
        early = before.case in STATUS and time.monotonic() - before.at < WAIT * 0.9
        return "it came before Retry-After" if early else ""
    if key and key == before.key:
        return "a refused move was sent again"
    return "" if before.looked else "it was not looked how the game stands"


class Handler(BaseHTTPRequestHandler):
    """One request of the client, forwarded or answered with a fault."""

    kit: Kit

    def log_message(self, *_: Any) -> None:
        """Log nothing: a line could contain secrets."""

    def _any(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), BODY_MOST))
        path = urlsplit(self.path).path
        if self.kit.has_ended(self.headers.get("Authorization", "")):
            self._say(401, {"status": 401, "code": "unauthenticated", "title": "A valid token is required"})
        elif path.endswith("/stream"):
            self._stream(self.kit.judge_stream(self.headers.get("Last-Event-ID", "")))
        elif self.command == "POST" and path.endswith("/moves"):
            self._move(self.kit.judge_move(self.headers.get("Idempotency-Key", ""), body), body)
        else:
            if path.endswith(("/board", "/decisions", "/resume", "/choices")):
                self.kit.note_look()
            self._pass(body)

    do_GET = do_POST = do_PUT = do_DELETE = _any  # noqa: N815 - names of the base class

    def _move(self, case: str, body: bytes) -> None:
        if case in STATUS:
            status = STATUS[case]
            more = {"Retry-After": str(WAIT)} if case in AGAIN else {}
            self._say(status, {"status": status, "code": case, "title": "The kit says so", "later": True}, more)
            return
        if case == "lost_answer":
            self._forward(body)[1].close()
            self.close_connection = True
            return
        self._pass(body)

    def _forward(self, body: bytes) -> tuple[http.client.HTTPResponse, http.client.HTTPConnection]:
        where = urlsplit(self.kit.service)
        upstream = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        left = {"host", "accept-encoding", "connection", "content-length"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in left}
        upstream.request(self.command, self.path, body or None, headers)
        return upstream.getresponse(), upstream

    def _pass(self, body: bytes) -> None:
        answer, upstream = self._forward(body)
        text = answer.read()
        upstream.close()
        if "json" in (answer.headers.get_content_type() or "") and "ndjson" not in answer.headers.get_content_type():
            doc = json.loads(text)
            text = json.dumps(doc | {"of_a_later_service": {"x": [1]}}).encode() if isinstance(doc, dict) else text
        self._write(answer.status, text, dict(answer.headers.items()))

    def _say(self, status: int, doc: dict[str, Any], more: dict[str, str] | None = None) -> None:
        self._write(status, json.dumps(doc).encode(), {"Content-Type": "application/problem+json"} | (more or {}))

    def _write(self, status: int, text: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _stream(self, case: str) -> None:
        answer, upstream = self._forward(b"")
        if answer.status != 200:
            self._write(answer.status, answer.read(), dict(answer.headers.items()))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            self._events(answer, case)
        except (OSError, http.client.HTTPException):
            pass  # client or service closed its connection
        finally:
            upstream.close()
            self.close_connection = True

    def _events(self, answer: http.client.HTTPResponse, case: str) -> None:
        self.wfile.write(b'event: of_a_later_service\ndata: {"x": 1}\n\n')
        part, whole = b"", ""
        for line in answer:
            part += line
            if line.strip():
                continue
            if whole and case == "stream_cut" and b"data:" in part:
                self.wfile.write(part[: len(part) // 2])
                self.kit.cut = case, whole
                return
            self.wfile.write(part)
            self.wfile.flush()
            ids = [text[3:].strip().decode() for text in part.splitlines() if text.startswith(b"id:")]
            whole, part = (ids or [whole])[-1], b""
            if whole and case == "stream_bye":
                self.wfile.write(b'event: bye\ndata: {"version": %d}\n\n' % int(whole))
                self.kit.cut = case, whole
                return
            if whole and case == "token_ended":
                self.kit.ended = self.headers.get("Authorization", "")
                return


def run_client(kit: Kit, command: list[str]) -> int | None:
    """Run the client through the kit; return its exit status, or None after the time limit."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"kit": kit}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        done = subprocess.run(
            [part.replace("{address}", address) for part in command], timeout=PATIENCE, check=False, stdout=sys.stderr
        )
        return done.returncode
    except subprocess.TimeoutExpired:
        return None
    finally:
        server.shutdown()
        server.server_close()


def run_cases(service: str, command: list[str]) -> dict[str, str]:
    """Run all cases; return case -> '' if it passed, else the reason."""
    first = Kit(service)
    status = run_client(first, command)
    first.results["unknown_members"] = (
        "" if status == 0 else f"the client did not play to the end: exit status {status}"
    )
    last = Kit(service, ending=True)
    status = run_client(last, command)
    if not last.ended:
        said = "no stream was opened"
    elif status in (0, None):
        said = f"the client did not give up: exit status {status}"
    else:
        said = f"it asked {last.after} times more" if last.after > ASKED_MOST else ""
    return dict.fromkeys(CASES, "did not occur") | first.results | {"token_ended": said}


def main() -> int:
    """Run all cases and print the results."""
    parser = argparse.ArgumentParser(description="Try a client against a service that misbehaves.")
    parser.add_argument("service")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="with {address} where it takes the address")
    args = parser.parse_args()
    found = run_cases(args.service, args.command)
    for case, why in found.items():
        print(f"{'failed' if why else 'passed'}  {case}: {why or CASES[case]}")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
