"""The person who asks: all that is theirs, as tables, as data, and as what can be erased."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization
from api.documents.my_tables import MOST, asking, my_page
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, cut, paged
from api.routes.accounts import second_factors, webhooks
from api.routes.accounts.accounts import person
from api.routes.accounts.seat_release import leave_all
from api.routes.accounts.sessions import device
from api.routes.accounts.tokens import listed
from api.routes.oauth import clients, grants
from api.schemas.accounts import (
    ClaimedSchema,
    ClaimSchema,
    LogArgs,
    LogSchema,
    MeSchema,
    MyDataSchema,
    PersonSchema,
    RenameSchema,
)
from api.schemas.query_args import MineArgs
from api.schemas.table_responses import MyGamesSchema
from api.services import Doc, services
from domain.accounts import account_names
from domain.accounts.abuse_reports import Report
from domain.accounts.accounts import Account
from domain.accounts.audit_log import Entry
from domain.notifications import email_subscriptions
from domain.service.database import Statement

room = Blueprint("me", __name__, url_prefix="/v1/me", description="The person who asks.")

# --- tables ----------------------------------------------------------------------------------------------------


@room.route("/games", methods=["GET"])
@authorization.person
@fails(403)
@room.arguments(MineArgs, location="query")
@room.response(200, MyGamesSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="my_games")
def my_games(args: Doc) -> Response:
    """Find the tables at which one has a seat or directs, the newest change first, however they are listed.

    `turn=mine`: only those where one owes a decision.
    """
    found = my_page(services(), asking(), args["status"], args["turn"], args["cursor"], args["limit"])
    return paged(found["items"], found["next"])


@room.route("/claims", methods=["POST"])
@authorization.own
@fails(403, 409)
@room.arguments(ClaimSchema)
@room.response(200, ClaimedSchema)
@room.doc(operationId="claim")
def claim(body: Doc) -> Response:
    """Claim what a guest has: all tables of whoever the token is of become the account's, and the token opens nothing.

    A token from a director's hand claims nothing, since it speaks for no person. Needs a password that was shown in the
    last ten minutes.
    """
    authorization.fresh()
    s, me = services(), authorization.account()
    authorization.in_good_standing()
    found = s.access.bearer(body["token"])
    holder = s.people.accounts.playing(found.player) if found else None
    gone = holder is None and found is not None and found.claimed
    if found is None or found.lent or gone or (holder is not None and holder.id != me.id):
        raise Problem("not_claimable", "The token is unknown, lent by a director, or of somebody's account.")
    named = s.access.called(found.player, me.name)
    logged = security_log.journaled(me.id, "claimed", rate_limits.network(), found.player)
    s.people.accounts.claim(me.id, found.player, [*s.access.claimed(found.player), *named], logged)
    s.stir(me.player)
    return answer({"player": found.player, "games": sorted(s.access.roles(found.player))})


# --- the account -----------------------------------------------------------------------------------------------


@room.route("", methods=["GET"])
@authorization.mine
@fails(403)
@room.response(200, MeSchema)
@room.doc(operationId="me")
def me() -> Response:
    """Read what the account is, and what the token that was sent may do."""
    return answer(_me(authorization.account()))


def _me(account: Account) -> Doc:
    people, who = services().people, authorization.holding()
    return person(account) | {
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "scopes": list(who.scopes),
        "session": who.session,
        "players": people.accounts.players(account.id),
        "codes": people.credentials.left(account.id),
    }


@room.route("/name", methods=["PUT"])
@authorization.own
@fails(403, 409)
@room.arguments(RenameSchema)
@room.response(200, PersonSchema)
@room.doc(operationId="rename")
def rename(body: Doc) -> Response:
    """Change the name, by which one logs in; for 90 days nobody else gets the one before.

    Needs a password that was shown in the last ten minutes.
    """
    authorization.fresh()
    s, before = services(), authorization.account()
    authorization.in_good_standing()
    account_names.check(body["name"])
    rate_limits.spend_quota("accounts", before.id)
    logged = security_log.journaled(before.id, "renamed", rate_limits.network(), f"{before.name}: {body['name']}")
    s.people.accounts.rename(before.id, body["name"], lambda players: [*_called(players, body["name"]), *logged])
    return answer(person(before) | {"name": body["name"]})


def _called(players: Sequence[str], name: str) -> list[Statement]:
    return [row for player in players for row in services().access.called(player, name)]


def _forgotten(players: Sequence[str]) -> list[Statement]:
    gone = [row for player in players for row in services().access.forgotten(player)]
    return [*gone, *services().people.circle.forgotten(players)]


@room.route("", methods=["DELETE"])
@authorization.own
@fails(403, 409)
@room.response(204)
@room.doc(operationId="erase_me")
def erase_me() -> Response:
    """Erase the account: name, password, tokens, sessions and texts. Its seats are left; games keep an opaque id.

    Needs a password that was shown in the last ten minutes. The last administrator names another one first.
    """
    authorization.fresh()
    s, who = services(), authorization.account()
    s.people.accounts.spare(who.id)
    leave_all(authorization.players())  # first: once the account is gone nobody could ask for the rest
    s.people.accounts.erase(who.id, lambda players: [*_forgotten(players), *s.notices.forgotten(who.id)])
    security_log.tell("account_changed", account=who.id, what="erased")
    return Response(status=204)


# --- what is known of one --------------------------------------------------------------------------------------


def entry(found: Entry) -> Doc:
    """A line of the log."""
    return vars(found)


def complaint(report: Report) -> Doc:
    """A report as its writer sees it."""
    return {name: getattr(report, name) for name in ("id", "at", "player", "game", "said", "outcome")}


def log_page(path: str, found: list[Entry], limit: int, **kept: str) -> Response:
    """A page of a log that was read one entry further."""
    page, address = cut(found, limit, path, lambda last: last.id, **kept)
    return paged([entry(each) for each in page], address)


@room.route("/audit", methods=["GET"])
@authorization.own
@fails(403)
@room.arguments(LogArgs, location="query")
@room.response(200, LogSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="my_log")
def my_log(args: Doc) -> Response:
    """Read what has happened to the account, the newest first: logins, refused ones, tokens, passwords, claims."""
    found = services().people.journal.read(authorization.holding().account, args["cursor"], args["limit"] + 1)
    return log_page("/v1/me/audit", found, args["limit"])


@room.route("/data", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, MyDataSchema)
@room.doc(operationId="my_data")
def my_data() -> Response:
    """Get all that is kept of the person, as one document."""
    s, who = services(), authorization.account()
    people, players = s.people, authorization.players()
    doc = _me(who) | {
        "names": [
            {"name": n, "since": since, "until": until or None} for n, since, until in people.accounts.names(who.id)
        ],
        "sessions": [device(each, authorization.holding().credential) for each in people.credentials.sessions(who.id)],
        "tokens": [listed(token) for token in people.credentials.tokens(who.id)],
        "factors": [second_factors.listed(factor) for factor in people.factors.of(who.id)],
        "clients": [clients.listed(client) for client in people.clients.of(who.id)],
        "grants": [grants.listed(grant) for grant in people.grants.of(who.id)],
        "log": [entry(each) for each in people.journal.read(who.id, limit=MOST)],
        "reports": [complaint(report) for report in people.reports.of(who.id)],
        "texts": s.access.texts(players),
        "roles": s.access.roles(*players),
        "webhooks": [webhooks.listed(hook) for hook in s.notices.hooks.of(who.id)],
        "mail": [email_subscriptions.listed(box)] if (box := s.notices.mailboxes.of(who.id)) else [],
        "watching": people.circle.watched(who.id),
        "blocks": [player for player, _ in people.circle.blocks(who.id)],
    }
    made = answer(doc)
    made.headers["Content-Disposition"] = 'attachment; filename="annals.json"'
    return made
