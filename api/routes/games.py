"""Routes of the table: open and find games, take and leave seats, reveal nonces, start, take vacation."""

from __future__ import annotations

from collections.abc import Sequence

from api import authorization
from api.agent_requests import add_agents, mark_seat, refuse_agent
from api.caller_keys import command_key, person_key, role_key
from api.command_execution import execute_command
from api.documents.summaries import add_names, add_places, build_lobby_page
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import check_shown_name
from api.openapi.smorest import Blueprint, string_headers
from api.paces import parse_pace
from api.response_builders import (
    ChangeCursor,
    confirm_write,
    if_match_version,
    load_table,
    missing_game,
    opening_terms,
    page_response,
    tagged_response,
    wait_for_views,
    write_response,
)
from api.routes.leaving import vacate_seat
from api.schemas.common_documents import WrittenDoc
from api.schemas.query_args import AgentNewHeaders, LeaveArgs, LobbyArgs, MoveHeaders, NewHeaders, WaitArgs
from api.schemas.request_bodies import (
    DEFAULT_MISSES,
    JoinSchema,
    NewGameSchema,
    NonceSchema,
    StartSchema,
    VacationSchema,
)
from api.schemas.table_responses import LobbyDoc, NewGameDoc, TakenSeatDoc
from api.seating import (
    check_admission,
    check_bot,
    check_not_conceded,
    check_not_looked,
    check_not_reserved,
    check_visible_seat,
    has_conceded,
    hide_current_state,
    is_director,
)
from api.services import services
from domain.accounts.accounts import MOST_PLAYERS
from domain.command_handler import CommandResult, GameConditions
from domain.errors import AccountError, UnknownRuleset
from domain.kernel.game.command import Command
from domain.kernel.game.deadlines import DAY, SECOND, TimeControl
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.table_commands import Join, Reveal, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.ratings import LEAVERS_LAST
from domain.service.database import Statement
from domain.service.principals import Role
from domain.service.seat_tokens import IssuedToken
from domain.service.token_text import token_id
from domain.talk.message_rules import check_terms
from domain.types import DIRECTOR, Doc
from projections.game_documents import SummaryDoc

bp = Blueprint("games", __name__, url_prefix="/v1/games", description="Games: open, find, join, start.")


# --- open ------------------------------------------------------------------------------------------------------


def find_ruleset(name: str) -> AnyRuleset:
    """Return a ruleset by name, the latest version if none is given. Raise Problem."""
    registry = services().registry
    try:
        return registry.get(name) if "@" in name else registry.latest(name)
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
    status=201,
    response_headers=string_headers("Location"),
)
def open_game(body: Doc, headers: Doc) -> JsonResponse[NewGameDoc]:
    """Open a game.

    The response contains the director's token, shown only here. With a token of another game you stay the same player.
    An account gets no separate token: use the account's token. A repetition with the same key gets the same response.
    """
    stored, doc = open_table(body, ("open",), headers["key"])
    return write_response(stored, doc, Location=f"/v1/games/{stored.aggregate}")


def open_table(body: Doc, request: tuple[str, ...], key: str) -> tuple[CommandResult, NewGameDoc]:
    """Open a table as requested, and return the stored command with the caller's document. Raise Problem.

    `request` and `key` identify the table for repetitions. The key binds the whole request.
    """
    s = services()
    rules = find_ruleset(body["ruleset"])
    check_guest_name(body["name"])
    player, issued_token, key_id = make_player_token(*request, key)
    if not (key_id and s.ledger.find_command(issued_token.game, key_id)):  # a repetition opens no table
        authorization.require_good_standing()
        check_shown_name(body["name"])
        charge_quota("tables")
    invited = body["listing"] == "invitation"
    terms = build_terms(rules, body)
    defaulted = [name for name, none in (("several", False), ("hold", None)) if body[name] is none]
    defaulted += ["leavers"]
    defaulted += [] if "talk" in body else ["talk"]
    defaulted += ["misses"] if body["misses"] == DEFAULT_MISSES else []
    defaulted += [] if "appeals" in body else ["appeals"]
    defaulted += ["officers"] if body["officers"] == "neutral" else []
    has_account = authorization.optional_owner() is not None
    rows = s.seat_tokens.issue(
        issued_token.game, DIRECTOR, player, issued_token.token, body["name"], account=has_account
    )
    rows += s.seat_tokens.set_invitation(issued_token.game, issued_token.invitation) if invited else []
    stored = s.commands.open(
        issued_token.game,
        rules.meta.ruleset,
        body["seats"],
        body["options"],
        body=terms,
        defaulted=defaulted,
        idempotency_key=command_key(key_id or "", issued_token.game, person_key(key)),
        extra_statements=lambda _: rows,
    )
    report_issued_token(stored, issued_token, player, DIRECTOR)
    doc: NewGameDoc = {**confirm_write(stored), "player": player}
    if authorization.optional_owner() is None:
        doc["token"] = issued_token.token
    if invited:
        doc["invitation"] = issued_token.invitation
    return stored, doc


def build_terms(rules: AnyRuleset, body: Doc) -> Doc:
    """Return the terms of a table as its first record has them. Raise InvalidTable for an impossible pace."""
    pace = parse_pace(rules.meta, body["pace"], services().clock())
    terms = {"pace": pace.to_json(), "undo": body["undo"], "listing": body["listing"], "several": body["several"]}
    terms |= {"delay": body["delay"]} if body["delay"] else {}
    terms |= {"misses": body["misses"]} if body["misses"] else {}
    if body.get("time_limit"):
        terms |= {name: body[name] for name in ("time_limit", "last_turn") if body.get(name)}
    terms |= {"officers": "neutral"} if body["officers"] == "neutral" else {}
    terms |= _sent_terms(body)
    appeals = body["appeals"] if "appeals" in body else _default_appeal_times(pace)
    terms |= {"appeals": appeals} if appeals else {}
    terms |= {"names": "hidden"} if body.get("names") == "hidden" else {}
    terms |= {"leavers": LEAVERS_LAST, **_talk_terms(rules, body)}
    return {**terms, "hold": _default_hold(pace) if body["hold"] is None else body["hold"]}


def _sent_terms(body: Doc) -> Doc:
    """Return the terms of suggestions and standing orders, if they were sent.

    Raise Problem for suggestions at a table that may be rated.
    """
    if body.get("suggestions") and body["listing"] == "public":
        message = Message("A public table counts for ratings, and gives no suggestions.")
        raise Problem("invalid_table", errors=[{"at": "/suggestions", "message": message}])
    return {name: body[name] for name in ("suggestions", "standing_orders") if name in body}


def _talk_terms(rules: AnyRuleset, body: Doc) -> Doc:
    """Return the terms of talk: by default those of the ruleset, and none where nothing may be written."""
    talk = body.get("talk", rules.meta.talk.default)
    check_terms(rules.meta.talk, talk)
    if talk == "none":
        return {}
    terms = {"talk": talk} | ({"papers": "pass_on"} if body["papers"] == "pass_on" else {})
    return terms | ({"after": "published"} if body["after"] == "published" else {})


def report_issued_token(stored: CommandResult, issued_token: IssuedToken, player: str, role: Role) -> None:
    """Notify the caller's streams of the new role, and log a new token.

    Repetitions and accounts get no new token, and no log line.
    """
    services().notify_changed(player)
    if not stored.replayed and authorization.optional_owner() is None:
        security_log.log_event(
            "token_issued", game=stored.aggregate, role=role, player=player, token=token_id(issued_token.token)
        )


def _default_hold(pace: TimeControl) -> int:
    """Return the default hold of a vacant seat, in seconds: the longest thinking time, or an hour."""
    return max(pace.seconds.values(), default=3600)


def _default_appeal_times(pace: TimeControl) -> Doc:
    """Return the seconds to appeal and to answer: the longest thinking time, or a day."""
    seconds = max(3600, max(pace.seconds.values(), default=DAY // SECOND))
    return {"appeal": seconds, "answer": seconds}


def make_player_token(*request: str) -> tuple[str, IssuedToken, str | None]:
    """Return the caller's player id at a new table, a new token, and the command id of the request."""
    return _make_player_token("", *request)


def _make_player_token(game: str, *request: str) -> tuple[str, IssuedToken, str | None]:
    """Return the caller's player id, a new token, and the command id of the request.

    The last item of `request` is the idempotency key. Without it there is no command id, and the token is random.
    """
    seat_tokens, keyed = services().seat_tokens, bool(request[-1])
    player_ids = authorization.player_ids()
    caller = next(iter(player_ids), "")
    own = "" if game and _hides_names(game) else caller
    issued_token = seat_tokens.make_token(caller, *request) if keyed else seat_tokens.make_token()
    return (
        _find_seated_id(game, player_ids) or own or issued_token.player,
        issued_token,
        seat_tokens.command_id(caller, *request) if keyed else None,
    )


def _find_seated_id(game: str, player_ids: Sequence[str]) -> str:
    """Return the id under which a person with several ids sits at the table, or has sat there, or an empty string.

    Under another id a returning player would be a stranger, with the full time of the open decision.
    """
    if not player_ids or not game or (len(player_ids) == 1 and not _hides_names(game)):
        return ""
    now = services().commands.game(game)
    seated_ids = {p.id for p in now.players.values()}
    return next((p for ids in (seated_ids, now.seating.stakeholders) for p in player_ids if p in ids), "")


def _hides_names(game: str) -> bool:
    return opening_terms(game).get("names") == "hidden"


def _hide_player(game: str, player: str) -> list[Statement]:
    """Return statements to hide the person behind a player id of a table with hidden names; none for others."""
    if not _hides_names(game):
        return []
    s, owner = services(), authorization.optional_owner()
    hidden = [s.seat_tokens.hidden_players.hide(game, player)]
    if owner is None:
        return hidden
    accounts, name = s.account_store.accounts, authorization.current_account().name
    known = accounts.list_players(owner.account)
    if player not in known and len(known) > MOST_PLAYERS:
        raise AccountError("too_many")
    return [*hidden, accounts.add_player(owner.account, player), *s.seat_tokens.texts.set_name(player, name)]


def charge_quota(what: str) -> None:
    """Charge the quota of the caller's account or address."""
    found = authorization.optional_owner()
    rate_limits.charge_quota(what, found.account if found else "")


def check_guest_name(name: str) -> None:
    """Raise Problem if an account sends a name: it has one name at all tables."""
    if name and authorization.optional_owner() is not None:
        raise Problem(
            "invalid_body", errors=[{"at": "/name", "message": Message("An account plays under its own name.")}]
        )


# --- find ------------------------------------------------------------------------------------------------------


@bp.operation("GET", "", "lobby", query=LobbyArgs, response_headers=string_headers("Link"))
def lobby(args: Doc) -> JsonResponse[LobbyDoc]:
    """Return the lobby's public games, newest change first."""
    page = build_lobby_page(
        services(), args["status"], args["ruleset"], ChangeCursor.of_args(args), args["limit"], free=args["free"]
    )
    return page_response({"items": add_places(services(), page["items"]), "next": page["next"]})


@bp.operation(
    "GET", "/<game:game>", "get_game", access=authorization.optional_role, errors=(304, 403, 404, 503), query=WaitArgs
)
def get_game(args: Doc, game: str) -> JsonResponse[SummaryDoc]:
    """Return the game's summary: players and seats, status, and open decisions."""
    wait_for_views(args["wait"])
    found = services().reader.find_summary(
        game, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot
    )
    if found is None:
        raise missing_game(game)
    doc = add_agents(add_names(services(), [found])[0])
    doc["undo"] = opening_terms(game).get("undo", "consent")
    if found["status"] in ("over", "closed") and (again := find_rematch(game)):
        doc["rematch"] = again
    if found["status"] == "running" and has_conceded(game):
        doc["conceded"] = True
    if found["listing"] == "public" or authorization.has_live_view(game):
        add_places(services(), [doc])
    return tagged_response(doc, found["version"])


def find_rematch(game: str) -> str | None:
    """Return the id of the game's rematch, or None if nobody has opened it."""
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
    headers=AgentNewHeaders,
    status=201,
)
def take_seat(body: Doc, headers: Doc, game: str) -> JsonResponse[TakenSeatDoc]:
    """Take a free seat, or the seat of a player who left.

    A director may seat one of the service's bots instead (`bot`, with `seat`); it plays its open decisions at once. The
    response contains the seat's token; the previous player's token stops working. A repetition with the same key gets
    the same response and changes nothing; if another player has the seat by then, the token is invalid. An account gets
    no separate token. A director who has seen hidden data cannot take a seat.
    """
    if body["bot"]:
        return _seat_bot(game, body, headers["key"])
    check_guest_name(body["name"])
    if body["reason"]:
        raise Problem("directors_only", "Only a director may send `reason`.")
    refuse_agent(headers, game)
    s = services()
    player, issued_token, key_id = _make_player_token(game, "join", game, headers["key"])
    again = bool(key_id and s.ledger.find_command(game, key_id))
    if not again:
        check_not_conceded(game)
        check_shown_name(body["name"], game, player)
        challenge = check_admission(game, body["invitation"])
        authorization.require_good_standing()
        check_visible_seat(game, body.get("seat"))
        check_not_reserved(game, body.get("seat"), challenge.player if challenge else player)
        charge_quota("seats")
    has_account = authorization.optional_owner() is not None
    accepted = s.account_store.social_graph.answer(game, authorization.player_ids(), "accepted")
    accepted += _hide_player(game, player)

    def issue_token(record: Record) -> list[Statement]:
        if not again:  # checked at the record's version, or a look in between would be missed
            check_not_looked(game, player, record.version)
        token = s.seat_tokens.issue(
            game, record.public["seat"], player, issued_token.token, body["name"], account=has_account
        )
        return [*token, *accepted, *mark_seat(headers, game, record.public["seat"], player)]

    with hide_current_state(game, body.get("seat")):
        command = Join(body.get("seat"), player, body["nonce_hash"])
        key = command_key(key_id or "", game, person_key(headers["key"], game))
        stored = execute_command(
            game, command, GameConditions(idempotency_key=key, extra_statements=issue_token), as_player=True
        )
    report_issued_token(stored, issued_token, player, stored.records[0].public["seat"])
    doc: TakenSeatDoc = {**confirm_write(stored), "seat": stored.records[0].public["seat"], "player": player}
    if authorization.optional_owner() is None:  # accounts use their own token
        doc["token"] = issued_token.token
    return write_response(stored, doc)


def _seat_bot(game: str, body: Doc, key: str) -> JsonResponse[TakenSeatDoc]:
    """Seat a bot for the director, and return the response."""
    if not is_director(game):
        raise Problem("directors_only")
    authorization.check_scope("direct")
    s, (rules, now), seat = services(), load_table(game), body.get("seat")
    if seat is None:
        raise Problem("invalid_body", errors=[{"at": "/seat", "message": Message("Name the seat for the bot.")}])
    check_bot(rules, now, body["bot"])
    player = f"bot-{body['bot']}-{seat}"
    key_id = s.seat_tokens.command_id("bot", game, *authorization.player_ids(), key) if key else None
    if not (key_id and s.ledger.find_command(game, key_id)):
        check_not_reserved(game, seat, player)
        charge_quota("seats")
    name_rows = s.seat_tokens.texts.set_name(player, f"Bot ({body['bot']})")
    rows = [*s.seat_tokens.revoke(game, seat), *name_rows]
    bound = command_key(key_id or "", game, person_key(key, game))
    stored = execute_command(
        game,
        Join(seat, player),
        GameConditions(idempotency_key=bound, extra_statements=lambda _: rows),
        reason=body["reason"],
    )
    return write_response(stored, {**confirm_write(stored), "seat": seat, "player": player})


@bp.operation(
    "DELETE",
    "/<game:game>/seats/<seat:seat>",
    "leave_seat",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    headers=MoveHeaders,
    query=LeaveArgs,
)
def leave_seat(headers: Doc, args: Doc, game: str, seat: int) -> JsonResponse[WrittenDoc]:
    """Leave a seat. A director may do this for an absent player.

    In a running game the seat is held for the agreed time, until another player takes it: none of its time runs, and no
    default is played for it. With If-Match, a director removes only the player seated at that version.
    """
    if authorization.principal().seat not in (None, seat):
        raise Problem("not_your_seat")
    return vacate_seat(game, seat, args.get("hold"), headers)


@bp.operation(
    "POST",
    "/<game:game>/nonces",
    "show_nonce",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=NonceSchema,
    headers=MoveHeaders,
    status=201,
)
def show_nonce(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Reveal the seat's nonce, once every seat is taken."""
    command = Reveal(authorization.seat(), body["nonce"])
    return _execute_for_caller(game, command, headers)


@bp.operation(
    "POST",
    "/<game:game>/start",
    "start_game",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=StartSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def start_game(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Start the game. Every seat needs a player."""
    return _execute_for_caller(game, Start(), headers, body["reason"])


@bp.operation(
    "POST",
    "/<game:game>/vacations",
    "take_vacation",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=VacationSchema,
    headers=MoveHeaders,
    status=201,
)
def take_vacation(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Take vacation days, if the time control has any: none of the seat's time runs meanwhile.

    They begin now, or after the current vacation. The seat can still play. Send the number of `days`, or `until`: as
    many whole days as last until that time. A second press then takes no more days.
    """
    command = Rest(authorization.seat(), body.get("days", 0), body.get("until"))
    return _execute_for_caller(game, command, headers)


def _execute_for_caller(game: str, command: Command, headers: Doc, reason: str = "") -> JsonResponse[WrittenDoc]:
    """Execute a command under the request's conditions, as long as the caller has the role."""
    stored = execute_command(
        game,
        command,
        GameConditions(
            expected=if_match_version(headers["match"]),
            seat_guard=authorization.seat_guard(),
            idempotency_key=role_key(headers["key"]),
        ),
        reason=reason,
    )
    return write_response(stored)
