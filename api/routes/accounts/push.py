"""Routes of the browsers told by web push."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.schemas.push_schemas import NewPushDeviceSchema, PushDeviceDoc, PushDevicesDoc
from api.services import services
from domain.notifications.push_devices import PushDevice, PushRequest
from domain.service.database import Statement
from domain.types import Doc

bp = Blueprint("push", __name__, url_prefix="/v1/me/push", description="Browsers told by web push.")


def device_to_json(device: PushDevice) -> PushDeviceDoc:
    """Return a browser without its address and keys."""
    return {
        "id": device.id,
        "name": device.name,
        "language": device.language,
        "host": device.host,
        "made": device.made,
        "failing": device.failing or None,
    }


def _audit_statements(what: str, detail: str) -> list[Statement]:
    account = authorization.credential_owner().account
    return security_log.audit_statements(account, what, rate_limits.client_network(), detail)


@bp.operation("GET", "", "push_devices", access=authorization.require_session, errors=(403,))
def push_devices() -> JsonResponse[PushDevicesDoc]:
    """Return your browsers told by web push, oldest first, and the key for a new one."""
    store = services().notifications.push_devices
    found = store.list_by_account(authorization.credential_owner().account)
    key = urlsafe_b64encode(store.load_newest_key()[1]).rstrip(b"=").decode()
    return json_response({"key": key, "items": list(map(device_to_json, found))})


@bp.operation(
    "POST",
    "",
    "new_push_device",
    access=authorization.require_session,
    errors=(403, 409),
    body=NewPushDeviceSchema,
    status=201,
)
def new_push_device(body: Doc) -> JsonResponse[PushDeviceDoc]:
    """Have a browser told of your affairs: the same events as a webhook about `mine`.

    The same endpoint is one browser: a repetition replaces it, also if another account had it before.
    """
    s, me = services(), authorization.credential_owner().account
    public_key, auth = (_decode(body["keys"][name]) for name in ("p256dh", "auth"))
    push = PushRequest(body["endpoint"], public_key, auth, body["name"], body["language"])
    rows = _audit_statements("push_made", body["name"])
    device = s.notifications.push_devices.save(me, push, s.settings.webhooks, s.reader.read_position(), rows)
    return json_response(device_to_json(device), 201)


@bp.operation(
    "DELETE",
    "/<webhook:device>",
    "remove_push_device",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def remove_push_device(device: str) -> Response:
    """Tell a browser nothing more."""
    me, rows = authorization.credential_owner().account, _audit_statements("push_removed", device)
    if not services().notifications.push_devices.remove(me, device, rows):
        raise Problem("not_found")
    return Response(status=204)


@bp.operation(
    "POST",
    "/<webhook:device>/tests",
    "try_push_device",
    access=authorization.require_session,
    errors=(403, 404),
    status=204,
)
def try_push_device(device: str) -> Response:
    """Send a trial message to a browser."""
    s, me = services(), authorization.credential_owner().account
    rate_limits.charge_quota("notices", me)
    if not s.notifications.push_devices.send_test(me, device):
        raise Problem("not_found")
    s.notify_appended(0)
    return Response(status=204)


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
