"""Routes that open streams: authorization, tickets and cookies. `api.streams` serves the streams."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from flask import Flask, Response, current_app, request

from api import authorization
from api.documents.my_tables import current_owner
from api.documents.talk import find_stream_reader, may_read_talk
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, also_media_types, string_headers
from api.response_builders import json_response
from api.routes.boards import load_board
from api.schemas.query_args import StreamArgs, StreamHeaders, TableArgs, TournamentStreamArgs
from api.schemas.schema_builder import array_of, ref
from api.schemas.table_responses import CookieDoc, TicketDoc
from api.services import EXTENSION, ApiServices, services
from api.streams.asgi import STREAMING, StreamResponse
from api.streams.events import FORMATS, NDJSON, PAGE_SSE, SSE
from api.streams.game_source import GameSource, GameViewKey, ModeratorPermit, RolePermit
from api.streams.slots import StreamSlots
from api.streams.source import EventSource, Permit, ViewKey
from api.streams.subscriber import Subscriber
from api.streams.table_sources import ONLY_VIEW, WITH_TALK, AccountPermit, LobbySource, PersonSource
from api.streams.tournament_source import RoundKey, TournamentSource
from api.tournament_calls import load_tournament
from domain.service.principals import Principal
from domain.service.stream_tickets import COOKIE_SECONDS, TICKET_SECONDS
from domain.types import PUBLIC, Doc

bp = Blueprint("stream", __name__, url_prefix="/v1", description="Streams of events.")

_STREAM = {"type": "string", "contentMediaType": SSE.media, "contentSchema": array_of(ref("StreamEvent"))}
_TABLES = {**_STREAM, "contentSchema": array_of(ref("TablesEvent"))}
_LOBBY = {**_STREAM, "contentSchema": array_of(ref("LobbyEvent"))}
_TOURNAMENT = {**_STREAM, "contentSchema": array_of(ref("TournamentEvent"))}
_LINES = {NDJSON.media: {"type": "string", "description": "The same events, a JSON document a line."}}
COOKIE = "annals_stream"
SECURE_COOKIE = f"__Secure-{COOKIE}"
"""Cookie name over TLS. Browsers accept the `__Secure-` prefix only over TLS."""
_SLOTS = "annals.streams"


def register(app: Flask) -> None:
    """Create the stream slots of this process."""
    settings = app.extensions[EXTENSION].settings
    app.extensions[_SLOTS] = StreamSlots(settings.max_streams, settings.streams_each, settings.streams_address)


@bp.operation(
    "POST",
    "/stream-tickets",
    "stream_ticket",
    access=authorization.require_role,
    errors=(403, 404),
    query=TableArgs,
    status=201,
)
def stream_ticket(_: Doc) -> JsonResponse[TicketDoc]:
    """Return a ticket to open one stream within a minute, for clients without custom headers.

    A browser reconnects a broken stream with the same ticket, for up to a quarter of an hour.
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
    status=201,
    response_headers=string_headers("Set-Cookie"),
)
def stream_cookie(_: Doc) -> JsonResponse[CookieDoc]:
    """Set a cookie for streams of the token's game, valid for a quarter of an hour, for pages of the same site.

    Scripts cannot read it, other sites cannot use it, and it opens only streams.
    """
    caller = authorization.principal()
    response: JsonResponse[CookieDoc] = json_response(
        {"path": _cookie_path(caller.game), "seconds": COOKIE_SECONDS}, 201
    )
    response.set_cookie(
        _cookie_name(),
        services().seat_tokens.tickets.issue_cookie(caller),
        max_age=COOKIE_SECONDS,
        path=_cookie_path(caller.game),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return response


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
    """Revoke this token's cookies and tickets. Open streams continue."""
    caller = authorization.principal()
    services().seat_tokens.tickets.revoke(caller)
    response = Response(status=204)
    response.delete_cookie(
        _cookie_name(), _cookie_path(caller.game), secure=request.is_secure, httponly=True, samesite="Strict"
    )
    return response


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
    """Stream a game.

    Events: `board` (the complete document), `patch` (its changes, with `deltas=1`), `timeline` (one entry), `motion` (a
    rewind request and its status), `message` (written since the stream began), `end` (the game is closed), `bye`
    (reconnect). The first event is a board; the id is the last version sent. With `Accept: application/x-ndjson`, each
    event is one JSON document on a line.
    """
    s, reconnecting = services(), bool(headers["last"])
    caller = authorization.optional_principal() or _find_ticket_owner(
        args["ticket"], _same_site_cookie(), game, reconnecting=reconnecting
    )
    viewer, inside = caller.viewer if caller else PUBLIC, caller is not None or authorization.has_live_view(game)
    load_board(game, viewer)
    if caller:  # a ticket's or a cookie's owner too
        authorization.note_look(caller)
    director = caller if caller and caller.seat is None else None
    view_key = GameViewKey(
        viewer,
        request_language(),
        args["deltas"] == "1",
        director,
        inside,
        find_stream_reader(game, caller),
        rate_limits.gate_context(),
    )
    last = _parse_last_id(headers["last"]) if reconnecting else args["version"]
    subscriber = make_subscriber(GameSource(s, game), view_key, _make_permit(s, caller), last)
    return start_stream(subscriber, caller.caller if caller else None, plays=_is_playing(caller, game))


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
    """Stream your own games.

    The first event is `tables`, like `GET /v1/me/games`. Then follow `table` (one game, after any change except of
    version and times), `gone` (you left a game), `motion`, `challenges` (your open challenges, like `GET
    /v1/me/challenges`), `message` (the place of a new one in your mailbox), and `bye` (reconnect). Ids are positions.
    """
    s, owner, principal = services(), authorization.optional_owner(), authorization.optional_principal()
    permit = AccountPermit(s, owner) if owner else RolePermit(s, principal) if principal else None
    caller = owner.account if owner else principal.caller if principal else None
    view = WITH_TALK if may_read_talk(owner) else ONLY_VIEW
    return start_stream(make_subscriber(PersonSource(s, current_owner()), view, permit), caller)


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
    """Stream the public games.

    The first event is `tables`, the first page of `GET /v1/games`. Then follow `table` (a game was opened, filled,
    started or closed) and `bye` (reconnect). Ids are positions.
    """
    return start_stream(make_subscriber(LobbySource(services()), ONLY_VIEW, None), None)


@bp.operation(
    "GET",
    "/tournaments/<tournament:tournament>/stream",
    "tournament_stream",
    access=authorization.public,
    errors=(404, 503),
    query=TournamentStreamArgs,
    response=_TOURNAMENT,
    content_type=SSE.media,
)
@bp.arguments(StreamHeaders, location="headers")
@also_media_types(_LINES)
def tournament_stream(args: Doc, headers: Doc, tournament: str) -> Response:
    """Stream a tournament, or one of its stages or rounds.

    The first event is `tournament`, like `GET /v1/tournaments/{tournament}`. Then follow `record` (kind, time, and the
    place: read there what has changed) and `bye` (reconnect). Ids are versions. Records of the whole tournament come in
    each stream.
    """
    load_tournament(tournament)
    last = _parse_last_id(headers["last"]) if headers["last"] else args["version"]
    view_key = RoundKey(args["stage"], args["round"])
    owner = authorization.load_optional_owner()
    subscriber = make_subscriber(TournamentSource(services(), tournament), view_key, None, last)
    return start_stream(subscriber, owner.account if owner else None)


def _make_permit(s: ApiServices, caller: Principal | None) -> Permit | None:
    """Return the caller's permit for a game's stream, or None for a public stream."""
    owner = authorization.optional_owner()
    if caller is not None:
        return RolePermit(s, caller)
    return ModeratorPermit(s, owner) if owner and authorization.is_moderator(owner) else None


def make_page_subscriber(source: EventSource, view: ViewKey, caller: Permit | None) -> Subscriber:
    """Return a subscriber for a page of this service."""
    return Subscriber(source, view, PAGE_SSE, services().settings.stream_seconds, caller)


def make_subscriber(source: EventSource, view: ViewKey, caller: Permit | None, last: int = 0) -> Subscriber:
    """Return a subscriber in the requested format."""
    form = FORMATS[request.accept_mimetypes.best_match(FORMATS, default=SSE.media)]
    return Subscriber(source, view, form, services().settings.stream_seconds, caller, last)


def start_stream(subscriber: Subscriber, token: str | None, *, plays: bool = False) -> Response:
    """Take a slot and return the response that starts the stream. Raise Problem."""
    if not request.environ.get(STREAMING):  # nginx sends streams only to the stream process
        raise Problem("not_answering", headers={"Retry-After": "1"})
    slots: StreamSlots = current_app.extensions[_SLOTS]
    caller, address = rate_limits.caller_key(token), rate_limits.limited_address()
    if not slots.take(caller, address, plays=plays):
        address = ""
        if not (token and rate_limits.is_guest(token) and slots.take(caller, address, plays=plays)):
            raise Problem("too_many_streams", headers={"Retry-After": "5"})
    response = StreamResponse(content_type=subscriber.format.media)
    response.call_on_close(partial(slots.leave, caller, address, plays=plays))
    response.headers["X-Accel-Buffering"] = "no"
    response.subscriber = subscriber
    return response


def _same_site_cookie() -> str:
    """Return the stream cookie, or an empty string for requests from other origins."""
    origin = request.headers.get("Origin")
    other_origin = origin is not None and urlsplit(origin).netloc != request.host
    cross_site = other_origin or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    return "" if cross_site else request.cookies.get(_cookie_name(), "")


def _find_ticket_owner(ticket: str, cookie: str, game: str, *, reconnecting: bool) -> Principal | None:
    """Return the owner of a ticket or cookie, or None without one. Raise Problem for an invalid one.

    `reconnecting`: a reconnecting browser sends the ticket of its previous stream.
    """
    if not (ticket or cookie):
        return None
    seat_tokens = services().seat_tokens
    browser = f"{rate_limits.client_address()} {request.headers.get('User-Agent', '')}"
    caller = (
        seat_tokens.tickets.redeem(ticket, browser, again=reconnecting)
        if ticket
        else seat_tokens.tickets.find_cookie_owner(cookie)
    )
    if caller is None or not authorization.is_still_valid(services(), caller):
        raise Problem("unauthenticated", "The ticket was used before, or the ticket or cookie has expired.")
    authorization.check_token_game(caller, game)
    return caller


def _is_playing(caller: Principal | None, game: str) -> bool:
    """Return True for a seat of a running game."""
    summary = services().reader.find_summary(game, inside=True)
    return caller is not None and caller.seat is not None and summary is not None and summary["status"] == "running"


def _parse_last_id(text: str) -> int:
    """Return the last version the client has received; 0 for a new client."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
