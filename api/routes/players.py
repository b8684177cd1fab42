"""People: their results, and being forgotten."""

from __future__ import annotations

from flask import Response

from api import auth
from api.answers import ResultsSchema
from api.openapi import Blueprint, fails
from api.problems import Problem
from api.replies import answer
from api.services import services

room = Blueprint("players", __name__, url_prefix="/v1/players", description="People, by opaque ids.")


@room.route("/<player:player>/results", methods=["GET"])
@room.response(200, ResultsSchema)
@room.doc(operationId="results")
def results(player: str) -> Response:
    """Read the final places of a player, the newest game first; games that were not finished have none."""
    s = services()
    items = [{str(k): v for k, v in row.items()} for row in s.reader.results(player)]  # the database's keys are no str
    finished = sum(row["place"] is not None for row in items)
    doc = {"player": player, "name": s.access.names([player]).get(player), "items": items}
    return answer(doc | {"finished": finished, "unfinished": len(items) - finished}, cache="private, no-cache")


@room.route("/<player:player>/name", methods=["DELETE"])
@auth.person
@fails(403)
@room.response(204)
@room.doc(operationId="forget")
def forget(player: str) -> Response:
    """Have one's name and texts erased; games go on under the opaque id."""
    who = auth.asking()
    if who is None:
        raise Problem("forbidden", "An account is erased as a whole: DELETE /v1/me.")
    if who.player != player or who.lent:
        raise Problem("forbidden", "Everybody may erase their own name, with a token that nobody else has had.")
    services().access.forget(player)
    return Response(status=204)
