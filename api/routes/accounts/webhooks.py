"""Routes of the account's webhooks and their deliveries."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, page_response, paginate
from api.schemas.query_args import KeyHeaders
from api.schemas.webhooks import (
    ChangedWebhookSchema,
    DeliveriesArgs,
    DeliveriesDoc,
    DeliveryDoc,
    ListedWebhookDoc,
    MadeWebhookDoc,
    NewWebhookSchema,
    SecretDoc,
    WebhooksDoc,
)
from api.services import services
from api.tournament_calls import load_tournament
from domain.notifications.outbox import Delivery
from domain.notifications.webhooks import Webhook, WebhookRequest
from domain.service.database import Statement
from domain.types import Doc

bp = Blueprint("webhooks", __name__, url_prefix="/v1/me/webhooks", description="Webhooks of an account.")


def webhook_to_json(hook: Webhook) -> ListedWebhookDoc:
    """Return a webhook without its secrets."""
    return {
        "id": hook.id,
        "about": hook.about,
        "game": "" if hook.about == "event" else hook.game,
        "tournament": hook.game if hook.about == "event" else "",
        "events": list(hook.events),
        "url": hook.url,
        "state": hook.state,
        "made": hook.made,
        "failing": hook.failing or None,
    }


def _delivery_to_json(found: Delivery | None) -> DeliveryDoc:
    """Return a delivery without its webhook. Raise Problem for None."""
    if found is None:
        raise Problem("not_found")
    return {
        "id": found.id,
        "type": found.type,
        "game": found.game,
        "state": found.state,
        "made": found.made,
        "due": found.due,
        "tries": found.tries,
        "log": [
            {"at": each["at"], "status": each["status"], "ms": each["ms"], "said": each["said"]} for each in found.log
        ],
    }


def _find_webhook(webhook: str) -> Webhook:
    """Return a webhook of the caller. Raise Problem."""
    found = services().notifications.webhooks.find(authorization.credential_owner().account, webhook)
    if found is None:
        raise Problem("not_found")
    return found


def _find_subject(body: Doc) -> str:
    """Return the table or the tournament of a new webhook, or an empty string.

    Raise Problem if it is missing or superfluous, UnknownTournament for an unknown one.
    """
    about, game, tournament = body["about"], body["game"], body["tournament"]
    if (about == "table") != bool(game):
        raise Problem("webhook_refused", "`game` is required for a table's webhook, and not allowed for others.")
    if (about == "event") != bool(tournament):
        raise Problem("webhook_refused", "`tournament` is for a webhook about `event`, which needs it.")
    return load_tournament(tournament).id if tournament else str(game)


def _require_active(webhook: str) -> Webhook:
    """Return the caller's webhook and charge a quota. Raise Problem if it is switched off."""
    found = _find_webhook(webhook)
    if found.state != "on":
        raise Problem("webhook_off")
    rate_limits.charge_quota("notices", found.account)
    return found


def _audit_statements(what: str, detail: str) -> list[Statement]:
    """Return the statements of an audit entry for the caller."""
    return security_log.audit_statements(
        authorization.credential_owner().account, what, rate_limits.client_network(), detail
    )


@bp.operation(
    "GET",
    "",
    "webhooks",
    access=authorization.require_session,
    errors=(403,),
)
def webhooks() -> JsonResponse[WebhooksDoc]:
    """Return your webhooks, oldest first."""
    return json_response(
        {
            "items": [
                webhook_to_json(hook)
                for hook in services().notifications.webhooks.list_by_account(authorization.credential_owner().account)
            ]
        }
    )


@bp.operation(
    "POST",
    "",
    "new_webhook",
    access=authorization.require_session,
    errors=(403, 404, 409),
    body=NewWebhookSchema,
    headers=KeyHeaders,
    status=201,
)
def new_webhook(body: Doc, headers: Doc) -> JsonResponse[MadeWebhookDoc]:
    """Create a webhook. Its secret is shown only in this response and its repetitions.

    Requires a password check within the last ten minutes. For a table's webhook, you need a seat
    there or direct it.
    """
    authorization.require_fresh_password()
    s, me = services(), authorization.credential_owner().account
    game = _find_subject(body)
    webhook_request = WebhookRequest(body["url"], body["about"], game, tuple(body["events"]))
    if body["game"] and body["game"] not in s.seat_tokens.list_roles(*authorization.player_ids()):
        raise Problem("not_at_table")
    key, bound = headers["key"], person_key(headers["key"])
    request = (
        (
            f"{me} {key}",
            webhook_request.url,
            webhook_request.about,
            webhook_request.game,
            *sorted(webhook_request.events),
        )
        if key
        else ()
    )
    audit_rows = _audit_statements("webhook_made", webhook_request.about)
    hook, secret = s.notifications.webhooks.create(
        me, webhook_request, s.settings.webhooks, s.reader.read_position(), audit_rows, *request, key=bound
    )
    return creation_response({**webhook_to_json(hook), "secret": secret}, bound)


@bp.operation("GET", "/<webhook:webhook>", "webhook", access=authorization.require_session, errors=(403, 404))
def webhook(webhook: str) -> JsonResponse[ListedWebhookDoc]:
    """Return a webhook."""
    return json_response(webhook_to_json(_find_webhook(webhook)))


@bp.operation(
    "PUT",
    "/<webhook:webhook>",
    "change_webhook",
    access=authorization.require_session_in_any_standing,
    errors=(403, 404),
    body=ChangedWebhookSchema,
)
def change_webhook(body: Doc, webhook: str) -> JsonResponse[ListedWebhookDoc]:
    """Change a webhook's URL or events, or switch it on or off.

    Requires a password check within the last ten minutes. While it is off, no events are collected.
    """
    authorization.require_fresh_password()
    s, found = services(), _find_webhook(webhook)
    if body["on"]:
        authorization.require_good_standing()
    webhook_request = WebhookRequest(body["url"], found.about, found.game, tuple(body["events"]))
    position = s.reader.read_position()
    s.notifications.webhooks.update(
        found.account, found.id, webhook_request, s.settings.webhooks, position, on=body["on"]
    )
    s.account_store.audit_log.store(_audit_statements("webhook_changed", found.id))
    return json_response(webhook_to_json(_find_webhook(webhook)))


@bp.operation(
    "DELETE",
    "/<webhook:webhook>",
    "remove_webhook",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def remove_webhook(webhook: str) -> Response:
    """Remove a webhook and all its deliveries."""
    s, me = services(), authorization.credential_owner().account
    if not s.notifications.webhooks.remove(me, webhook):
        raise Problem("not_found")
    s.account_store.audit_log.store(_audit_statements("webhook_removed", webhook))
    return Response(status=204)


@bp.operation(
    "POST",
    "/<webhook:webhook>/rotations",
    "rotate_webhook",
    access=authorization.require_session,
    errors=(403, 404),
    headers=KeyHeaders,
    status=201,
)
def rotate_webhook(headers: Doc, webhook: str) -> JsonResponse[SecretDoc]:
    """Create a new secret. For one day, deliveries are also signed with the old one.

    Requires a password check within the last ten minutes.
    """
    authorization.require_fresh_password()
    s, me, key = services(), authorization.credential_owner().account, headers["key"]
    request, bound = (f"{me} {key}", webhook) if key else (), person_key(key)
    secret = s.notifications.webhooks.rotate_secret(me, webhook, *request, key=bound)
    if secret is None:
        raise Problem("not_found")
    if bound is None or bound.first is None:
        s.account_store.audit_log.store(_audit_statements("webhook_rotated", webhook))
    return creation_response({"secret": secret}, bound)


@bp.operation(
    "POST",
    "/<webhook:webhook>/tests",
    "try_webhook",
    access=authorization.require_session,
    errors=(403, 404, 409),
    status=202,
)
def try_webhook(webhook: str) -> JsonResponse[DeliveryDoc]:
    """Send an empty test event, to check your receiver."""
    s, found = services(), _require_active(webhook)
    delivery = s.notifications.outbox.send_test(found)
    s.notify_appended(0)
    return json_response(_delivery_to_json(delivery), 202)


@bp.operation(
    "GET",
    "/<webhook:webhook>/deliveries",
    "deliveries",
    access=authorization.require_session,
    errors=(403, 404),
    query=DeliveriesArgs,
    response_headers=string_headers("Link"),
)
def deliveries(args: Doc, webhook: str) -> JsonResponse[DeliveriesDoc]:
    """Return the deliveries of the last thirty days and the pending ones, newest first, with each attempt."""
    hook, limit = _find_webhook(webhook), args["limit"]
    found = services().notifications.outbox.list_deliveries(hook.id, args["status"], args["cursor"], limit + 1)
    path = f"/v1/me/webhooks/{hook.id}/deliveries"
    page, address = paginate(found, limit, path, lambda last: f"{last.made}.{last.id}", status=args["status"])
    return page_response({"items": [_delivery_to_json(each) for each in page], "next": address})


@bp.operation(
    "POST",
    "/<webhook:webhook>/deliveries/<delivery:delivery>/replays",
    "replay",
    access=authorization.require_session,
    errors=(403, 404, 409),
    status=202,
)
def replay(webhook: str, delivery: str) -> JsonResponse[DeliveryDoc]:
    """Send a delivery again, with the same id and a full set of attempts. A pending one just stays pending."""
    s, found = services(), _require_active(webhook)
    sent = s.notifications.outbox.replay(found.id, delivery)
    s.notify_appended(0)
    return json_response(_delivery_to_json(sent), 202)
