"""Routes for moderators and administrators: reports, suspensions, roles, invitations, audit log."""

from __future__ import annotations

from contextlib import suppress

from flask import Response

from api import authorization, officer_rights
from api.caller_keys import creation_response, person_key
from api.documents.shown_messages import reported_to_json
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, load_table, page_response, paginate
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
from api.schemas.talk_schemas import NewSilenceSchema
from api.services import services
from domain.accounts import oauth_grants
from domain.accounts.abuse_reports import AbuseReport
from domain.accounts.account_tables import DAY, write
from domain.accounts.accounts import Account
from domain.errors import GameDamaged
from domain.kernel.text.message_catalog import Message
from domain.service.database import Statement
from domain.talk import message_reports
from domain.talk.silences import EVERYWHERE, HOUR
from domain.types import Doc

bp = Blueprint("moderation", __name__, url_prefix="/v1", description="For moderators and administrators.")


def _filed_report_to_json(report: AbuseReport | None) -> FiledDoc:
    """Return a report as moderators see it. Raise Problem for None."""
    if report is None:
        raise Problem("not_found")
    s, found = services(), services().message_reports.find(report.id)
    is_hidden = found is not None and s.seat_tokens.hidden_players.has_hidden(found.game)  # the seat stands beside it
    return {
        **report_to_json(report),
        "account": "" if is_hidden else report.account,
        "reported": reported_to_json(found) if found else None,
    }


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
    """Return the open reports, oldest first; with `status=settled`, the settled ones.

    Reports of messages are left out for a moderator with a part in their game. Those to the officers of a table are
    among them once it has no officer without a stake any more.
    """
    _take_over_reports()
    abuse_reports, limit = services().account_store.reports, args["limit"]
    after = abuse_reports.find(args["cursor"]) if args["cursor"] else None
    found = abuse_reports.list_reports(settled=args["status"] == "settled", after=after, limit=limit + 1)
    page, address = paginate(found, limit, "/v1/reports", lambda last: last.id, status=args["status"])
    shown = [_filed_report_to_json(report) for report in page if not _is_party(report.id)]
    return page_response({"items": shown, "next": address})


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
    account_store, me = services().account_store, authorization.credential_owner()
    filed, found = account_store.reports.find(report), services().message_reports.find(report)
    if filed is None or (found and found.handler == "officers"):
        raise Problem("not_found")
    if _is_party(report):
        raise Problem("director_plays", "You have a part in this matter: another moderator settles it.")
    audit_rows = security_log.audit_statements(
        authorization.credential_owner().account, "report_settled", rate_limits.client_network(), report
    )
    if found and not filed.settled:
        audit_rows += message_reports.settle(report, upheld=body["erase"])
    account_store.reports.settle(report, body["outcome"], *audit_rows, by=me.account)
    if found:
        services().message_reports.scrub()
    return json_response(_filed_report_to_json(account_store.reports.find(report)))


def _take_over_reports() -> None:
    """Give the moderators the reports left without an officer to settle them."""
    s = services()
    for game in s.message_reports.list_waiting():
        with suppress(GameDamaged):  # it waits for its repair
            if not officer_rights.list_impartial_officers(s, load_table(game)[1]):
                s.message_reports.hand_on(game)


def _is_party(report: str) -> bool:
    """Return whether a report of messages is about a game in which the moderator has a part."""
    found, me = services().message_reports.find(report), authorization.current_account()
    return found is not None and officer_rights.is_party(load_table(found.game)[1], me.player)


# --- accounts --------------------------------------------------------------------------------------------------


def _member_to_json(account: Account) -> MemberDoc:
    """Return an account as moderators see it."""
    s = services()
    account_store = s.account_store
    return {
        **account_to_json(account),
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "players": s.seat_tokens.hidden_players.list_shown(account_store.accounts.list_players(account.id)),
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
    """Find an account by `name` or by `player` id, and return it with all its names.

    The player of a table with hidden names is told to moderators without a part in the game, and their log tells it.
    """
    if bool(args["name"]) == bool(args["player"]):
        raise Problem("invalid_query", errors=[{"at": "/name", "message": Message("Send either `name` or `player`.")}])
    accounts = services().account_store.accounts
    found = accounts.find_by_name(args["name"]) if args["name"] else accounts.find_by_player(args["player"])
    if found is None and args["player"]:
        found = _find_behind(args["player"])
    if found is None:
        raise Problem("unknown_account")
    return json_response(_member_to_json(found))


def _find_behind(player: str) -> Account | None:
    """Return the account of a player at a table with hidden names, and log the look. Raise Problem for a party."""
    s, me = services(), authorization.current_account()
    game = s.seat_tokens.hidden_players.find_game(player)
    found = s.account_store.accounts.find_holder(player) if game else None
    if found is None:
        return None
    if officer_rights.is_party(load_table(game)[1], me.player):
        raise Problem("names_hidden")
    rows = security_log.audit_statements(me.id, "uncovered", rate_limits.client_network(), f"{game}: {player}")
    s.ledger.run_in_append_order(lambda execute: write(execute, rows))
    return found


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
    "PUT",
    "/accounts/<account:account>/silence",
    "silence_account",
    access=authorization.require_staff("moderator"),
    errors=(403, 404, 409),
    body=NewSilenceSchema,
    status=204,
)
def silence_account(body: Doc, account: str) -> Response:
    """Let an account write no words at any table for a time, neither to the table nor in letters.

    Moves, treaties and answers without words go on. The person reads until when, and the reason.
    """
    _find_account(account)
    until = services().clock() + body["hours"] * HOUR
    _silence(account, services().silences.set(EVERYWHERE, account, until, body["reason"]), "silenced", body["reason"])
    return Response(status=204)


@bp.operation(
    "DELETE",
    "/accounts/<account:account>/silence",
    "end_silence",
    access=authorization.require_staff("moderator"),
    errors=(403, 404, 409),
    status=204,
)
def end_silence(account: str) -> Response:
    """End the silence of an account."""
    _find_account(account)
    _silence(account, services().silences.lift(EVERYWHERE, account), "silence_lifted", "")
    return Response(status=204)


def _silence(account: str, statement: Statement, action: str, reason: str) -> None:
    """Store a silence or its end, with entries in the logs of both accounts."""
    me = authorization.credential_owner().account
    rows = security_log.audit_statements(account, action, "", reason)
    rows += security_log.audit_statements(me, "judged", rate_limits.client_network(), f"{account}: {action}")
    services().account_store.accounts.judge(account, [statement, *rows], by=me)


@bp.operation(
    "DELETE",
    "/accounts/<account:account>/credentials",
    "end_credentials",
    access=authorization.require_staff("admin"),
    errors=(403, 404),
    status=204,
)
def end_credentials(account: str) -> Response:
    """End all sessions, personal tokens, grants and web push of an account, for example after a theft.

    Its password and recovery codes stay.
    """
    account_store = services().account_store
    _find_account(account)
    account_rows = security_log.audit_statements(account, "credentials_ended")
    me = authorization.credential_owner().account
    admin_rows = security_log.audit_statements(me, "ended_credentials", rate_limits.client_network(), account)
    others = [*oauth_grants.revoke_all(account), *services().notifications.push_devices.erase(account)]
    account_store.credentials.end_all(account, [*account_rows, *admin_rows, *others], by=me)
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
