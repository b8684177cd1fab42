"""Routes of a table's group chat."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits, security_log
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, load_table, opening_terms
from api.schemas.chat_schemas import ChatDoc, ChatWishSchema, MyChatDoc
from api.services import services
from domain.notifications.chats import Chat, ChatRequest
from domain.service.database import Statement
from domain.types import Doc

bp = Blueprint("chats", __name__, url_prefix="/v1/games", description="The group chat of a table.")


def find_chat(game: str) -> Chat:
    """Return the chat of a table or tournament. Raise Problem without one."""
    found = services().notifications.chats.find(game)
    if found is None:
        raise Problem("not_found")
    return found


def chat_to_json(chat: Chat) -> ChatDoc:
    """Return a chat as those at its table, or the officers of its tournament, see it: without its secret address."""
    account = services().account_store.accounts.find(chat.account)
    return {
        "host": chat.host,
        "language": chat.language,
        "zone": chat.zone,
        "state": chat.state,
        "made": chat.made,
        "by": account.player if account else "",
    }


def list_chats(account: str) -> list[MyChatDoc]:
    """Return the chats of an account, with their tables."""
    found = services().notifications.chats.list_by_account(account)
    return [{**chat_to_json(chat), "game": chat.game} for chat in found]


def audit_chat(account: str, what: str, game: str) -> list[Statement]:
    """Return the statements of an audit entry about a chat."""
    return security_log.audit_statements(account, what, rate_limits.client_network(), game)


@bp.operation(
    "GET",
    "/<game:game>/chat",
    "chat",
    access=authorization.require_role,
    errors=(403, 404),
)
def chat(game: str) -> JsonResponse[ChatDoc]:
    """Return the table's group chat: who named it, and its host. All players and directors see it."""
    return json_response(chat_to_json(find_chat(game)))


@bp.operation(
    "PUT",
    "/<game:game>/chat",
    "change_chat",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=ChatWishSchema,
)
def change_chat(body: Doc, game: str) -> JsonResponse[ChatDoc]:
    """Name the address of the table's group chat, in place of the previous one.

    Every player and director with an account may do it. The chat is told whose turn it is and by when, as spectators
    see it. Messages end when you leave the table. Requires a password check within the last ten minutes.
    """
    owner = authorization.optional_owner()
    if owner is None:
        raise Problem("accounts_only")
    authorization.require_fresh_password()
    authorization.require_good_standing()
    if opening_terms(game).get("delay"):
        raise Problem("webhook_refused", "No chat is told of a table with a delay for spectators.")
    rate_limits.charge_quota("notices", owner.account)
    s, (_, table) = services(), load_table(game)
    wish = ChatRequest(game, table.ruleset, body["url"], body["language"])
    audit_rows = audit_chat(owner.account, "chat_set", game)
    s.notifications.chats.save(owner.account, wish, s.settings.webhooks, s.reader.read_position(), audit_rows)
    s.notify_appended(0)
    return json_response(chat_to_json(find_chat(game)))


@bp.operation(
    "DELETE",
    "/<game:game>/chat",
    "remove_chat",
    access=authorization.require_role,
    errors=(403, 404),
    status=204,
)
def remove_chat(game: str) -> Response:
    """Remove the table's group chat. Every player and director may do it."""
    found = find_chat(game)
    if not services().notifications.chats.remove(game, audit_chat(found.account, "chat_removed", game)):
        raise Problem("not_found")
    return Response(status=204)
