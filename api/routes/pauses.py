"""Routes of pauses: stop and resume the time of one table, or of all tables of an officer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from api import authorization, officer_rights
from api.caller_keys import role_key
from api.command_execution import execute_command
from api.documents.desk import list_running
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import confirm_write, if_match_version, json_response, write_response
from api.schemas.common_documents import WrittenDoc
from api.schemas.officer_bodies import ManyPausesSchema, ManyResumptionsSchema, PauseSchema
from api.schemas.query_args import MoveHeaders
from api.schemas.request_bodies import StartSchema
from api.schemas.table_responses import ManyRuledDoc, RuledItemDoc
from api.services import services
from domain.command_handler import GameConditions
from domain.errors import GameDamaged, RuleError, UnknownGame
from domain.kernel.game.command import Command
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.types import Doc

bp = Blueprint("pauses", __name__, url_prefix="/v1", description="Pauses of tables.")

MOST_TABLES = 500
"""Most tables of one request."""


@bp.operation(
    "POST",
    "/games/<game:game>/pauses",
    "pause_game",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=PauseSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def pause_game(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Stop the time of all seats: nothing lapses, and deadlines move by the length of the pause.

    With `until` time runs again by itself. With `moves` seats may move meanwhile. A second request gives the pause
    another end or permission.
    """
    return _execute(game, PauseGame(body["until"], body["moves"]), body, headers)


@bp.operation(
    "POST",
    "/games/<game:game>/resumptions",
    "resume_game",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def resume_game(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """End the pause of a table."""
    return _execute(game, ResumeGame(), body, headers)


def _execute(game: str, command: Command, body: Doc, headers: Doc) -> JsonResponse[WrittenDoc]:
    officer_rights.require_officer()
    expected, key = if_match_version(headers["match"]), role_key(headers["key"])
    return write_response(
        execute_command(game, command, GameConditions(expected=expected, idempotency_key=key), reason=body["reason"])
    )


@bp.operation(
    "POST",
    "/me/pauses",
    "pause_games",
    access=authorization.require_directing_account,
    errors=(403, 404),
    body=ManyPausesSchema,
    body_required=False,
)
def pause_games(body: Doc) -> JsonResponse[ManyRuledDoc]:
    """Pause all running tables that you direct, or some of them, as `POST /v1/games/{game}/pauses` does with one.

    Each table is paused by itself, and `refused` says why one is not. Repeat the request after an interruption: tables
    that have this pause are refused with `already_until`. One request takes 500 tables, in the order of their ids;
    `more` is true if there are others.
    """
    return _execute_everywhere(body, lambda: PauseGame(body["until"], body["moves"]))


@bp.operation(
    "POST",
    "/me/resumptions",
    "resume_games",
    access=authorization.require_directing_account,
    errors=(403, 404),
    body=ManyResumptionsSchema,
    body_required=False,
)
def resume_games(body: Doc) -> JsonResponse[ManyRuledDoc]:
    """End your pauses at all tables that you direct, or the pauses of some of them; see `POST /v1/me/pauses`.

    A pause that another officer or the players have ordered ends only at a table named in `games`.
    """
    return _execute_everywhere(body, ResumeGame, check=None if body["games"] else _check_own_pause)


def _check_own_pause(game: str) -> None:
    """Raise RuleError if the last pause of the table was ordered by somebody else."""
    s = services()
    ordered = [r for r in s.ledger.read(game) if r.kind == "ruled" and r.body.get("act") == "pause"]
    if ordered and not officer_rights.list_rulings(
        s, s.commands.game(game), ordered[-1:], officer_rights.officer_ids(game)
    ):
        raise RuleError("paused_by_others")


def _execute_everywhere(
    body: Doc, command: Callable[[], Command], check: Callable[[str], None] | None = None
) -> JsonResponse[ManyRuledDoc]:
    s = services()
    games: Sequence[str] = list(dict.fromkeys(body["games"] or ()))
    for game in games:
        if not s.ledger.version(game):
            raise UnknownGame(game)
        if officer_rights.acting_officer(game) is None:
            raise Problem("not_at_table", game=game)
    games = [game for game in games or list_running(s, authorization.player_ids()) if game > body["after"]]
    taken = sorted(games)[:MOST_TABLES]
    items = [_try_command(game, command(), body["reason"], check) for game in taken]
    return json_response({"items": items, "more": len(games) > len(taken)})


def _try_command(game: str, command: Command, reason: str, check: Callable[[str], None] | None) -> RuledItemDoc:
    """Return the outcome at one table: the version and position of the record, or the code of a refusal."""
    try:
        if check is not None and services().commands.game(game).current_pause is not None:
            check(game)
        return {**confirm_write(execute_command(game, command, reason=reason)), "refused": None}
    except RuleError as error:
        code = error.code
    except GameDamaged:
        code = "record_damaged"
    return {"game": game, "version": None, "position": None, "refused": code}
