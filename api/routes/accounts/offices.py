"""Routes of the account's roles as an officer: offer one at several tables, accept, decline, resign; its relations."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import Response

from api import authorization, officer_rights
from api.command_execution import execute_command
from api.documents.desk import build_desk, list_offices
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import find_person
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, load_table, page_response, write_response
from api.routes.table_officers import offer_to_json, store_offers
from api.schemas.common_documents import WrittenDoc
from api.schemas.officer_bodies import NewOfficersSchema
from api.schemas.query_args import DeskArgs, GiveUpArgs
from api.schemas.request_bodies import RelationsSchema
from api.schemas.table_responses import DeskDoc, MyOfficesDoc, OffersDoc, OfficeDoc, RelatedDoc
from api.services import ApiServices, services
from domain.command_handler import GameConditions
from domain.errors import RuleError, UnknownGame
from domain.kernel.game.director_commands import Depute
from domain.kernel.game.officers import Officer
from domain.kernel.records.record import Record
from domain.service.database import Statement
from domain.service.officer_rows import OfficeOffer
from domain.types import Doc

bp = Blueprint("offices", __name__, url_prefix="/v1/me", description="Your roles as an officer, and your relations.")


@bp.operation(
    "POST",
    "/officers",
    "offer_offices",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=NewOfficersSchema,
    status=202,
)
def offer_offices(body: Doc) -> JsonResponse[OffersDoc]:
    """Offer a person a role at several tables at once, as `POST /v1/games/{game}/officers` does at one; all or none."""
    tables = []
    for game in dict.fromkeys(body["games"]):
        if not services().ledger.version(game):
            raise UnknownGame(game)
        officer = officer_rights.acting_officer(game)
        if officer is None:
            raise Problem("not_at_table", game=game)
        tables.append((game, officer))
    offers = store_offers(tables, find_person(body), body["role"], body["reason"])
    return json_response({"items": offer_to_json(services(), offers)}, 202)


@bp.operation(
    "GET",
    "/offices",
    "my_offices",
    access=authorization.require_account,
    errors=(403,),
)
def my_offices() -> JsonResponse[MyOfficesDoc]:
    """Return your tables as an officer, with your role, and the roles offered to you.

    Offers by blocked people are left out.
    """
    s, ids = services(), authorization.player_ids()
    items: list[OfficeDoc] = [{"game": game, "office": office} for game, office in sorted(list_offices(s, ids).items())]
    return json_response({"items": items, "offers": offer_to_json(s, _list_offers(s))})


def _list_offers(s: ApiServices) -> list[OfficeOffer]:
    me = authorization.credential_owner().account
    blocked = {player for player, _ in s.account_store.social_graph.list_blocks(me)}
    found = s.seat_tokens.officers.list_offers(authorization.player_ids())
    return [offer for offer in found if offer.by not in blocked]


@bp.operation(
    "PUT",
    "/offices/<game:game>",
    "accept_office",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
)
def accept_office(game: str) -> JsonResponse[WrittenDoc]:
    """Accept the role offered to you at a table, if its giver still may give it."""
    s = services()
    offer = next((offer for offer in _list_offers(s) if offer.game == game), None)
    if offer is None:
        if officer_rights.acting_officer(game) is not None:
            raise RuleError("has_office")
        raise Problem("not_found")
    owner = s.seat_tokens.find_director(game) or ""
    _, now = load_table(game)
    office = now.lasting.staff.office_of(offer.by) or ("owner" if offer.by == owner else None)
    if office is None:
        raise RuleError("office_ended")
    account = s.account_store.accounts.find_by_player(offer.by)
    stored = execute_command(
        game,
        Depute(offer.player, offer.role, former=owner if offer.role == "owner" else ""),  # type: ignore[arg-type] # a role of OFFICES
        GameConditions(author=Officer(offer.by, office, offer.reason), extra_statements=lambda _: _role_rows(s, offer)),
        author_ids=[offer.by, *(s.account_store.accounts.list_players(account.id) if account else [])],
    )
    for player in {offer.player, offer.by}:
        s.notify_changed(player)
    return write_response(stored, status=200)


def _role_rows(s: ApiServices, offer: OfficeOffer) -> list[Statement]:
    """Return the statements for giving the offered role."""
    if offer.role == "owner":
        return s.seat_tokens.hand_over(offer.game, offer.player)
    return s.seat_tokens.officers.appoint(offer.game, offer.player, offer.role)


@bp.operation(
    "DELETE",
    "/offices/<game:game>",
    "give_up_office",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    query=GiveUpArgs,
    status=204,
)
def give_up_office(args: Doc, game: str) -> Response:
    """Decline the role offered to you at a table; without an offer, give up your own.

    Name the `role`, so that a repetition of the request ends no other one. An owner hands the table over instead.
    """
    s, role = services(), args["role"]
    offers = [offer for offer in s.seat_tokens.officers.list_offers(authorization.player_ids()) if offer.game == game]
    declined = [s.seat_tokens.officers.withdraw(game, offer.player) for offer in offers if role in ("", offer.role)]
    if any(declined):
        return Response(status=204)
    officer = officer_rights.acting_officer(game)
    if officer is None or role not in ("", officer.office):
        raise Problem("not_found")

    def dismiss(_: Record) -> list[Statement]:
        return s.seat_tokens.officers.dismiss(game, officer.player)

    stored = execute_command(
        game, Depute(officer.player, "none"), GameConditions(author=officer, extra_statements=dismiss), as_player=True
    )
    s.notify_appended(stored.position)
    return Response(status=204)


@bp.operation(
    "GET",
    "/desk",
    "desk",
    access=authorization.require_account,
    errors=(403,),
    query=DeskArgs,
    response_headers=string_headers("Link"),
)
def desk(args: Doc) -> JsonResponse[DeskDoc]:
    """Return all your unfinished tables as an officer, with everything to do there.

    `counts` covers all of them, `items` only matches of the filters, in the order of their ids.
    """
    filters = {name: args[name] for name in ("needs", "office", "status", "ruleset")}
    found, cursor = build_desk(services(), authorization.player_ids(), args["cursor"], args["limit"], **filters)
    kept = {name: value for name, value in filters.items() if value}
    query = urlencode({**kept, "limit": args["limit"], "cursor": cursor})
    return page_response({**found, "next": f"/v1/me/desk?{query}" if cursor else None})


@bp.operation(
    "GET",
    "/relations",
    "relations",
    access=authorization.require_session,
    errors=(403,),
)
def relations() -> JsonResponse[RelatedDoc]:
    """Return your declared relations."""
    found = services().account_store.social_graph.list_relations(authorization.credential_owner().account)
    return json_response({"players": found})


@bp.operation(
    "PUT",
    "/relations",
    "declare_relations",
    access=authorization.require_session,
    errors=(403, 409),
    body=RelationsSchema,
)
def declare_relations(body: Doc) -> JsonResponse[RelatedDoc]:
    """Declare your relations. As an officer you see no hidden data of these players' tables.

    Tables with hidden names do not count, and their players cannot be declared until the names are told.
    """
    s, me = services(), authorization.credential_owner().account
    graph = s.account_store.social_graph
    if len(s.seat_tokens.hidden_players.list_shown(body["players"])) < len(body["players"]):
        raise Problem("names_hidden")
    graph.set_relations(me, body["players"])
    return json_response({"players": graph.list_relations(me)})
