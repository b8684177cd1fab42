"""Routes of a tournament's files for other programs: sheets for spreadsheets, deadlines for calendars."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from flask import Response

from api import authorization
from api.documents import calendars
from api.documents.tournament_sheets import build_sheet
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import etag_response, retry_after_inspection
from api.routes.feeds import ICALENDAR
from api.schemas.tournament_schemas import SheetArgs, TournamentCalendarArgs
from api.services import services
from api.tournament_calls import entrant_names, load_tournament
from domain.kernel.text.message_catalog import load_texts
from domain.service.recurrence import Recurrence
from domain.tournaments.aggregate.tournament import Tournament
from domain.types import Doc

bp = Blueprint(
    "tournament_files",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="A tournament as files: sheets and deadlines.",
)

MAX_BEGINNINGS = 10
"""Times of repeating events in a calendar."""

CSV = "text/csv; charset=utf-8"
_CSV_DOC = {"type": "string", "description": "CSV (RFC 4180, UTF-8) with a first row of names."}
_ICALENDAR_DOC = {"type": "string", "description": "An iCalendar document (RFC 5545)."}


@bp.operation(
    "GET",
    "/export.csv",
    "tournament_sheet",
    access=authorization.public,
    errors=(304, 404, 503),
    query=SheetArgs,
    response=_CSV_DOC,
    content_type="text/csv",
    response_headers=string_headers("Content-Disposition"),
)
@retry_after_inspection
def export_tournament_sheet(args: Doc, tournament: str) -> Response:
    """Return a sheet: `entrants`, `tables`, `seats` (the pairings) or `standings`, of all stages.

    `wdd_classification` and `wdd_boards` have the columns that the World Diplomacy Database loads.

    A cell like a formula begins with an apostrophe. With `dialect=excel` the file begins
    with a byte order mark. In French its cells are separated by semicolons, with decimal commas.
    """
    t, sheet = load_tournament(tournament), args["sheet"]
    spreadsheet = request_language() if args["dialect"] == "excel" else ""
    with rate_limits.whole_game_slot():
        table = build_sheet(t, sheet, entrant_names(t), spreadsheet)
    response = etag_response(table, t.version, media=CSV)
    response.headers["Content-Disposition"] = f'attachment; filename="{sheet}.csv"'
    return response


@bp.operation(
    "GET",
    "/calendar",
    "tournament_calendar",
    access=authorization.public,
    errors=(304, 404, 503),
    query=TournamentCalendarArgs,
    response=_ICALENDAR_DOC,
    content_type=ICALENDAR,
)
@retry_after_inspection
def tournament_calendar(args: Doc, tournament: str) -> Response:
    """Return the deadlines of a tournament, or of one entrant, as spectators may know them.

    Your own ones at all your tables are in `/v1/me/calendar`.
    """
    t, lang, entrant = load_tournament(tournament), request_language(), args.get("entrant")
    if entrant is not None and entrant >= len(t.entrants):
        raise Problem("not_found")
    found = services().seat_tokens.texts.list_cards([t.id]).get(t.id)
    game = calendars.make_describer(services()).name_ruleset(t.terms.ruleset, lang)
    name = found[0] if found and found[0] else game
    deadlines = [*_list_nonce_deadlines(t, entrant, name, lang), *_list_bid_deadlines(t, entrant, name, lang)]
    deadlines += _list_table_deadlines(t, entrant, lang)
    deadlines += [*_list_beginnings(t, name, lang), *_list_starts(t, name, lang)]
    return etag_response(calendars.build_calendar(name, deadlines), t.version, media=ICALENDAR)


def _list_beginnings(t: Tournament, name: str, lang: str) -> Iterator[calendars.Deadline]:
    """Yield the times of a repeating event and of the next ones, while no other event has been opened for them."""
    schedule = t.schedule or {}
    if t.is_over or not schedule:
        return
    title, number = load_texts("domain.tournaments", lang).render("calendar.begins", {}) or "", schedule["number"]
    times = Recurrence(schedule["rule"], schedule["zone"], schedule["start"]).list_times(number - 1)
    for n, at in enumerate(islice(times, 1 if t.successor else MAX_BEGINNINGS), number):
        yield calendars.Deadline(t.id, f"begins.{n}", (), at, t.time, title, name)


def _list_starts(t: Tournament, name: str, lang: str) -> Iterator[calendars.Deadline]:
    """Yield the starts of rounds by the timetable of the current stage."""
    table, stage = t.timetables.get(len(t.stages)), len(t.stages)
    for round_, start in enumerate(table.starts if table and not t.is_over else (), 1):
        title = load_texts("domain.tournaments", lang).render("calendar.starts", {"round": round_}) or ""
        yield calendars.Deadline(t.id, f"starts.{stage}.{round_}", (), start, t.time, title, name)


def _list_nonce_deadlines(t: Tournament, entrant: int | None, name: str, lang: str) -> Iterator[calendars.Deadline]:
    """Yield the end of the time to show nonces while somebody may still show one."""
    if t.status == "drawing" and (t.awaited_nonces if entrant is None else entrant in t.awaited_nonces):
        title = load_texts("domain.tournaments", lang).render("calendar.nonces", {}) or ""
        yield calendars.Deadline(t.id, "nonces", (), t.nonces_end, t.checkin_closed_at, title, name)


def _list_bid_deadlines(t: Tournament, entrant: int | None, name: str, lang: str) -> Iterator[calendars.Deadline]:
    """Yield the end of the open bids of each round, unless everybody has filed one."""
    title, stage = load_texts("domain.tournaments", lang).render("calendar.bids", {}) or "", len(t.stages)
    for round_, until in t.play.bidding.items() if t.status == "running" else ():
        waiting = [e for e in t.list_waiting_bids(stage, round_) if entrant in (None, e)]
        if waiting and until > services().clock():
            begun = until - t.stage_terms.bidding * 1000
            yield calendars.Deadline(t.id, f"bids.{stage}.{round_}", (), until, begun, title, name)


def _list_table_deadlines(t: Tournament, entrant: int | None, lang: str) -> Iterator[calendars.Deadline]:
    """Yield the deadlines of the tables without a result; of an entrant, those of the own seats."""
    s = services()
    tables = [
        (f"{round_}.{pod}", table)
        for play in t.stages
        for (round_, pod), table in play.tables.items()
        if table.game and not table.result
    ]
    for name, table in tables:
        if entrant is None or entrant in table.entrants:
            summary = s.reader.find_summary(table.game)
            seat = None if entrant is None else table.entrants.index(entrant)
            if summary:
                yield from calendars.list_table_deadlines(s, summary, lang, seat=seat, with_event=True)
            if summary and (end := summary.get("limit_end")):
                title = load_texts("domain.tournaments", lang).render("calendar.limit", {"table": name}) or ""
                yield calendars.Deadline(table.game, "limit", (), end, summary["at"], title, title)
