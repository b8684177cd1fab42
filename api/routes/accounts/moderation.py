"""What moderators and administrators do: reports, suspensions, roles, invitations."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, page_response, paginate
from api.routes.accounts.accounts import account_to_json
from api.routes.accounts.me import audit_log_page, report_to_json
from api.routes.accounts.seat_release import leave_all_seats
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
from domain.accounts.abuse_reports import AbuseReport
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.kernel.text.message_catalog import Message

bp = Blueprint("moderation", __name__, url_prefix="/v1", description="For moderators and administrators.")


def _filed_report_to_json(report: AbuseReport) -> Doc:
    return report_to_json(report) | {"account": report.account}


@bp.operation(
    "POST",
    "/reports",
    "report",
    access=authorization.require_account,
    errors=(403, 404, 409),
    body=NewReportSchema,
    headers=KeyHeaders,
    response=ComplaintSchema,
    status=201,
)
def report(body: Doc, headers: Doc) -> Response:
    """Tell moderators of a player, a table, or a player at a table."""
    s, who = services(), authorization.credential_owner().account
    if not body["player"] and not body["game"]:
        raise Problem("invalid_body", errors=[{"at": "/player", "message": Message("A player or a game is expected.")}])
    if body["game"] and not s.ledger.version(body["game"]):
        raise Problem("unknown_game")
    request = ("report", who, headers["key"]) if headers["key"] else ()
    return json_response(
        report_to_json(s.account_store.reports.file(who, body["player"], body["game"], body["said"], *request)), 201
    )


@bp.operation(
    "GET",
    "/reports",
    "reports",
    access=authorization.require_staff("moderator"),
    errors=(403,),
    query=ReportsArgs,
    response=ComplaintsSchema,
    response_headers=string_headers("Link"),
)
def reports(args: Doc) -> Response:
    """Read what people have reported, the oldest first; `status=settled` for what is done."""
    book, limit = services().account_store.reports, args["limit"]
    after = book.find(args["cursor"]) if args["cursor"] else None
    found = book.list_reports(settled=args["status"] == "settled", after=after, limit=limit + 1)
    page, address = paginate(found, limit, "/v1/reports", lambda last: last.id, status=args["status"])
    return page_response([_filed_report_to_json(report) for report in page], address)


@bp.operation(
    "PUT",
    "/reports/<report:report>",
    "settle_report",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    body=SettleSchema,
    response=FiledSchema,
)
def settle_report(body: Doc, report: str) -> Response:
    """Settle a report; what is written first stands."""
    people = services().account_store
    if people.reports.find(report) is None:
        raise Problem("not_found")
    logged = security_log.audit_statements(
        authorization.credential_owner().account, "report_settled", rate_limits.client_network(), report
    )
    people.reports.settle(report, body["outcome"], *logged, by=authorization.credential_owner().account)
    found = people.reports.find(report)
    return json_response(_filed_report_to_json(found) if found else {})


# --- accounts --------------------------------------------------------------------------------------------------


def _member_to_json(account: Account) -> Doc:
    people = services().account_store
    return account_to_json(account) | {
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "players": people.accounts.list_players(account.id),
        "names": [
            {"name": name, "since": since, "until": until or None}
            for name, since, until in people.accounts.list_names(account.id)
        ],
    }


@bp.operation(
    "GET",
    "/accounts",
    "find_account",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    query=FindArgs,
    response=MemberSchema,
)
def find_account(args: Doc) -> Response:
    """Find an account by its `name`, or by a `player` of records, with all names that it has had."""
    if bool(args["name"]) == bool(args["player"]):
        raise Problem(
            "invalid_query", errors=[{"at": "/name", "message": Message("Either a name or a player is expected.")}]
        )
    known = services().account_store.accounts
    found = known.find_by_name(args["name"]) if args["name"] else known.find_by_player(args["player"])
    if found is None:
        raise Problem("unknown_account")
    return json_response(_member_to_json(found))


@bp.operation(
    "GET",
    "/accounts/<account:account>",
    "get_account",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    response=MemberSchema,
)
def get_account(account: str) -> Response:
    """Read an account, with all names that it has had."""
    return json_response(_member_to_json(_find_account(account)))


def _find_account(account: str) -> Account:
    found = services().account_store.accounts.find(account)
    if found is None or found.state == "erased":
        raise Problem("unknown_account")
    return found


@bp.operation(
    "PUT",
    "/accounts/<account:account>/standing",
    "judge",
    access=authorization.require_staff("moderator"),
    errors=(403, 404, 409),
    body=StandingSchema,
    response=MemberSchema,
)
def judge(body: Doc, account: str) -> Response:
    """Suspend or ban an account, or lift that.

    Who is suspended opens, joins and directs nothing, and plays on at running tables. Who is banned does nothing but
    read; its seats are left, and held as their tables have agreed. A moderator judges members alone.
    """
    people, found, me = services().account_store, _find_account(account), authorization.credential_owner()
    state = body["state"]
    until = people.clock() + body["days"] * DAY if state == "suspended" else 0
    network = rate_limits.client_network()
    told = security_log.audit_statements(account, state if state != "active" else "lifted", "", body["reason"])
    noted = security_log.audit_statements(me.account, "judged", network, f"{account}: {state}")
    people.accounts.set_state(found.id, state, until, [*told, *noted], by=me.account)
    if state == "banned":
        leave_all_seats(people.accounts.list_players(account))
    return json_response(_member_to_json(_find_account(account)))


@bp.operation(
    "DELETE",
    "/accounts/<account:account>/credentials",
    "end_credentials",
    access=authorization.require_staff("admin"),
    errors=(403, 404),
    status=204,
)
def end_credentials(account: str) -> Response:
    """End all sessions, personal tokens and grants of an account, as after a theft; its password and codes stay."""
    people = services().account_store
    _find_account(account)
    told = security_log.audit_statements(account, "credentials_ended")
    me = authorization.credential_owner().account
    noted = security_log.audit_statements(me, "ended_credentials", rate_limits.client_network(), account)
    people.credentials.end_all(account, [*told, *noted, *oauth_grants.revoke_all(account)], by=me)
    return Response(status=204)


@bp.operation(
    "PUT",
    "/accounts/<account:account>/role",
    "give_role",
    access=authorization.require_staff("admin"),
    errors=(403, 404, 409),
    body=RoleSchema,
    response=MemberSchema,
)
def give_role(body: Doc, account: str) -> Response:
    """Make somebody a moderator, an administrator, or a member again; needs a password shown lately."""
    authorization.require_fresh_password()
    people = services().account_store
    _find_account(account)
    network = rate_limits.client_network()
    told = security_log.audit_statements(account, "role_given", "", body["role"])
    noted = security_log.audit_statements(
        authorization.credential_owner().account, "gave_role", network, f"{account}: {body['role']}"
    )
    people.accounts.set_role(account, body["role"], [*told, *noted], by=authorization.credential_owner().account)
    return json_response(_member_to_json(_find_account(account)))


@bp.operation(
    "POST",
    "/invitations",
    "invite",
    access=authorization.require_staff("admin"),
    errors=(403,),
    body=NewInvitationSchema,
    headers=KeyHeaders,
    response=InvitationSchema,
    status=201,
)
def invite(body: Doc, headers: Doc) -> Response:
    """Make an invitation by which people open accounts."""
    people, me = services().account_store, authorization.credential_owner().account
    said = (str(body["uses"]), str(body["days"]))
    request = (me, headers["key"], *said) if headers["key"] else ()
    noted = security_log.audit_statements(me, "invited", rate_limits.client_network(), said[0])
    until = people.clock() + body["days"] * DAY
    return json_response({"invitation": people.accounts.invite(me, body["uses"], until, noted, *request)}, 201)


@bp.operation(
    "GET",
    "/audit",
    "log_of_all",
    access=authorization.require_staff("admin"),
    errors=(403,),
    query=AllLogArgs,
    response=LogSchema,
    response_headers=string_headers("Link"),
)
def log_of_all(args: Doc) -> Response:
    """Read what has happened to all accounts, or to one of them, the newest first."""
    found = services().account_store.audit_log.list_entries(args["account"], args["cursor"], args["limit"] + 1)
    return audit_log_page("/v1/audit", found, args["limit"], account=args["account"])
