"""Routes of substitutes in tournaments: ask a person, accept or decline, end it on either side."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.http.json_responses import JsonResponse
from api.name_lookups import find_person
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.rating_lists import rate_entrant
from api.schemas.query_args import MoveHeaders
from api.schemas.tournament_responses import SubstituteOfferDoc, SubstitutionsDoc, TournamentWrittenDoc
from api.schemas.tournament_schemas import SubstituteSchema
from api.services import services
from api.tournament_calls import (
    describe_version,
    execute_for_caller,
    load_tournament,
    own_players,
    require_one_division,
    written_response,
)
from domain.errors import RuleError
from domain.service.substitute_offers import SubstituteOffer
from domain.tournaments.aggregate.basic_commands import EndSubstitution, NameSubstitute, require_band
from domain.tournaments.aggregate.tournament import Tournament
from domain.types import Doc

bp = Blueprint(
    "tournament_substitutes", __name__, url_prefix="/v1", description="Substitutes in tournaments: ask, accept, end."
)
OF_ENTRANT = "/tournaments/<tournament:tournament>/entrants/me/substitutes"
OWN = "/me/substitutions/<tournament:tournament>/<player:player>"


@bp.operation(
    "POST",
    OF_ENTRANT,
    "name_substitute",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=SubstituteSchema,
    headers=MoveHeaders,
    status=201,
)
def ask_substitute(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Ask a person to be your substitute: from then on the person's decisions at your tables count as yours.

    It counts once the person accepts (`PUT /v1/me/substitutions/{tournament}/{player}`), by a record with the
    person's id. The question ends when you withdraw. You have five substitutes at most, open questions included. The
    person takes your seat once it is vacant, as anybody can. The version is the newest before the answer.
    """
    s, t = services(), load_tournament(tournament)
    person, key = find_person(body), person_key(headers["key"])
    entrant = t.entrants[NameSubstitute(own_players(), person.player).find_entrant(t)]
    if key:
        key.at = t.version
    s.seat_tokens.substitutes.ask(
        SubstituteOffer(tournament, entrant.player, person.player, s.clock()), len(entrant.substitutes), key
    )
    s.notify_changed(person.player)
    return creation_response(describe_version(tournament, key.first if key and key.first else t.version), key)


@bp.operation(
    "DELETE",
    f"{OF_ENTRANT}/<player:player>",
    "remove_substitute",
    access=authorization.require_playing_account,
    errors=(403, 404, 409),
    status=204,
)
def remove_substitute(tournament: str, player: str) -> Response:
    """Take back your question to a person, or have the person as a substitute no longer.

    Decisions made so far stay yours.
    """
    t, own = load_tournament(tournament), own_players()
    entrant = t.find_entrant(own)
    if entrant is None:
        raise RuleError("not_entered")
    return _end(t, entrant, player)


def _end(t: Tournament, entrant: int, player: str) -> Response:
    """End an open question, or a substitution by a record."""
    s, by = services(), t.entrants[entrant].player
    if not s.seat_tokens.substitutes.withdraw(t.id, by, player):
        stored = execute_for_caller(t.id, EndSubstitution(entrant, player), {"key": ""})
        s.notify_appended(stored.position)
    for person in (by, player):
        s.notify_changed(person)
    return Response(status=204)


@bp.operation("GET", "/me/substitutions", "my_substitutions", access=authorization.require_account, errors=(403,))
def my_substitutions() -> JsonResponse[SubstitutionsDoc]:
    """Return the questions to you, and yours to others, whether you or they would be a substitute in a tournament.

    Questions by blocked people are left out.
    """
    own = own_players()
    asked, made = list_questions(), [each for each in _list_all() if each.by in own]
    names = services().seat_tokens.texts.list_names([*(o.by for o in asked), *(o.player for o in made)])
    return json_response(
        {
            "offers": [_offer_to_json(offer, names.get(offer.by)) for offer in asked],
            "asked": [_offer_to_json(offer, names.get(offer.player)) for offer in made if _is_open(offer)],
        }
    )


def _offer_to_json(offer: SubstituteOffer, name: str | None) -> SubstituteOfferDoc:
    return {
        "tournament": offer.tournament,
        "by": offer.by,
        "player": offer.player,
        "at": offer.at,
        "name": name,
    }


def list_questions() -> list[SubstituteOffer]:
    """Return the open questions to the caller."""
    s, me = services(), authorization.credential_owner().account
    blocked = {player for player, _ in s.account_store.social_graph.list_blocks(me)}
    own = own_players()
    return [each for each in _list_all() if each.player in own and each.by not in blocked and _is_open(each)]


def _list_all() -> list[SubstituteOffer]:
    return services().seat_tokens.substitutes.list_open(own_players())


def _is_open(offer: SubstituteOffer) -> bool:
    """Return whether the entrant still plays."""
    t = load_tournament(offer.tournament)
    entrant = t.find_entrant([offer.by])
    return not t.is_over and entrant is not None and t.entrants[entrant].is_active


@bp.operation("PUT", OWN, "accept_substitution", access=authorization.require_playing_account, errors=(403, 404, 409))
def accept_substitution(tournament: str, player: str) -> JsonResponse[TournamentWrittenDoc]:
    """Accept to be the substitute of an entrant who has asked you. While you are, you do not enter yourself."""
    authorization.require_good_standing()
    s = services()
    offer = next((each for each in list_questions() if (each.tournament, each.by) == (tournament, player)), None)
    if offer is None:
        raise RuleError("no_substitute")
    t = load_tournament(tournament)
    require_one_division(t)
    require_band(t, rate_entrant(t, offer.player) or (0, 0))
    stored = execute_for_caller(
        tournament,
        NameSubstitute((offer.by,), offer.player),
        {"key": ""},
        more=[s.seat_tokens.substitutes.end_one(*offer[:3])],
    )
    for person in (offer.by, offer.player):
        s.notify_changed(person)
    return written_response(stored, status=200)


@bp.operation(
    "DELETE",
    OWN,
    "end_substitution",
    access=authorization.require_playing_account,
    errors=(403, 404, 409),
    status=204,
)
def end_substitution(tournament: str, player: str) -> Response:
    """Decline to be the substitute of an entrant, or give it up.

    Decisions made so far stay the entrant's.
    """
    t, own = load_tournament(tournament), own_players()
    entrant = next(iter(reversed(t.find_all_entries([player]))), None)
    if entrant is None:
        raise RuleError("no_substitute")
    mine = [each.player for each in _list_all() if each[:2] == (tournament, player) and each.player in own]
    held = [each for each in t.entrants[entrant].substitutes if each in own]
    return _end(t, entrant, (*mine, *held, own[0])[0])
