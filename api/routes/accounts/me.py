"""Routes of the account's own data: games, claims, name, audit log, export, erasure."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization
from api.documents.desk import list_offices
from api.documents.my_tables import MAX_GAMES, build_my_tables, current_owner
from api.documents.summaries import add_places
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import check_account_name
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import ChangeCursor, json_response, page_response, paginate
from api.routes import table_chat
from api.routes.accounts import mail, push, second_factors, webhooks
from api.routes.accounts.accounts import account_to_json
from api.routes.accounts.seat_release import give_up_offices, leave_all_seats, leave_tournaments
from api.routes.accounts.sessions import session_to_json
from api.routes.accounts.tokens import token_to_json
from api.routes.game_imports import import_to_json
from api.routes.oauth import clients, grants
from api.schemas.accounts import (
    ClaimedDoc,
    ClaimSchema,
    ComplaintDoc,
    LogArgs,
    LogDoc,
    LogEntryDoc,
    MeDoc,
    MyDataDoc,
    MySettingsDoc,
    PersonDoc,
    RenameSchema,
    SettingsSchema,
)
from api.schemas.query_args import MineArgs
from api.schemas.table_responses import MyGamesDoc
from api.services import services
from domain.accounts.abuse_reports import AbuseReport
from domain.accounts.accounts import Account
from domain.accounts.audit_log import AuditEntry
from domain.service.database import Statement
from domain.standing_orders.order_rules import describe_order
from domain.standing_orders.order_store import erase_orders
from domain.talk.silences import erase_silences
from domain.types import Doc

bp = Blueprint("me", __name__, url_prefix="/v1/me", description="The caller's account and data.")

# --- games -----------------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/games",
    "my_games",
    access=authorization.require_person,
    errors=(403,),
    query=MineArgs,
    response_headers=string_headers("Link"),
)
def my_games(args: Doc) -> JsonResponse[MyGamesDoc]:
    """Return the games where you have a seat or direct, newest change first, also unlisted ones.

    `turn=mine`: only games where you owe a decision.
    """
    found = build_my_tables(
        services(), current_owner(), args["status"], args["turn"], ChangeCursor.of_args(args), args["limit"]
    )
    return page_response({"items": add_places(services(), found["items"]), "next": found["next"]})


@bp.operation("POST", "/claims", "claim", access=authorization.require_session, errors=(403, 409), body=ClaimSchema)
def claim(body: Doc) -> JsonResponse[ClaimedDoc]:
    """Claim a guest's games: all games of the token's player become the account's, and the token stops working.

    A token lent by a director claims nothing. Requires a password check within the last ten minutes.
    """
    authorization.require_fresh_password()
    s, me = services(), authorization.current_account()
    guest = s.seat_tokens.find_bearer(body["token"])
    owner = s.account_store.accounts.find_holder(guest.player) if guest else None
    erased = owner is None and guest is not None and guest.claimed
    if guest is None or guest.lent or erased or (owner is not None and owner.id != me.id):
        raise Problem("not_claimable", "The token is unknown, lent by a director, or belongs to an account.")
    name_rows = s.seat_tokens.texts.set_name(guest.player, me.name)
    told = "" if s.seat_tokens.hidden_players.find_game(guest.player) else guest.player  # administrators read the log
    audit_rows = security_log.audit_statements(me.id, "claimed", rate_limits.client_network(), told)
    s.account_store.accounts.claim(me.id, guest.player, [*s.seat_tokens.claim(guest.player), *name_rows], audit_rows)
    s.notify_changed(me.player)
    return json_response({"player": guest.player, "games": sorted(s.seat_tokens.list_roles(guest.player))})


# --- the account -----------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "",
    "me",
    access=authorization.require_account,
    errors=(403,),
)
def me() -> JsonResponse[MeDoc]:
    """Return your account, and the scopes of the token in this request."""
    return json_response(_me_to_json(authorization.current_account()))


def _me_to_json(account: Account) -> MeDoc:
    """Return the account with the scopes of the caller's token."""
    account_store, caller = services().account_store, authorization.credential_owner()
    return {
        **account_to_json(account),
        "made": account.made,
        "state": account.state,
        "until": account.until or None,
        "role": account.role,
        "scopes": list(caller.scopes),
        "session": caller.session,
        "players": account_store.accounts.list_players(account.id),
        "codes": account_store.recovery_codes.count(account.id),
    }


@bp.operation("PUT", "/name", "rename", access=authorization.require_session, errors=(403, 409), body=RenameSchema)
def rename(body: Doc) -> JsonResponse[PersonDoc]:
    """Change the account's name, also used to log in. The old name stays reserved for 90 days.

    Requires a password check within the last ten minutes.
    """
    authorization.require_fresh_password()
    s, before = services(), authorization.current_account()
    check_account_name(body["name"])
    rate_limits.charge_quota("accounts", before.id)
    audit_rows = security_log.audit_statements(
        before.id, "renamed", rate_limits.client_network(), f"{before.name}: {body['name']}"
    )
    s.account_store.accounts.rename(
        before.id, body["name"], lambda players: [*_rename_players(players, body["name"]), *audit_rows]
    )
    return json_response({**account_to_json(before), "name": body["name"]})


@bp.operation("GET", "/settings", "my_settings", access=authorization.require_account, errors=(403,))
def my_settings() -> JsonResponse[MySettingsDoc]:
    """Return the settings of your account."""
    return json_response(_settings_to_json())


@bp.operation(
    "PUT", "/settings", "change_settings", access=authorization.require_session, errors=(403,), body=SettingsSchema
)
def change_settings(body: Doc) -> JsonResponse[MySettingsDoc]:
    """Set the time zone in which mails give times."""
    services().account_store.settings.save_zone(authorization.credential_owner().account, body["zone"])
    return json_response(_settings_to_json())


def _settings_to_json() -> MySettingsDoc:
    return {"zone": services().account_store.settings.find_zone(authorization.credential_owner().account)}


def _rename_players(players: Sequence[str], name: str) -> list[Statement]:
    """Return the statements to set the name of all these player ids."""
    return [row for player in players for row in services().seat_tokens.texts.set_name(player, name)]


def _erase_players(players: Sequence[str]) -> list[Statement]:
    """Return the statements to erase the texts, messages, notes, orders, challenges and watched games of these ids."""
    texts = [row for player in players for row in services().seat_tokens.texts.erase(player)]
    offices = services().seat_tokens.officers.erase(players)
    offices += services().seat_tokens.substitutes.erase(players)
    offices += services().seat_tokens.event_people.erase(players)
    offices += services().seat_tokens.announcements.erase(players)
    texts += [erase_orders(players)]
    talk = [
        *services().talk.erase(players),
        erase_silences([authorization.credential_owner().account]),
    ]
    return [*texts, *offices, *talk, *services().account_store.social_graph.erase(players)]


@bp.operation("DELETE", "", "erase_me", access=authorization.require_session, errors=(403, 409), status=204)
def erase_me() -> Response:
    """Erase the account: name, password, tokens, sessions and texts. Games keep an opaque id.

    Its seats are vacated, and it leaves its tournaments. Requires a password check within the last ten minutes. The
    last administrator must appoint another one first.
    """
    authorization.require_fresh_password()
    s, caller = services(), authorization.current_account()
    s.account_store.accounts.check_not_last_admin(caller.id)
    give_up_offices(authorization.player_ids())
    leave_tournaments(authorization.player_ids())
    leave_all_seats(authorization.player_ids())  # first: after the erasure nobody could repeat an interrupted request
    s.account_store.accounts.erase(
        caller.id, lambda players: [*_erase_players(players), *s.notifications.erase(caller.id)]
    )
    security_log.log_event("account_changed", account=caller.id, what="erased")
    return Response(status=204)


# --- stored data -----------------------------------------------------------------------------------------------


def entry_to_json(found: AuditEntry) -> LogEntryDoc:
    """Return an entry of the audit log."""
    return {
        "id": found.id,
        "account": found.account,
        "at": found.at,
        "what": found.what,
        "address": found.address,
        "detail": found.detail,
    }


def report_to_json(report: AbuseReport) -> ComplaintDoc:
    """Return a report as its author sees it."""
    return {
        "id": report.id,
        "at": report.at,
        "player": report.player,
        "game": report.game,
        "said": report.said,
        "outcome": report.outcome,
    }


def audit_log_page(path: str, found: list[AuditEntry], limit: int, **kept: str) -> JsonResponse[LogDoc]:
    """Return a page of the audit log, from one entry more than `limit`."""
    page, address = paginate(found, limit, path, lambda last: last.id, **kept)
    return page_response({"items": [entry_to_json(each) for each in page], "next": address})


@bp.operation(
    "GET",
    "/audit",
    "my_log",
    access=authorization.require_session,
    errors=(403,),
    query=LogArgs,
    response_headers=string_headers("Link"),
)
def my_log(args: Doc) -> JsonResponse[LogDoc]:
    """Return the account's audit log, newest first: logins, failed logins, tokens, passwords, claims."""
    found = services().account_store.audit_log.list_entries(
        authorization.credential_owner().account, args["cursor"], args["limit"] + 1
    )
    return audit_log_page("/v1/me/audit", found, args["limit"])


@bp.operation(
    "GET",
    "/data",
    "my_data",
    access=authorization.require_session,
    errors=(403,),
)
def my_data() -> JsonResponse[MyDataDoc]:
    """Return all stored data about you, as one document."""
    s, caller = services(), authorization.current_account()
    account_store, players = s.account_store, authorization.player_ids()
    doc: MyDataDoc = {
        **_me_to_json(caller),
        "names": [
            {"name": n, "since": since, "until": until or None}
            for n, since, until in account_store.accounts.list_names(caller.id)
        ],
        "sessions": [
            session_to_json(each, authorization.credential_owner().credential)
            for each in account_store.sessions.list_sessions(caller.id)
        ],
        "tokens": [token_to_json(token) for token in account_store.personal_tokens.list_tokens(caller.id)],
        "factors": [
            second_factors.factor_to_json(factor) for factor in account_store.second_factors.list_factors(caller.id)
        ],
        "clients": [
            clients.client_to_json(client) for client in account_store.oauth_clients.list_by_account(caller.id)
        ],
        "grants": [grants.grant_to_json(grant) for grant in account_store.oauth_grants.list_by_account(caller.id)],
        "log": [entry_to_json(each) for each in account_store.audit_log.list_entries(caller.id, limit=MAX_GAMES)],
        "reports": [report_to_json(report) for report in account_store.reports.list_by_account(caller.id)],
        "texts": s.seat_tokens.texts.list_texts(players),
        "messages": s.talk.list_own(players),
        "notes": s.talk.list_notes(players),
        "standing_orders": list(map(describe_order, s.orders.list_own(players))),
        "roles": s.seat_tokens.list_roles(*players),
        "webhooks": [webhooks.webhook_to_json(hook) for hook in s.notifications.webhooks.list_by_account(caller.id)],
        "push": list(map(push.device_to_json, s.notifications.push_devices.list_by_account(caller.id))),
        "mail": [mail.subscription_to_json(box)]
        if (box := s.notifications.email_subscriptions.find_by_account(caller.id))
        else [],
        "settings": _settings_to_json(),
        "chats": table_chat.list_chats(caller.id),
        "pages": account_store.settings.find_page_settings(caller.id),
        "visits": account_store.page_visits.list_visits(caller.id),
        "calendar_key": account_store.calendar_keys.find_time(caller.id),
        "imports": [import_to_json(each) for each in s.ledger.imports.list_by_account(caller.id)],
        "watching": account_store.social_graph.list_watched(caller.id),
        "series": s.notifications.followed_series.list_by_account(caller.id),
        "offices": list_offices(s, players),
        "substitutions": [offer._asdict() for offer in s.seat_tokens.substitutes.list_open(players)],
        "relations": account_store.social_graph.list_relations(caller.id),
        "blocks": [player for player, _ in account_store.social_graph.list_blocks(caller.id)],
    }
    response = json_response(doc)
    response.headers["Content-Disposition"] = 'attachment; filename="annals.json"'
    return response
