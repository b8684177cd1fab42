"""What moderators and administrators do: reports, suspensions, roles, invitations."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, cut, paged
from api.routes.accounts.accounts import person
from api.routes.accounts.me import complaint, log_page
from api.routes.accounts.seat_release import leave_all
from api.schemas.accounts import (
    AllLogArgs,
    ComplaintSchema,
    ComplaintsSchema,
    FiledSchema,
    FindArgs,
    InvitationSchema,
    LogSchema,
    MemberSchema,
    NewInvitationSchema,
    NewReportSchema,
    ReportsArgs,
    RoleSchema,
    SettleSchema,
    StandingSchema,
)
from api.schemas.query_args import KeyHeaders
from api.services import Doc, services
from domain.accounts import oauth_grants
from domain.accounts.abuse_reports import Report
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.kernel.text.message_catalog import Message

room = Blueprint("moderation", __name__, url_prefix="/v1", description="For moderators and administrators.")


def _filed(report: Report) -> Doc:
    return complaint(report) | {"account": report.account}


@room.route("/reports", methods=["POST"])
@authorization.mine
@fails(403, 404, 409)
@room.arguments(NewReportSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, ComplaintSchema)
@room.doc(operationId="report")
def report(body: Doc, headers: Doc) -> Response:
    """Tell moderators of a player, a table, or a player at a table."""
    s, who = services(), authorization.holding().account
    if not body["player"] and not body["game"]:
        raise Problem("invalid_body", errors=[{"at": "/player", "message": Message("A player or a game is expected.")}])
    if body["game"] and not s.ledger.version(body["game"]):
        raise Problem("unknown_game")
    request = ("report", who, headers["key"]) if headers["key"] else ()
    return answer(complaint(s.people.reports.file(who, body["player"], body["game"], body["said"], *request)), 201)


@room.route("/reports", methods=["GET"])
@authorization.staff("moderator")
@fails(403)
@room.arguments(ReportsArgs, location="query")
@room.response(200, ComplaintsSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="reports")
def reports(args: Doc) -> Response:
    """Read what people have reported, the oldest first; `status=settled` for what is done."""
    book, limit = services().people.reports, args["limit"]
    after = book.find(args["cursor"]) if args["cursor"] else None
    found = book.read(settled=args["status"] == "settled", after=after, limit=limit + 1)
    page, address = cut(found, limit, "/v1/reports", lambda last: last.id, status=args["status"])
    return paged([_filed(report) for report in page], address)


@room.route("/reports/<report:report>", methods=["PUT"])
@authorization.staff("moderator")
@fails(403, 404)
@room.arguments(SettleSchema)
@room.response(200, FiledSchema)
@room.doc(operationId="settle_report")
def settle_report(body: Doc, report: str) -> Response:
    """Settle a report; what is written first stands."""
    people = services().people
    if people.reports.find(report) is None:
        raise Problem("not_found")
    logged = security_log.journaled(authorization.holding().account, "report_settled", rate_limits.network(), report)
    people.reports.settle(report, body["outcome"], *logged, by=authorization.holding().account)
    found = people.reports.find(report)
    return answer(_filed(found) if found else {})


# --- accounts --------------------------------------------------------------------------------------------------


def _member(account: Account) -> Doc:
    people = services().people
    return person(account) | {
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "players": people.accounts.players(account.id),
        "names": [
            {"name": name, "since": since, "until": until or None}
            for name, since, until in people.accounts.names(account.id)
        ],
    }


@room.route("/accounts", methods=["GET"])
@authorization.staff("moderator")
@fails(403, 404)
@room.arguments(FindArgs, location="query")
@room.response(200, MemberSchema)
@room.doc(operationId="find_account")
def find_account(args: Doc) -> Response:
    """Find an account by its `name`, or by a `player` of records, with all names that it has had."""
    if bool(args["name"]) == bool(args["player"]):
        raise Problem(
            "invalid_query", errors=[{"at": "/name", "message": Message("Either a name or a player is expected.")}]
        )
    known = services().people.accounts
    found = known.named(args["name"]) if args["name"] else known.playing(args["player"])
    if found is None:
        raise Problem("unknown_account")
    return answer(_member(found))


@room.route("/accounts/<account:account>", methods=["GET"])
@authorization.staff("moderator")
@fails(403, 404)
@room.response(200, MemberSchema)
@room.doc(operationId="get_account")
def get_account(account: str) -> Response:
    """Read an account, with all names that it has had."""
    return answer(_member(_found(account)))


def _found(account: str) -> Account:
    found = services().people.accounts.find(account)
    if found is None or found.state == "erased":
        raise Problem("unknown_account")
    return found


@room.route("/accounts/<account:account>/standing", methods=["PUT"])
@authorization.staff("moderator")
@fails(403, 404, 409)
@room.arguments(StandingSchema)
@room.response(200, MemberSchema)
@room.doc(operationId="judge")
def judge(body: Doc, account: str) -> Response:
    """Suspend or ban an account, or lift that.

    Who is suspended opens, joins and directs nothing, and plays on at running tables. Who is banned does nothing but
    read; its seats are left, and held as their tables have agreed. A moderator judges members alone.
    """
    people, found, me = services().people, _found(account), authorization.holding()
    state = body["state"]
    until = people.clock() + body["days"] * DAY if state == "suspended" else 0
    network = rate_limits.network()
    told = security_log.journaled(account, state if state != "active" else "lifted", "", body["reason"])
    noted = security_log.journaled(me.account, "judged", network, f"{account}: {state}")
    people.accounts.judge(found.id, state, until, [*told, *noted], by=me.account)
    if state == "banned":
        leave_all(people.accounts.players(account))
    return answer(_member(_found(account)))


@room.route("/accounts/<account:account>/credentials", methods=["DELETE"])
@authorization.staff("admin")
@fails(403, 404)
@room.response(204)
@room.doc(operationId="end_credentials")
def end_credentials(account: str) -> Response:
    """End all sessions, personal tokens and grants of an account, as after a theft; its password and codes stay."""
    people = services().people
    _found(account)
    told = security_log.journaled(account, "credentials_ended")
    me = authorization.holding().account
    noted = security_log.journaled(me, "ended_credentials", rate_limits.network(), account)
    people.credentials.end_all(account, [*told, *noted, *oauth_grants.ended(account)], by=me)
    return Response(status=204)


@room.route("/accounts/<account:account>/role", methods=["PUT"])
@authorization.staff("admin")
@fails(403, 404, 409)
@room.arguments(RoleSchema)
@room.response(200, MemberSchema)
@room.doc(operationId="give_role")
def give_role(body: Doc, account: str) -> Response:
    """Make somebody a moderator, an administrator, or a member again; needs a password shown lately."""
    authorization.fresh()
    people = services().people
    _found(account)
    network = rate_limits.network()
    told = security_log.journaled(account, "role_given", "", body["role"])
    noted = security_log.journaled(authorization.holding().account, "gave_role", network, f"{account}: {body['role']}")
    people.accounts.promote(account, body["role"], [*told, *noted], by=authorization.holding().account)
    return answer(_member(_found(account)))


@room.route("/invitations", methods=["POST"])
@authorization.staff("admin")
@fails(403)
@room.arguments(NewInvitationSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, InvitationSchema)
@room.doc(operationId="invite")
def invite(body: Doc, headers: Doc) -> Response:
    """Make an invitation by which people open accounts."""
    people, me = services().people, authorization.holding().account
    said = (str(body["uses"]), str(body["days"]))
    request = (me, headers["key"], *said) if headers["key"] else ()
    noted = security_log.journaled(me, "invited", rate_limits.network(), said[0])
    until = people.clock() + body["days"] * DAY
    return answer({"invitation": people.accounts.invite(me, body["uses"], until, noted, *request)}, 201)


@room.route("/audit", methods=["GET"])
@authorization.staff("admin")
@fails(403)
@room.arguments(AllLogArgs, location="query")
@room.response(200, LogSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="log_of_all")
def log_of_all(args: Doc) -> Response:
    """Read what has happened to all accounts, or to one of them, the newest first."""
    found = services().people.journal.read(args["account"], args["cursor"], args["limit"] + 1)
    return log_page("/v1/audit", found, args["limit"], account=args["account"])
