"""Who plays with whom: what a table is called, whom its director asks to it, and playing again."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, table, told
from api.routes.games import check_name, issued, rematch_of
from api.schemas.query_args import ChallengeArgs
from api.schemas.request_bodies import CardSchema, ChallengeSchema, RematchSchema
from api.schemas.table_responses import ChallengeDocSchema, ChallengesSchema, RematchDocSchema
from api.services import Doc, services
from domain.accounts.account_tables import DAY
from domain.accounts.social import LASTS, Challenge
from domain.errors import RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, Seat

room = Blueprint("company", __name__, url_prefix="/v1/games", description="Who plays with whom.")

_OPEN = ("open", "running")


def _directing() -> None:
    if authorization.principal().seat is not None:
        raise Problem("directors_only")


# --- what it is called -----------------------------------------------------------------------------------------


@room.route("/<game:game>/card", methods=["PUT"])
@authorization.signed
@fails(403, 404)
@room.arguments(CardSchema)
@room.response(204)
@room.doc(operationId="label_table")
def label_table(body: Doc, game: str) -> Response:
    """Say what the table is called, and what people should know of it: `title` and `note` of its summary. Erasable."""
    _directing()
    services().access.label(game, authorization.principal().player, body["title"], body["note"])
    return Response(status=204)


@room.route("/<game:game>/card", methods=["DELETE"])
@authorization.staff("moderator")
@fails(403, 404)
@room.response(204)
@room.doc(operationId="unlabel_table")
def unlabel_table(game: str) -> Response:
    """Take away, as a moderator, what a table is called and what is said of it."""
    table(game)
    services().access.label(game, "", "", "")
    return Response(status=204)


# --- challenges ------------------------------------------------------------------------------------------------


@room.route("/<game:game>/challenges", methods=["POST"])
@authorization.signed
@fails(403, 404, 409)
@room.arguments(ChallengeSchema)
@room.response(201, ChallengeDocSchema)
@room.doc(operationId="challenge")
def challenge(body: Doc, game: str) -> Response:
    """Ask a person to the table, as its director, by the name of an account or a player's id.

    The person needs no invitation then, and a seat that is named is kept until an answer comes, or the challenge ends.
    Asked again, the later challenge stands. The answer is the same whether or not anybody is called so.
    """
    _directing()
    authorization.in_good_standing()
    if bool(body["name"]) == bool(body["player"]):
        raise Problem("invalid_body", errors=[{"at": "/name", "message": Message("Either a name or a player.")}])
    s = services()
    _, now = table(game)
    if now.status not in _OPEN:
        raise RuleError("not_open", "", {"status": now.status})
    _must_be_free(now, body["seat"])
    account = s.people.accounts.named(body["name"]) if body["name"] else None
    player = body["player"] or (account.player if account and account.state == "active" else "")
    called = body["player"] or body["name"]
    at = s.people.clock()
    asked = Challenge(game, called, player, body["seat"], authorization.principal().player, at, at + body["days"] * DAY)
    s.people.circle.ask(asked)
    s.stir(player or game)
    return answer(_shown(asked), 201)


def _must_be_free(now: AnyGame, seat: Seat | None) -> None:
    if seat is None:
        return
    if seat >= now.table.seats:
        raise RuleError("unknown_seat", "", {"seats": now.table.seats})
    if seat in now.players and now.players[seat].id:
        raise RuleError("seat_taken", "", {"seat": seat})


def _shown(challenge: Challenge) -> Doc:
    """A challenge as the one who made it sees it."""
    past = challenge.until <= services().people.clock()
    return {
        "game": challenge.game,
        "to": challenge.called,
        "seat": challenge.seat,
        "at": challenge.at,
        "until": challenge.until,
        "answer": challenge.answer or ("past" if past else "open"),
    }


@room.route("/<game:game>/challenges", methods=["GET"])
@authorization.signed
@fails(403, 404)
@room.response(200, ChallengesSchema)
@room.doc(operationId="challenges")
def challenges(game: str) -> Response:
    """List, as the director, whom one has asked to the table, and what they have said."""
    _directing()
    return answer({"items": [_shown(each) for each in services().people.circle.at_table(game)]})


@room.route("/<game:game>/challenges", methods=["DELETE"])
@authorization.signed
@fails(403, 404)
@room.arguments(ChallengeArgs, location="query")
@room.response(204)
@room.doc(operationId="withdraw_challenge")
def withdraw_challenge(args: Doc, game: str) -> Response:
    """Take a challenge back; a seat that was kept is free."""
    _directing()
    if not services().people.circle.withdraw(game, args["to"]):
        raise Problem("not_found")
    return Response(status=204)


# --- again -----------------------------------------------------------------------------------------------------


@room.route("/<game:game>/rematches", methods=["POST"])
@authorization.signed
@fails(403, 404, 409)
@room.arguments(RematchSchema)
@room.response(201, RematchDocSchema, description="Opened by this request, or a repetition of it")
@room.alt_response(200, schema=RematchDocSchema, description="Opened before, by somebody else", success=True)
@room.doc(operationId="rematch")
def rematch(body: Doc, game: str) -> Response:
    """Play again: a table with the same ruleset, options and terms, at which each has the next seat.

    Whoever had a seat or directed may ask, once the game is over. The first opens the table and directs it; all others
    are told which it is. For a week the seats are kept for those who played, and need no invitation: guests take theirs
    with the token that they had.
    """
    s, who = services(), authorization.principal()
    if who.lent:
        raise Problem("forbidden", "A token from a director's hand speaks for no person.")
    check_name(body["name"])
    _, before = table(game)
    if before.status not in ("over", "closed"):
        raise RuleError("still_running", "", {"status": before.status})
    seats = {(seat + 1) % before.table.seats: player.id for seat, player in before.players.items() if player.id}
    mine = next((seat for seat, player in sorted(seats.items()) if player == who.player), None)
    doc: Doc = {"game": s.access.grant("", "rematch", game).game, "player": who.player, "seat": mine}
    try:
        return answer(doc | _opened(game, doc["game"], before, seats, body["name"]), 201)
    except StaleVersion:  # somebody else was first
        if rematch_of(game) is None:
            raise
        return answer(doc)


def _opened(game: str, new: str, before: AnyGame, seats: dict[Seat, str], name: str) -> Doc:
    """What whoever opens the new table is told; raises StaleVersion if it was opened by another."""
    s, player = services(), authorization.principal().player
    named, grant = s.access.named(player, "rematch", game), s.access.grant(player, "rematch", game)
    if not s.ledger.command(new, named):
        if s.ledger.version(new):
            raise StaleVersion(0, s.ledger.version(new))
        authorization.in_good_standing()
        found = authorization.holder()
        rate_limits.spend_quota("tables", found.account if found else "")
    own, at = authorization.holder() is not None, s.people.clock()
    asked = [Challenge(new, p, p, seat, player, at, at + LASTS) for seat, p in seats.items()]
    rows = [
        *s.access.issued(new, DIRECTOR, player, grant.token, name, account=own),
        *(s.access.invites(new, grant.invitation) if before.terms.get("listing") == "invitation" else []),
        *s.people.circle.challenge(*asked),
    ]
    stored = s.commands.open(
        new,
        before.ruleset,
        before.table.seats,
        before.table.options,
        body={**before.terms, "pace": before.pace.to_json()},
        unsaid=["pace"],  # it was not kept before: a repetition is still the same
        command=named,
        beside=lambda _: rows,
    )
    told(stored)
    for each in sorted({c.player for c in asked}):
        s.stir(each)
    issued(stored, grant, player, DIRECTOR)
    return {} if own else {"token": grant.token}
