"""Routes for a table's title and note, challenges to named people, and rematches."""

from __future__ import annotations

from flask import Response

from api import authorization, officer_rights
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import check_shown_name, find_named
from api.openapi.smorest import Blueprint
from api.paces import parse_pace
from api.response_builders import confirm_write, json_response, load_table, opening_terms
from api.routes.games import check_guest_name, find_rematch, report_issued_token
from api.schemas.query_args import ChallengeArgs
from api.schemas.request_bodies import CardSchema, ChallengeSchema, RematchSchema
from api.schemas.table_responses import ChallengeDoc, ChallengesDoc, RematchDoc
from api.services import services
from domain.accounts.account_tables import DAY
from domain.accounts.social import DEFAULT_LIFETIME, Challenge
from domain.errors import RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.ratings import LEAVERS_LAST
from domain.types import DIRECTOR, Doc, Seat

bp = Blueprint(
    "company", __name__, url_prefix="/v1/games", description="Title and note of a table, challenges, rematches."
)

_JOINABLE = ("open", "running")


# --- title and note --------------------------------------------------------------------------------------------


@bp.operation(
    "PUT",
    "/<game:game>/card",
    "label_table",
    access=authorization.require_role,
    errors=(403, 404),
    body=CardSchema,
    status=204,
)
def label_table(body: Doc, game: str) -> Response:
    """Set the table's title and note, shown in its summary. Both can be erased."""
    officer_rights.require_officer("deputy")
    services().seat_tokens.texts.set_card(game, authorization.principal().player, body["title"], body["note"])
    return Response(status=204)


@bp.operation(
    "DELETE",
    "/<game:game>/card",
    "unlabel_table",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    status=204,
)
def unlabel_table(game: str) -> Response:
    """Remove a table's title and note, as a moderator."""
    load_table(game)
    services().seat_tokens.texts.set_card(game, "", "", "")
    return Response(status=204)


# --- challenges ------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/challenges",
    "challenge",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=ChallengeSchema,
    status=201,
)
def challenge(body: Doc, game: str) -> JsonResponse[ChallengeDoc]:
    """Challenge a person to the table, as its director, by account name or player id.

    The person then needs no invitation, and a named seat stays reserved until the answer or the end of the challenge. A
    second challenge to the same person replaces the first. The response is the same for names without an account.
    """
    officer_rights.require_officer("deputy")
    authorization.require_good_standing()
    s, account = services(), find_named(body)
    _, now = load_table(game)
    officer_rights.check_neutrality(now)
    if "origin" in now.terms:
        raise Problem("is_analysis")
    if now.status not in _JOINABLE:
        raise RuleError("not_open", "", {"status": now.status})
    _check_seat_free(now, body["seat"])
    if body["seat"] is not None and now.terms.get("names") == "hidden":  # it would tell who sits there
        raise Problem("names_hidden")
    is_hidden = bool(s.seat_tokens.hidden_players.find_game(body["player"]))  # like a name without an account
    player = ("" if is_hidden else body["player"]) or (account.player if account else "")
    called = body["player"] or body["name"]
    at = s.account_store.clock()
    sent = Challenge(game, called, player, body["seat"], authorization.principal().player, at, at + body["days"] * DAY)
    s.account_store.social_graph.send_challenge(sent)
    s.notify_changed(player or game)
    return json_response(_challenge_to_json(sent), 201)


def _check_seat_free(now: AnyGame, seat: Seat | None) -> None:
    """Raise RuleError if the table has no such seat, or the seat has a player."""
    if seat is None:
        return
    if seat >= now.table.seats:
        raise RuleError("unknown_seat", "", {"seats": now.table.seats})
    if seat in now.players and now.players[seat].id:
        raise RuleError("seat_taken", "", {"seat": seat})


def _challenge_to_json(challenge: Challenge) -> ChallengeDoc:
    """Return a challenge as its sender sees it."""
    s = services()
    past, answer = challenge.until <= s.account_store.clock(), challenge.answer
    if answer == "accepted" and s.seat_tokens.hidden_players.has_hidden(challenge.game):
        answer = ""  # with the time of a seat taken it would tell whose it is
    return {
        "game": challenge.game,
        "to": challenge.called,
        "seat": challenge.seat,
        "at": challenge.at,
        "until": challenge.until,
        "answer": answer or ("past" if past else "open"),
    }


@bp.operation("GET", "/<game:game>/challenges", "challenges", access=authorization.require_role, errors=(403, 404))
def challenges(game: str) -> JsonResponse[ChallengesDoc]:
    """Return the challenges sent from this table with their answers, for its director."""
    officer_rights.require_officer("deputy")
    return json_response(
        {"items": [_challenge_to_json(sent) for sent in services().account_store.social_graph.list_by_table(game)]}
    )


@bp.operation(
    "DELETE",
    "/<game:game>/challenges",
    "withdraw_challenge",
    access=authorization.require_role,
    errors=(403, 404, 409),
    query=ChallengeArgs,
    status=204,
)
def withdraw_challenge(args: Doc, game: str) -> Response:
    """Withdraw a challenge. A reserved seat becomes free."""
    officer_rights.require_officer("deputy")
    officer_rights.check_neutrality(load_table(game)[1])
    if not services().account_store.social_graph.withdraw(game, args["to"]):
        raise Problem("not_found")
    return Response(status=204)


# --- rematches -------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    "/<game:game>/rematches",
    "rematch",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=RematchSchema,
    status=201,
    description="Opened by this request or its repetition",
)
@bp.alt_response(200, description="Opened earlier by another player", success=True)
def rematch(body: Doc, game: str) -> JsonResponse[RematchDoc]:
    """Open a rematch: a table with the same ruleset, options and terms, where each player moves up one seat.

    Once the game is over, every player and the director may call this. The first caller opens the table and directs it;
    all others get its id. The seats stay reserved for the same players for a week, without invitation: guests take
    theirs with their old token. Officers are neutral there unless the table's owner opens it. While spectators of a
    table with a delay do not see its end yet, the new table is unlisted. A fork has no rematch, nor has a table with
    names still hidden.
    """
    s, caller = services(), authorization.principal()
    if caller.lent:
        raise Problem("forbidden", "A seat token lent by a director cannot do this.")
    check_guest_name(body["name"])
    _, before = load_table(game)
    if before.status not in ("over", "closed"):
        raise RuleError("still_running", "", {"status": before.status})
    if "origin" in before.terms:
        raise Problem("is_analysis")
    if s.seat_tokens.hidden_players.has_hidden(game):  # the order of the new seats would tell
        raise Problem("names_hidden")
    seats = {(seat + 1) % before.table.seats: player.id for seat, player in before.players.items() if player.id}
    mine = next((seat for seat, player in sorted(seats.items()) if player == caller.player), None)
    doc: RematchDoc = {
        "game": s.seat_tokens.make_token("", "rematch", game).game,
        "player": caller.player,
        "seat": mine,
    }
    try:
        if token := _open_rematch(game, doc["game"], before, seats, body["name"]):
            doc["token"] = token
        return json_response(doc, 201)
    except StaleVersion:  # another caller was first
        if find_rematch(game) is None:
            raise
        return json_response(doc)


def _rematch_terms(game: str, new: str, before: AnyGame) -> Doc:
    """Return the terms of the new table: as before, but the players' trust in a director is not for another person.

    A repetition gets what was stored.
    """
    s = services()
    meta, pace = s.registry.get(before.ruleset).meta, before.timing.control.to_json(offsets=False)
    kept = {name: term for name, term in before.terms.items() if name != "names"}  # the players know each other
    terms = {**kept, "pace": parse_pace(meta, pace, s.clock()).to_json()}
    terms |= {"listing": _rematch_listing(game, new, before), "leavers": LEAVERS_LAST}
    stored, caller = opening_terms(new), authorization.principal()
    owner = services().seat_tokens.find_director(game)
    is_owner = owner in {caller.player, *authorization.player_ids()}
    if stored.get("officers") == "neutral" if stored else not is_owner:
        terms["officers"] = "neutral"
    return terms


def _rematch_listing(game: str, new: str, before: AnyGame) -> str:
    """Return the listing of the new table: as before, but unlisted while spectators do not see the end yet.

    A listed table with the same players would tell that the game is over. A repetition gets what was stored.
    """
    listing = str(before.terms.get("listing"))
    if stored := opening_terms(new):
        return str(stored.get("listing"))
    if listing != "public" or not before.terms.get("delay"):
        return listing
    shown = services().reader.find_summary(game, inside=False)
    return listing if shown and shown["status"] in ("over", "closed") else "unlisted"


def _open_rematch(game: str, new: str, before: AnyGame, seats: dict[Seat, str], name: str) -> str:
    """Open the new table and return its token, or an empty string if the caller needs none.

    Raise StaleVersion if another caller was first.
    """
    s, player = services(), authorization.principal().player
    key_id, issued_token = (
        s.seat_tokens.command_id(player, "rematch", game),
        s.seat_tokens.make_token(player, "rematch", game),
    )
    if not s.ledger.find_command(new, key_id):
        if s.ledger.version(new):
            raise StaleVersion(0, s.ledger.version(new))
        authorization.require_good_standing()
        check_shown_name(name)
        found = authorization.optional_owner()
        rate_limits.charge_quota("tables", found.account if found else "")
    has_account, at = authorization.optional_owner() is not None, s.account_store.clock()
    challenges_sent = [Challenge(new, p, p, seat, player, at, at + DEFAULT_LIFETIME) for seat, p in seats.items()]
    rows = [
        *s.seat_tokens.issue(new, DIRECTOR, player, issued_token.token, name, account=has_account),
        *(
            s.seat_tokens.set_invitation(new, issued_token.invitation)
            if before.terms.get("listing") == "invitation"
            else []
        ),
        *s.account_store.social_graph.insert_challenges(*challenges_sent),
    ]
    stored = s.commands.open(
        new,
        before.ruleset,
        before.table.seats,
        before.table.options,
        body=_rematch_terms(game, new, before),
        defaulted=["pace", "leavers"],  # early records lack it, and repetitions must still match them
        idempotency_key=key_id,
        extra_statements=lambda _: rows,
    )
    confirm_write(stored)
    for each in sorted({c.player for c in challenges_sent}):
        s.notify_changed(each)
    report_issued_token(stored, issued_token, player, DIRECTOR)
    return "" if has_account else issued_token.token
