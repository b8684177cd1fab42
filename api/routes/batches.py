"""Much at once: many tables for a tournament, many finished games for whoever studies them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from urllib.parse import urlencode

from flask import Response

from api import authorization
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, head_of, told
from api.routes.games import opened
from api.routes.history import EXPORT, NDJSON, lines, sent
from api.schemas.query_args import ExportsArgs, ManyHeaders
from api.schemas.request_bodies import NewGamesSchema
from api.schemas.table_responses import NewGamesDocSchema
from api.services import Doc, services
from domain.types import PUBLIC

room = Blueprint("bulk", __name__, url_prefix="/v1", description="Much at once.")


@room.route("/games/batches", methods=["POST"])
@authorization.known("direct")
@fails(403, 409)
@room.arguments(NewGamesSchema)
@room.arguments(ManyHeaders, location="headers")
@room.response(201, NewGamesDocSchema)
@room.doc(operationId="open_games")
def open_games(body: Doc, headers: Doc) -> Response:
    """Open many tables of one kind, one after the other, each with what its opening would be answered.

    Where it ends before the last of them, a repetition with the same key goes on from there: none is opened twice.
    """
    made = (opened(body["table"], ("open", str(n)), headers["key"]) for n in range(body["count"]))
    return answer({"items": [told(stored) | doc for stored, doc in made]}, 201)


@room.route("/exports", methods=["GET"])
@fails(503)
@room.arguments(ExportsArgs, location="query")
@room.response(200, EXPORT, content_type=NDJSON, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="exports")
def exports(args: Doc) -> Response:
    """Take finished public games, one export after the other, in the order in which they were closed.

    Whoever comes back with the cursor of the last page gets what was closed since. Games that are damaged are left out.
    """
    rate_limits.spend(None)
    found = services().reader.closed(args["ruleset"], args["player"], args["cursor"], args["limit"])
    with rate_limits.whole_game():
        made = sent(chain.from_iterable(_whole(game) for _, game in found), "games.annals")
    kept = {name: args[name] for name in ("ruleset", "player") if args[name]}
    cursor = found[-1][0] if found else args["cursor"]
    address = "/v1/exports?" + urlencode({**kept, "limit": args["limit"], "cursor": cursor})
    made.headers["Link"] = f'<{address}>; rel="next"'
    return made


def _whole(game: str) -> Iterator[bytes]:
    try:
        head, damaged = head_of(game)
    except Problem:  # nothing of it can be shown
        return iter(())
    return iter(()) if damaged else lines(game, head, PUBLIC)
