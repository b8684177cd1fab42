"""Routes for directors: see hidden data, move deadlines, hold seats, replace tokens, close a game."""

from __future__ import annotations

from typing import Any

import msgspec

from api import authorization, officer_rights
from api.caller_keys import role_key
from api.command_execution import execute_command
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import confirm_write, if_match_version, load_table, write_response
from api.routes.accounts.seat_release import vacate_gone_players
from api.routes.boards import load_from_records
from api.schemas.common_documents import WrittenDoc
from api.schemas.officer_bodies import CloseSchema, ExtensionSchema, HoldSchema
from api.schemas.play_responses import LookDoc
from api.schemas.query_args import MoveHeaders
from api.schemas.request_bodies import StartSchema
from api.schemas.table_responses import TokenDoc
from api.services import services
from domain.command_handler import GameConditions
from domain.kernel.game.command import Command
from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.director_commands import Extend, Hold, Look, Reissue
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.rulings import ENDINGS
from domain.kernel.game.seat_players import Player
from domain.kernel.game.table_commands import Close
from domain.kernel.records.record import Record
from domain.service.database import Statement
from domain.service.token_text import token_id
from domain.types import DIRECTOR, Doc
from projections import documents

bp = Blueprint("director", __name__, url_prefix="/v1/games", description="Actions of directors.")


@bp.operation(
    "POST",
    "/<game:game>/looks",
    "look",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def look(body: Doc, headers: Doc, game: str) -> JsonResponse[LookDoc]:
    """Return the board with all hidden data, for a director without a seat.

    The game records the look. A ruling by the director is visible at once; its nature is visible after the game's
    close.
    """
    officer_rights.require_officer()
    _, now = load_table(game)
    officer_rights.require_no_stake(now)
    with rate_limits.whole_game_slot():
        stored = execute_command(
            game,
            Look(),
            GameConditions(expected=if_match_version(headers["match"]), idempotency_key=role_key(headers["key"])),
            reason=body["reason"],
        )
        if not stored.replayed:
            caller = authorization.principal()
            security_log.log_event("looked", game=game, player=caller.player, token=caller.token)
        loaded = load_from_records(services().ledger.read(game, upto=stored.versions[-1]))
        officer_rights.require_no_stake(loaded.game)  # the director may have taken a seat meanwhile
    board = msgspec.json.decode(documents.build_board(loaded, DIRECTOR))
    return write_response(stored, {**confirm_write(stored), "board": board})


@bp.operation(
    "POST",
    "/<game:game>/extensions",
    "extend",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=ExtensionSchema,
    headers=MoveHeaders,
    status=201,
)
def extend(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Move the deadline of the open decision, for example after an outage or for a holiday.

    Send `seconds` to add, or `until`, the new deadline: a second press then changes nothing. You can also bring it
    forward, to one minute from now at the earliest.
    """
    officer_rights.require_officer()
    command = Extend(body["decision"], body.get("seconds", 0) * SECOND, until=body.get("until"))
    expected, key = if_match_version(headers["match"]), role_key(headers["key"])
    return write_response(
        execute_command(game, command, GameConditions(expected=expected, idempotency_key=key), reason=body["reason"])
    )


@bp.operation(
    "POST",
    "/<game:game>/close",
    "close_game",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=CloseSchema,
    headers=MoveHeaders,
    status=201,
)
def close_game(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """End a game before its end.

    `abandoned` and `void` close it now: its seed and all hidden data become public. With any other reason it is a
    ruling: play ends, nothing is shown, and the game is closed after a day, unless the ruling is withdrawn. Arbiters
    make rulings; the rest is for directors.
    """
    officer_rights.require_officer()
    reason: Any = body["reason"]
    command: Command = Close(reason, "director")
    if reason in ENDINGS:
        given = (body.get(name, default) for name, default in (("places", ()), ("forfeits", ()), ("penalties", {})))
        command = RuleEnding(reason, *given)
    stored = execute_command(
        game,
        command,
        GameConditions(expected=if_match_version(headers["match"]), idempotency_key=role_key(headers["key"])),
        reason=body["explanation"],
    )
    return write_response(stored)


@bp.operation(
    "POST",
    "/<game:game>/rulings/<version:version>/withdrawal",
    "withdraw_ruling",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def withdraw_ruling(body: Doc, headers: Doc, game: str, version: int) -> JsonResponse[WrittenDoc]:
    """Withdraw the ruling of a version within a day: play goes on, and no time has passed.

    It takes the role of the ruling's author, or a higher one.
    """
    officer_rights.require_officer()
    expected, key = if_match_version(headers["match"]), role_key(headers["key"])
    command = WithdrawRuling(version)
    stored = execute_command(
        game, command, GameConditions(expected=expected, idempotency_key=key), reason=body["reason"]
    )
    vacate_gone_players(game)
    return write_response(stored)


# --- seats -----------------------------------------------------------------------------------------------------


@bp.operation(
    "PUT",
    "/<game:game>/seats/<seat:seat>/hold",
    "hold_seat",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=HoldSchema,
    headers=MoveHeaders,
)
def hold_seat(body: Doc, headers: Doc, game: str, seat: int) -> JsonResponse[WrittenDoc]:
    """Hold a seat, with or without a player: none of its time runs, and no default is played for it.

    The hold ends after `seconds` or at `until`, with a hold of 0, or when a player takes the seat.
    """
    officer_rights.require_officer()
    stored = execute_command(
        game,
        Hold(seat, body.get("seconds", 0), body.get("until")),
        GameConditions(expected=if_match_version(headers["match"]), idempotency_key=role_key(headers["key"])),
        reason=body["reason"],
    )
    return write_response(stored, status=200)


@bp.operation(
    "POST",
    "/<game:game>/seats/<seat:seat>/tokens",
    "reissue_token",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def reissue_token(body: Doc, headers: Doc, game: str, seat: int) -> JsonResponse[TokenDoc]:
    """Give the player of a seat a new token in place of a lost one. The old token stops working.

    The player stays the same, and the game's public records show the change. A player with an account needs no token:
    logging in is enough. After this the director cannot take a seat at the table. With If-Match, it works only for the
    player seated at that version. A repetition with the same key gets the same response.
    """
    officer_rights.require_officer()
    s, caller, key = services(), authorization.principal(), headers["key"]
    _, now = load_table(game)
    player = now.players.get(seat, Player("")).id
    if player != caller.player:
        officer_rights.require_no_stake(now)
        if player and s.account_store.accounts.find_holder(player) is not None:
            raise Problem("account_has_seat")
    issued_token = (
        s.seat_tokens.make_token("reissue", game, str(seat), caller.player, key) if key else s.seat_tokens.make_token()
    )

    def replace_token(record: Record) -> list[Statement]:
        return s.seat_tokens.replace(game, seat, issued_token.token)

    command, expected = Reissue(seat), if_match_version(headers["match"])
    stored = execute_command(
        game,
        command,
        GameConditions(
            author=officer_rights.acting_officer(game),
            expected=expected,
            idempotency_key=role_key(key),
            extra_statements=replace_token,
        ),
        as_player=player == caller.player,
        reason=body["reason"],
    )
    if not stored.replayed:
        details = {"token": token_id(issued_token.token), "player": now.players[seat].id}
        security_log.log_event("token_replaced", game=game, seat=seat, by=caller.player, **details)
    return write_response(stored, {**confirm_write(stored), "seat": seat, "token": issued_token.token})
