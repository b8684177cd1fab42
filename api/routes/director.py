"""What only a director does: looking at what is hidden, moving deadlines, closing a table that will not be finished."""

from __future__ import annotations

import orjson
from flask import Response

from api import auth, limits
from api.answers import LookDocSchema, WrittenSchema
from api.openapi import Blueprint, fails
from api.problems import Problem
from api.replies import command, table, written
from api.requests import CloseSchema, ExtensionSchema, KeyHeaders, StartSchema
from api.routes.boards import known_at
from api.services import Doc, services
from domain.ids import DIRECTOR, Json
from domain.kernel.acts import Close, Extend, Look
from projections import documents

room = Blueprint("director", __name__, url_prefix="/v1/games", description="What only a director does.")


def _directing() -> None:
    if auth.principal().seat is not None:
        raise Problem("directors_only")


@room.route("/<game:game>/looks", methods=["POST"])
@auth.signed
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
    auth.stand_apart(now)
    with limits.whole_game():
        stored = services().commands.do(game, Look(), command=command(headers["key"]))
        known = known_at(services().ledger.read(game, upto=stored.versions[-1]))
    return written(stored, {"board": orjson.loads(documents.board(known, DIRECTOR))})


@room.route("/<game:game>/extensions", methods=["POST"])
@auth.signed
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
@auth.signed
@fails(403, 404, 409, 412)
@room.arguments(CloseSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, WrittenSchema)
@room.doc(operationId="close_game")
def close_game(body: Doc, headers: Doc, game: str) -> Response:
    """Close a table that will not be finished; its seed and everything hidden are shown."""
    _directing()
    return written(services().commands.do(game, Close(body["reason"]), command=command(headers["key"])))
