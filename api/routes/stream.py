"""Following a game: server-sent events, resumable, for as long as the game lasts or somebody listens."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson
from flask import Flask, Response, current_app, request

from api import auth, limits
from api.answers import CookieDocSchema, TicketSchema
from api.openapi import Blueprint, fails
from api.problems import Problem
from api.replies import answer
from api.requests import StreamArgs, StreamHeaders, TableArgs
from api.routes.boards import board_of
from api.routes.history import entries
from api.routes.rewinds import shown, standing
from api.services import EXTENSION, Doc, Services, services
from api.shapes import listed, ref
from api.texts import language
from domain.beside.access import COOKIE_SECONDS, TICKET_SECONDS, Principal
from domain.errors import AnnalsError, UnknownGame
from domain.ids import PUBLIC, Json, Viewer

room = Blueprint("stream", __name__, url_prefix="/v1", description="Following a game.")

EVENTS = "text/event-stream"
_STREAM = {"type": "string", "contentMediaType": EVENTS, "contentSchema": listed(ref("StreamEvent"))}
COOKIE = "annals_stream"
_PLACES = "annals.streams"
_PAGE = 200


def install(app: Flask) -> None:
    """The places for streams of this process."""
    settings = app.extensions[EXTENSION].settings
    app.extensions[_PLACES] = Places(settings.max_streams, settings.streams_each, settings.streams_address)


class Places:
    """How many streams are open, in all, for each caller and for each address; safe with threads."""

    def __init__(self, most: int, each: int, address: int) -> None:
        self._most, self._each, self._address, self._lock = most, each, address, threading.Lock()
        self._taken: Counter[str] = Counter()
        self._at: Counter[str] = Counter()

    def take(self, caller: str, address: str, *, plays: bool) -> bool:
        """Whether there was a place; the last quarter is for those who play."""
        with self._lock:
            most = self._most if plays else self._most * 3 // 4
            if self._taken.total() >= most or self._taken[caller] >= self._each or self._at[address] >= self._address:
                return False
            self._taken[caller] += 1
            self._at[address] += 1
            return True

    def leave(self, caller: str, address: str) -> None:
        """The place is free again."""
        with self._lock:
            self._taken -= Counter({caller: 1})
            self._at -= Counter({address: 1})


@room.route("/stream-tickets", methods=["POST"])
@auth.signed
@fails(403, 404)
@room.arguments(TableArgs, location="query")
@room.response(201, TicketSchema)
@room.doc(operationId="stream_ticket")
def stream_ticket(_: Doc) -> Response:
    """Get a ticket that opens one stream within a minute, for clients that cannot send a header.

    A browser whose stream has broken comes back with it by itself, for a quarter of an hour.
    """
    ticket = services().access.ticket(auth.principal())
    return answer({"ticket": ticket, "seconds": TICKET_SECONDS}, 201)


def _cookie_path(game: str) -> str:
    return f"/v1/games/{game}/stream"


@room.route("/stream-cookies", methods=["POST"])
@auth.signed
@fails(403, 404)
@room.arguments(TableArgs, location="query")
@room.response(201, CookieDocSchema, headers={"Set-Cookie": {"schema": {"type": "string"}}})
@room.doc(operationId="stream_cookie")
def stream_cookie(_: Doc) -> Response:
    """Get a cookie that opens streams of the token's game for a quarter of an hour, for pages of the same site.

    No script can read it, no other site can have it sent, and it opens nothing but streams.
    """
    who = auth.principal()
    made = answer({"path": _cookie_path(who.game), "seconds": COOKIE_SECONDS}, 201)
    made.set_cookie(
        COOKIE,
        services().access.cookie(who),
        max_age=COOKIE_SECONDS,
        path=_cookie_path(who.game),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return made


@room.route("/stream-cookies", methods=["DELETE"])
@auth.signed
@fails(403, 404)
@room.arguments(TableArgs, location="query")
@room.response(204, headers={"Set-Cookie": {"schema": {"type": "string"}}})
@room.doc(operationId="forget_stream_cookie")
def forget_stream_cookie(_: Doc) -> Response:
    """Take back the cookies and tickets of this token; streams that are open go on."""
    who = auth.principal()
    services().access.take_back(who)
    made = Response(status=204)
    made.delete_cookie(COOKIE, _cookie_path(who.game), secure=request.is_secure, httponly=True, samesite="Strict")
    return made


@room.route("/games/<game:game>/stream", methods=["GET"])
@auth.seen_by
@fails(403, 404, 503)
@room.arguments(StreamArgs, location="query")
@room.arguments(StreamHeaders, location="headers")
@room.response(200, _STREAM, content_type=EVENTS)
@room.doc(operationId="stream", security=[{}, {"token": []}, {"cookie": []}])
def stream(args: Doc, headers: Doc, game: str) -> Response:
    """Follow a game.

    Events: `board` (the complete document), `timeline` (one entry), `motion` (a rewind that seats must agree to, and
    how it stands), `end` (the game is closed), `bye` (come again). The first is a board; the id is the version up to
    which everything was sent.
    """
    who = auth.asking() or _admitted(args["ticket"], _cookie(), game, again=bool(headers["last"]))
    board_of(game, who.viewer if who else PUBLIC)
    places: Places = current_app.extensions[_PLACES]
    caller, address = limits.caller(who.caller if who else None), limits.address()
    if not places.take(caller, address, plays=_plays(who, game)):
        raise Problem("too_many_streams", headers={"Retry-After": "5"})
    following = _Following(services(), game, who, language(), limits.passage(), _last(headers["last"]))
    made = Response(_Place(lambda: places.leave(caller, address), following.events()), content_type=EVENTS)
    made.headers["X-Accel-Buffering"] = "no"
    return made


def _cookie() -> str:
    """The cookie, unless a page of another origin has it sent."""
    origin = request.headers.get("Origin")
    apart = origin is not None and urlsplit(origin).netloc != request.host
    foreign = apart or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    return "" if foreign else request.cookies.get(COOKIE, "")


def _admitted(ticket: str, cookie: str, game: str, *, again: bool) -> Principal | None:
    """Whoever shows a ticket or a cookie instead of a token; raises for one that opens nothing.

    `again`: a browser that comes back by itself shows the ticket of the stream before.
    """
    if not (ticket or cookie):
        return None
    access = services().access
    browser = f"{limits.address()} {request.headers.get('User-Agent', '')}"
    who = access.redeem(ticket, browser, again=again) if ticket else access.shown(cookie)
    if who is None or not auth.lasts(services(), who):
        raise Problem("unauthenticated", "The ticket was used, or it or the cookie is too old.")
    auth.at_table(who, game)
    return who


def _plays(who: Principal | None, game: str) -> bool:
    """Whether it is a seat of a game that is running."""
    summary = services().reader.game(game)
    return who is not None and who.seat is not None and summary is not None and summary["status"] == "running"


def _last(text: str) -> int:
    """The version up to which the client has everything; 0 for a new client."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


class _Place:
    """Gives the place back when the stream ends, also if it never began."""

    def __init__(self, leave: Callable[[], None], events: Generator[bytes]) -> None:
        self._leave, self._events, self._open = leave, events, True

    def __iter__(self) -> _Place:
        return self

    def __next__(self) -> bytes:
        return next(self._events)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._events.close()
            self._leave()


@dataclass
class _Following:
    """One client that follows a game."""

    services: Services
    game: str
    who: Principal | None
    lang: str
    whole: limits.Passage
    last: int
    """The version up to which everything was sent."""
    seen: int = -1
    """The newest version when it was looked last."""
    shown: int = -1
    """The version of the board that was sent last."""
    motion: Doc | None = None
    """The newest motion as all could see it when it was sent last."""

    def events(self) -> Generator[bytes]:
        """Until the game is closed, the time is up, or the token opens nothing any more."""
        yield b"retry: 2000\n\n"
        try:
            name = yield from self._follow()
        except AnnalsError:  # the store is away, or the game was set aside: the client comes again and is told why
            name = "bye"
        yield event(name, {"version": self.last})

    def _follow(self) -> Generator[bytes, None, str]:
        settings = self.services.settings
        alive = time.monotonic()
        end = alive + settings.stream_seconds
        while time.monotonic() < end:
            news, closed = self._news()
            idle = time.monotonic() - alive >= settings.keep_alive
            if (news or idle) and self.who and not auth.lasts(self.services, self.who):
                return "bye"
            if news or idle:
                alive = time.monotonic()
                yield news or b": still here\n\n"
            if closed:
                return "end"
            self.services.wait_changed(self.game, settings.keep_alive)
        return "bye"

    def _news(self) -> tuple[bytes, bool]:
        """What is new, as one chunk whose last event has the id: who misses a part of it gets all of it again."""
        reader, viewer = self.services.reader, self.who.viewer if self.who else PUBLIC
        summary = reader.game(self.game)
        if summary is None:
            raise UnknownGame(self.game)
        head: int = summary["version"]
        parts = [*(self._played(summary, viewer) if head != self.seen else ()), *self._moved()]
        self.seen = self.last = head
        ids = [None] * (len(parts) - 1) + [head]
        chunk = b"".join(event(name, doc, id_) for (name, doc), id_ in zip(parts, ids, strict=False))
        return chunk, summary["status"] == "closed"

    def _played(self, summary: Doc, viewer: Viewer) -> list[tuple[str, Doc]]:
        """What came of the records since."""
        head: int = summary["version"]
        parts: list[tuple[str, Doc]] = []
        board = self.services.reader.board(self.game, viewer)
        if board and board.version != self.shown:
            self.shown = board.version
            parts.append(("board", orjson.loads(board.doc)))
        if self.seen >= 0 or 0 < self.last <= head:
            parts += [("timeline", e) for e in self._told(summary, viewer)]
        return parts

    def _moved(self) -> list[tuple[str, Doc]]:
        """The newest motion, if it stands otherwise than when it was sent; one that was over before is no news."""
        errand = self.services.errands.motion(self.game)
        if errand is None or (self.motion is None and errand.outcome is not None):
            return []
        doc = standing(self.services, errand)
        if doc == self.motion or (self.motion is None and doc["status"] not in ("open", "queued")):
            return []
        try:
            told = shown(self.services, errand, self.who, self.whole)
        except Problem:  # no place at the gate: it is looked at again with the next sign of life
            return []
        self.motion = doc
        return [("motion", told)]

    def _told(self, summary: Doc, viewer: Viewer) -> list[Doc]:
        """The entries after those that were sent."""
        out: list[Doc] = []
        head: int = summary["version"]
        for after in range(self.last, head, _PAGE):
            limit = min(_PAGE, head - after)
            out += entries(self.services, summary, viewer, after, limit, self.lang)
        return out


def event(name: str, doc: Json, id_: int | None = None) -> bytes:
    """One event as it goes over the wire; a document in JSON has no line breaks."""
    head = f"id: {id_}\n" if id_ is not None else ""
    return f"{head}event: {name}\ndata: ".encode() + orjson.dumps(doc) + b"\n\n"
