"""Routes of tournaments: open and find them, enter and withdraw, check in, show nonces, close, and take the records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from flask import Response, request

from api import authorization
from api.documents.standings_memory import find_tournament
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import damaged_record_problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import (
    DAMAGED_HEADER,
    ChangeCursor,
    page_response,
    paginate_changes,
    retry_after_inspection,
    tagged_response,
    visible_head,
    wait_for_views,
)
from api.routes.games import build_terms, charge_quota, find_ruleset
from api.routes.history import NDJSON, file_response
from api.routes.history import export_lines as export_game_lines
from api.routes.proofs import prove_record
from api.schemas.history_responses import InclusionDoc
from api.schemas.query_args import KeyHeaders, MoveHeaders, WaitArgs
from api.schemas.request_bodies import CardSchema
from api.schemas.tournament_responses import TournamentsDoc, TournamentWrittenDoc
from api.schemas.tournament_schemas import (
    ExportArgs,
    NewTournamentSchema,
    ScheduleSchema,
    TournamentEndSchema,
    TournamentsArgs,
)
from api.services import services
from api.tournament_calls import entrant_names, execute_for_caller, load_tournament, tournament_key, written_response
from api.tournament_rights import require_right
from domain.errors import InvalidTable
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import digest
from domain.service.recurrence import Recurrence
from domain.tournament_series import plan_schedule
from domain.tournament_tables import new_tournament_id
from domain.tournaments.aggregate.basic_commands import CloseTournament
from domain.tournaments.aggregate.schedule_commands import Unschedule
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_proof import export_lines
from domain.tournaments.draw import DEFAULT_CHAIN, MAX_CHAIN
from domain.tournaments.results import DEFAULT_TIES, KNOCKOUT_TIES
from domain.tournaments.terms import QUEUED
from domain.types import PUBLIC, Doc
from projections.tournament_documents import TournamentDoc, TournamentSummaryDoc

RECORDS_PER_SLICE = 100
EXPORT = {"type": "string", "format": "binary"}

bp = Blueprint("tournaments", __name__, url_prefix="/v1/tournaments", description="Tournaments: open, find, close.")


@bp.operation(
    "POST",
    "",
    "open_tournament",
    access=authorization.require_directing_account,
    errors=(403, 409, 412),
    body=NewTournamentSchema,
    headers=KeyHeaders,
    status=201,
    response_headers=string_headers("Location"),
)
def open_tournament(body: Doc, headers: Doc) -> JsonResponse[TournamentWrittenDoc]:
    """Open a tournament, and direct it. Between rounds you may amend some of its terms.

    The service makes a chain of secrets for the draws and publishes its first one. A repetition with the same key gets
    the same response.
    """
    s, key = services(), headers["key"]
    player = authorization.current_account().player
    tournament = new_tournament_id(s.seat_tokens, *((player, key) if key else ()))
    bound = tournament_key(key, tournament)
    if not (bound and s.ledger.find_command(tournament, bound.id)):
        charge_quota("tables")
    rules = find_ruleset(body["ruleset"])
    seats, table = body["seats"], {**body["table"], "listing": body["listing"], "several": False}
    terms = {
        **{name: body[name] for name in ("options", "listing", "capacity", "reveal", "elsewhere", "band")},
        **{name: body[name] for name in ("bots",) if name in body},
        **seats,
        "ruleset": rules.meta.ruleset,
        "table": _build_table(rules, table),
        "stages": [fill_stage(stage) for stage in body["stages"]],
        "chain": body["chain"] or _count_draws(body["stages"]),
    }
    stored = s.tournaments.open(tournament, player, terms, idempotency_key=bound)
    if body["title"] or body["note"]:
        s.seat_tokens.texts.set_card(tournament, player, body["title"], body["note"])
    response = written_response(stored)
    response.headers["Location"] = f"/v1/tournaments/{tournament}"
    return response


def _build_table(rules: AnyRuleset, table: Doc) -> Doc:
    """Return the terms of the tables. Raise InvalidTable with the pointer in the request."""
    try:
        return build_terms(rules, table)
    except InvalidTable as error:
        raise InvalidTable(error.reason, f"/table{error.pointer}") from error


def _count_draws(stages: Sequence[Doc]) -> int:
    """Return the length of the chain if none is asked for: a ladder or arena has a draw a day for years."""
    return MAX_CHAIN if any(stage["format"] in QUEUED for stage in stages) else DEFAULT_CHAIN


def fill_stage(stage: Doc) -> Doc:
    """Return a stage with the rules for ties of its format, unless it has its own, and a queue's total."""
    ties = KNOCKOUT_TIES if stage["format"] == "knockout" else DEFAULT_TIES
    total = QUEUED.get(stage["format"], stage["total"]) if stage["total"] == "sum" else stage["total"]
    return {**stage, "ties": list(ties) if stage["ties"] is None else stage["ties"], "total": total}


@bp.operation(
    "GET",
    "",
    "tournaments",
    access=authorization.public,
    query=TournamentsArgs,
    response_headers=string_headers("Link"),
)
def list_tournaments(args: Doc) -> JsonResponse[TournamentsDoc]:
    """Return the public tournaments, newest change first."""
    s = services()
    page, address = paginate_changes(
        lambda before, since, limit: s.reader.list_tournaments(args["status"], args["ruleset"], before, since, limit),
        ChangeCursor.of_args(args),
        args["limit"],
        "/v1/tournaments",
        status=args["status"],
        ruleset=args["ruleset"],
    )
    names = s.seat_tokens.texts.list_names(doc["director"] for doc in page)
    cards = s.seat_tokens.texts.list_cards([doc["tournament"] for doc in page])
    docs: list[TournamentSummaryDoc] = [
        {**doc, "names": {player: names[player] for player in (doc["director"],) if player in names}} for doc in page
    ]
    for doc in docs:
        _add_card(doc, cards.get(doc["tournament"]))
    return page_response({"items": docs, "next": address})


def _add_card(doc: TournamentSummaryDoc, card: tuple[str, str] | None) -> None:
    """Add the tournament's title and note."""
    title, note = card or ("", "")
    if title:
        doc["title"] = title
    if note:
        doc["note"] = note


@bp.operation(
    "GET",
    "/<tournament:tournament>",
    "get_tournament",
    access=authorization.public,
    errors=(304, 404, 503),
    query=WaitArgs,
)
@retry_after_inspection
def get_tournament(args: Doc, tournament: str) -> JsonResponse[TournamentDoc]:
    """Return the tournament: terms, entrants with their hashes and nonces, and the draws."""
    wait_for_views(args["wait"])
    t, texts = load_tournament(tournament), services().seat_tokens.texts
    reasons = texts.find_texts([each.reason for each in t.amendments if each.reason])
    doc = find_tournament(t, entrant_names(t), reasons)
    _add_card(doc, texts.list_cards([t.id]).get(t.id))
    return tagged_response(doc, t.version)


@bp.operation(
    "PUT",
    "/<tournament:tournament>/card",
    "label_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404),
    body=CardSchema,
    status=204,
)
def label_tournament(body: Doc, tournament: str) -> Response:
    """Set the title and note of your tournament. Both can be erased."""
    t = require_right(tournament, "label_tournament")[0]
    services().seat_tokens.texts.set_card(t.id, t.director, body["title"], body["note"])
    return Response(status=204)


@bp.operation(
    "DELETE",
    "/<tournament:tournament>/card",
    "unlabel_tournament",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    status=204,
)
def unlabel_tournament(tournament: str) -> Response:
    """Remove the title and note of a tournament, as a moderator."""
    load_tournament(tournament)
    services().seat_tokens.texts.set_card(tournament, "", "", "")
    return Response(status=204)


@bp.operation(
    "POST",
    "/<tournament:tournament>/close",
    "close_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=TournamentEndSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def close_tournament(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Close your tournament: finished once every round has been ranked, cancelled before. Games are not closed.

    With `outcome` it ends so, or not at all. With `finished` it also ends before its plan, if no later round has a
    table in play or a result: the last official standings are final.
    """
    require_right(tournament, "close_tournament")
    return written_response(execute_for_caller(tournament, CloseTournament(body["outcome"]), headers))


@bp.operation(
    "PUT",
    "/<tournament:tournament>/schedule",
    "schedule_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=ScheduleSchema,
    headers=MoveHeaders,
)
def schedule_tournament(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Give your tournament a time, and let it repeat by a rule as calendars write it.

    Once its time has come, the next event of the rule is opened with the same terms, and you direct it.
    """
    require_right(tournament, "schedule_tournament")
    command = plan_schedule(Recurrence(body["rule"], body["zone"], body["start"]))
    return written_response(execute_for_caller(tournament, command, headers), status=200)


@bp.operation(
    "DELETE",
    "/<tournament:tournament>/schedule",
    "unschedule_tournament",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    headers=MoveHeaders,
)
def unschedule_tournament(headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """End the repetition: no event follows this one."""
    require_right(tournament, "unschedule_tournament")
    return written_response(execute_for_caller(tournament, Unschedule(), headers), status=200)


# --- records ---------------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/<tournament:tournament>/export",
    "export_tournament",
    access=authorization.public,
    errors=(304, 404, 416),
    query=ExportArgs,
    response=EXPORT,
    content_type=NDJSON,
    response_headers=string_headers(DAMAGED_HEADER),
)
@retry_after_inspection
def export_tournament(args: Doc, tournament: str) -> Response:
    """Return the tournament as a file for `annals tournament verify`: a header, the records, and the head, one a line.

    With `games=1` the exports of all games with a result follow, each with a header and a head of its own. A download
    that was cut off goes on with `Range`. For a damaged tournament, only the records before the damaged version are
    included.
    """
    s, t = services(), load_tournament(tournament)
    damaged = s.corrupt_records.first_version(tournament)
    if damaged == 1:
        raise damaged_record_problem(1)
    head = min(t.version, damaged - 1) if damaged else t.version
    (first,), (last,) = s.ledger.read(tournament, 0, 1), s.ledger.read(tournament, head - 1, head)
    games = list(_list_games(t)) if args["games"] == "1" else []
    with rate_limits.long_work_slot() if games else rate_limits.whole_game_slot():
        lines = chain(export_lines(first, last, _read_in_slices(tournament, head)), *map(_export_game, games))
        response = file_response(lines, f"{tournament}.annals")
    response.headers["Cache-Control"] = "private, no-store"
    response.set_etag(digest([last.hash, *games]))
    response.make_conditional(request, accept_ranges=True, complete_length=response.content_length)
    if damaged:
        response.headers[DAMAGED_HEADER] = str(head + 1)
    return response


def _list_games(t: Tournament) -> Iterator[str]:
    """Yield the games with a result, in order of their tables."""
    for play in t.stages:
        yield from (table.game for _, table in sorted(play.tables.items()) if table.game and table.result)


def _export_game(game: str) -> Iterator[bytes]:
    """Yield the export of a game as spectators may have it."""
    head, is_damaged = visible_head(game)
    if head:
        yield from export_game_lines(game, head, PUBLIC, damaged=is_damaged)


def _read_in_slices(tournament: str, head: int) -> Iterator[Record]:
    """Yield the records up to a version, few in memory at a time."""
    for after in range(0, head, RECORDS_PER_SLICE):
        yield from services().ledger.read(tournament, after, min(after + RECORDS_PER_SLICE, head))


@bp.operation(
    "GET",
    "/<tournament:tournament>/records/<version:version>/proof",
    "tournament_proof",
    access=authorization.public,
    errors=(404, 503),
    query=WaitArgs,
)
def prove_tournament_record(args: Doc, tournament: str, version: int) -> JsonResponse[InclusionDoc] | Response:
    """Return the proof that the log contains a record of the tournament, as for games (`game` is its id)."""
    wait_for_views(args["wait"])
    load_tournament(tournament)
    return prove_record(tournament, version)
