"""Routes of a tournament's group chat."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.table_chat import audit_chat, chat_to_json, find_chat
from api.schemas.chat_schemas import ChatDoc, ChatWishSchema
from api.services import services
from api.tournament_rights import require_right
from domain.notifications.chats import ChatRequest
from domain.types import Doc

bp = Blueprint(
    "tournament_chats",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="The group chat of a tournament.",
)


@bp.operation("GET", "/chat", "tournament_chat", access=authorization.require_directing_account, errors=(403, 404))
def tournament_chat(tournament: str) -> JsonResponse[ChatDoc]:
    """Return the tournament's group chat: who named it, and its host. All its officers see it."""
    require_right(tournament, "tournament_chat")
    return json_response(chat_to_json(find_chat(tournament)))


@bp.operation(
    "PUT",
    "/chat",
    "change_tournament_chat",
    access=authorization.require_session,
    errors=(403, 404, 409),
    body=ChatWishSchema,
)
def change_tournament_chat(body: Doc, tournament: str) -> JsonResponse[ChatDoc]:
    """Name the address of the tournament's group chat, in place of the previous one.

    The organiser and deputies may do it. The chat is told of draws, results and standings. Messages end with your
    office. Requires a password check within the last ten minutes.
    """
    authorization.require_fresh_password()
    authorization.require_good_standing()
    t, _ = require_right(tournament, "change_tournament_chat")
    owner = authorization.credential_owner()
    if t.is_over:
        raise Problem("webhook_refused", "The tournament is over.")
    rate_limits.charge_quota("notices", owner.account)
    s, wish = services(), ChatRequest(t.id, t.terms.ruleset, body["url"], body["language"])
    audit_rows = audit_chat(owner.account, "chat_set", t.id)
    s.notifications.chats.save(owner.account, wish, s.settings.webhooks, s.reader.read_position(), audit_rows)
    s.notify_appended(0)
    return json_response(chat_to_json(find_chat(t.id)))


@bp.operation(
    "DELETE",
    "/chat",
    "remove_tournament_chat",
    access=authorization.require_directing_account,
    errors=(403, 404),
    status=204,
)
def remove_tournament_chat(tournament: str) -> Response:
    """Remove the tournament's group chat. All its officers may do it."""
    require_right(tournament, "remove_tournament_chat")
    found = find_chat(tournament)
    if not services().notifications.chats.remove(tournament, audit_chat(found.account, "chat_removed", tournament)):
        raise Problem("not_found")
    return Response(status=204)
