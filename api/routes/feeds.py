"""Routes of feeds: a table's chronicle as Atom, deadlines as iCalendar."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Response

from api import authorization
from api.documents import calendars
from api.documents.atom import build_feed
from api.documents.my_tables import TableOwner
from api.documents.timeline import build_entries
from api.http import rate_limits, security_log
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.http.public_url import base_url
from api.openapi.smorest import Blueprint
from api.response_builders import etag_response, json_response, missing_game
from api.schemas.feed_schemas import CalendarArgs, CalendarKeyDoc, NewCalendarKeyDoc
from api.schemas.query_args import LangArgs
from api.services import services
from domain.notifications.table_links import table_url
from domain.service.database import Statement
from domain.types import PUBLIC, Doc
from projections.game_documents import StoredSummaryDoc
from projections.table_describer import TableDescriber

bp = Blueprint("feeds", __name__, url_prefix="/v1", description="Feeds for readers and calendars.")

FEED_ENTRIES = 50
"""Newest records in a feed."""

ATOM, ICALENDAR = "application/atom+xml", "text/calendar"
_ATOM_DOC = {"type": "string", "description": "An Atom feed (RFC 4287)."}
_ICALENDAR_DOC = {"type": "string", "description": "An iCalendar document (RFC 5545)."}


# --- of a table ------------------------------------------------------------------------------------------------


def _load_public_summary(game: str) -> StoredSummaryDoc:
    """Return the summary as spectators have it. Raise Problem for an unknown game."""
    summary = services().reader.find_summary(game, gate=rate_limits.archived_game_slot)
    if summary is None:
        raise missing_game(game)
    return summary


def _name_table(summary: StoredSummaryDoc, lang: str) -> str:
    """Return the table's title, or that of its ruleset."""
    s, game = services(), summary["game"]
    describer = TableDescriber(s.registry, s.seat_tokens.texts, s.reader)
    return describer.find_titles([game]).get(game) or describer.name_ruleset(summary["ruleset"], lang)


@bp.operation(
    "GET",
    "/games/<game:game>/feed",
    "feed",
    access=authorization.public,
    errors=(404, 503),
    query=LangArgs,
    response=_ATOM_DOC,
    content_type=ATOM,
)
def feed(_: Doc, game: str) -> Response:
    """Return the newest lines of the chronicle as an Atom feed, as spectators may read them.

    A token is ignored. Undone moves are left out.
    """
    s, summary, lang = services(), _load_public_summary(game), request_language()
    after = max(summary["version"] - FEED_ENTRIES, 0)
    entries = build_entries(s, summary, PUBLIC, after, FEED_ENTRIES, lang, rate_limits.archived_game_slot)
    shown = [entry for entry in entries if not entry.get("undone")]
    link = table_url(s.settings.public_url, game) if s.settings.public_url else ""
    return etag_response(build_feed(summary, _name_table(summary, lang), shown, lang, link), media=ATOM)


@bp.operation(
    "GET",
    "/games/<game:game>/calendar",
    "table_calendar",
    access=authorization.public,
    errors=(404, 503),
    query=LangArgs,
    response=_ICALENDAR_DOC,
    content_type=ICALENDAR,
)
def table_calendar(_: Doc, game: str) -> Response:
    """Return the table's open deadlines as a calendar, as spectators may know them. A token is ignored."""
    summary, lang = _load_public_summary(game), request_language()
    return _calendar_response(_name_table(summary, lang), calendars.list_table_deadlines(services(), summary, lang))


# --- of a person -----------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/me/calendar",
    "my_calendar",
    access=authorization.require_account,
    errors=(403, 503),
    query=LangArgs,
    response=_ICALENDAR_DOC,
    content_type=ICALENDAR,
)
def my_calendar(_: Doc) -> Response:
    """Return your deadlines at all tables as a calendar."""
    return _own_calendar(authorization.credential_owner().account)


@bp.operation(
    "GET",
    "/calendar",
    "calendar",
    access=authorization.public,
    errors=(404, 503),
    query=CalendarArgs,
    response=_ICALENDAR_DOC,
    content_type=ICALENDAR,
    security=[],
)
def calendar(args: Doc) -> Response:
    """Return the deadlines of a key's owner as a calendar, for programs without headers.

    404 for a key that is unknown or revoked.
    """
    account = services().account_store.calendar_keys.find_account(args["key"])
    if account is None:
        raise Problem("not_found")
    return _own_calendar(account)


def _own_calendar(account: str) -> Response:
    """Return the deadlines of an account: no id of a game, and no link to it."""
    s, lang = services(), request_language()
    return _calendar_response("Annals", calendars.list_own_deadlines(s, TableOwner(account).roles(s), lang))


def _calendar_response(name: str, deadlines: Iterable[calendars.Deadline]) -> Response:
    return etag_response(calendars.build_calendar(name, deadlines), media=ICALENDAR)


# --- keys ------------------------------------------------------------------------------------------------------


def _audit_statements(what: str) -> list[Statement]:
    """Return the statements of an audit entry for the caller."""
    return security_log.audit_statements(authorization.credential_owner().account, what, rate_limits.client_network())


@bp.operation("GET", "/me/calendar-key", "calendar_key", access=authorization.require_session, errors=(403, 404))
def calendar_key() -> JsonResponse[CalendarKeyDoc]:
    """Return the creation time of your calendar's key. 404 without a key."""
    made = services().account_store.calendar_keys.find_time(authorization.credential_owner().account)
    if made is None:
        raise Problem("not_found")
    return json_response({"made": made})


@bp.operation(
    "POST", "/me/calendar-key", "new_calendar_key", access=authorization.require_session, errors=(403, 409), status=201
)
def new_calendar_key() -> JsonResponse[NewCalendarKeyDoc]:
    """Make a key for your calendar, in place of the previous one. Only this response shows it.

    Everybody with the address reads your deadlines, and nothing else. Requires a password check within the last ten
    minutes.
    """
    authorization.require_fresh_password()
    keys, me, url = services().account_store.calendar_keys, authorization.credential_owner().account, base_url()
    key = keys.issue(me, _audit_statements("calendar_key_made"))
    made = keys.find_time(me) or services().clock()
    return json_response({"made": made, "key": key, "address": f"{url}/v1/calendar?key={key}"}, 201)


@bp.operation(
    "DELETE",
    "/me/calendar-key",
    "revoke_calendar_key",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def revoke_calendar_key() -> Response:
    """Revoke your calendar's key."""
    keys = services().account_store.calendar_keys
    if not keys.revoke(authorization.credential_owner().account, _audit_statements("calendar_key_revoked")):
        security_log.forget_audit_events()
        raise Problem("not_found")
    return Response(status=204)
