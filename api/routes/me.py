"""The person who asks, whatever the token: all tables that are theirs, also those that no lobby shows."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response

from api import auth
from api.answers import MyGamesSchema
from api.openapi import Blueprint
from api.requests import MineArgs
from api.routes.games import paged, with_names
from api.services import Doc, services

room = Blueprint("me", __name__, url_prefix="/v1/me", description="The person who asks.")

MOST = 5000
"""Games of one person that are looked through."""


@room.route("/games", methods=["GET"])
@auth.person
@room.arguments(MineArgs, location="query")
@room.response(200, MyGamesSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="my_games")
def my_games(args: Doc) -> Response:
    """Find the tables at which one has a seat or directs, the newest change first, however they are listed."""
    s, limit = services(), args["limit"]
    who = auth.principal()
    roles = {who.game: [who.role]} if who.lent else s.access.roles(who.player)
    found = s.reader.of(list(roles)[:MOST], args["status"], args["cursor"], limit + 1)
    page, address = with_names([doc for _, doc in found[:limit]]), None
    if len(found) > limit:
        kept = {"status": args["status"]} if args["status"] else {}
        address = "/v1/me/games?" + urlencode({**kept, "limit": limit, "cursor": found[limit - 1][0]})
    return paged([{**doc, "roles": roles[doc["game"]]} for doc in page], address)
