"""Routes of the account's challenges, watched games, and blocked players."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization
from api.documents import challenges
from api.documents.summaries import add_names
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import ChangeCursor, json_response, page_response, paginate_changes
from api.schemas.accounts import BlocksDoc, MyChallengesDoc
from api.schemas.query_args import PlainPageArgs
from api.schemas.table_responses import LobbyDoc
from api.services import services
from domain.errors import UnknownGame
from projections.game_documents import StoredSummaryDoc

bp = Blueprint("circle", __name__, url_prefix="/v1/me", description="Challenges, watched games, and blocked players.")


# --- challenges ------------------------------------------------------------------------------------------------


@bp.operation("GET", "/challenges", "my_challenges", access=authorization.require_person, errors=(403,))
def my_challenges() -> JsonResponse[MyChallengesDoc]:
    """Return your open challenges, oldest first. Take the seat to accept one.

    Challenges by blocked players are left out.
    """
    found = authorization.optional_owner()
    return json_response(
        challenges.build_challenges(services(), authorization.player_ids(), found.account if found else "")
    )


@bp.operation(
    "DELETE", "/challenges/<game:game>", "decline", access=authorization.require_player, errors=(403, 404), status=204
)
def decline(game: str) -> Response:
    """Decline a challenge. A reserved seat becomes free."""
    if not services().account_store.social_graph.decline(game, authorization.player_ids()):
        raise Problem("not_found")
    return Response(status=204)


# --- watched games ---------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/watching",
    "watching",
    access=authorization.require_account,
    errors=(403,),
    query=PlainPageArgs,
    response_headers=string_headers("Link"),
)
def watching(args: dict[str, int]) -> JsonResponse[LobbyDoc]:
    """Return the games you watch, newest change first."""
    s, limit = services(), args["limit"]
    games = s.account_store.social_graph.list_watched(authorization.credential_owner().account)

    def read(before: int, since: int, limit: int) -> Sequence[tuple[int, StoredSummaryDoc]]:
        return s.reader.list_summaries(games, before=before, limit=limit, after=since)

    page, address = paginate_changes(read, ChangeCursor.of_args(args), limit, "/v1/me/watching")
    return page_response({"items": add_names(services(), page), "next": address})


@bp.operation(
    "PUT", "/watching/<game:game>", "watch", access=authorization.require_session, errors=(403, 404, 409), status=204
)
def watch(game: str) -> Response:
    """Watch a game."""
    s = services()
    if not s.ledger.version(game):
        raise UnknownGame(game)
    s.account_store.social_graph.watch(authorization.credential_owner().account, game)
    return Response(status=204)


@bp.operation(
    "DELETE", "/watching/<game:game>", "unwatch", access=authorization.require_session, errors=(403, 404), status=204
)
def unwatch(game: str) -> Response:
    """Stop watching a game."""
    services().account_store.social_graph.unwatch(authorization.credential_owner().account, game)
    return Response(status=204)


# --- blocked players -------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/blocks",
    "blocks",
    access=authorization.require_session,
    errors=(403,),
)
def blocks() -> JsonResponse[BlocksDoc]:
    """Return the players you block."""
    s = services()
    found = s.account_store.social_graph.list_blocks(authorization.credential_owner().account)
    names = s.seat_tokens.texts.list_names([player for player, _ in found])
    return json_response({"items": [{"player": p, "name": names.get(p), "since": since} for p, since in found]})


@bp.operation(
    "PUT", "/blocks/<player:player>", "block", access=authorization.require_session, errors=(403, 409), status=204
)
def block(player: str) -> Response:
    """Block a player: you get no challenges from them, and they cannot join your tables.

    The player is not notified.
    """
    s, me = services(), authorization.credential_owner().account
    if player in authorization.player_ids():
        raise Problem("forbidden", "You cannot block yourself.")
    if s.seat_tokens.hidden_players.find_game(player):  # what a block keeps away elsewhere would tell who it is
        raise Problem("names_hidden")
    s.account_store.social_graph.block(me, player)
    return Response(status=204)


@bp.operation(
    "DELETE", "/blocks/<player:player>", "unblock", access=authorization.require_session, errors=(403,), status=204
)
def unblock(player: str) -> Response:
    """Unblock a player."""
    services().account_store.social_graph.unblock(authorization.credential_owner().account, player)
    return Response(status=204)
