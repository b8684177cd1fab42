"""What only a director does: looking at what is hidden, moving deadlines, keeping seats, closing a table."""

from __future__ import annotations

import orjson
from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.openapi.smorest import Blueprint
from api.response_builders import idempotency_key, if_match_version, load_table, write_response
from api.routes.boards import load_from_records
from api.schemas.play_responses import LookDocSchema
from api.schemas.query_args import KeyHeaders, MoveHeaders
from api.schemas.request_bodies import CloseSchema, ExtensionSchema, HoldSchema, StartSchema
from api.schemas.response_fields import WrittenSchema
from api.schemas.table_responses import TokenDocSchema
from api.services import Doc, services
from domain.kernel.game.director_commands import Extend, Hold, Look, Reissue
from domain.kernel.game.game import Player
from domain.kernel.game.table_commands import Close
from domain.kernel.records.record import Record
from domain.service.database import Statement
from domain.service.token_text import token_id
from domain.types import DIRECTOR, Json
from projections import documents

bp = Blueprint("director", __name__, url_prefix="/v1/games", description="What only a director does.")


@bp.operation(
    "POST",
    "/<game:game>/looks",
    "look",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=KeyHeaders,
    response=LookDocSchema,
    status=201,
)
def look(_: Json, headers: Doc, game: str) -> Response:
    """Look at what is hidden, as a director who has no seat.

    That the director ruled something is public at once; that it was a look is shown when the game is closed.
    """
    authorization.require_director()
    _, now = load_table(game)
    authorization.require_no_seat(now)
    with rate_limits.whole_game_slot():
        stored = services().commands.handle(game, Look(), idempotency_key=idempotency_key(headers["key"]))
        if not stored.replayed:
            who = authorization.principal()
            security_log.log_event("looked", game=game, player=who.player, token=who.token)
        known = load_from_records(services().ledger.read(game, upto=stored.versions[-1]))
        authorization.require_no_seat(known.game)  # whoever has taken a seat meanwhile is told nothing
    return write_response(stored, {"board": orjson.loads(documents.build_board(known, DIRECTOR))})


@bp.operation(
    "POST",
    "/<game:game>/extensions",
    "extend",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=ExtensionSchema,
    headers=KeyHeaders,
    response=WrittenSchema,
    status=201,
)
def extend(body: Doc, headers: Doc, game: str) -> Response:
    """Move the deadline of the open decision: after an outage, for a holiday.

    It can be brought forward to a minute from now at the soonest.
    """
    authorization.require_director()
    named, ms = idempotency_key(headers["key"]), body["seconds"] * 1000
    stored = services().commands.handle(game, Extend(body["decision"], ms), idempotency_key=named)
    return write_response(stored)


@bp.operation(
    "POST",
    "/<game:game>/close",
    "close_game",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=CloseSchema,
    headers=KeyHeaders,
    response=WrittenSchema,
    status=201,
)
def close_game(body: Doc, headers: Doc, game: str) -> Response:
    """Close a table that will not be finished; its seed and everything hidden are shown."""
    authorization.require_director()
    act = Close(body["reason"], "director")
    return write_response(services().commands.handle(game, act, idempotency_key=idempotency_key(headers["key"])))


# --- seats -----------------------------------------------------------------------------------------------------


@bp.operation(
    "PUT",
    "/<game:game>/seats/<seat:seat>/hold",
    "hold_seat",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=HoldSchema,
    headers=MoveHeaders,
    response=WrittenSchema,
)
def hold_seat(body: Doc, headers: Doc, game: str, seat: int) -> Response:
    """Hold a seat, with or without a player: no time of it runs, and no default is played for it.

    It ends after so many seconds, with a hold of 0, and when somebody takes the seat.
    """
    authorization.require_director()
    act, named = Hold(seat, body["seconds"]), idempotency_key(headers["key"])
    stored = services().commands.handle(game, act, expected=if_match_version(headers["match"]), idempotency_key=named)
    return write_response(stored, status=200)


@bp.operation(
    "POST",
    "/<game:game>/seats/<seat:seat>/tokens",
    "reissue_token",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=MoveHeaders,
    response=TokenDocSchema,
    status=201,
)
def reissue_token(_: Json, headers: Doc, game: str, seat: int) -> Response:
    """Give the player of a seat a new token in place of one that was lost, which opens nothing any more.

    The player stays the same, and everybody can read that it was done. With If-Match nobody gets it but who sat there
    at that version; a repetition with its key gets the same answer.
    """
    authorization.require_director()
    s, who, key = services(), authorization.principal(), headers["key"]
    _, now = load_table(game)
    if now.players.get(seat, Player("")).id != who.player:
        authorization.require_no_seat(now)
    grant = s.seat_tokens.make_token("reissue", game, str(seat), who.player, key) if key else s.seat_tokens.make_token()

    def replace_token(record: Record) -> list[Statement]:
        return s.seat_tokens.replace(game, seat, grant.token)

    act, expected = Reissue(seat), if_match_version(headers["match"])
    stored = s.commands.handle(
        game, act, expected=expected, idempotency_key=idempotency_key(key), extra_statements=replace_token
    )
    if not stored.replayed:
        given = {"token": token_id(grant.token), "player": now.players[seat].id}
        security_log.log_event("token_replaced", game=game, seat=seat, by=who.player, **given)
    return write_response(stored, {"seat": seat, "token": grant.token})
