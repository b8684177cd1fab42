"""Routes that explain points: the card of an entrant, and who has met whom."""

from __future__ import annotations

from api import authorization
from api.documents.entrant_points import build_card, label_entrants, list_meetings
from api.documents.standings_memory import find_ties, make_key
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import retry_after_inspection, tagged_response
from api.schemas.tournament_responses import EntrantCardDoc, MeetingsDoc
from api.schemas.tournament_schemas import EntrantCardArgs, PlacesByRoundArgs
from api.tournament_calls import entrant_names, find_stage, load_ranked, load_tournament
from domain.types import Doc

bp = Blueprint(
    "entrant_cards",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="Points of a tournament explained: entrants and their meetings.",
)


@bp.operation(
    "GET",
    "/entrants/<entrant:entrant>",
    "entrant_card",
    access=authorization.public,
    errors=(304, 404, 503),
    query=EntrantCardArgs,
)
@retry_after_inspection
def get_entrant_card(args: Doc, tournament: str, entrant: int) -> JsonResponse[EntrantCardDoc]:
    """Return an entrant's card: points by their parts, tables, opponents, and places after each round.

    Each part has its reason as data and as a sentence in your language. The parts that count add up to the points.
    Without `after_round` as of now. Who has left has a card too.
    """
    t, after = load_tournament(tournament), args.get("after_round")
    version, stage = t.version, find_stage(t, args)
    if after is not None:
        t = load_ranked(tournament, stage, after)
    if entrant >= len(t.entrants):
        raise Problem("not_found")
    ties = find_ties(make_key(t, stage, after))
    lang = args.get("lang", request_language())
    response = tagged_response(build_card(t, stage, ties, entrant, entrant_names(t), lang), version)
    response.vary.add("Accept-Language")
    return response


@bp.operation(
    "GET",
    "/meetings",
    "meetings",
    access=authorization.public,
    errors=(304, 404, 503),
    query=PlacesByRoundArgs,
)
@retry_after_inspection
def list_tournament_meetings(args: Doc, tournament: str) -> JsonResponse[MeetingsDoc]:
    """Return who has met whom in a stage, and at which tables. Annulled tables are among them."""
    t = load_tournament(tournament)
    stage = find_stage(t, args)
    doc: MeetingsDoc = {
        "tournament": t.id,
        "version": t.version,
        "stage": stage,
        "names": label_entrants(t, entrant_names(t)),
        "entrants": sorted(t.stages[stage - 1].members),
        "meetings": list_meetings(t.stage(stage).tables),
    }
    return tagged_response(doc, t.version)
