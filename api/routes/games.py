"""The table: opening a game, finding one, taking seats, showing nonces, starting."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from flask import Response

from api import authorization
from api.documents.summaries import lobby_page, with_names
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import command, missing_game, paged, table, tagged, terms, wait, wanted, written
from api.schemas.query_args import KeyHeaders, LeaveArgs, LobbyArgs, MoveHeaders, NewHeaders, WaitArgs
from api.schemas.request_bodies import JoinSchema, NewGameSchema, NonceSchema, StartSchema, VacationSchema
from api.schemas.response_fields import WrittenSchema
from api.schemas.table_responses import LobbySchema, NewGameDocSchema, SeatDocSchema, SummarySchema
from api.seating import admit, as_seen, directs, place, unseeing, veiled
from api.services import Doc, services
from domain.bots import HEURISTIC
from domain.command_handler import Answer
from domain.errors import UnknownRuleset
from domain.kernel.game.deadlines import LONGEST, SECOND, Pace, pace_of
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.table_commands import Join, Leave, Reveal, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.service.database import Statement
from domain.service.seat_tokens import Grant, Role, id_of
from domain.types import DIRECTOR, Json, Seat

room = Blueprint("games", __name__, url_prefix="/v1/games", description="Tables: open, find, join, start.")


# --- opening ---------------------------------------------------------------------------------------------------


def _ruleset(name: str) -> AnyRuleset:
    catalogue = services().catalogue
    try:
        return catalogue.get(name) if "@" in name else catalogue.latest(name)
    except UnknownRuleset:
        raise Problem("invalid_table", errors=[{"at": "/ruleset", "message": Message("No such ruleset.")}]) from None


@room.route("", methods=["POST"])
@authorization.known("direct")
@fails(403, 409, 412)
@room.arguments(NewGameSchema)
@room.arguments(NewHeaders, location="headers")
@room.response(201, NewGameDocSchema, headers={"Location": {"schema": {"type": "string"}}})
@room.doc(operationId="open_game")
def open_game(body: Doc, headers: Doc) -> Response:
    """Open a game.

    The answer holds the director's token, which is shown nowhere else. Whoever sends a token of another game stays the
    same person. An account gets no token of the table: its own is the way in. A repetition with its key gets the same
    answer.
    """
    stored, doc = opened(body, ("open",), headers["key"])
    return written(stored, doc, Location=f"/v1/games/{stored.game}")


def opened(body: Doc, request: tuple[str, ...], key: str) -> tuple[Answer, Doc]:
    """The table that such a request opens, and what whoever asks is told of it; raises Problem."""
    s = services()
    rules = _ruleset(body["ruleset"])
    check_name(body["name"])
    player, grant, named = _granted("", *request, key)
    if not (named and s.ledger.command(grant.game, named)):  # a repetition opens nothing
        authorization.in_good_standing()
        _spend("tables")
    invited = body["listing"] == "invitation"
    pace = pace_of(rules.meta, body["pace"])
    terms = {"pace": pace.to_json(), "undo": body["undo"], "listing": body["listing"], "several": body["several"]}
    terms |= {"delay": body["delay"]} if body["delay"] else {}
    terms["hold"] = _hold(pace) if body["hold"] is None else body["hold"]
    unsaid = [name for name, none in (("several", False), ("hold", None)) if body[name] is none]
    own = authorization.holder() is not None
    rows = s.access.issued(grant.game, DIRECTOR, player, grant.token, body["name"], account=own)
    rows += s.access.invites(grant.game, grant.invitation) if invited else []
    stored = s.commands.open(
        grant.game,
        rules.meta.ruleset,
        body["seats"],
        body["options"],
        body=terms,
        unsaid=unsaid,
        command=named,
        beside=lambda _: rows,
    )
    issued(stored, grant, player, DIRECTOR)
    return stored, _shown(grant, player) | ({"invitation": grant.invitation} if invited else {})


def issued(stored: Answer, grant: Grant, player: str, role: Role) -> None:
    """A repetition gives what was given, and is no event; an account is given nothing but its place."""
    services().stir(player)
    if not stored.replayed and authorization.holder() is None:
        security_log.tell("token_issued", game=stored.game, role=role, player=player, token=id_of(grant.token))


def _hold(pace: Pace) -> int:
    """For how long a seat is kept unless the table says: as long as anybody may think, or an hour."""
    return max(pace.seconds.values(), default=3600)


def _granted(game: str, *request: str) -> tuple[str, Grant, str | None]:
    """Who asks, known or new; what the request gives them; its command's id. Its last word is the key, or empty."""
    access, keyed = services().access, bool(request[-1])
    known = authorization.players()
    caller = next(iter(known), "")
    grant = access.grant(caller, *request) if keyed else access.grant()
    return _seated(game, known) or caller or grant.player, grant, access.named(caller, *request) if keyed else None


def _seated(game: str, known: Sequence[str]) -> str:
    """By which of several ids a person is at that table already: one person is one player there."""
    if len(known) < 2 or not game:
        return ""
    sitting = {p.id for p in services().commands.game(game).players.values()}
    return next((player for player in known if player in sitting), "")


def _shown(grant: Grant, player: str) -> Doc:
    """What the answer tells of it: a guest's token is shown, an account has its own."""
    return {"player": player} | ({"token": grant.token} if authorization.holder() is None else {})


def _spend(what: str) -> None:
    found = authorization.holder()
    rate_limits.spend_quota(what, found.account if found else "")


def check_name(name: str) -> None:
    """An account has one name at all tables."""
    if name and authorization.holder() is not None:
        raise Problem("invalid_body", errors=[{"at": "/name", "message": Message("An account goes by its own name.")}])


# --- finding ---------------------------------------------------------------------------------------------------


@room.route("", methods=["GET"])
@room.arguments(LobbyArgs, location="query")
@room.response(200, LobbySchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="lobby")
def lobby(args: Doc) -> Response:
    """Find public games, the newest change first."""
    page = lobby_page(services(), args["status"], args["ruleset"], args["cursor"], args["limit"], free=args["free"])
    return paged(page["items"], page["next"])


@room.route("/<game:game>", methods=["GET"])
@authorization.seen_by
@fails(304, 403, 404, 503)
@room.arguments(WaitArgs, location="query")
@room.response(200, SummarySchema)
@room.doc(operationId="get_game")
def get_game(args: Doc, game: str) -> Response:
    """Read who sits where, and for whom the game waits."""
    wait(args["wait"])
    found = services().reader.game(game, inside=authorization.inside(game))
    if found is None:
        raise missing_game(game)
    (doc,) = with_names(services(), [found])
    doc["undo"] = terms(game).get("undo", "consent")
    if found["status"] in ("over", "closed") and (again := rematch_of(game)):
        doc["rematch"] = again
    return tagged(orjson.dumps(doc), found["version"])


def rematch_of(game: str) -> str | None:
    """The table at which the same people play again, once somebody has opened it."""
    s = services()
    found = s.access.grant("", "rematch", game).game
    return found if s.ledger.version(found) else None


# --- seats -----------------------------------------------------------------------------------------------------


@room.route("/<game:game>/seats", methods=["POST"])
@authorization.known("play")
@fails(403, 404, 409, 412)
@room.arguments(JoinSchema)
@room.arguments(NewHeaders, location="headers")
@room.response(201, SeatDocSchema)
@room.doc(operationId="take_seat")
def take_seat(body: Doc, headers: Doc, game: str) -> Response:
    """Take a free seat, also in place of a player who has left.

    A director may let a bot of the service sit there instead (`bot`, with `seat`), which plays at once what it owes.
    The answer holds the seat's token; the token of whoever sat there opens nothing any more. A repetition with its key
    gets the same answer, and changes nothing: if somebody else has the seat by then, that token opens nothing. An
    account gets no token of the seat: its own is the way in. A director who has looked at what is hidden gets no seat.
    """
    if body["bot"]:
        return _seat_bot(game, body, headers["key"])
    check_name(body["name"])
    s = services()
    player, grant, named = _granted(game, "join", game, headers["key"])
    again = bool(named and s.ledger.command(game, named))
    if not again:
        asked = admit(game, body["invitation"])
        authorization.in_good_standing()
        as_seen(game, body.get("seat"))
        place(game, body.get("seat"), asked.player if asked else player)
        _spend("seats")
    own = authorization.holder() is not None
    accepted = s.people.circle.answered(game, authorization.players(), "accepted")

    def beside(record: Record) -> list[Statement]:
        if not again:  # here and not before: a look that comes between would not be seen
            unseeing(game, player, record.version)
        token = s.access.issued(game, record.public["seat"], player, grant.token, body["name"], account=own)
        return [*token, *accepted]

    with veiled(game, body.get("seat")):
        act = Join(body.get("seat"), player, body["nonce_hash"])
        stored = s.commands.do(game, act, command=named, beside=beside)
    issued(stored, grant, player, stored.records[0].public["seat"])
    return written(stored, {"seat": stored.records[0].public["seat"]} | _shown(grant, player))


def _seat_bot(game: str, body: Doc, key: str) -> Response:
    if not directs(game):
        raise Problem("directors_only")
    s, (rules, _), seat = services(), table(game), body.get("seat")
    if seat is None:
        raise Problem("invalid_body", errors=[{"at": "/seat", "message": Message("The seat of a bot is named.")}])
    if body["bot"] == HEURISTIC and rules.bot is None:
        raise Problem("invalid_body", errors=[{"at": "/bot", "message": Message("The ruleset brings no such bot.")}])
    player = f"bot-{body['bot']}-{seat}"
    named = s.access.named("bot", game, *authorization.players(), key) if key else None
    if not (named and s.ledger.command(game, named)):
        place(game, seat, player)
        _spend("seats")
    called = s.access.called(player, f"Bot ({body['bot']})")
    stored = s.commands.do(game, Join(seat, player), command=named, beside=lambda _: called)
    return written(stored, {"seat": seat, "player": player})


def hold_of(now: AnyGame, seat: Seat, asked: int | None, *, directed: bool) -> int:
    """For how many seconds a seat that is left is held: what the table has agreed on, unless less is asked for.

    A director may say more. To players the time counts for which the seat was held before: leaving and coming back
    again and again gives none.
    """
    agreed: int = now.terms.get("hold", 0)
    before = sum(until - since for since, until in now.accounts[seat].holds) if seat < now.table.seats else 0
    most = LONGEST if directed else max(agreed - before // SECOND, 0)
    return min(agreed if asked is None else asked, most)


@room.route("/<game:game>/seats/<seat:seat>", methods=["DELETE"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(MoveHeaders, location="headers")
@room.arguments(LeaveArgs, location="query")
@room.response(200, WrittenSchema)
@room.doc(operationId="leave_seat")
def leave_seat(headers: Doc, args: Doc, game: str, seat: int) -> Response:
    """Give a seat back; a director may do so for a player who is gone.

    In a running game the seat is held: until somebody takes it no time of it runs and no default is played for it, for
    as long as the table has agreed. With If-Match a director puts out nobody but who sat there at that version.
    """
    who = authorization.principal()
    if who.seat not in (None, seat):
        raise Problem("not_your_seat")
    s = services()
    _, now = table(game)
    hold = hold_of(now, seat, args.get("hold"), directed=who.seat is None)
    stored = s.commands.do(
        game,
        Leave(seat, hold),
        sitting=authorization.sitting(),
        expected=wanted(headers["match"]),
        command=command(headers["key"]),
        beside=lambda _: s.access.ended(game, seat),
    )
    if not stored.replayed:
        gone = {"game": game, "seat": seat, "player": now.players[seat].id if seat in now.players else ""}
        security_log.tell("seat_vacated", **gone, by=who.role, token=who.token)
        security_log.tell("token_revoked", **gone)
    return written(stored, status=200)


@room.route("/<game:game>/nonces", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(NonceSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, WrittenSchema)
@room.doc(operationId="show_nonce")
def show_nonce(body: Doc, headers: Doc, game: str) -> Response:
    """Show the nonce that the seat committed to, once every seat is taken."""
    act = Reveal(authorization.seat(), body["nonce"])
    named = command(headers["key"])
    return written(services().commands.do(game, act, sitting=authorization.sitting(), command=named))


@room.route("/<game:game>/start", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(StartSchema, required=False)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, WrittenSchema)
@room.doc(operationId="start_game")
def start_game(_: Json, headers: Doc, game: str) -> Response:
    """Start the game; every seat must have a player."""
    return written(services().commands.do(game, Start(), command=command(headers["key"])))


@room.route("/<game:game>/vacations", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412)
@room.arguments(VacationSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, WrittenSchema)
@room.doc(operationId="take_vacation")
def take_vacation(body: Doc, headers: Doc, game: str) -> Response:
    """Take days of vacation, where the pace gives any: none of the seat's time runs meanwhile.

    They begin now, or after the vacation that is going on. The seat may play all the same.
    """
    act = Rest(authorization.seat(), body["days"])
    named = command(headers["key"])
    return written(services().commands.do(game, act, sitting=authorization.sitting(), command=named))
