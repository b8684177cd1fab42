"""One's own circle: challenges that wait for an answer, tables that one watches, people whom one keeps away."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents import challenges
from api.documents.summaries import with_names
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, cut, paged
from api.schemas.accounts import BlocksSchema, MyChallengesSchema
from api.schemas.query_args import PlainPageArgs
from api.schemas.table_responses import LobbySchema
from api.services import services
from domain.errors import UnknownGame

room = Blueprint("circle", __name__, url_prefix="/v1/me", description="One's own circle.")


# --- challenges ------------------------------------------------------------------------------------------------


@room.route("/challenges", methods=["GET"])
@authorization.person
@fails(403)
@room.response(200, MyChallengesSchema)
@room.doc(operationId="my_challenges")
def my_challenges() -> Response:
    """List the tables to which one is asked, the oldest first; taking a seat there accepts.

    What people ask whom one blocks is left out.
    """
    found = authorization.holder()
    return answer(challenges.asked(services(), authorization.players(), found.account if found else ""))


@room.route("/challenges/<game:game>", methods=["DELETE"])
@authorization.playing
@fails(403, 404)
@room.response(204)
@room.doc(operationId="decline")
def decline(game: str) -> Response:
    """Say no to a challenge; a seat that was kept is free."""
    if not services().people.circle.decline(game, authorization.players()):
        raise Problem("not_found")
    return Response(status=204)


# --- tables that are watched -----------------------------------------------------------------------------------


@room.route("/watching", methods=["GET"])
@authorization.mine
@fails(403)
@room.arguments(PlainPageArgs, location="query")
@room.response(200, LobbySchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="watching")
def watching(args: dict[str, int]) -> Response:
    """List the tables that one watches, the newest change first."""
    s, limit = services(), args["limit"]
    games = s.people.circle.watched(authorization.holding().account)
    found = s.reader.of(games, before=args["cursor"], limit=limit + 1)
    page, address = cut(found, limit, "/v1/me/watching", lambda last: last[0])
    return paged(with_names(services(), [doc for _, doc in page]), address)


@room.route("/watching/<game:game>", methods=["PUT"])
@authorization.own
@fails(403, 404, 409)
@room.response(204)
@room.doc(operationId="watch")
def watch(game: str) -> Response:
    """Watch a table."""
    s = services()
    if not s.ledger.version(game):
        raise UnknownGame(game)
    s.people.circle.watch(authorization.holding().account, game)
    return Response(status=204)


@room.route("/watching/<game:game>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="unwatch")
def unwatch(game: str) -> Response:
    """Watch a table no longer."""
    services().people.circle.unwatch(authorization.holding().account, game)
    return Response(status=204)


# --- who is kept away ------------------------------------------------------------------------------------------


@room.route("/blocks", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, BlocksSchema)
@room.doc(operationId="blocks")
def blocks() -> Response:
    """List the people whom one blocks."""
    s = services()
    found = s.people.circle.blocks(authorization.holding().account)
    names = s.access.names([player for player, _ in found])
    return answer({"items": [{"player": p, "name": names.get(p), "since": since} for p, since in found]})


@room.route("/blocks/<player:player>", methods=["PUT"])
@authorization.own
@fails(403, 409)
@room.response(204)
@room.doc(operationId="block")
def block(player: str) -> Response:
    """Block a person, who is not told: challenges do not come through, and one's own tables are closed."""
    s, me = services(), authorization.holding().account
    if player in authorization.players():
        raise Problem("forbidden", "Nobody blocks himself.")
    s.people.circle.block(me, player)
    return Response(status=204)


@room.route("/blocks/<player:player>", methods=["DELETE"])
@authorization.own
@fails(403)
@room.response(204)
@room.doc(operationId="unblock")
def unblock(player: str) -> Response:
    """Block a person no longer."""
    services().people.circle.unblock(authorization.holding().account, player)
    return Response(status=204)
