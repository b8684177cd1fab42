"""The person who asks: all that is theirs, as tables, as data, and as what can be erased."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization
from api.documents.my_tables import MAX_GAMES, build_my_tables, current_owner
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, page_response, paginate
from api.routes.accounts import second_factors, webhooks
from api.routes.accounts.accounts import account_to_json
from api.routes.accounts.seat_release import leave_all_seats
from api.routes.accounts.sessions import session_to_json
from api.routes.accounts.tokens import token_to_json
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
from domain.accounts.abuse_reports import AbuseReport
from domain.accounts.accounts import Account
from domain.accounts.audit_log import AuditEntry
from domain.notifications import email_subscriptions
from domain.service.database import Statement

bp = Blueprint("me", __name__, url_prefix="/v1/me", description="The person who asks.")

# --- tables ----------------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/games",
    "my_games",
    access=authorization.require_person,
    errors=(403,),
    query=MineArgs,
    response=MyGamesSchema,
    response_headers=string_headers("Link"),
)
def my_games(args: Doc) -> Response:
    """Find the tables at which one has a seat or directs, the newest change first, however they are listed.

    `turn=mine`: only those where one owes a decision.
    """
    found = build_my_tables(services(), current_owner(), args["status"], args["turn"], args["cursor"], args["limit"])
    return page_response(found["items"], found["next"])


@bp.operation(
    "POST",
    "/claims",
    "claim",
    access=authorization.require_session,
    errors=(403, 409),
    body=ClaimSchema,
    response=ClaimedSchema,
)
def claim(body: Doc) -> Response:
    """Claim what a guest has: all tables of whoever the token is of become the account's, and the token opens nothing.

    A token from a director's hand claims nothing, since it speaks for no person. Needs a password that was shown in the
    last ten minutes.
    """
    authorization.require_fresh_password()
    s, me = services(), authorization.current_account()
    authorization.require_good_standing()
    found = s.seat_tokens.find_bearer(body["token"])
    holder = s.account_store.accounts.find_by_player(found.player) if found else None
    gone = holder is None and found is not None and found.claimed
    if found is None or found.lent or gone or (holder is not None and holder.id != me.id):
        raise Problem("not_claimable", "The token is unknown, lent by a director, or belongs to an account.")
    named = s.seat_tokens.texts.set_name(found.player, me.name)
    logged = security_log.audit_statements(me.id, "claimed", rate_limits.client_network(), found.player)
    s.account_store.accounts.claim(me.id, found.player, [*s.seat_tokens.claim(found.player), *named], logged)
    s.notify_changed(me.player)
    return json_response({"player": found.player, "games": sorted(s.seat_tokens.list_roles(found.player))})


# --- the account -----------------------------------------------------------------------------------------------


@bp.operation("GET", "", "me", access=authorization.require_account, errors=(403,), response=MeSchema)
def me() -> Response:
    """Read what the account is, and what the token that was sent may do."""
    return json_response(_me_to_json(authorization.current_account()))


def _me_to_json(account: Account) -> Doc:
    people, who = services().account_store, authorization.credential_owner()
    return account_to_json(account) | {
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "scopes": list(who.scopes),
        "session": who.session,
        "players": people.accounts.list_players(account.id),
        "codes": people.recovery_codes.count(account.id),
    }


@bp.operation(
    "PUT",
    "/name",
    "rename",
    access=authorization.require_session,
    errors=(403, 409),
    body=RenameSchema,
    response=PersonSchema,
)
def rename(body: Doc) -> Response:
    """Change the name, by which one logs in; for 90 days nobody else gets the one before.

    Needs a password that was shown in the last ten minutes.
    """
    authorization.require_fresh_password()
    s, before = services(), authorization.current_account()
    authorization.require_good_standing()
    account_names.check_name(body["name"])
    rate_limits.charge_quota("accounts", before.id)
    logged = security_log.audit_statements(
        before.id, "renamed", rate_limits.client_network(), f"{before.name}: {body['name']}"
    )
    s.account_store.accounts.rename(
        before.id, body["name"], lambda players: [*_rename_players(players, body["name"]), *logged]
    )
    return json_response(account_to_json(before) | {"name": body["name"]})


def _rename_players(players: Sequence[str], name: str) -> list[Statement]:
    return [row for player in players for row in services().seat_tokens.texts.set_name(player, name)]


def _erase_players(players: Sequence[str]) -> list[Statement]:
    gone = [row for player in players for row in services().seat_tokens.texts.erase(player)]
    return [*gone, *services().account_store.social_graph.erase(players)]


@bp.operation("DELETE", "", "erase_me", access=authorization.require_session, errors=(403, 409), status=204)
def erase_me() -> Response:
    """Erase the account: name, password, tokens, sessions and texts. Its seats are left; games keep an opaque id.

    Needs a password that was shown in the last ten minutes. The last administrator names another one first.
    """
    authorization.require_fresh_password()
    s, who = services(), authorization.current_account()
    s.account_store.accounts.check_not_last_admin(who.id)
    leave_all_seats(authorization.player_ids())  # first: once the account is gone nobody could ask for the rest
    s.account_store.accounts.erase(who.id, lambda players: [*_erase_players(players), *s.notifications.erase(who.id)])
    security_log.log_event("account_changed", account=who.id, what="erased")
    return Response(status=204)


# --- what is known of one --------------------------------------------------------------------------------------


def entry_to_json(found: AuditEntry) -> Doc:
    """A line of the log."""
    return vars(found)


def report_to_json(report: AbuseReport) -> Doc:
    """A report as its writer sees it."""
    return {name: getattr(report, name) for name in ("id", "at", "player", "game", "said", "outcome")}


def audit_log_page(path: str, found: list[AuditEntry], limit: int, **kept: str) -> Response:
    """A page of a log that was read one entry further."""
    page, address = paginate(found, limit, path, lambda last: last.id, **kept)
    return page_response([entry_to_json(each) for each in page], address)


@bp.operation(
    "GET",
    "/audit",
    "my_log",
    access=authorization.require_session,
    errors=(403,),
    query=LogArgs,
    response=LogSchema,
    response_headers=string_headers("Link"),
)
def my_log(args: Doc) -> Response:
    """Read what has happened to the account, the newest first: logins, refused ones, tokens, passwords, claims."""
    found = services().account_store.audit_log.list_entries(
        authorization.credential_owner().account, args["cursor"], args["limit"] + 1
    )
    return audit_log_page("/v1/me/audit", found, args["limit"])


@bp.operation("GET", "/data", "my_data", access=authorization.require_session, errors=(403,), response=MyDataSchema)
def my_data() -> Response:
    """Get all that is kept of the person, as one document."""
    s, who = services(), authorization.current_account()
    people, players = s.account_store, authorization.player_ids()
    doc = _me_to_json(who) | {
        "names": [
            {"name": n, "since": since, "until": until or None}
            for n, since, until in people.accounts.list_names(who.id)
        ],
        "sessions": [
            session_to_json(each, authorization.credential_owner().credential)
            for each in people.sessions.list_sessions(who.id)
        ],
        "tokens": [token_to_json(token) for token in people.personal_tokens.list_tokens(who.id)],
        "factors": [second_factors.factor_to_json(factor) for factor in people.second_factors.list_factors(who.id)],
        "clients": [clients.client_to_json(client) for client in people.oauth_clients.list_by_account(who.id)],
        "grants": [grants.grant_to_json(grant) for grant in people.oauth_grants.list_by_account(who.id)],
        "log": [entry_to_json(each) for each in people.audit_log.list_entries(who.id, limit=MAX_GAMES)],
        "reports": [report_to_json(report) for report in people.reports.list_by_account(who.id)],
        "texts": s.seat_tokens.texts.list_texts(players),
        "roles": s.seat_tokens.list_roles(*players),
        "webhooks": [webhooks.webhook_to_json(hook) for hook in s.notifications.webhooks.list_by_account(who.id)],
        "mail": [email_subscriptions.subscription_to_json(box)]
        if (box := s.notifications.email_subscriptions.find_by_account(who.id))
        else [],
        "watching": people.social_graph.list_watched(who.id),
        "blocks": [player for player, _ in people.social_graph.list_blocks(who.id)],
    }
    made = json_response(doc)
    made.headers["Content-Disposition"] = 'attachment; filename="annals.json"'
    return made
