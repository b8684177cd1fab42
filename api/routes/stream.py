"""Following a game: who may, and how they are let in; `api.streams` serves them."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, request

from api import authorization
from api.documents.my_tables import current_owner
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, also_media_types, string_headers
from api.response_builders import json_response
from api.routes.boards import load_board
from api.schemas.query_args import StreamArgs, StreamHeaders, TableArgs
from api.schemas.schema_builder import array_of, ref
from api.schemas.table_responses import CookieDocSchema, TicketSchema
from api.services import EXTENSION, ApiServices, Doc, services
from api.streams.asgi import STREAMING, StreamResponse
from api.streams.events import FORMATS, NDJSON, SSE
from api.streams.game_source import GameSource, GameViewKey, ModeratorPermit, RolePermit
from api.streams.slots import StreamSlots
from api.streams.source import EventSource, Permit, ViewKey
from api.streams.subscriber import Subscriber
from api.streams.table_sources import ONLY_VIEW, AccountPermit, LobbySource, PersonSource
from domain.service.principals import Principal
from domain.service.stream_tickets import COOKIE_SECONDS, TICKET_SECONDS
from domain.types import PUBLIC

bp = Blueprint("stream", __name__, url_prefix="/v1", description="Following a game.")

_STREAM = {"type": "string", "contentMediaType": SSE.media, "contentSchema": array_of(ref("StreamEvent"))}
_TABLES = {**_STREAM, "contentSchema": array_of(ref("TablesEvent"))}
_LOBBY = {**_STREAM, "contentSchema": array_of(ref("LobbyEvent"))}
_LINES = {NDJSON.media: {"type": "string", "description": "The same events, a JSON document a line."}}
COOKIE = "annals_stream"
SECURE_COOKIE = f"__Secure-{COOKIE}"
"""Its name over TLS: browsers take it from nobody who speaks without, nor for less than our own host."""
_SLOTS = "annals.streams"


def register(app: Flask) -> None:
    """The places for streams of this process."""
    settings = app.extensions[EXTENSION].settings
    app.extensions[_SLOTS] = StreamSlots(settings.max_streams, settings.streams_each, settings.streams_address)


@bp.operation(
    "POST",
    "/stream-tickets",
    "stream_ticket",
    access=authorization.require_role,
    errors=(403, 404),
    query=TableArgs,
    response=TicketSchema,
    status=201,
)
def stream_ticket(_: Doc) -> Response:
    """Get a ticket that opens one stream within a minute, for clients that cannot send a header.

    A browser whose stream has broken comes back with it by itself, for a quarter of an hour.
    """
    ticket = services().seat_tokens.tickets.issue_ticket(authorization.principal())
    return json_response({"ticket": ticket, "seconds": TICKET_SECONDS}, 201)


def _cookie_path(game: str) -> str:
    return f"/v1/games/{game}/stream"


def _cookie_name() -> str:
    return SECURE_COOKIE if request.is_secure else COOKIE


@bp.operation(
    "POST",
    "/stream-cookies",
    "stream_cookie",
    access=authorization.require_role,
    errors=(403, 404),
    query=TableArgs,
    response=CookieDocSchema,
    status=201,
    response_headers=string_headers("Set-Cookie"),
)
def stream_cookie(_: Doc) -> Response:
    """Get a cookie that opens streams of the token's game for a quarter of an hour, for pages of the same site.

    No script can read it, no other site can have it sent, and it opens nothing but streams.
    """
    who = authorization.principal()
    made = json_response({"path": _cookie_path(who.game), "seconds": COOKIE_SECONDS}, 201)
    made.set_cookie(
        _cookie_name(),
        services().seat_tokens.tickets.issue_cookie(who),
        max_age=COOKIE_SECONDS,
        path=_cookie_path(who.game),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return made


@bp.operation(
    "DELETE",
    "/stream-cookies",
    "forget_stream_cookie",
    access=authorization.require_role,
    errors=(403, 404),
    query=TableArgs,
    status=204,
    response_headers=string_headers("Set-Cookie"),
)
def forget_stream_cookie(_: Doc) -> Response:
    """Take back the cookies and tickets of this token; streams that are open go on."""
    who = authorization.principal()
    services().seat_tokens.tickets.revoke(who)
    made = Response(status=204)
    made.delete_cookie(
        _cookie_name(), _cookie_path(who.game), secure=request.is_secure, httponly=True, samesite="Strict"
    )
    return made


@bp.operation(
    "GET",
    "/games/<game:game>/stream",
    "stream",
    access=authorization.optional_role,
    errors=(403, 404, 503),
    query=StreamArgs,
    response=_STREAM,
    content_type=SSE.media,
    security=[{}, {"token": []}, {"cookie": []}],
)
@bp.arguments(StreamHeaders, location="headers")  # listed before the query parameters
@also_media_types(_LINES)
def stream(args: Doc, headers: Doc, game: str) -> Response:
    """Follow a game.

    Events: `board` (the complete document), `patch` (with `deltas=1` what has changed of it), `timeline` (one entry),
    `motion` (a rewind that seats must agree to, and how it stands), `end` (the game is closed), `bye` (come again). The
    first is a board; the id is the version up to which everything was sent. With `Accept: application/x-ndjson` each
    event is a line, a document.
    """
    s, again = services(), bool(headers["last"])
    who = authorization.optional_principal() or _find_ticket_owner(
        args["ticket"], _same_site_cookie(), game, again=again
    )
    viewer, inside = who.viewer if who else PUBLIC, who is not None or authorization.has_live_view(game)
    load_board(game, viewer)
    director = who if who and who.seat is None else None
    eyes = GameViewKey(viewer, request_language(), args["deltas"] == "1", director, inside, rate_limits.gate_context())
    last = _parse_last_id(headers["last"]) if again else args["version"]
    follower = _make_subscriber(GameSource(s, game), eyes, _make_permit(s, who), last)
    return _stream_response(follower, who.caller if who else None, plays=_is_playing(who, game))


@bp.operation(
    "GET",
    "/me/stream",
    "my_stream",
    access=authorization.require_person,
    errors=(403, 503),
    response=_TABLES,
    content_type=SSE.media,
)
@also_media_types(_LINES)
def my_stream() -> Response:
    """Follow one's own tables.

    The first event is `tables`, as `GET /v1/me/games` answers; then come `table` (one of them, when anything of it has
    changed but its version and times), `gone` (one has left a table), `motion`, `challenges` (those that wait for an
    answer, as `GET /v1/me/challenges` answers), and `bye` (come again). Ids are positions.
    """
    s, found, who = services(), authorization.optional_owner(), authorization.optional_principal()
    shown = AccountPermit(s, found) if found else RolePermit(s, who) if who else None
    caller = found.account if found else who.caller if who else None
    return _stream_response(_make_subscriber(PersonSource(s, current_owner()), ONLY_VIEW, shown), caller)


@bp.operation(
    "GET",
    "/games/stream",
    "lobby_stream",
    access=authorization.public,
    errors=(503,),
    response=_LOBBY,
    content_type=SSE.media,
)
@also_media_types(_LINES)
def lobby_stream() -> Response:
    """Follow the public tables.

    The first event is `tables`, the first page of `GET /v1/games`; then come `table` (one that was opened, filled,
    started or closed) and `bye` (come again). Ids are positions.
    """
    return _stream_response(_make_subscriber(LobbySource(services()), ONLY_VIEW, None), None)


def _make_permit(s: ApiServices, who: Principal | None) -> Permit | None:
    """What lets somebody follow a game; None for what all may follow."""
    found = authorization.optional_owner()
    if who is not None:
        return RolePermit(s, who)
    return ModeratorPermit(s, found) if found and authorization.is_moderator(found) else None


def _make_subscriber(source: EventSource, view: ViewKey, who: Permit | None, last: int = 0) -> Subscriber:
    form = FORMATS[request.accept_mimetypes.best_match(FORMATS, default=SSE.media)]
    return Subscriber(source, view, form, services().settings.stream_seconds, who, last)


def _stream_response(follower: Subscriber, token: str | None, *, plays: bool = False) -> Response:
    """The answer that a stream begins with, if there is a place for it; raises Problem."""
    if not request.environ.get(STREAMING):  # the front sends streams to the process that serves them, and to no other
        raise Problem("not_answering", headers={"Retry-After": "1"})
    places: StreamSlots = current_app.extensions[_SLOTS]
    caller, address = rate_limits.caller_key(token), rate_limits.client_address()
    if not places.take(caller, address, plays=plays):
        raise Problem("too_many_streams", headers={"Retry-After": "5"})
    made = StreamResponse(content_type=follower.format.media)
    made.call_on_close(partial(places.leave, caller, address))
    made.headers["X-Accel-Buffering"] = "no"
    made.subscriber = follower
    return made


def _same_site_cookie() -> str:
    """The cookie, unless a page of another origin has it sent."""
    origin = request.headers.get("Origin")
    apart = origin is not None and urlsplit(origin).netloc != request.host
    foreign = apart or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    return "" if foreign else request.cookies.get(_cookie_name(), "")


def _find_ticket_owner(ticket: str, cookie: str, game: str, *, again: bool) -> Principal | None:
    """Whoever shows a ticket or a cookie instead of a token; raises for one that opens nothing.

    `again`: a browser that comes back by itself shows the ticket of the stream before.
    """
    if not (ticket or cookie):
        return None
    access = services().seat_tokens
    browser = f"{rate_limits.client_address()} {request.headers.get('User-Agent', '')}"
    who = access.tickets.redeem(ticket, browser, again=again) if ticket else access.tickets.find_cookie_owner(cookie)
    if who is None or not authorization.is_still_valid(services(), who):
        raise Problem("unauthenticated", "The ticket was used before, or the ticket or cookie has expired.")
    authorization.check_token_game(who, game)
    return who


def _is_playing(who: Principal | None, game: str) -> bool:
    """Whether it is a seat of a game that is running."""
    summary = services().reader.find_summary(game, inside=True)
    return who is not None and who.seat is not None and summary is not None and summary["status"] == "running"


def _parse_last_id(text: str) -> int:
    """The version up to which the client has everything; 0 for a new client."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
