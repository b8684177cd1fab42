"""Keys of requests: an Idempotency-Key binds everything that the request asks for, for one caller.

A caller is a seat or the director at a table. Elsewhere it is an account, the player of a seat's token, or, without a
token, the key itself. A person without a role who asks at a table is a caller of that table.
"""

from __future__ import annotations

import json

from flask import Response, request
from marshmallow import missing

from api import authorization
from api.http import security_log
from api.http.json_responses import JsonResponse
from api.openapi.smorest import read_json_body
from api.response_builders import Document, json_response
from api.services import services
from domain.service.idempotency_keys import NO_GAME, IdempotencyKey

_SECRETS = ("password",)
"""Members outside the fingerprint, which is kept for ever. The account itself compares them."""


def role_key(key: str) -> IdempotencyKey | None:
    """Return the request's key for the caller's role at the table, or None without a key.

    Keys are separate for each role. The key itself is not stored.
    """
    if not key:
        return None
    caller = authorization.principal()
    id_ = services().seat_tokens.command_id("act", caller.game, str(caller.role), caller.player, key)
    return IdempotencyKey(id_, _fingerprint(), caller.game)


def person_key(key: str, game: str = NO_GAME) -> IdempotencyKey | None:
    """Return the request's key for the caller as a person, or None without a key; `game` is that of the URL."""
    if not key:
        return None
    s, owner = services(), authorization.optional_owner()
    caller = owner.account if owner else next(iter(authorization.player_ids()), "")
    at = s.account_store.clock() if game == NO_GAME else 0
    return IdempotencyKey(s.seat_tokens.command_id("key", game, caller, key), _fingerprint(), game, at)


def command_key(id_: str, game: str, key: IdempotencyKey | None) -> IdempotencyKey | None:
    """Return the key of a command with an id of its own, which binds the person's key with its records."""
    return IdempotencyKey(id_, key.fingerprint, game, claim=key) if key else None


def _fingerprint() -> str:
    """Return the fingerprint of the current request: method, path, query, body and If-Match."""
    body = read_json_body(request)
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in _SECRETS}
    query = sorted(request.args.items(multi=True))
    asked = [request.method, request.path, query, {} if body is missing else body, request.headers.get("If-Match", "")]
    return services().seat_tokens.fingerprint(json.dumps(asked, sort_keys=True, separators=(",", ":")))


def creation_response(doc: Document, key: IdempotencyKey | None) -> JsonResponse[Document]:
    """Return the response to a request that created something, marked if it is a repetition."""
    response = json_response(doc, 201)
    if key is not None and key.first is not None:
        mark_replayed(response)
    return response


def mark_replayed(response: Response) -> None:
    """Mark the response to a repetition. Nothing has happened, so no event is logged."""
    security_log.forget_audit_events()
    response.headers["Idempotency-Replayed"] = "true"
