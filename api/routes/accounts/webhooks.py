"""Webhooks of one's own: where they lead, what they are told, and what has become of it."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, cut, paged
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
from domain.notifications.webhooks import Hook, Wanted
from domain.service.database import Statement

room = Blueprint("webhooks", __name__, url_prefix="/v1/me/webhooks", description="Webhooks of one's own.")


def listed(hook: Hook) -> Doc:
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


def _delivery(found: Delivery | None) -> Doc:
    if found is None:
        raise Problem("not_found")
    return {name: value for name, value in vars(found).items() if name != "webhook"}


def _hook(webhook: str) -> Hook:
    found = services().notices.hooks.find(authorization.holding().account, webhook)
    if found is None:
        raise Problem("not_found")
    return found


def _sending(webhook: str) -> Hook:
    """One to which something can be sent; what is asked for is counted."""
    found = _hook(webhook)
    authorization.in_good_standing()
    if found.state != "on":
        raise Problem("webhook_off")
    rate_limits.spend_quota("notices", found.account)
    return found


def _logged(what: str, detail: str) -> list[Statement]:
    return security_log.journaled(authorization.holding().account, what, rate_limits.network(), detail)


@room.route("", methods=["GET"])
@authorization.own
@fails(403)
@room.response(200, WebhooksSchema)
@room.doc(operationId="webhooks")
def webhooks() -> Response:
    """List one's webhooks, the oldest first."""
    return answer({"items": [listed(hook) for hook in services().notices.hooks.of(authorization.holding().account)]})


@room.route("", methods=["POST"])
@authorization.own
@fails(403, 404, 409)
@room.arguments(NewWebhookSchema)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, MadeWebhookSchema)
@room.doc(operationId="new_webhook")
def new_webhook(body: Doc, headers: Doc) -> Response:
    """Make a webhook. Its secret is shown in this answer and its repetitions alone.

    Needs a password that was shown in the last ten minutes. One of a table is for who has a seat there or directs it.
    """
    authorization.fresh()
    authorization.in_good_standing()
    s, me = services(), authorization.holding().account
    wanted = Wanted(body["url"], body["about"], body["game"], tuple(body["events"]))
    if (wanted.about == "table") != bool(wanted.game):
        raise Problem("webhook_refused", "A webhook of a table, and no other, names a game.")
    if wanted.game and wanted.game not in s.access.roles(*authorization.players()):
        raise Problem("not_at_table")
    key = headers["key"]
    request = (f"{me} {key}", wanted.url, wanted.about, wanted.game, *sorted(wanted.events)) if key else ()
    logged = _logged("webhook_made", wanted.about)
    hook, secret = s.notices.hooks.make(me, wanted, s.settings.webhooks, s.reader.position(), logged, *request)
    return answer(listed(hook) | {"secret": secret}, 201)


@room.route("/<webhook:webhook>", methods=["GET"])
@authorization.own
@fails(403, 404)
@room.response(200, ListedWebhookSchema)
@room.doc(operationId="webhook")
def webhook(webhook: str) -> Response:
    """Read what a webhook is."""
    return answer(listed(_hook(webhook)))


@room.route("/<webhook:webhook>", methods=["PUT"])
@authorization.own
@fails(403, 404)
@room.arguments(ChangedWebhookSchema)
@room.response(200, ListedWebhookSchema)
@room.doc(operationId="change_webhook")
def change_webhook(body: Doc, webhook: str) -> Response:
    """Change where a webhook leads and what it is told, or switch it off and on.

    Needs a password that was shown in the last ten minutes. While it is off it is owed nothing.
    """
    authorization.fresh()
    s, found = services(), _hook(webhook)
    if body["on"]:
        authorization.in_good_standing()
    wanted = Wanted(body["url"], found.about, found.game, tuple(body["events"]))
    position = s.reader.position()
    s.notices.hooks.change(found.account, found.id, wanted, s.settings.webhooks, position, on=body["on"])
    s.people.journal.keep(_logged("webhook_changed", found.id))
    return answer(listed(_hook(webhook)))


@room.route("/<webhook:webhook>", methods=["DELETE"])
@authorization.own
@fails(403, 404)
@room.response(204)
@room.doc(operationId="remove_webhook")
def remove_webhook(webhook: str) -> Response:
    """Remove a webhook, with all that was sent there."""
    s, me = services(), authorization.holding().account
    if not s.notices.hooks.remove(me, webhook):
        raise Problem("not_found")
    s.people.journal.keep(_logged("webhook_removed", webhook))
    return Response(status=204)


@room.route("/<webhook:webhook>/rotations", methods=["POST"])
@authorization.own
@fails(403, 404)
@room.arguments(KeyHeaders, location="headers")
@room.response(201, SecretSchema)
@room.doc(operationId="rotate_webhook")
def rotate_webhook(headers: Doc, webhook: str) -> Response:
    """Make another secret. For a day what is sent is signed with the one before as well.

    Needs a password that was shown in the last ten minutes.
    """
    authorization.fresh()
    s, me, key = services(), authorization.holding().account, headers["key"]
    secret = s.notices.hooks.rotate(me, webhook, *((f"{me} {key}", webhook) if key else ()))
    if secret is None:
        raise Problem("not_found")
    s.people.journal.keep(_logged("webhook_rotated", webhook))
    return answer({"secret": secret}, 201)


@room.route("/<webhook:webhook>/tests", methods=["POST"])
@authorization.own
@fails(403, 404, 409)
@room.response(202, DeliverySchema)
@room.doc(operationId="try_webhook")
def try_webhook(webhook: str) -> Response:
    """Have something sent that tells nothing, to try a receiver."""
    s, found = services(), _sending(webhook)
    made = s.notices.outbox.test(found)
    s.notify(0)
    return answer(_delivery(made), 202)


@room.route("/<webhook:webhook>/deliveries", methods=["GET"])
@authorization.own
@fails(403, 404)
@room.arguments(DeliveriesArgs, location="query")
@room.response(200, DeliveriesSchema, headers={"Link": {"schema": {"type": "string"}}})
@room.doc(operationId="deliveries")
def deliveries(args: Doc, webhook: str) -> Response:
    """Read what was sent to a webhook in the last thirty days, or is to be, the newest first; and how each try went."""
    hook, limit = _hook(webhook), args["limit"]
    found = services().notices.outbox.of(hook.id, args["status"], args["cursor"], limit + 1)
    path = f"/v1/me/webhooks/{hook.id}/deliveries"
    page, address = cut(found, limit, path, lambda last: f"{last.made}.{last.id}", status=args["status"])
    return paged([_delivery(each) for each in page], address)


@room.route("/<webhook:webhook>/deliveries/<delivery:delivery>/replays", methods=["POST"])
@authorization.own
@fails(403, 404, 409)
@room.response(202, DeliverySchema)
@room.doc(operationId="replay")
def replay(webhook: str, delivery: str) -> Response:
    """Have something sent again, under the same id, as often as if it were new. One that waits goes on waiting."""
    s, found = services(), _sending(webhook)
    made = s.notices.outbox.replay(found.id, delivery)
    s.notify(0)
    return answer(_delivery(made), 202)
