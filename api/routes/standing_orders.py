"""Routes of standing orders: decisions made beforehand. Only the player of a seat reads, gives and revokes them."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.agent_requests import refuse_agent
from api.caller_keys import creation_response, role_key
from api.documents.order_teller import OrderTeller
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, load_table
from api.schemas.query_args import AgentKeyHeaders, LangArgs
from api.schemas.standing_order_schemas import NewOrderSchema, ShownActDoc, StandingOrderDoc, StandingOrdersDoc
from api.services import services
from api.visibility import visibility_of
from domain.errors import RuleError
from domain.kernel.game.game import AnyGame
from domain.service.principals import Principal
from domain.standing_orders.order_rules import Allowance, StandingOrder, allowance_of, check_order, last_turn
from domain.types import Doc

bp = Blueprint("standing_orders", __name__, url_prefix="/v1/games", description="Decisions made beforehand.")


@bp.operation(
    "GET",
    "/<game:game>/standing-orders",
    "standing_orders",
    access=authorization.optional_role,
    errors=(403, 404),
    query=LangArgs,
)
def standing_orders(args: Doc, game: str) -> JsonResponse[StandingOrdersDoc]:
    """Return the possible orders, and your own with their moves and ends.

    Nobody else sees them, neither players nor the director. At a table with `standing_orders: shown` everybody reads
    the versions of moves made by orders.
    """
    rules, now = load_table(game)
    caller = authorization.optional_principal()
    own = caller if caller is not None and caller.seat is not None and not caller.lent else None
    doc: StandingOrdersDoc = {
        "standing_orders": _find_allowance(now),
        "seat": None if own is None else own.seat,
        "turn": max(1, rules.chapter(now.state).turn),
        "last_turn": last_turn(rules, now),
        "kinds": [],
        "items": [],
        "shown": _list_shown(now),
    }
    if own is not None and own.seat is not None:
        teller = OrderTeller(services(), now, own.seat, request_language())
        doc["kinds"] = teller.list_kinds() if doc["standing_orders"] != "refused" else []
        doc["items"] = list(map(teller.to_json, services().orders.list_by_seat(game, own.seat, [own.player])))
    response: JsonResponse[StandingOrdersDoc] = json_response(doc)
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.operation(
    "POST",
    "/<game:game>/standing-orders",
    "give_standing_order",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=NewOrderSchema,
    headers=AgentKeyHeaders,
    status=201,
)
def give_standing_order(body: Doc, headers: Doc, game: str) -> JsonResponse[StandingOrderDoc]:
    """Decide beforehand: give an order for coming decisions of your seat, also for the open one.

    It acts as you would, by all rules, after a time like that of a quick player. It ends with its turns or times, when
    its condition fails, and after an event of its `stops`; you are told the reason. Up to ten stand at once.
    """
    refuse_agent(headers, game)
    rules, now = load_table(game)
    seat, caller = authorization.seat(), _require_owner()
    authorization.require_good_standing()
    if _find_allowance(now) == "refused":
        raise RuleError("orders_refused")
    content, key = check_order(rules, now, seat, body), role_key(headers["key"])
    stored = services().orders.add(game, seat, caller.player, now.version, content, key)
    teller = OrderTeller(services(), now, seat, request_language())
    return creation_response(teller.to_json(stored), key)


@bp.operation(
    "DELETE",
    "/<game:game>/standing-orders/<order:order>",
    "revoke_standing_order",
    access=authorization.require_role,
    errors=(403, 404),
    status=204,
)
def revoke_standing_order(game: str, order: str) -> Response:
    """Revoke an order. It makes no further move; its earlier ones stay. An ended order stays as it is."""
    seat, caller = authorization.seat(), _require_owner()
    services().orders.end(_find_own(game, seat, caller, order), "revoked")
    return Response(status=204)


def _find_own(game: str, seat: int, caller: Principal, id_: str) -> StandingOrder:
    """Return an order of the caller. Raise Problem for one of others."""
    for found in services().orders.list_by_seat(game, seat, [caller.player]):
        if found.id == id_:
            return found
    raise Problem("not_found")


def _require_owner() -> Principal:
    """Return the caller. Raise Problem for a lent token: it reads and gives no orders."""
    caller = authorization.principal()
    if caller.lent:
        raise Problem("lent_token")
    return caller


def _find_allowance(now: AnyGame) -> Allowance:
    in_event = "standing_orders" not in now.terms and services().reader.find_tournament(now.id) is not None
    return allowance_of(now, in_event=in_event)


def _list_shown(now: AnyGame) -> list[ShownActDoc]:
    """Return the moves made by orders at a table with `shown`, up to the version shown to the caller."""
    if allowance_of(now) != "shown":
        return []
    upto = visibility_of(now.id).upto
    found = [(act.version, order.seat) for order in services().orders.list_acted(now.id) for act in order.acts]
    return [{"seat": seat, "version": version} for version, seat in sorted(found) if upto is None or version <= upto]
