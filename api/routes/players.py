"""People: their results, and being forgotten."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents.summaries import add_names
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import page_response, paginate
from api.schemas.history_responses import ResultsSchema
from api.schemas.query_args import ResultsArgs, TheirGamesArgs
from api.schemas.table_responses import LobbySchema
from api.services import ApiServices, Doc, services
from domain.types import DIRECTOR

MAX_GAMES = 5000
"""Games of one person that are looked through."""

bp = Blueprint("players", __name__, url_prefix="/v1/players", description="People, by opaque ids.")


@bp.operation(
    "GET",
    "/<player:player>/results",
    "results",
    query=ResultsArgs,
    response=ResultsSchema,
    response_headers=string_headers("Link"),
)
def results(args: Doc, player: str) -> Response:
    """Read the final places of a player, the newest game first; games that were not finished have none.

    `finished` and `unfinished` count all of them, not this page alone.
    """
    rate_limits.charge_request(None)
    s, limit = services(), args["limit"]
    found = s.reader.list_results(player, limit + 1, args["cursor"])
    items, address = paginate(found, limit, f"/v1/players/{player}/results", "{at}.{game}.{seat}".format_map)
    finished, unfinished = s.reader.count_results(player)
    name = s.seat_tokens.texts.list_names([player]).get(player)
    return page_response(items, address, player=player, name=name, finished=finished, unfinished=unfinished)


@bp.operation(
    "GET",
    "/<player:player>/games",
    "games_of",
    query=TheirGamesArgs,
    response=LobbySchema,
    response_headers=string_headers("Link"),
)
def games_of(args: Doc, player: str) -> Response:
    """Find the public tables of a player, the newest change first."""
    rate_limits.charge_request(None)
    s, limit, status = services(), args["limit"], args["status"]
    games = _list_visible_tables(s, player)
    found = s.reader.list_summaries(games, status, args["cursor"], limit + 1, listing="public")
    page, address = paginate(found, limit, f"/v1/players/{player}/games", lambda last: last[0], status=status)
    return page_response(add_names(services(), [doc for _, doc in page]), address)


def _list_visible_tables(s: ApiServices, player: str) -> list[str]:
    """The games at which everybody may know the player: at a table with a delay those at which he is seen to sit."""
    roles = s.seat_tokens.list_roles(player)
    games = list(roles)[:MAX_GAMES]
    late = s.reader.filter_delayed(games)
    return [g for g in games if g not in late or DIRECTOR in roles[g]] + s.reader.list_seated_tables(player, MAX_GAMES)


@bp.operation(
    "DELETE", "/<player:player>/name", "forget", access=authorization.require_person, errors=(403,), status=204
)
def forget(player: str) -> Response:
    """Have one's name and texts erased; games go on under the opaque id."""
    who = authorization.optional_principal()
    if who is None:
        raise Problem("forbidden", "Erase the whole account instead: DELETE /v1/me.")
    if who.player != player or who.lent:
        raise Problem("forbidden", "You may erase only your own name, with a token that nobody else has had.")
    services().seat_tokens.texts.erase_now(player)
    return Response(status=204)
