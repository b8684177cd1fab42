"""Routes of appeals: a seat appeals against a decision of an officer, another officer answers."""

from __future__ import annotations

from api import authorization, officer_rights
from api.caller_keys import role_key
from api.command_execution import execute_command
from api.documents.contested_acts import appeals_to_json
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import if_match_version, json_response, write_response
from api.routes.boards import load_visible_table
from api.schemas.common_documents import WrittenDoc
from api.schemas.officer_bodies import AnswerSchema, AppealSchema
from api.schemas.query_args import MoveHeaders
from api.schemas.table_responses import AppealsDoc
from api.services import services
from domain.command_handler import GameConditions
from domain.kernel.game.appeal_commands import AnswerAppeals, AppealAct
from domain.types import Doc

bp = Blueprint("appeals", __name__, url_prefix="/v1/games", description="Appeals against decisions of officers.")

PRIVATE = "private, no-cache"


@bp.operation(
    "POST",
    "/<game:game>/appeals",
    "appeal",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=AppealSchema,
    headers=MoveHeaders,
    status=201,
)
def appeal(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Appeal against the decision of an officer in a version, with a reason.

    A seat appeals once against one decision, in the time that the table gives. The decision has its effect meanwhile;
    an officer may pause the game.
    """
    if authorization.principal().lent:
        raise Problem("lent_token")
    seat, player = authorization.seat(), authorization.principal().player
    hashed, rows = services().seat_tokens.texts.insert_text(player, body["reason"])
    stored = execute_command(
        game,
        AppealAct(body["version"], seat, hashed),
        GameConditions(
            expected=if_match_version(headers["match"]),
            seat_guard=(seat, player),
            idempotency_key=role_key(headers["key"]),
            extra_statements=lambda _: rows,
        ),
        as_player=True,
    )
    return write_response(stored)


@bp.operation(
    "POST",
    "/<game:game>/appeals/<version:version>/answer",
    "answer_appeals",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=AnswerSchema,
    headers=MoveHeaders,
    status=201,
)
def answer_appeals(body: Doc, headers: Doc, game: str, version: int) -> JsonResponse[WrittenDoc]:
    """Answer all appeals against the decision of a version: uphold or overturn it, with a reason.

    Another officer than the author answers, and none who has a seat in the game. The owner answers about an own
    decision if there is no such officer. Overturning undoes nothing by itself: rewind, extend or withdraw as well.
    """
    officer_rights.require_officer()
    command = AnswerAppeals(version, body["outcome"])
    expected, key = if_match_version(headers["match"]), role_key(headers["key"])
    return write_response(
        execute_command(game, command, GameConditions(expected=expected, idempotency_key=key), reason=body["reason"])
    )


@bp.operation("GET", "/<game:game>/appeals", "appeals", access=authorization.optional_role, errors=(403, 404))
def appeals(game: str) -> JsonResponse[AppealsDoc]:
    """Return the game's appeals and their answers, newest first."""
    _, found = load_visible_table(game)
    return json_response({"items": appeals_to_json(services(), found)}, cache=PRIVATE)
