"""People: their results, and being forgotten."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents.summaries import with_names
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import cut, paged
from api.schemas.history_responses import ResultsSchema
from api.schemas.query_args import ResultsArgs, TheirGamesArgs
from api.schemas.table_responses import LobbySchema
from api.services import Doc, Services, services
from domain.types import DIRECTOR

MOST = 5000
"""Games of one person that are looked through."""

room = Blueprint("players", __name__, url_prefix="/v1/players", description="People, by opaque ids.")


@room.route("/<player:player>/results", methods=["GET"])
@room.arguments(ResultsArgs, location="query")
@room.response(200, ResultsSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="results")
def results(args: Doc, player: str) -> Response:
    """Read the final places of a player, the newest game first; games that were not finished have none.

    `finished` and `unfinished` count all of them, not this page alone.
    """
    rate_limits.spend(None)
    s, limit = services(), args["limit"]
    found = s.reader.results(player, limit + 1, args["cursor"])
    items, address = cut(found, limit, f"/v1/players/{player}/results", "{at}.{game}.{seat}".format_map)
    finished, unfinished = s.reader.counted(player)
    name = s.access.names([player]).get(player)
    return paged(items, address, player=player, name=name, finished=finished, unfinished=unfinished)


@room.route("/<player:player>/games", methods=["GET"])
@room.arguments(TheirGamesArgs, location="query")
@room.response(200, LobbySchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="games_of")
def games_of(args: Doc, player: str) -> Response:
    """Find the public tables of a player, the newest change first."""
    rate_limits.spend(None)
    s, limit, status = services(), args["limit"], args["status"]
    games = _known_to_play(s, player)
    found = s.reader.of(games, status, args["cursor"], limit + 1, listing="public")
    page, address = cut(found, limit, f"/v1/players/{player}/games", lambda last: last[0], status=status)
    return paged(with_names(services(), [doc for _, doc in page]), address)


def _known_to_play(s: Services, player: str) -> list[str]:
    """The games at which everybody may know the player: at a table with a delay those at which he is seen to sit."""
    roles = s.access.roles(player)
    games = list(roles)[:MOST]
    late = s.reader.delayed(games)
    return [g for g in games if g not in late or DIRECTOR in roles[g]] + s.reader.seated(player, MOST)


@room.route("/<player:player>/name", methods=["DELETE"])
@authorization.person
@fails(403)
@room.response(204)
@room.doc(operationId="forget")
def forget(player: str) -> Response:
    """Have one's name and texts erased; games go on under the opaque id."""
    who = authorization.asking()
    if who is None:
        raise Problem("forbidden", "An account is erased as a whole: DELETE /v1/me.")
    if who.player != player or who.lent:
        raise Problem("forbidden", "Everybody may erase their own name, with a token that nobody else has had.")
    services().access.forget(player)
    return Response(status=204)
