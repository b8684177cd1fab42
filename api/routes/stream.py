"""Following a game: who may, and how they are let in; `api.streams` serves them."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, request

from api import authorization
from api.documents.my_tables import asking
from api.http import rate_limits
from api.http.i18n import language
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, also, fails
from api.response_builders import answer
from api.routes.boards import board_of
from api.schemas.query_args import StreamArgs, StreamHeaders, TableArgs
from api.schemas.schema_builder import listed, ref
from api.schemas.table_responses import CookieDocSchema, TicketSchema
from api.services import EXTENSION, Doc, Services, services
from api.streams.asgi import STREAMING, Followed
from api.streams.events import FORMS, NDJSON, SSE
from api.streams.game_source import Eyes, GameSource, Moderating, Shown
from api.streams.slots import Places
from api.streams.source import Pass, Source, View
from api.streams.subscriber import Follower
from api.streams.table_sources import ALL, Held, LobbySource, PersonSource
from domain.service.seat_tokens import COOKIE_SECONDS, TICKET_SECONDS, Principal
from domain.types import PUBLIC

room = Blueprint("stream", __name__, url_prefix="/v1", description="Following a game.")

_STREAM = {"type": "string", "contentMediaType": SSE.media, "contentSchema": listed(ref("StreamEvent"))}
_TABLES = {**_STREAM, "contentSchema": listed(ref("TablesEvent"))}
_LOBBY = {**_STREAM, "contentSchema": listed(ref("LobbyEvent"))}
_LINES = {NDJSON.media: {"type": "string", "description": "The same events, a JSON document a line."}}
COOKIE = "annals_stream"
SECURE_COOKIE = f"__Secure-{COOKIE}"
"""Its name over TLS: browsers take it from nobody who speaks without, nor for less than our own host."""
_PLACES = "annals.streams"


def install(app: Flask) -> None:
    """The places for streams of this process."""
    settings = app.extensions[EXTENSION].settings
    app.extensions[_PLACES] = Places(settings.max_streams, settings.streams_each, settings.streams_address)


@room.route("/stream-tickets", methods=["POST"])
@authorization.signed
@fails(403, 404)
@room.arguments(TableArgs, location="query")
@room.response(201, TicketSchema)
@room.doc(operationId="stream_ticket")
def stream_ticket(_: Doc) -> Response:
    """Get a ticket that opens one stream within a minute, for clients that cannot send a header.

    A browser whose stream has broken comes back with it by itself, for a quarter of an hour.
    """
    ticket = services().access.ticket(authorization.principal())
    return answer({"ticket": ticket, "seconds": TICKET_SECONDS}, 201)


def _cookie_path(game: str) -> str:
    return f"/v1/games/{game}/stream"


def _cookie_name() -> str:
    return SECURE_COOKIE if request.is_secure else COOKIE


@room.route("/stream-cookies", methods=["POST"])
@authorization.signed
@fails(403, 404)
@room.arguments(TableArgs, location="query")
@room.response(201, CookieDocSchema, headers={"Set-Cookie": {"schema": {"type": "string"}}})
@room.doc(operationId="stream_cookie")
def stream_cookie(_: Doc) -> Response:
    """Get a cookie that opens streams of the token's game for a quarter of an hour, for pages of the same site.

    No script can read it, no other site can have it sent, and it opens nothing but streams.
    """
    who = authorization.principal()
    made = answer({"path": _cookie_path(who.game), "seconds": COOKIE_SECONDS}, 201)
    made.set_cookie(
        _cookie_name(),
        services().access.cookie(who),
        max_age=COOKIE_SECONDS,
        path=_cookie_path(who.game),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return made


@room.route("/stream-cookies", methods=["DELETE"])
@authorization.signed
@fails(403, 404)
@room.arguments(TableArgs, location="query")
@room.response(204, headers={"Set-Cookie": {"schema": {"type": "string"}}})
@room.doc(operationId="forget_stream_cookie")
def forget_stream_cookie(_: Doc) -> Response:
    """Take back the cookies and tickets of this token; streams that are open go on."""
    who = authorization.principal()
    services().access.take_back(who)
    made = Response(status=204)
    made.delete_cookie(
        _cookie_name(), _cookie_path(who.game), secure=request.is_secure, httponly=True, samesite="Strict"
    )
    return made


@room.route("/games/<game:game>/stream", methods=["GET"])
@authorization.seen_by
@fails(403, 404, 503)
@room.arguments(StreamArgs, location="query")
@room.arguments(StreamHeaders, location="headers")
@room.response(200, _STREAM, content_type=SSE.media)
@also(_LINES)
@room.doc(operationId="stream", security=[{}, {"token": []}, {"cookie": []}])
def stream(args: Doc, headers: Doc, game: str) -> Response:
    """Follow a game.

    Events: `board` (the complete document), `patch` (with `deltas=1` what has changed of it), `timeline` (one entry),
    `motion` (a rewind that seats must agree to, and how it stands), `end` (the game is closed), `bye` (come again). The
    first is a board; the id is the version up to which everything was sent. With `Accept: application/x-ndjson` each
    event is a line, a document.
    """
    s, again = services(), bool(headers["last"])
    who = authorization.asking() or _admitted(args["ticket"], _cookie(), game, again=again)
    viewer, inside = who.viewer if who else PUBLIC, who is not None or authorization.inside(game)
    board_of(game, viewer)
    director = who if who and who.seat is None else None
    eyes = Eyes(viewer, language(), args["deltas"] == "1", director, inside, rate_limits.passage())
    last = _last(headers["last"]) if again else args["version"]
    follower = _follower(GameSource(s, game), eyes, _pass(s, who), last)
    return _followed(follower, who.caller if who else None, plays=_plays(who, game))


@room.route("/me/stream", methods=["GET"])
@authorization.person
@fails(403, 503)
@room.response(200, _TABLES, content_type=SSE.media)
@also(_LINES)
@room.doc(operationId="my_stream")
def my_stream() -> Response:
    """Follow one's own tables.

    The first event is `tables`, as `GET /v1/me/games` answers; then come `table` (one of them, when anything of it has
    changed but its version and times), `gone` (one has left a table), `motion`, `challenges` (those that wait for an
    answer, as `GET /v1/me/challenges` answers), and `bye` (come again). Ids are positions.
    """
    s, found, who = services(), authorization.holder(), authorization.asking()
    shown = Held(s, found) if found else Shown(s, who) if who else None
    caller = found.account if found else who.caller if who else None
    return _followed(_follower(PersonSource(s, asking()), ALL, shown), caller)


@room.route("/games/stream", methods=["GET"])
@authorization.open_to_all
@fails(503)
@room.response(200, _LOBBY, content_type=SSE.media)
@also(_LINES)
@room.doc(operationId="lobby_stream")
def lobby_stream() -> Response:
    """Follow the public tables.

    The first event is `tables`, the first page of `GET /v1/games`; then come `table` (one that was opened, filled,
    started or closed) and `bye` (come again). Ids are positions.
    """
    return _followed(_follower(LobbySource(services()), ALL, None), None)


def _pass(s: Services, who: Principal | None) -> Pass | None:
    """What lets somebody follow a game; None for what all may follow."""
    found = authorization.holder()
    if who is not None:
        return Shown(s, who)
    return Moderating(s, found) if found and authorization.moderates(found) else None


def _follower(source: Source, view: View, who: Pass | None, last: int = 0) -> Follower:
    form = FORMS[request.accept_mimetypes.best_match(FORMS, default=SSE.media)]
    return Follower(source, view, form, services().settings.stream_seconds, who, last)


def _followed(follower: Follower, token: str | None, *, plays: bool = False) -> Response:
    """The answer that a stream begins with, if there is a place for it; raises Problem."""
    if not request.environ.get(STREAMING):  # the front sends streams to the process that serves them, and to no other
        raise Problem("not_answering", headers={"Retry-After": "1"})
    places: Places = current_app.extensions[_PLACES]
    caller, address = rate_limits.caller(token), rate_limits.address()
    if not places.take(caller, address, plays=plays):
        raise Problem("too_many_streams", headers={"Retry-After": "5"})
    made = Followed(content_type=follower.form.media)
    made.call_on_close(partial(places.leave, caller, address))
    made.headers["X-Accel-Buffering"] = "no"
    made.follower = follower
    return made


def _cookie() -> str:
    """The cookie, unless a page of another origin has it sent."""
    origin = request.headers.get("Origin")
    apart = origin is not None and urlsplit(origin).netloc != request.host
    foreign = apart or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    return "" if foreign else request.cookies.get(_cookie_name(), "")


def _admitted(ticket: str, cookie: str, game: str, *, again: bool) -> Principal | None:
    """Whoever shows a ticket or a cookie instead of a token; raises for one that opens nothing.

    `again`: a browser that comes back by itself shows the ticket of the stream before.
    """
    if not (ticket or cookie):
        return None
    access = services().access
    browser = f"{rate_limits.address()} {request.headers.get('User-Agent', '')}"
    who = access.redeem(ticket, browser, again=again) if ticket else access.shown(cookie)
    if who is None or not authorization.lasts(services(), who):
        raise Problem("unauthenticated", "The ticket was used, or it or the cookie is too old.")
    authorization.at_table(who, game)
    return who


def _plays(who: Principal | None, game: str) -> bool:
    """Whether it is a seat of a game that is running."""
    summary = services().reader.game(game, inside=True)
    return who is not None and who.seat is not None and summary is not None and summary["status"] == "running"


def _last(text: str) -> int:
    """The version up to which the client has everything; 0 for a new client."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
