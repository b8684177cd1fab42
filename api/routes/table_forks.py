"""Route for forks: a new game for analysis, from a version of another one."""

from __future__ import annotations

from api import authorization, officer_rights
from api.caller_keys import command_key, person_key
from api.command_execution import execute_command
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.paces import parse_pace
from api.response_builders import confirm_write, write_response
from api.routes.boards import load_visible_table
from api.routes.games import charge_quota, make_player_token, report_issued_token
from api.schemas.query_args import NewHeaders
from api.schemas.request_bodies import ForkSchema
from api.schemas.table_responses import ForkDoc
from api.services import services
from domain.errors import RuleError
from domain.kernel.game.director_commands import Look
from domain.kernel.game.forks import fold_origin
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import includes_office
from domain.kernel.rules.meta import Meta
from domain.service.principals import Principal
from domain.types import DIRECTOR, PUBLIC, Doc, Seat, Viewer
from projections.game_documents import OriginDoc

bp = Blueprint("forks", __name__, url_prefix="/v1/games", description="Analysis of games.")


@bp.operation(
    "POST",
    "/<game:game>/forks",
    "fork_game",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=ForkSchema,
    headers=NewHeaders,
    status=201,
    response_headers=string_headers("Location"),
)
def fork_game(body: Doc, headers: Doc, game: str) -> JsonResponse[ForkDoc]:
    """Fork a game: a new one for analysis from one of its versions, with chance of its own.

    You direct it and have all its seats. It runs at once, without deadlines, and you go back freely. Leave a seat, and
    somebody else or a bot can take it. Things known to a seat in the original stay, and unseen ones are dealt anew. It
    appears in no list and has no results.

    Anybody forks a closed game, as a whole or with `seat` from what that seat knew. Its director forks a running one:
    from what is public, or with `seat` from what that seat knows. The latter is a look, and the game records it.
    """
    s = services()
    rules, seen = load_visible_table(game)
    viewer: Viewer | None = body["seat"]
    if seen.status != "closed":
        _require_director(seen, body["seat"])
        viewer = PUBLIC if viewer is None else viewer
    if body["version"] > seen.version:
        raise Problem("unknown_version", version=seen.version)
    with rate_limits.whole_game_slot():  # first, or refused forks would use up the quota
        fold_origin(rules, s.ledger.read_original(game), body["version"], viewer)
    player, issued_token, key_id = make_player_token("fork", game, headers["key"])
    new = issued_token.game
    if seen.status != "closed" and viewer != PUBLIC:
        _record_look(seen, body["version"])
    if not (key_id and s.ledger.find_command(new, key_id)):
        charge_quota("tables")
    rows = s.seat_tokens.issue(new, DIRECTOR, player, issued_token.token, account=True)
    for seat in range(seen.table.seats):  # each role has a token of its own, which an account does not use
        rows += s.seat_tokens.issue(new, seat, player, s.seat_tokens.make_token().token, account=True)
    with rate_limits.whole_game_slot():
        stored = s.commands.fork(
            new,
            game,
            body["version"],
            player,
            _fork_terms(rules.meta, seen),
            viewer=viewer,
            idempotency_key=command_key(key_id or "", new, person_key(headers["key"])),
            extra_statements=lambda _: rows,
        )
    report_issued_token(stored, issued_token, player, DIRECTOR)
    origin: OriginDoc = s.ledger.read(new, 0, 1)[0].body["origin"]
    doc: ForkDoc = {**confirm_write(stored), "player": player, "origin": origin}
    return write_response(stored, doc, Location=f"/v1/games/{new}")


def _require_director(running: AnyGame, seat: Seat | None) -> None:
    """Raise RuleError or Problem unless the caller directs the running game, plays no part in it, and may see a seat.

    The fork would help a director with a seat to choose moves.
    """
    officer = officer_rights.acting_officer(running.id)
    if officer is None:
        raise RuleError("still_running", "", {"status": running.status})
    if not includes_office(officer.office, "director"):
        raise RuleError("office_insufficient")
    ids, account = officer_rights.officer_ids(running.id), authorization.credential_owner().account
    caller = Principal(running.id, DIRECTOR, officer.player, "", account=account, office=officer.office)
    refusal = officer_rights.hidden_data_refusal(services(), caller, running, ids)
    if running.has_stake(ids) or refusal == "director_plays":
        raise RuleError("director_has_stake")
    if seat is not None and refusal:
        raise Problem(refusal)


def _record_look(running: AnyGame, version: int) -> None:
    """Record a look of the caller, unless one at this version or later is recorded."""
    s = services()
    later = s.ledger.read(running.id, after=version)
    own = officer_rights.list_rulings(s, running, later, officer_rights.officer_ids(running.id))
    if not any(isinstance(command, Look) for _, command in own):
        s.notify_appended(execute_command(running.id, Look()).position)


def _fork_terms(meta: Meta, seen: AnyGame) -> Doc:
    """Return the terms of a fork: no deadlines, and undo without consent; spectators wait as long as of its origin."""
    pace = parse_pace(meta, "none", services().clock()).to_json()
    terms: Doc = {"pace": pace, "undo": "free", "listing": "unlisted", "several": True, "hold": 7 * 86_400}
    delay = seen.terms.get("delay")  # of a closed game too: spectators may still wait for its end
    return terms | ({"delay": delay} if delay else {})
