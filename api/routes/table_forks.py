"""Route for forks: a new game for analysis, from a version of a closed one."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import command_key, person_key
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.paces import parse_pace
from api.response_builders import write_response
from api.routes.boards import load_visible_table
from api.routes.games import charge_quota, make_player_token, report_issued_token
from api.schemas.query_args import NewHeaders
from api.schemas.request_bodies import ForkSchema
from api.schemas.table_responses import ForkDocSchema
from api.services import Doc, services
from domain.errors import RuleError
from domain.kernel.game.forks import fold_origin
from domain.kernel.rules.meta import Meta
from domain.types import DIRECTOR

bp = Blueprint("forks", __name__, url_prefix="/v1/games", description="Analysis of closed games.")


@bp.operation(
    "POST",
    "/<game:game>/forks",
    "fork_game",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=ForkSchema,
    headers=NewHeaders,
    response=ForkDocSchema,
    status=201,
    response_headers=string_headers("Location"),
)
def fork_game(body: Doc, headers: Doc, game: str) -> Response:
    """Fork a closed game: a new game for analysis from one of its versions, with chance of its own.

    You direct it and have all its seats. It runs at once, without deadlines, and you go back freely. Leave a seat, and
    somebody else or a bot can take it. Things known to a seat in the original stay, and unseen ones are dealt anew. Its
    records are public, like those of the original. It appears in no list and has no results.
    """
    s = services()
    rules, closed = load_visible_table(game)
    if closed.status != "closed":
        raise RuleError("still_running", "", {"status": closed.status})
    if body["version"] > closed.version:
        raise Problem("unknown_version", version=closed.version)
    with rate_limits.whole_game_slot():  # first, or refused forks would use up the quota
        fold_origin(rules, s.ledger.read(game), body["version"])
    player, issued_token, key_id = make_player_token("fork", game, headers["key"])
    new = issued_token.game
    if not (key_id and s.ledger.find_command(new, key_id)):
        charge_quota("tables")
    rows = s.seat_tokens.issue(new, DIRECTOR, player, issued_token.token, account=True)
    for seat in range(closed.table.seats):  # each role has a token of its own, which an account does not use
        rows += s.seat_tokens.issue(new, seat, player, s.seat_tokens.make_token().token, account=True)
    with rate_limits.whole_game_slot():
        stored = s.commands.fork(
            new,
            game,
            body["version"],
            player,
            _fork_terms(rules.meta),
            idempotency_key=command_key(key_id or "", new, person_key(headers["key"])),
            extra_statements=lambda _: rows,
        )
    report_issued_token(stored, issued_token, player, DIRECTOR)
    doc = {"player": player, "origin": s.ledger.read(new, 0, 1)[0].body["origin"]}
    return write_response(stored, doc, Location=f"/v1/games/{new}")


def _fork_terms(meta: Meta) -> Doc:
    """Return the terms of a fork: no deadlines, and undo without consent."""
    pace = parse_pace(meta, "none", services().clock()).to_json()
    return {"pace": pace, "undo": "free", "listing": "unlisted", "several": True, "hold": 7 * 86_400}
