"""Routes for officers of a table: offer a role, end one, list them."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization, officer_rights
from api.caller_keys import role_key
from api.command_execution import execute_command
from api.event_stakes import has_stake_in_event
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import find_person
from api.openapi.smorest import Blueprint
from api.response_builders import if_match_version, json_response, load_table, write_response
from api.schemas.common_documents import WrittenDoc
from api.schemas.officer_bodies import NewOfficerSchema, OfficerRemovalSchema
from api.schemas.query_args import MoveHeaders
from api.schemas.table_responses import OfferDoc, OfficerDoc, OfficersDoc
from api.services import ApiServices, services
from domain.accounts.accounts import Account
from domain.command_handler import GameConditions
from domain.errors import RuleError
from domain.kernel.game.director_commands import Depute, check_appointment
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import Officer
from domain.kernel.text.message_catalog import Message
from domain.service.officer_rows import OfficeOffer
from domain.types import Doc

bp = Blueprint("officers", __name__, url_prefix="/v1/games", description="Officers of tables.")

MOST_OFFICERS = 20
"""Officers and offers of a table."""


@bp.operation(
    "POST",
    "/<game:game>/officers",
    "offer_office",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=NewOfficerSchema,
    status=202,
)
def offer_office(body: Doc, game: str) -> JsonResponse[OfferDoc]:
    """Offer a person with an account the role of an officer, or the table itself (`owner`).

    It counts once the person accepts (`PUT /v1/me/offices/{game}`). A second offer replaces the first.
    """
    officer_rights.require_officer(officer_rights.OFFERING)
    officer = officer_rights.acting_officer(game)
    if officer is None:
        raise Problem("directors_only")
    (offer,) = store_offers([(game, officer)], find_person(body), body["role"], body["reason"])
    return json_response(offer_to_json(services(), [offer])[0], 202)


def store_offers(tables: Sequence[tuple[str, Officer]], person: Account, role: str, reason: str) -> list[OfficeOffer]:
    """Store offers of a role by the officer of each table, all or none. Raise Problem or RuleError."""
    s = services()
    authorization.require_good_standing()
    if role == "owner" and (credential := authorization.optional_owner()) and not credential.session:
        raise Problem("session_required")
    for game, officer in tables:
        _, now = load_table(game)
        if now.status not in ("open", "running"):
            raise RuleError("game_over")
        if "origin" in now.terms:
            raise Problem("is_analysis")
        check_appointment(now.lasting.staff, officer, person.player, role)
        _check_appointing(now, person)
        held, offered = s.seat_tokens.officers.list_by_game(game)
        if len({person.player, *(player for player, _ in (*held, *offered))}) > MOST_OFFICERS:
            raise Problem("too_many", Message("A table has {most} officers at most.", most=MOST_OFFICERS))
    at = s.clock()
    offers = [
        OfficeOffer(
            game,
            person.player,
            role,
            officer.player,
            s.seat_tokens.texts.store_text(officer.player, reason) if reason else "",
            at,
        )
        for game, officer in tables
    ]
    s.seat_tokens.officers.offer(offers)
    s.notify_changed(person.player)
    return offers


def _check_appointing(game: AnyGame, person: Account) -> None:
    """Raise RuleError if the caller has a stake, unless it lies in the tournament alone and the person has none."""
    refusal = officer_rights.find_stake(game, officer_rights.officer_ids(game.id))
    players = services().account_store.accounts.list_players(person.id)
    if refusal and not (refusal == "director_in_event" and not has_stake_in_event(game.id, players)):
        raise RuleError(refusal)


def offer_to_json(s: ApiServices, offers: Sequence[OfficeOffer]) -> list[OfferDoc]:
    """Return offers with the officer's name and the reason."""
    names = s.seat_tokens.texts.list_names([offer.by for offer in offers])
    reasons = s.seat_tokens.texts.find_texts([offer.reason for offer in offers if offer.reason])
    return [
        {
            "game": offer.game,
            "player": offer.player,
            "role": offer.role,
            "by": offer.by,
            "name": names.get(offer.by),
            "reason": reasons.get(offer.reason),
            "at": offer.at,
        }
        for offer in offers
    ]


@bp.operation("GET", "/<game:game>/officers", "officers", access=authorization.require_role, errors=(403, 404))
def list_officers(game: str) -> JsonResponse[OfficersDoc]:
    """Return the officers of a table and the offered roles, for officers."""
    officer_rights.require_officer()
    s = services()
    held, offered = s.seat_tokens.officers.list_by_game(game)
    owner = s.seat_tokens.find_director(game)
    rows = [*([(owner, "owner")] if owner else []), *held]
    names = s.seat_tokens.texts.list_names([player for player, _ in (*rows, *offered)])
    items: list[OfficerDoc] = [
        {"player": player, "name": names.get(player), "office": office, "offered": is_offer}
        for some, is_offer in ((rows, False), (offered, True))
        for player, office in some
    ]
    return json_response({"items": items})


@bp.operation(
    "POST",
    "/<game:game>/officers/<player:player>/removals",
    "remove_officer",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=OfficerRemovalSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def remove_officer(body: Doc, headers: Doc, game: str, player: str) -> JsonResponse[WrittenDoc]:
    """End the role of an officer below your own role, or your own; an offer ends with it."""
    officer_rights.require_officer()
    s, officer = services(), officer_rights.acting_officer(game)
    stored = execute_command(
        game,
        Depute(player, "none"),
        GameConditions(
            author=officer,
            expected=if_match_version(headers["match"]),
            idempotency_key=role_key(headers["key"]),
            extra_statements=lambda _: s.seat_tokens.officers.dismiss(game, player),
        ),
        as_player=officer is not None and officer.player == player,
        reason=body["reason"],
    )
    s.notify_changed(player)
    return write_response(stored)


@bp.operation(
    "DELETE",
    "/<game:game>/officers/<player:player>/offer",
    "withdraw_office",
    access=authorization.require_role,
    errors=(403, 404, 409),
    status=204,
)
def withdraw_office(game: str, player: str) -> Response:
    """Withdraw an offer to a person."""
    officer_rights.require_officer(officer_rights.OFFERING)
    officer_rights.check_neutrality(load_table(game)[1])
    if not services().seat_tokens.officers.withdraw(game, player):
        raise Problem("not_found")
    services().notify_changed(player)
    return Response(status=204)


@bp.operation(
    "POST",
    "/<game:game>/inheritance",
    "inherit_table",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=OfficerRemovalSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def inherit_table(body: Doc, headers: Doc, game: str) -> JsonResponse[WrittenDoc]:
    """Take over a table without its owner, as its highest officer.

    The owner's account is erased or banned, or has given no sign for thirty days. Where there is no officer, the
    players name one by agreement.
    """
    officer_rights.require_officer()
    s, officer = services(), officer_rights.acting_officer(game)
    _, now = load_table(game)
    if officer is None:
        raise RuleError("has_office")
    if officer.office != "owner":  # the command refuses an owner, unless the request is a repetition
        with rate_limits.whole_game_slot():
            if not officer_rights.is_owner_gone(s, now):
                raise Problem("owner_present")
    former = s.seat_tokens.find_director(game) or ""
    stored = execute_command(
        game,
        Depute(officer.player, "owner", former, "inherited"),
        GameConditions(
            author=officer,
            expected=if_match_version(headers["match"]),
            idempotency_key=role_key(headers["key"]),
            extra_statements=lambda _: s.seat_tokens.hand_over(game, officer.player),
        ),
        reason=body["reason"],
    )
    return write_response(stored)
