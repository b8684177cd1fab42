"""Routes of the rounds of a tournament: draw, tables, results, standings, and the reason of every place."""

from __future__ import annotations

from api import authorization
from api.command_execution import execute_command
from api.documents.entrant_points import build_points, label_entrants
from api.documents.standings_memory import find_standings, find_ties, make_key
from api.event_stakes import list_related
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.officer_rights import acting_officer
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, retry_after_inspection, tagged_response, wait_for_views
from api.routes.games import charge_quota
from api.routes.rating_lists import read_ratings
from api.schemas.query_args import MoveHeaders, WaitArgs
from api.schemas.request_bodies import MOST_AT_ONCE
from api.schemas.tournament_responses import (
    AdjournedDoc,
    ExplanationDoc,
    ReportedDoc,
    StandingsDoc,
    TablesMadeDoc,
    TournamentWrittenDoc,
)
from api.schemas.tournament_schemas import (
    AdjournmentSchema,
    BidSchema,
    EnterSchema,
    ExplainArgs,
    PlacesByRoundArgs,
    StandingsArgs,
    TournamentDrawSchema,
)
from api.services import services
from api.tournament_calls import (
    entrant_names,
    execute_for_caller,
    find_stage,
    load_ranked,
    load_tournament,
    own_players,
    written_response,
)
from api.tournament_rights import require_right
from domain.command_handler import GameConditions
from domain.errors import RuleError, TournamentError
from domain.kernel.game.officers import Officer
from domain.kernel.game.ruling_commands import RuleEnding
from domain.kernel.text.message_catalog import Message
from domain.tournaments.aggregate.basic_commands import Draw, require_no_stake
from domain.tournaments.aggregate.result_commands import Rank, require_round
from domain.tournaments.aggregate.seat_commands import FileBid, OpenBids
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.explain import explain, explanation_sentences, explanation_to_json
from domain.types import Doc
from projections.draw_inputs import read_draw_input
from projections.tournament_documents import PlacesByRoundDoc, RoundDoc
from projections.tournament_views import build_progress, build_round, has_round

bp = Blueprint(
    "rounds",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="Rounds of a tournament: draw, tables, results, standings.",
)
ROUND = "/stages/<version:stage>/rounds/<version:number>"


@bp.operation(
    "POST",
    f"{ROUND}/draw",
    "draw_round",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=TournamentDrawSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def draw_round(body: Doc, headers: Doc, tournament: str, stage: int, number: int) -> JsonResponse[TournamentWrittenDoc]:
    """Draw: round 1 of a league or design pairs all its rounds. The record publishes the next secret of the chain.

    You may draw once all nonces are shown, or the time for it is over. A further round of a Swiss event or a knockout
    needs the ranking of the one before. Another draw needs a reason, and takes the next secret; once a table has been
    made there is none.
    """
    t = require_right(tournament, "draw_round")[0]
    relations = services().account_store.social_graph.list_mutual_relations
    more = read_draw_input(t, stage, number, relations, read_ratings)
    command = Draw(stage, number, bool(body["reason"]), more)
    slot = rate_limits.gate_context(is_long=True)
    preliminaries = services().tournament_tables.plan_withdrawals
    return written_response(
        execute_for_caller(tournament, command, headers, body["reason"], slot=slot, preliminaries=preliminaries)
    )


@bp.operation(
    "GET",
    ROUND,
    "get_round",
    access=authorization.public,
    errors=(304, 404, 503),
    query=WaitArgs,
)
@retry_after_inspection
def get_round(args: Doc, tournament: str, stage: int, number: int) -> JsonResponse[RoundDoc]:
    """Return a round: pods in order of their seats, tables, results, byes."""
    wait_for_views(args["wait"])
    t = load_tournament(tournament)
    if not has_round(t, stage, number):
        raise Problem("not_found")
    return tagged_response(build_round(t, stage, number), t.version)


@bp.operation(
    "POST",
    f"{ROUND}/bidding",
    "open_bids",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=EnterSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def open_bids(_: Doc, headers: Doc, tournament: str, stage: int, number: int) -> JsonResponse[TournamentWrittenDoc]:
    """Let the entrants of a drawn round file their bids, or their lists of seats.

    They close after the time of the stage, or once everybody has filed. Then you make the tables.
    """
    require_right(tournament, "open_bids")
    return written_response(execute_for_caller(tournament, OpenBids(stage, number), headers))


@bp.operation(
    "PUT",
    f"{ROUND}/bids",
    "file_bid",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=BidSchema,
    headers=MoveHeaders,
)
def file_bid(body: Doc, headers: Doc, tournament: str, stage: int, number: int) -> JsonResponse[TournamentWrittenDoc]:
    """File your bid for the seats of your pod, or your list of seats, in place of the one before.

    It is sealed until your table is made: before, nobody reads it, not even you.
    """
    wish = tuple(body["bid"] or body["seats"]) if not (body["bid"] and body["seats"]) else ()
    return written_response(
        execute_for_caller(tournament, FileBid(own_players(), stage, number, wish), headers), status=200
    )


@bp.operation(
    "POST",
    f"{ROUND}/tables",
    "make_tables",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=EnterSchema,
    body_required=False,
    status=201,
)
def make_tables(_: Doc, tournament: str, stage: int, number: int) -> JsonResponse[TablesMadeDoc]:
    """Make the tables of a round: each pod's game is opened, its people are seated, and it starts.

    Bids or lists for the seats must be closed. A request makes up to 50 tables; repeat it until `left` is 0. No table
    is made twice, wherever a request stops.
    """
    t, s = require_right(tournament, "make_tables")[0], services()
    with rate_limits.long_work_slot():
        left = s.tournament_tables.make_tables(t.id, stage, number, MOST_AT_ONCE, lambda: charge_quota("tables"))
    version = _signal_progress(t)
    return json_response({"tournament": t.id, "version": version, "left": left}, 201, Annals_Version=str(version))


def _signal_progress(t: Tournament) -> int:
    """Return the version after work of the service, and signal its records."""
    s = services()
    version = s.ledger.version(t.id)
    if position := s.ledger.position(t.id, version):
        s.notify_appended(position)
    return version


@bp.operation(
    "POST",
    f"{ROUND}/reports",
    "report_results",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=EnterSchema,
    body_required=False,
    status=201,
)
def report_results(_: Doc, tournament: str, stage: int, number: int) -> JsonResponse[ReportedDoc]:
    """Report the results of the round's games that have closed. You may repeat it: each result is reported once.

    The service reads them from the games, as soon as spectators see their end. A game closed without a result does
    not count.
    """
    t, s = require_right(tournament, "report_results")[0], services()
    with rate_limits.long_work_slot():
        pods = s.tournament_tables.report_results(t.id, stage, number, s.reader.list_places)
    version = _signal_progress(t)
    return json_response({"tournament": t.id, "version": version, "pods": pods}, 201, Annals_Version=str(version))


@bp.operation(
    "POST",
    f"{ROUND}/adjournments",
    "adjourn_round",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=AdjournmentSchema,
    body_required=False,
    status=201,
)
def adjourn_round(body: Doc, tournament: str, stage: int, number: int) -> JsonResponse[AdjournedDoc]:
    """End the games of a round still in play, as at the end of the time of a live event. You may repeat it.

    Each is a ruling at its table (`adjourned`): places follow from the true state. The game is closed after a day, or
    `final_after`, unless you withdraw the ruling there. `refused` lists the tables of your own seats.
    """
    t, player = require_right(tournament, "adjourn_round")
    play, pods, refused = require_round(t, stage, number), list[int](), list[int]()
    require_no_stake(t, stage, (*own_players(), *list_related(authorization.credential_owner().account)))
    with rate_limits.long_work_slot():
        for (round_, pod), table in sorted(play.tables.items()):
            if round_ == number and table.game and services().commands.game(table.game).status == "running":
                (pods if _adjourn_table(table.game, player, body) else refused).append(pod)
    version = _signal_progress(t)
    doc: AdjournedDoc = {"tournament": t.id, "version": version, "pods": pods, "refused": refused}
    return json_response(doc, 201, Annals_Version=str(version))


def _adjourn_table(game: str, player: str, body: Doc) -> bool:
    """Adjourn a game; return whether the caller may rule there.

    Without an office at the table, somebody stands in for the organiser: the record names `player` as its owner.
    """
    author, ids = acting_officer(game) or Officer(player, "owner"), authorization.player_ids()
    try:
        stored = execute_command(
            game,
            RuleEnding("adjourned", final_after=body["final_after"]),
            GameConditions(author=author),
            reason=body["reason"],
            author_ids=ids,
        )
    except RuleError:
        return False
    services().notify_appended(stored.position)
    return True


@bp.operation(
    "POST",
    f"{ROUND}/rank",
    "rank_round",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=EnterSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def rank_round(_: Doc, headers: Doc, tournament: str, stage: int, number: int) -> JsonResponse[TournamentWrittenDoc]:
    """Make the standings after a round official, once all its tables have a result.

    After the last round of a stage the next one begins. You may rank a round again if its standings have changed.
    """
    require_right(tournament, "rank_round")
    slot = rate_limits.gate_context()
    return written_response(execute_for_caller(tournament, Rank(stage, number), headers, slot=slot))


# --- standings -------------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/standings",
    "standings",
    access=authorization.public,
    errors=(304, 404, 503),
    query=StandingsArgs,
)
@retry_after_inspection
def standings(args: Doc, tournament: str) -> JsonResponse[StandingsDoc]:
    """Return the standings as of now, or the official ones after a round (`after_round`)."""
    wait_for_views(args["wait"])
    t, after = load_tournament(tournament), args.get("after_round")
    stage = find_stage(t, args)
    doc: StandingsDoc = {
        "tournament": t.id,
        "version": t.version,
        "official": after is not None,
        "stage": stage,
        "names": label_entrants(t, entrant_names(t)),
        "standings": [],
        "running": [],
    }
    if after is None:
        key = make_key(t, stage)
        ties = find_ties(key)
        doc["standings"] = find_standings(key)
        doc["running"] = list(ties.tally.running)
        if ties.tally.stage.window:
            doc["unranked"] = {str(entrant): tables for entrant, tables in ties.tally.unranked.items()}
        return tagged_response(doc, t.version)
    rankings = t.stages[stage - 1].rankings
    if after > len(rankings):
        raise Problem("not_found")
    ranking = rankings[after - 1]
    doc["standings"] = ranking["standings"]
    doc["digest"] = ranking["digest"]
    return tagged_response(doc, t.version)


@bp.operation(
    "GET",
    "/progress",
    "places_by_round",
    access=authorization.public,
    errors=(304, 404, 503),
    query=PlacesByRoundArgs,
)
@retry_after_inspection
def places_by_round(args: Doc, tournament: str) -> JsonResponse[PlacesByRoundDoc]:
    """Return place and points of each entrant in the official standings after each round of a stage."""
    t = load_tournament(tournament)
    return tagged_response(build_progress(t, find_stage(t, args)), t.version)


@bp.operation(
    "GET",
    "/explain",
    "explain_places",
    access=authorization.public,
    errors=(304, 404, 503),
    query=ExplainArgs,
)
@retry_after_inspection
def explain_places(args: Doc, tournament: str) -> JsonResponse[ExplanationDoc]:
    """Return why one entrant stands before another: the rules as data, and sentences in your language.

    `points` has the parts of both totals. Who has left is compared as everybody.

    Without `after_round` as of now.
    """
    t, after = load_tournament(tournament), args.get("after_round")
    version, stage = t.version, find_stage(t, args)
    if after is not None:
        t = load_ranked(tournament, stage, after)
    ties, names = find_ties(make_key(t, stage, after)), entrant_names(t)
    try:
        found = explain(ties, args["a"], args["b"])
    except TournamentError:
        message = Message("Two entrants who take part are expected.")
        raise Problem("invalid_query", errors=[{"at": "/a", "message": message}]) from None
    labels = [names.get(each.player, f"({number})") for number, each in enumerate(t.entrants)]
    lang = args.get("lang", request_language())
    sentences = explanation_sentences(ties, found, lang, labels)
    points = [build_points(t, stage, ties, entrant, lang) for entrant in (found.first, found.second)]
    doc: ExplanationDoc = {**explanation_to_json(ties, found), "sentences": sentences, "points": points}
    response = tagged_response(doc, version)
    response.vary.add("Accept-Language")
    return response
