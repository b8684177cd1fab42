"""Routes of players: results, public games, and erasing a name."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization
from api.documents.summaries import add_names
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import ChangeCursor, page_response, paginate, paginate_changes
from api.schemas.history_responses import ResultsDoc
from api.schemas.query_args import ResultsArgs, TheirGamesArgs
from api.schemas.table_responses import LobbyDoc
from api.services import ApiServices, services
from domain.accounts.account_tables import write
from domain.kernel.game.seat_players import is_bot
from domain.types import DIRECTOR, Doc
from projections.game_documents import StoredSummaryDoc

MAX_GAMES = 5000
"""Most games of one player to search."""

bp = Blueprint("players", __name__, url_prefix="/v1/players", description="Players, by opaque ids.")


@bp.operation(
    "GET",
    "/<player:player>/results",
    "results",
    access=authorization.optional_person("read"),
    query=ResultsArgs,
    response_headers=string_headers("Link"),
)
def results(args: Doc, player: str) -> JsonResponse[ResultsDoc]:
    """Return the final ranks of a player at public tables, newest game first. Unfinished games have none.

    To the player, the list also contains tables by invitation. `finished` and `unfinished` count all games, not only
    this page.
    """
    s, limit, own = services(), args["limit"], player in authorization.player_ids()
    found = s.reader.list_results(player, limit + 1, args["cursor"], own=own)
    items, address = paginate(found, limit, f"/v1/players/{player}/results", "{at}.{game}.{seat}".format_map)
    finished, unfinished, conceded = s.reader.count_results(player, own=own)
    name = s.seat_tokens.texts.list_names([player]).get(player)
    is_guest = name is not None and not is_bot(player) and s.account_store.accounts.find_by_player(player) is None
    return page_response(
        {
            "player": player,
            "name": name,
            "guest": is_guest,
            "finished": finished,
            "unfinished": unfinished,
            "conceded": conceded,
            "items": list(items),
            "next": address,
        }
    )


@bp.operation(
    "GET", "/<player:player>/games", "games_of", query=TheirGamesArgs, response_headers=string_headers("Link")
)
def games_of(args: Doc, player: str) -> JsonResponse[LobbyDoc]:
    """Return the public games of a player, newest change first."""
    rate_limits.charge_request(None)
    s, limit, status = services(), args["limit"], args["status"]
    games = _list_visible_tables(s, player)

    def read(before: int, since: int, limit: int) -> Sequence[tuple[int, StoredSummaryDoc]]:
        return s.reader.list_summaries(games, status, before, limit, after=since, listing="public")

    path = f"/v1/players/{player}/games"
    page, address = paginate_changes(read, ChangeCursor.of_args(args), limit, path, status=status)
    return page_response({"items": add_names(services(), page), "next": address})


def _list_visible_tables(s: ApiServices, player: str) -> list[str]:
    """Return the player's games as everybody may know them.

    A game with a delay is included once spectators can see the player in it.
    """
    roles = s.seat_tokens.list_roles(player)
    games = list(roles)[:MAX_GAMES]
    delayed = s.reader.filter_delayed(games)
    owned = {g for g in delayed if DIRECTOR in roles[g] and s.seat_tokens.find_director(g) == player}
    return [g for g in games if g not in delayed or g in owned] + s.reader.list_seated_tables(player, MAX_GAMES)


@bp.operation(
    "DELETE", "/<player:player>/name", "forget", access=authorization.require_person, errors=(403,), status=204
)
def forget(player: str) -> Response:
    """Erase your name, texts, messages and notes. Games continue under the opaque player id."""
    caller = authorization.optional_principal()
    if caller is None:
        raise Problem("forbidden", "Erase the whole account instead: DELETE /v1/me.")
    if caller.player != player or caller.lent:
        raise Problem("forbidden", "You may erase only your own name, and not with a token lent by a director.")
    s = services()
    s.ledger.run_in_append_order(lambda execute: write(execute, s.talk.erase([player])))
    s.seat_tokens.texts.erase_now(player)
    return Response(status=204)
