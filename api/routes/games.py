"""The table: opening a game, finding one, taking seats, showing nonces, starting."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from flask import Response

from api import authorization
from api.documents.summaries import add_names, build_lobby_page
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import (
    etag_response,
    idempotency_key,
    if_match_version,
    load_table,
    missing_game,
    opening_terms,
    page_response,
    wait_for_views,
    write_response,
)
from api.schemas.query_args import KeyHeaders, LeaveArgs, LobbyArgs, MoveHeaders, NewHeaders, WaitArgs
from api.schemas.request_bodies import JoinSchema, NewGameSchema, NonceSchema, StartSchema, VacationSchema
from api.schemas.response_fields import WrittenSchema
from api.schemas.table_responses import LobbySchema, NewGameDocSchema, SeatDocSchema, SummarySchema
from api.seating import (
    check_admission,
    check_not_looked,
    check_not_reserved,
    check_visible_seat,
    hide_current_state,
    is_director,
)
from api.services import Doc, services
from domain.bots import HEURISTIC
from domain.command_handler import CommandResult
from domain.errors import UnknownRuleset
from domain.kernel.game.deadlines import MAX_SECONDS, SECOND, TimeControl, parse_time_control
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.table_commands import Join, Leave, Reveal, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.service.database import Statement
from domain.service.principals import Role
from domain.service.seat_tokens import IssuedToken
from domain.service.token_text import token_id
from domain.types import DIRECTOR, Json, Seat

bp = Blueprint("games", __name__, url_prefix="/v1/games", description="Tables: open, find, join, start.")


# --- opening ---------------------------------------------------------------------------------------------------


def _find_ruleset(name: str) -> AnyRuleset:
    catalogue = services().registry
    try:
        return catalogue.get(name) if "@" in name else catalogue.latest(name)
    except UnknownRuleset:
        raise Problem("invalid_table", errors=[{"at": "/ruleset", "message": Message("No such ruleset.")}]) from None


@bp.operation(
    "POST",
    "",
    "open_game",
    access=authorization.optional_person("direct"),
    errors=(403, 409, 412),
    body=NewGameSchema,
    headers=NewHeaders,
    response=NewGameDocSchema,
    status=201,
    response_headers=string_headers("Location"),
)
def open_game(body: Doc, headers: Doc) -> Response:
    """Open a game.

    The answer holds the director's token, which is shown nowhere else. Whoever sends a token of another game stays the
    same person. An account gets no token of the table: its own is the way in. A repetition with its key gets the same
    answer.
    """
    stored, doc = open_table(body, ("open",), headers["key"])
    return write_response(stored, doc, Location=f"/v1/games/{stored.game}")


def open_table(body: Doc, request: tuple[str, ...], key: str) -> tuple[CommandResult, Doc]:
    """The table that such a request opens, and what whoever asks is told of it; raises Problem."""
    s = services()
    rules = _find_ruleset(body["ruleset"])
    check_guest_name(body["name"])
    player, grant, named = _make_player_token("", *request, key)
    if not (named and s.ledger.find_command(grant.game, named)):  # a repetition opens nothing
        authorization.require_good_standing()
        _charge_quota("tables")
    invited = body["listing"] == "invitation"
    pace = parse_time_control(rules.meta, body["pace"])
    terms = {"pace": pace.to_json(), "undo": body["undo"], "listing": body["listing"], "several": body["several"]}
    terms |= {"delay": body["delay"]} if body["delay"] else {}
    terms["hold"] = _default_hold(pace) if body["hold"] is None else body["hold"]
    unsaid = [name for name, none in (("several", False), ("hold", None)) if body[name] is none]
    own = authorization.optional_owner() is not None
    rows = s.seat_tokens.issue(grant.game, DIRECTOR, player, grant.token, body["name"], account=own)
    rows += s.seat_tokens.set_invitation(grant.game, grant.invitation) if invited else []
    stored = s.commands.open(
        grant.game,
        rules.meta.ruleset,
        body["seats"],
        body["options"],
        body=terms,
        defaulted=unsaid,
        idempotency_key=named,
        extra_statements=lambda _: rows,
    )
    report_issued_token(stored, grant, player, DIRECTOR)
    return stored, _token_to_json(grant, player) | ({"invitation": grant.invitation} if invited else {})


def report_issued_token(stored: CommandResult, grant: IssuedToken, player: str, role: Role) -> None:
    """A repetition gives what was given, and is no event; an account is given nothing but its place."""
    services().notify_changed(player)
    if not stored.replayed and authorization.optional_owner() is None:
        security_log.log_event("token_issued", game=stored.game, role=role, player=player, token=token_id(grant.token))


def _default_hold(pace: TimeControl) -> int:
    """For how long a seat is kept unless the table says: as long as anybody may think, or an hour."""
    return max(pace.seconds.values(), default=3600)


def _make_player_token(game: str, *request: str) -> tuple[str, IssuedToken, str | None]:
    """Who asks, known or new; what the request gives them; its command's id. Its last word is the key, or empty."""
    access, keyed = services().seat_tokens, bool(request[-1])
    known = authorization.player_ids()
    caller = next(iter(known), "")
    grant = access.make_token(caller, *request) if keyed else access.make_token()
    return (
        _find_seated_id(game, known) or caller or grant.player,
        grant,
        access.command_id(caller, *request) if keyed else None,
    )


def _find_seated_id(game: str, known: Sequence[str]) -> str:
    """By which of several ids a person is at that table already: one person is one player there."""
    if len(known) < 2 or not game:
        return ""
    sitting = {p.id for p in services().commands.game(game).players.values()}
    return next((player for player in known if player in sitting), "")


def _token_to_json(grant: IssuedToken, player: str) -> Doc:
    """What the answer tells of it: a guest's token is shown, an account has its own."""
    return {"player": player} | ({"token": grant.token} if authorization.optional_owner() is None else {})


def _charge_quota(what: str) -> None:
    found = authorization.optional_owner()
    rate_limits.charge_quota(what, found.account if found else "")


def check_guest_name(name: str) -> None:
    """An account has one name at all tables."""
    if name and authorization.optional_owner() is not None:
        raise Problem(
            "invalid_body", errors=[{"at": "/name", "message": Message("An account plays under its own name.")}]
        )


# --- finding ---------------------------------------------------------------------------------------------------


@bp.operation("GET", "", "lobby", query=LobbyArgs, response=LobbySchema, response_headers=string_headers("Link"))
def lobby(args: Doc) -> Response:
    """Find public games, the newest change first."""
    page = build_lobby_page(
        services(), args["status"], args["ruleset"], args["cursor"], args["limit"], free=args["free"]
    )
    return page_response(page["items"], page["next"])


@bp.operation(
    "GET",
    "/<game:game>",
    "get_game",
    access=authorization.optional_role,
    errors=(304, 403, 404, 503),
    query=WaitArgs,
    response=SummarySchema,
)
def get_game(args: Doc, game: str) -> Response:
    """Read who sits where, and for whom the game waits."""
    wait_for_views(args["wait"])
    found = services().reader.find_summary(game, inside=authorization.has_live_view(game))
    if found is None:
        raise missing_game(game)
    (doc,) = add_names(services(), [found])
    doc["undo"] = opening_terms(game).get("undo", "consent")
    if found["status"] in ("over", "closed") and (again := find_rematch(game)):
        doc["rematch"] = again
    return etag_response(orjson.dumps(doc), found["version"])


def find_rematch(game: str) -> str | None:
    """The table at which the same people play again, once somebody has opened it."""
    s = services()
    found = s.seat_tokens.make_token("", "rematch", game).game
    return found if s.ledger.version(found) else None


# --- seats -----------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/seats",
    "take_seat",
    access=authorization.optional_person("play"),
    errors=(403, 404, 409, 412),
    body=JoinSchema,
    headers=NewHeaders,
    response=SeatDocSchema,
    status=201,
)
def take_seat(body: Doc, headers: Doc, game: str) -> Response:
    """Take a free seat, also in place of a player who has left.

    A director may let a bot of the service sit there instead (`bot`, with `seat`), which plays at once what it owes.
    The answer holds the seat's token; the token of whoever sat there opens nothing any more. A repetition with its key
    gets the same answer, and changes nothing: if somebody else has the seat by then, that token opens nothing. An
    account gets no token of the seat: its own is the way in. A director who has looked at what is hidden gets no seat.
    """
    if body["bot"]:
        return _seat_bot(game, body, headers["key"])
    check_guest_name(body["name"])
    s = services()
    player, grant, named = _make_player_token(game, "join", game, headers["key"])
    again = bool(named and s.ledger.find_command(game, named))
    if not again:
        asked = check_admission(game, body["invitation"])
        authorization.require_good_standing()
        check_visible_seat(game, body.get("seat"))
        check_not_reserved(game, body.get("seat"), asked.player if asked else player)
        _charge_quota("seats")
    own = authorization.optional_owner() is not None
    accepted = s.account_store.social_graph.answer(game, authorization.player_ids(), "accepted")

    def issue_token(record: Record) -> list[Statement]:
        if not again:  # here and not before: a look that comes between would not be seen
            check_not_looked(game, player, record.version)
        token = s.seat_tokens.issue(game, record.public["seat"], player, grant.token, body["name"], account=own)
        return [*token, *accepted]

    with hide_current_state(game, body.get("seat")):
        act = Join(body.get("seat"), player, body["nonce_hash"])
        stored = s.commands.handle(game, act, idempotency_key=named, extra_statements=issue_token)
    report_issued_token(stored, grant, player, stored.records[0].public["seat"])
    return write_response(stored, {"seat": stored.records[0].public["seat"]} | _token_to_json(grant, player))


def _seat_bot(game: str, body: Doc, key: str) -> Response:
    if not is_director(game):
        raise Problem("directors_only")
    s, (rules, _), seat = services(), load_table(game), body.get("seat")
    if seat is None:
        raise Problem("invalid_body", errors=[{"at": "/seat", "message": Message("Name the seat for the bot.")}])
    if body["bot"] == HEURISTIC and rules.bot is None:
        raise Problem("invalid_body", errors=[{"at": "/bot", "message": Message("The ruleset has no such bot.")}])
    player = f"bot-{body['bot']}-{seat}"
    named = s.seat_tokens.command_id("bot", game, *authorization.player_ids(), key) if key else None
    if not (named and s.ledger.find_command(game, named)):
        check_not_reserved(game, seat, player)
        _charge_quota("seats")
    called = s.seat_tokens.texts.set_name(player, f"Bot ({body['bot']})")
    stored = s.commands.handle(game, Join(seat, player), idempotency_key=named, extra_statements=lambda _: called)
    return write_response(stored, {"seat": seat, "player": player})


def hold_seconds(now: AnyGame, seat: Seat, asked: int | None, *, directed: bool) -> int:
    """For how many seconds a seat that is left is held: what the table has agreed on, unless less is asked for.

    A director may say more. To players the time counts for which the seat was held before: leaving and coming back
    again and again gives none.
    """
    agreed: int = now.terms.get("hold", 0)
    before = sum(until - since for since, until in now.time_banks[seat].holds) if seat < now.table.seats else 0
    most = MAX_SECONDS if directed else max(agreed - before // SECOND, 0)
    return min(agreed if asked is None else asked, most)


@bp.operation(
    "DELETE",
    "/<game:game>/seats/<seat:seat>",
    "leave_seat",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    headers=MoveHeaders,
    query=LeaveArgs,
    response=WrittenSchema,
)
def leave_seat(headers: Doc, args: Doc, game: str, seat: int) -> Response:
    """Give a seat back; a director may do so for a player who is gone.

    In a running game the seat is held: until somebody takes it no time of it runs and no default is played for it, for
    as long as the table has agreed. With If-Match a director puts out nobody but who sat there at that version.
    """
    who = authorization.principal()
    if who.seat not in (None, seat):
        raise Problem("not_your_seat")
    s = services()
    _, now = load_table(game)
    hold = hold_seconds(now, seat, args.get("hold"), directed=who.seat is None)
    stored = s.commands.handle(
        game,
        Leave(seat, hold),
        seat_guard=authorization.seat_guard(),
        expected=if_match_version(headers["match"]),
        idempotency_key=idempotency_key(headers["key"]),
        extra_statements=lambda _: s.seat_tokens.revoke(game, seat),
    )
    if not stored.replayed:
        gone = {"game": game, "seat": seat, "player": now.players[seat].id if seat in now.players else ""}
        security_log.log_event("seat_vacated", **gone, by=who.role, token=who.token)
        security_log.log_event("token_revoked", **gone)
    return write_response(stored, status=200)


@bp.operation(
    "POST",
    "/<game:game>/nonces",
    "show_nonce",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=NonceSchema,
    headers=KeyHeaders,
    response=WrittenSchema,
    status=201,
)
def show_nonce(body: Doc, headers: Doc, game: str) -> Response:
    """Show the nonce that the seat committed to, once every seat is taken."""
    act = Reveal(authorization.seat(), body["nonce"])
    named = idempotency_key(headers["key"])
    return write_response(
        services().commands.handle(game, act, seat_guard=authorization.seat_guard(), idempotency_key=named)
    )


@bp.operation(
    "POST",
    "/<game:game>/start",
    "start_game",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=KeyHeaders,
    response=WrittenSchema,
    status=201,
)
def start_game(_: Json, headers: Doc, game: str) -> Response:
    """Start the game; every seat must have a player."""
    return write_response(services().commands.handle(game, Start(), idempotency_key=idempotency_key(headers["key"])))


@bp.operation(
    "POST",
    "/<game:game>/vacations",
    "take_vacation",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=VacationSchema,
    headers=KeyHeaders,
    response=WrittenSchema,
    status=201,
)
def take_vacation(body: Doc, headers: Doc, game: str) -> Response:
    """Take days of vacation, where the pace gives any: none of the seat's time runs meanwhile.

    They begin now, or after the vacation that is going on. The seat may play all the same.
    """
    act = Rest(authorization.seat(), body["days"])
    named = idempotency_key(headers["key"])
    return write_response(
        services().commands.handle(game, act, seat_guard=authorization.seat_guard(), idempotency_key=named)
    )
