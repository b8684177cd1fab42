"""Routes for moderators and administrators: reports, suspensions, roles, invitations, audit log."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, page_response, paginate
from api.routes.accounts.accounts import account_to_json
from api.routes.accounts.me import audit_log_page, report_to_json
from api.routes.accounts.seat_release import give_up_offices, leave_all_seats, leave_tournaments
from api.schemas.accounts import (
    AllLogArgs,
    ComplaintDoc,
    ComplaintsDoc,
    FiledDoc,
    FindArgs,
    InvitationDoc,
    LogDoc,
    MemberDoc,
    NewInvitationSchema,
    NewReportSchema,
    ReportsArgs,
    RoleSchema,
    SettleSchema,
    StandingSchema,
)
from api.schemas.query_args import KeyHeaders
from api.services import services
from domain.accounts import oauth_grants
from domain.accounts.abuse_reports import AbuseReport
from domain.accounts.account_tables import DAY
from domain.accounts.accounts import Account
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

bp = Blueprint("moderation", __name__, url_prefix="/v1", description="For moderators and administrators.")


def _filed_report_to_json(report: AbuseReport | None) -> FiledDoc:
    """Return a report as moderators see it. Raise Problem for None."""
    if report is None:
        raise Problem("not_found")
    return {**report_to_json(report), "account": report.account}


@bp.operation(
    "POST",
    "/reports",
    "report",
    access=authorization.require_account,
    errors=(403, 404, 409),
    body=NewReportSchema,
    headers=KeyHeaders,
    status=201,
)
def report(body: Doc, headers: Doc) -> JsonResponse[ComplaintDoc]:
    """Report a player, a game, or a player in a game to the moderators."""
    s, caller = services(), authorization.credential_owner().account
    if not body["player"] and not body["game"]:
        raise Problem("invalid_body", errors=[{"at": "/player", "message": Message("Send `player`, `game` or both.")}])
    if body["game"] and not s.ledger.version(body["game"]):
        raise Problem("unknown_game")
    request = ("report", caller, headers["key"]) if headers["key"] else ()
    key = person_key(headers["key"])
    filed = s.account_store.reports.file(caller, body["player"], body["game"], body["said"], *request, key=key)
    return creation_response(report_to_json(filed), key)


@bp.operation(
    "GET",
    "/reports",
    "reports",
    access=authorization.require_staff("moderator"),
    errors=(403,),
    query=ReportsArgs,
    response_headers=string_headers("Link"),
)
def reports(args: Doc) -> JsonResponse[ComplaintsDoc]:
    """Return the open reports, oldest first; with `status=settled`, the settled ones."""
    abuse_reports, limit = services().account_store.reports, args["limit"]
    after = abuse_reports.find(args["cursor"]) if args["cursor"] else None
    found = abuse_reports.list_reports(settled=args["status"] == "settled", after=after, limit=limit + 1)
    page, address = paginate(found, limit, "/v1/reports", lambda last: last.id, status=args["status"])
    return page_response({"items": [_filed_report_to_json(report) for report in page], "next": address})


@bp.operation(
    "PUT",
    "/reports/<report:report>",
    "settle_report",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    body=SettleSchema,
)
def settle_report(body: Doc, report: str) -> JsonResponse[FiledDoc]:
    """Settle a report. The first outcome stays."""
    account_store = services().account_store
    if account_store.reports.find(report) is None:
        raise Problem("not_found")
    audit_rows = security_log.audit_statements(
        authorization.credential_owner().account, "report_settled", rate_limits.client_network(), report
    )
    account_store.reports.settle(report, body["outcome"], *audit_rows, by=authorization.credential_owner().account)
    return json_response(_filed_report_to_json(account_store.reports.find(report)))


# --- accounts --------------------------------------------------------------------------------------------------


def _member_to_json(account: Account) -> MemberDoc:
    """Return an account as moderators see it."""
    account_store = services().account_store
    return {
        **account_to_json(account),
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "players": account_store.accounts.list_players(account.id),
        "names": [
            {"name": name, "since": since, "until": until or None}
            for name, since, until in account_store.accounts.list_names(account.id)
        ],
    }


@bp.operation(
    "GET",
    "/accounts",
    "find_account",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
    query=FindArgs,
)
def find_account(args: Doc) -> JsonResponse[MemberDoc]:
    """Find an account by `name` or by `player` id, and return it with all its names."""
    if bool(args["name"]) == bool(args["player"]):
        raise Problem("invalid_query", errors=[{"at": "/name", "message": Message("Send either `name` or `player`.")}])
    accounts = services().account_store.accounts
    found = accounts.find_by_name(args["name"]) if args["name"] else accounts.find_by_player(args["player"])
    if found is None:
        raise Problem("unknown_account")
    return json_response(_member_to_json(found))


@bp.operation(
    "GET",
    "/accounts/<account:account>",
    "get_account",
    access=authorization.require_staff("moderator"),
    errors=(403, 404),
)
def get_account(account: str) -> JsonResponse[MemberDoc]:
    """Return an account with all its names."""
    return json_response(_member_to_json(_find_account(account)))


def _find_account(account: str) -> Account:
    """Return an account by id. Raise Problem if it is unknown or erased."""
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
)
def judge(body: Doc, account: str) -> JsonResponse[MemberDoc]:
    """Suspend or ban an account, or lift this.

    A suspended account cannot open, join or direct games, but continues running ones. A banned account can only read;
    its seats are vacated, and held as agreed at each table, and it leaves its tournaments. Moderators can judge only
    accounts without a role.
    """
    account_store, found, me = services().account_store, _find_account(account), authorization.credential_owner()
    state = body["state"]
    until = account_store.clock() + body["days"] * DAY if state == "suspended" else 0
    network = rate_limits.client_network()
    account_rows = security_log.audit_statements(account, state if state != "active" else "lifted", "", body["reason"])
    moderator_rows = security_log.audit_statements(me.account, "judged", network, f"{account}: {state}")
    players = account_store.accounts.list_players(account)
    challenges = account_store.social_graph.erase(players) if state == "banned" else []
    rows = [*account_rows, *moderator_rows, *challenges]
    account_store.accounts.set_state(found.id, state, until, rows, by=me.account)
    if state == "banned":
        give_up_offices(players)
        leave_tournaments(players)
        leave_all_seats(players)
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
    """End all sessions, personal tokens and grants of an account, for example after a theft.

    Its password and recovery codes stay.
    """
    account_store = services().account_store
    _find_account(account)
    account_rows = security_log.audit_statements(account, "credentials_ended")
    me = authorization.credential_owner().account
    admin_rows = security_log.audit_statements(me, "ended_credentials", rate_limits.client_network(), account)
    account_store.credentials.end_all(account, [*account_rows, *admin_rows, *oauth_grants.revoke_all(account)], by=me)
    return Response(status=204)


@bp.operation(
    "PUT",
    "/accounts/<account:account>/role",
    "give_role",
    access=authorization.require_staff("admin"),
    errors=(403, 404, 409),
    body=RoleSchema,
)
def give_role(body: Doc, account: str) -> JsonResponse[MemberDoc]:
    """Make an account a moderator, an administrator, or a member again.

    Requires a password check within the last ten minutes.
    """
    authorization.require_fresh_password()
    account_store = services().account_store
    _find_account(account)
    network = rate_limits.client_network()
    account_rows = security_log.audit_statements(account, "role_given", "", body["role"])
    admin_rows = security_log.audit_statements(
        authorization.credential_owner().account, "gave_role", network, f"{account}: {body['role']}"
    )
    account_store.accounts.set_role(
        account, body["role"], [*account_rows, *admin_rows], by=authorization.credential_owner().account
    )
    return json_response(_member_to_json(_find_account(account)))


@bp.operation(
    "POST",
    "/invitations",
    "invite",
    access=authorization.require_staff("admin"),
    errors=(403,),
    body=NewInvitationSchema,
    headers=KeyHeaders,
    status=201,
)
def invite(body: Doc, headers: Doc) -> JsonResponse[InvitationDoc]:
    """Create an invitation to open accounts."""
    account_store, me = services().account_store, authorization.credential_owner().account
    limits = (str(body["uses"]), str(body["days"]))
    request = (me, headers["key"], *limits) if headers["key"] else ()
    audit_rows = security_log.audit_statements(me, "invited", rate_limits.client_network(), limits[0])
    until = account_store.clock() + body["days"] * DAY
    key = person_key(headers["key"])
    secret = account_store.accounts.invite(me, body["uses"], until, audit_rows, *request, key=key)
    return creation_response({"invitation": secret}, key)


@bp.operation(
    "GET",
    "/audit",
    "log_of_all",
    access=authorization.require_staff("admin"),
    errors=(403,),
    query=AllLogArgs,
    response_headers=string_headers("Link"),
)
def log_of_all(args: Doc) -> JsonResponse[LogDoc]:
    """Return the audit log of all accounts, or of one, newest first."""
    found = services().account_store.audit_log.list_entries(args["account"], args["cursor"], args["limit"] + 1)
    return audit_log_page("/v1/audit", found, args["limit"], account=args["account"])
