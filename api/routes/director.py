"""What only a director does: looking at what is hidden, moving deadlines, keeping seats, closing a table."""

from __future__ import annotations

import orjson
from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import command, table, wanted, written
from api.routes.boards import known_at
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
from domain.service.seat_tokens import id_of
from domain.types import DIRECTOR, Json
from projections import documents

room = Blueprint("director", __name__, url_prefix="/v1/games", description="What only a director does.")


def _directing() -> None:
    if authorization.principal().seat is not None:
        raise Problem("directors_only")


@room.route("/<game:game>/looks", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(StartSchema, required=False)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, LookDocSchema)
@room.doc(operationId="look")
def look(_: Json, headers: Doc, game: str) -> Response:
    """Look at what is hidden, as a director who has no seat.

    That the director ruled something is public at once; that it was a look is shown when the game is closed.
    """
    _directing()
    _, now = table(game)
    authorization.stand_apart(now)
    with rate_limits.whole_game():
        stored = services().commands.do(game, Look(), command=command(headers["key"]))
        if not stored.replayed:
            who = authorization.principal()
            security_log.tell("looked", game=game, player=who.player, token=who.token)
        known = known_at(services().ledger.read(game, upto=stored.versions[-1]))
        authorization.stand_apart(known.game)  # whoever has taken a seat meanwhile is told nothing
    return written(stored, {"board": orjson.loads(documents.board(known, DIRECTOR))})


@room.route("/<game:game>/extensions", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(ExtensionSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, WrittenSchema)
@room.doc(operationId="extend")
def extend(body: Doc, headers: Doc, game: str) -> Response:
    """Move the deadline of the open decision: after an outage, for a holiday.

    It can be brought forward to a minute from now at the soonest.
    """
    _directing()
    named, ms = command(headers["key"]), body["seconds"] * 1000
    stored = services().commands.do(game, Extend(body["decision"], ms), command=named)
    return written(stored)


@room.route("/<game:game>/close", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(CloseSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, WrittenSchema)
@room.doc(operationId="close_game")
def close_game(body: Doc, headers: Doc, game: str) -> Response:
    """Close a table that will not be finished; its seed and everything hidden are shown."""
    _directing()
    act = Close(body["reason"], "director")
    return written(services().commands.do(game, act, command=command(headers["key"])))


# --- seats -----------------------------------------------------------------------------------------------------


@room.route("/<game:game>/seats/<seat:seat>/hold", methods=["PUT"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(HoldSchema)
@room.arguments(MoveHeaders, location="headers")
@room.response(200, WrittenSchema)
@room.doc(operationId="hold_seat")
def hold_seat(body: Doc, headers: Doc, game: str, seat: int) -> Response:
    """Hold a seat, with or without a player: no time of it runs, and no default is played for it.

    It ends after so many seconds, with a hold of 0, and when somebody takes the seat.
    """
    _directing()
    act, named = Hold(seat, body["seconds"]), command(headers["key"])
    stored = services().commands.do(game, act, expected=wanted(headers["match"]), command=named)
    return written(stored, status=200)


@room.route("/<game:game>/seats/<seat:seat>/tokens", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(StartSchema, required=False)
@room.arguments(MoveHeaders, location="headers")
@room.response(201, TokenDocSchema)
@room.doc(operationId="reissue_token")
def reissue_token(_: Json, headers: Doc, game: str, seat: int) -> Response:
    """Give the player of a seat a new token in place of one that was lost, which opens nothing any more.

    The player stays the same, and everybody can read that it was done. With If-Match nobody gets it but who sat there
    at that version; a repetition with its key gets the same answer.
    """
    _directing()
    s, who, key = services(), authorization.principal(), headers["key"]
    _, now = table(game)
    if now.players.get(seat, Player("")).id != who.player:
        authorization.stand_apart(now)
    grant = s.access.grant("reissue", game, str(seat), who.player, key) if key else s.access.grant()

    def beside(record: Record) -> list[Statement]:
        return s.access.replaced(game, seat, grant.token)

    act, expected = Reissue(seat), wanted(headers["match"])
    stored = s.commands.do(game, act, expected=expected, command=command(key), beside=beside)
    if not stored.replayed:
        given = {"token": id_of(grant.token), "player": now.players[seat].id}
        security_log.tell("token_replaced", game=game, seat=seat, by=who.player, **given)
    return written(stored, {"seat": seat, "token": grant.token})
