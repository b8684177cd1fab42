"""Route of the desk of a tournament."""

from __future__ import annotations

from api import authorization
from api.documents.event_desk import build_event_desk
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, retry_after_inspection, wait_for_views
from api.schemas.query_args import WaitArgs
from api.schemas.tournament_responses import EventDeskDoc
from api.services import services
from api.tournament_rights import list_answerable, require_right
from domain.types import Doc

bp = Blueprint(
    "tournament_desk",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="The desk of a tournament: what waits for its officers.",
)


@bp.operation(
    "GET",
    "/desk",
    "tournament_desk",
    access=authorization.require_account,
    errors=(403, 404, 503),
    query=WaitArgs,
)
@retry_after_inspection
def get_tournament_desk(args: Doc, tournament: str) -> JsonResponse[EventDeskDoc]:
    """Return everything to do for you as an officer: missing check-ins, tables, appeals, questions, and steps.

    A table has the time of its end, of its last move, and the seats without a player.
    """
    wait_for_views(args["wait"])
    t = require_right(tournament, "tournament_desk")[0]
    account = authorization.credential_owner().account
    answerable = list_answerable(tournament, authorization.player_ids(), account)
    with rate_limits.whole_game_slot():
        return json_response(build_event_desk(services(), t, answerable))
