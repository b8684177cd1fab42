"""Webhooks of one's own: where they lead, what they are told, and what has become of it."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, page_response, paginate
from api.schemas.query_args import KeyHeaders
from api.schemas.webhooks import (
    ChangedWebhookSchema,
    DeliveriesArgs,
    DeliveriesSchema,
    DeliverySchema,
    ListedWebhookSchema,
    MadeWebhookSchema,
    NewWebhookSchema,
    SecretSchema,
    WebhooksSchema,
)
from api.services import Doc, services
from domain.notifications.outbox import Delivery
from domain.notifications.webhooks import Webhook, WebhookRequest
from domain.service.database import Statement

bp = Blueprint("webhooks", __name__, url_prefix="/v1/me/webhooks", description="Webhooks of one's own.")


def webhook_to_json(hook: Webhook) -> Doc:
    """A webhook without its secrets."""
    return {
        "id": hook.id,
        "about": hook.about,
        "game": hook.game,
        "events": list(hook.events),
        "url": hook.url,
        "state": hook.state,
        "made": hook.made,
        "failing": hook.failing or None,
    }


def _delivery_to_json(found: Delivery | None) -> Doc:
    if found is None:
        raise Problem("not_found")
    return {name: value for name, value in vars(found).items() if name != "webhook"}


def _find_webhook(webhook: str) -> Webhook:
    found = services().notifications.webhooks.find(authorization.credential_owner().account, webhook)
    if found is None:
        raise Problem("not_found")
    return found


def _require_active(webhook: str) -> Webhook:
    """One to which something can be sent; what is asked for is counted."""
    found = _find_webhook(webhook)
    authorization.require_good_standing()
    if found.state != "on":
        raise Problem("webhook_off")
    rate_limits.charge_quota("notices", found.account)
    return found


def _audit_statements(what: str, detail: str) -> list[Statement]:
    return security_log.audit_statements(
        authorization.credential_owner().account, what, rate_limits.client_network(), detail
    )


@bp.operation("GET", "", "webhooks", access=authorization.require_session, errors=(403,), response=WebhooksSchema)
def webhooks() -> Response:
    """List one's webhooks, the oldest first."""
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
    response=MadeWebhookSchema,
    status=201,
)
def new_webhook(body: Doc, headers: Doc) -> Response:
    """Make a webhook. Its secret is shown in this answer and its repetitions alone.

    Needs a password that was shown in the last ten minutes. One of a table is for who has a seat there or directs it.
    """
    authorization.require_fresh_password()
    authorization.require_good_standing()
    s, me = services(), authorization.credential_owner().account
    wanted = WebhookRequest(body["url"], body["about"], body["game"], tuple(body["events"]))
    if (wanted.about == "table") != bool(wanted.game):
        raise Problem("webhook_refused", "`game` is required for a table's webhook, and not allowed for others.")
    if wanted.game and wanted.game not in s.seat_tokens.list_roles(*authorization.player_ids()):
        raise Problem("not_at_table")
    key = headers["key"]
    request = (f"{me} {key}", wanted.url, wanted.about, wanted.game, *sorted(wanted.events)) if key else ()
    logged = _audit_statements("webhook_made", wanted.about)
    hook, secret = s.notifications.webhooks.create(
        me, wanted, s.settings.webhooks, s.reader.read_position(), logged, *request
    )
    return json_response(webhook_to_json(hook) | {"secret": secret}, 201)


@bp.operation(
    "GET",
    "/<webhook:webhook>",
    "webhook",
    access=authorization.require_session,
    errors=(403, 404),
    response=ListedWebhookSchema,
)
def webhook(webhook: str) -> Response:
    """Read what a webhook is."""
    return json_response(webhook_to_json(_find_webhook(webhook)))


@bp.operation(
    "PUT",
    "/<webhook:webhook>",
    "change_webhook",
    access=authorization.require_session,
    errors=(403, 404),
    body=ChangedWebhookSchema,
    response=ListedWebhookSchema,
)
def change_webhook(body: Doc, webhook: str) -> Response:
    """Change where a webhook leads and what it is told, or switch it off and on.

    Needs a password that was shown in the last ten minutes. While it is off it is owed nothing.
    """
    authorization.require_fresh_password()
    s, found = services(), _find_webhook(webhook)
    if body["on"]:
        authorization.require_good_standing()
    wanted = WebhookRequest(body["url"], found.about, found.game, tuple(body["events"]))
    position = s.reader.read_position()
    s.notifications.webhooks.update(found.account, found.id, wanted, s.settings.webhooks, position, on=body["on"])
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
    """Remove a webhook, with all that was sent there."""
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
    response=SecretSchema,
    status=201,
)
def rotate_webhook(headers: Doc, webhook: str) -> Response:
    """Make another secret. For a day what is sent is signed with the one before as well.

    Needs a password that was shown in the last ten minutes.
    """
    authorization.require_fresh_password()
    s, me, key = services(), authorization.credential_owner().account, headers["key"]
    secret = s.notifications.webhooks.rotate_secret(me, webhook, *((f"{me} {key}", webhook) if key else ()))
    if secret is None:
        raise Problem("not_found")
    s.account_store.audit_log.store(_audit_statements("webhook_rotated", webhook))
    return json_response({"secret": secret}, 201)


@bp.operation(
    "POST",
    "/<webhook:webhook>/tests",
    "try_webhook",
    access=authorization.require_session,
    errors=(403, 404, 409),
    response=DeliverySchema,
    status=202,
)
def try_webhook(webhook: str) -> Response:
    """Have something sent that tells nothing, to try a receiver."""
    s, found = services(), _require_active(webhook)
    made = s.notifications.outbox.send_test(found)
    s.notify_appended(0)
    return json_response(_delivery_to_json(made), 202)


@bp.operation(
    "GET",
    "/<webhook:webhook>/deliveries",
    "deliveries",
    access=authorization.require_session,
    errors=(403, 404),
    query=DeliveriesArgs,
    response=DeliveriesSchema,
    response_headers=string_headers("Link"),
)
def deliveries(args: Doc, webhook: str) -> Response:
    """Read what was sent to a webhook in the last thirty days, or is to be, the newest first; and how each try went."""
    hook, limit = _find_webhook(webhook), args["limit"]
    found = services().notifications.outbox.list_deliveries(hook.id, args["status"], args["cursor"], limit + 1)
    path = f"/v1/me/webhooks/{hook.id}/deliveries"
    page, address = paginate(found, limit, path, lambda last: f"{last.made}.{last.id}", status=args["status"])
    return page_response([_delivery_to_json(each) for each in page], address)


@bp.operation(
    "POST",
    "/<webhook:webhook>/deliveries/<delivery:delivery>/replays",
    "replay",
    access=authorization.require_session,
    errors=(403, 404, 409),
    response=DeliverySchema,
    status=202,
)
def replay(webhook: str, delivery: str) -> Response:
    """Have something sent again, under the same id, as often as if it were new. One that waits goes on waiting."""
    s, found = services(), _require_active(webhook)
    made = s.notifications.outbox.replay(found.id, delivery)
    s.notify_appended(0)
    return json_response(_delivery_to_json(made), 202)
