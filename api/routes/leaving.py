"""Routes for leaving a seat for good: remove its player, concede the game."""

from __future__ import annotations

from api import authorization, officer_rights
from api.caller_keys import role_key
from api.command_execution import execute_command
from api.http import security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import if_match_version, load_table, write_response
from api.schemas.common_documents import WrittenDoc
from api.schemas.officer_bodies import RemovalSchema
from api.schemas.query_args import MoveHeaders
from api.schemas.request_bodies import ConcessionSchema
from api.services import services
from domain.command_handler import GameConditions
from domain.kernel.game.deadlines import MAX_SECONDS, SECOND
from domain.kernel.game.game import AnyGame
from domain.kernel.game.table_commands import Leave
from domain.types import Doc, Seat

bp = Blueprint("leaving", __name__, url_prefix="/v1/games", description="Removed players, and concessions.")


def hold_seconds(now: AnyGame, seat: Seat, requested: int | None, *, directed: bool) -> int:
    """Return the seconds for which a vacated seat is held: the table's agreed hold, or less on request.

    A director may request more. Earlier holds of the seat are deducted for players, so that leaving and coming back
    gains no time.
    """
    agreed: int = now.terms.get("hold", 0)
    held = sum(until - since for since, until in now.timing.banks[seat].holds) if seat < now.table.seats else 0
    most = MAX_SECONDS if directed else max(agreed - held // SECOND, 0)
    return min(agreed if requested is None else requested, most)


@bp.operation(
    "POST",
    "/<game:game>/seats/<seat:seat>/concession",
    "concede",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=ConcessionSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def concede(_: Doc, headers: Doc, game: str, seat: int) -> JsonResponse[WrittenDoc]:
    """Concede the game: leave the seat for good, at once and without a hold. You take no seat there any more.

    Your results list the game apart. A lent token concedes nothing.
    """
    caller = authorization.principal()
    if caller.lent:
        raise Problem("lent_token")
    if authorization.seat() != seat:
        raise Problem("not_your_seat")
    return vacate_seat(game, seat, 0, headers, status=201, concedes=True)


@bp.operation(
    "POST",
    "/<game:game>/seats/<seat:seat>/removals",
    "remove_player",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=RemovalSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def remove_player(body: Doc, headers: Doc, game: str, seat: int) -> JsonResponse[WrittenDoc]:
    """Remove the player of a seat, as an officer, with a reason: like `DELETE` of the seat."""
    officer_rights.require_officer(Leave.least_office)
    return vacate_seat(game, seat, body["hold"], headers, body["reason"], status=201)


def vacate_seat(
    game: str,
    seat: Seat,
    requested: int | None,
    headers: Doc,
    reason: str = "",
    status: int = 200,
    *,
    concedes: bool = False,
) -> JsonResponse[WrittenDoc]:
    """Vacate a seat for its player or an officer, and return the response."""
    caller, s = authorization.principal(), services()
    _, now = load_table(game)
    hold = hold_seconds(now, seat, requested, directed=caller.seat is None)
    stored = execute_command(
        game,
        Leave(seat, hold, by="director" if caller.seat is None else None, concedes=concedes),
        GameConditions(
            seat_guard=authorization.seat_guard(),
            expected=if_match_version(headers["match"]),
            idempotency_key=role_key(headers["key"]),
            extra_statements=lambda _: s.seat_tokens.revoke(game, seat),
        ),
        reason=reason,
    )
    if not stored.replayed:
        details = {"game": game, "seat": seat, "player": now.players[seat].id if seat in now.players else ""}
        security_log.log_event("seat_vacated", **details, by=caller.role, token=caller.token)
        security_log.log_event("token_revoked", **details)
    return write_response(stored, status=status)
