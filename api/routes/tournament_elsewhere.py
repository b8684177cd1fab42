"""Routes of tables played outside of the service: their scores are entered, confirmed by all seats, or settled."""

from __future__ import annotations

from api import authorization
from api.http.json_responses import JsonResponse
from api.openapi.smorest import Blueprint
from api.schemas.query_args import MoveHeaders
from api.schemas.tournament_responses import TournamentWrittenDoc
from api.schemas.tournament_schemas import ConfirmedScoresSchema, EnterSchema, SettledScoresSchema, TableScoresSchema
from api.tournament_calls import execute_for_caller, load_tournament, own_players, written_response
from api.tournament_rights import require_right
from domain.tournaments.aggregate.elsewhere_commands import (
    ConfirmScores,
    EnterOfficerScores,
    EnterScores,
    MoveElsewhere,
    SettleScores,
    decides_at,
)
from domain.types import Doc

bp = Blueprint(
    "tournament_elsewhere",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>/stages/<version:stage>/rounds/<version:number>"
    "/tables/<version:pod>",
    description="Tables of a tournament outside of the service.",
)


@bp.operation(
    "PUT",
    "/elsewhere",
    "move_table_elsewhere",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=EnterSchema,
    body_required=False,
    headers=MoveHeaders,
)
def move_table_elsewhere(
    _: Doc, headers: Doc, tournament: str, stage: int, number: int, pod: int
) -> JsonResponse[TournamentWrittenDoc]:
    """Let a pod without a table play outside of the service, if the terms (`elsewhere`) allow it.

    Its result is marked everywhere, never rated, and no game proves it.
    """
    officer = require_right(tournament, "move_table_elsewhere")[1]
    command = MoveElsewhere(officer, stage, number, pod)
    return written_response(execute_for_caller(tournament, command, headers), status=200)


@bp.operation(
    "PUT",
    "/scores",
    "enter_scores",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=TableScoresSchema,
    headers=MoveHeaders,
)
def enter_scores(
    body: Doc, headers: Doc, tournament: str, stage: int, number: int, pod: int
) -> JsonResponse[TournamentWrittenDoc]:
    """Enter the scores of your table elsewhere, or of any as an officer, in place of those before.

    They are its result once all seats have confirmed them. Your own entry at your table is your confirmation.
    """
    place, figures = (stage, number, pod), (tuple(body["points"]), tuple(body["places"]))
    if decides_at(load_tournament(tournament), *place, own_players()):
        entered = execute_for_caller(tournament, EnterScores(*place, own_players(), *figures), headers)
        return written_response(entered, status=200)
    officer = require_right(tournament, "enter_scores")[1]
    command = EnterOfficerScores(*place, officer, *figures)
    return written_response(execute_for_caller(tournament, command, headers), status=200)


@bp.operation(
    "POST",
    "/confirmations",
    "confirm_scores",
    access=authorization.require_playing_account,
    errors=(403, 404, 409),
    body=ConfirmedScoresSchema,
    status=201,
)
def confirm_scores(body: Doc, tournament: str, stage: int, number: int, pod: int) -> JsonResponse[TournamentWrittenDoc]:
    """Confirm the scores of your table elsewhere. With the last seat they are its result."""
    command = ConfirmScores(stage, number, pod, own_players(), body["scores"])
    return written_response(execute_for_caller(tournament, command, {"key": ""}))


@bp.operation(
    "POST",
    "/settlement",
    "settle_scores",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=SettledScoresSchema,
    status=201,
)
def settle_scores(body: Doc, tournament: str, stage: int, number: int, pod: int) -> JsonResponse[TournamentWrittenDoc]:
    """Make entered scores the result, as an officer without a place in the stage, though not all have confirmed them.

    You may do so ten minutes after their entry (409 `scores_open` before).
    """
    officer = require_right(tournament, "settle_scores")[1]
    command = SettleScores(stage, number, pod, officer, body["scores"])
    return written_response(execute_for_caller(tournament, command, {"key": ""}, body["reason"]))
