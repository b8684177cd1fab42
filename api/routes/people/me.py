"""The person who asks: all that is theirs, as tables, as data, and as what can be erased."""

from __future__ import annotations

from urllib.parse import urlencode

import orjson
from flask import Response

from api import auth, events, limits
from api.answers import MyGamesSchema
from api.openapi import Blueprint, fails
from api.people import (
    ClaimedSchema,
    ClaimSchema,
    LogArgs,
    LogSchema,
    MeSchema,
    MyDataSchema,
    PersonSchema,
    RenameSchema,
)
from api.problems import Problem
from api.replies import answer
from api.requests import MineArgs
from api.routes.games import paged, with_names
from api.routes.people.accounts import person
from api.routes.people.leaving import leave_all
from api.routes.people.sessions import device
from api.routes.people.tokens import listed
from api.services import Doc, services
from domain.beside.people import names
from domain.beside.people.accounts import Account
from domain.beside.people.journal import Entry
from domain.beside.people.reports import Report

room = Blueprint("me", __name__, url_prefix="/v1/me", description="The person who asks.")

MOST = 5000
"""Games of one person that are looked through."""


# --- tables ----------------------------------------------------------------------------------------------------


@room.route("/games", methods=["GET"])
@auth.person
@fails(403)
@room.arguments(MineArgs, location="query")
@room.response(200, MyGamesSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="my_games")
def my_games(args: Doc) -> Response:
    """Find the tables at which one has a seat or directs, the newest change first, however they are listed.

    `turn=mine`: only those where one owes a decision.
    """
    s, limit = services(), args["limit"]
    who = auth.asking()
    roles = {who.game: [who.role]} if who and who.lent else s.access.roles(*auth.players())
    games, before = list(roles)[:MOST], args["cursor"]
    found: list[tuple[int, Doc]] = []
    while len(found) <= limit:
        page = s.reader.of(games, args["status"], before, limit + 1)
        told = ((position, doc | _turn(doc, roles[doc["game"]])) for position, doc in page)
        found += [(position, doc) for position, doc in told if args["turn"] == "all" or doc["turn"]]
        if len(page) <= limit:
            break
        before = page[-1][0]
    kept, address = with_names([doc for _, doc in found[:limit]]), None
    if len(found) > limit:
        more = {name: args[name] for name in ("status", "turn") if args[name] not in ("", "all")}
        address = "/v1/me/games?" + urlencode({**more, "limit": limit, "cursor": found[limit - 1][0]})
    return paged([{**doc, "roles": roles[doc["game"]]} for doc in kept], address)


def _turn(summary: Doc, roles: list[int | str]) -> Doc:
    """Whether a decision is owed, as one's own seats know it, and how long there is for it, ms."""
    s = services()
    mine = [role for role in roles if isinstance(role, int) and role in summary["waiting_for"]]
    dues: list[int | None] = []
    for seat in mine:  # in a secret decision the others do not know who has answered
        board = s.reader.board(summary["game"], seat)
        (top,) = orjson.loads(board.doc)["decisions"][:1] if board else ({"must": []},)
        dues += [top.get("due", {}).get(str(seat))] if seat in top["must"] else []
    timed = [due for due in dues if due is not None]
    return {"turn": bool(dues), "left": max(min(timed) - s.clock(), 0) if timed else None}


@room.route("/claims", methods=["POST"])
@auth.own
@fails(403, 409)
@room.arguments(ClaimSchema)
@room.response(200, ClaimedSchema)
@room.doc(operationId="claim")
def claim(body: Doc) -> Response:
    """Claim what a guest has: all tables of whoever the token is of become the account's, and the token opens nothing.

    A token from a director's hand claims nothing, since it speaks for no person.
    """
    s, me = services(), auth.account()
    auth.in_good_standing()
    found = s.access.bearer(body["token"])
    holder = s.people.accounts.playing(found.player) if found else None
    gone = holder is None and found is not None and found.claimed
    if found is None or found.lent or gone or (holder is not None and holder.id != me.id):
        raise Problem("not_claimable", "The token is unknown, lent by a director, or of somebody's account.")
    named = s.access.called(found.player, me.name)
    logged = events.journaled(me.id, "claimed", limits.network(), found.player)
    s.people.accounts.claim(me.id, found.player, [*s.access.claimed(found.player), *named], logged)
    return answer({"player": found.player, "games": sorted(s.access.roles(found.player))})


# --- the account -----------------------------------------------------------------------------------------------


@room.route("", methods=["GET"])
@auth.mine
@fails(403)
@room.response(200, MeSchema)
@room.doc(operationId="me")
def me() -> Response:
    """Read what the account is, and what the token that was sent may do."""
    return answer(_me(auth.account()))


def _me(account: Account) -> Doc:
    people, who = services().people, auth.holding()
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
@auth.own
@fails(403, 409)
@room.arguments(RenameSchema)
@room.response(200, PersonSchema)
@room.doc(operationId="rename")
def rename(body: Doc) -> Response:
    """Change the name; for 90 days nobody else gets the one before."""
    s, before = services(), auth.account()
    auth.in_good_standing()
    names.check(body["name"])
    limits.spend_quota("accounts", before.id)
    called = [row for player in auth.players() for row in s.access.called(player, body["name"])]
    logged = events.journaled(before.id, "renamed", limits.network(), f"{before.name}: {body['name']}")
    s.people.accounts.rename(before.id, body["name"], [*called, *logged])
    return answer(person(before) | {"name": body["name"]})


@room.route("", methods=["DELETE"])
@auth.own
@fails(403)
@room.response(204)
@room.doc(operationId="erase_me")
def erase_me() -> Response:
    """Erase the account: name, password, tokens, sessions and texts. Its seats are left; games keep an opaque id.

    Needs a password that was shown in the last ten minutes.
    """
    auth.fresh()
    s, who = services(), auth.account()
    players = auth.players()
    leave_all(players)  # first: once the account is gone nobody could ask for the rest
    s.people.accounts.erase(who.id, [row for player in players for row in s.access.forgotten(player)])
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
    address = None
    if len(found) > limit:
        more = {name: value for name, value in kept.items() if value}
        address = f"{path}?" + urlencode({**more, "limit": limit, "cursor": found[limit - 1].id})
    return paged([entry(each) for each in found[:limit]], address)


@room.route("/audit", methods=["GET"])
@auth.own
@fails(403)
@room.arguments(LogArgs, location="query")
@room.response(200, LogSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="my_log")
def my_log(args: Doc) -> Response:
    """Read what has happened to the account, the newest first: logins, refused ones, tokens, passwords, claims."""
    found = services().people.journal.read(auth.holding().account, args["cursor"], args["limit"] + 1)
    return log_page("/v1/me/audit", found, args["limit"])


@room.route("/data", methods=["GET"])
@auth.own
@fails(403)
@room.response(200, MyDataSchema)
@room.doc(operationId="my_data")
def my_data() -> Response:
    """Get all that is kept of the person, as one document."""
    s, who = services(), auth.account()
    people, players = s.people, auth.players()
    doc = _me(who) | {
        "names": [
            {"name": n, "since": since, "until": until or None} for n, since, until in people.accounts.names(who.id)
        ],
        "sessions": [device(each, auth.holding().credential) for each in people.credentials.sessions(who.id)],
        "tokens": [listed(token) for token in people.credentials.tokens(who.id)],
        "log": [entry(each) for each in people.journal.read(who.id, limit=MOST)],
        "reports": [complaint(report) for report in people.reports.of(who.id)],
        "texts": s.access.texts(players),
        "roles": s.access.roles(*players),
    }
    made = answer(doc)
    made.headers["Content-Disposition"] = 'attachment; filename="annals.json"'
    return made
