"""Routes for many games at once: opening tables for a tournament, exporting finished games."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from urllib.parse import urlencode

from flask import Response

from api import authorization
from api.caller_keys import mark_replayed
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, visible_head
from api.routes.games import open_table
from api.routes.history import EXPORT, NDJSON, export_lines, file_response
from api.schemas.query_args import ExportsArgs, ManyHeaders
from api.schemas.request_bodies import NewGamesSchema
from api.schemas.table_responses import NewGameDoc, NewGamesDoc
from api.services import services
from domain.types import PUBLIC, Doc

bp = Blueprint("bulk", __name__, url_prefix="/v1", description="Many games at once.")


@bp.operation(
    "POST",
    "/games/batches",
    "open_games",
    access=authorization.optional_person("direct"),
    errors=(403, 409),
    body=NewGamesSchema,
    headers=ManyHeaders,
    status=201,
)
def open_games(body: Doc, headers: Doc) -> JsonResponse[NewGamesDoc]:
    """Open many tables of one kind, and return for each the response of `POST /v1/games`.

    If the request stops before the last table, repeat it with the same key: it continues there and opens no table
    twice.
    """
    items: list[NewGameDoc] = []
    is_new = False
    for n in range(body["count"]):
        stored, doc = open_table(body["table"], ("open", str(n)), headers["key"])
        items.append(doc)
        is_new = is_new or not stored.replayed
    response: JsonResponse[NewGamesDoc] = json_response({"items": items}, 201)
    if not is_new:
        mark_replayed(response)
    return response


@bp.operation(
    "GET",
    "/exports",
    "exports",
    errors=(503,),
    query=ExportsArgs,
    response=EXPORT,
    content_type=NDJSON,
    response_headers=string_headers("Link"),
)
def exports(args: Doc) -> Response:
    """Return the exports of finished public games, in the order of their close.

    Come back with the cursor of the last page to get the games closed since. Damaged games are left out.
    """
    rate_limits.charge_request(None)
    found = services().reader.list_closed(args["ruleset"], args["player"], args["cursor"], args["limit"])
    with rate_limits.whole_game_slot():
        response = file_response(chain.from_iterable(_read_export_lines(game) for _, game in found), "games.annals")
    query = {name: args[name] for name in ("ruleset", "player") if args[name]}
    cursor = found[-1][0] if found else args["cursor"]
    next_url = "/v1/exports?" + urlencode({**query, "limit": args["limit"], "cursor": cursor})
    response.headers["Link"] = f'<{next_url}>; rel="next"'
    return response


def _read_export_lines(game: str) -> Iterator[bytes]:
    """Return the public export lines of a game, or nothing for a damaged game."""
    try:
        head, damaged = visible_head(game)
    except Problem:  # the first record is damaged
        return iter(())
    return iter(()) if damaged else export_lines(game, head, PUBLIC)
