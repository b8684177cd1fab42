"""Routes of the people of an event before they are in its records: invitations, imports, claims, the code of a hall."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.documents.entrant_lists import ListedEntrant, ListRefused, read_entrant_list
from api.http.i18n import request_language, translate
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.name_lookups import count_lookup, find_person
from api.openapi.smorest import Blueprint
from api.response_builders import json_response
from api.routes.games import charge_quota
from api.routes.rating_lists import rate_entrant
from api.schemas.query_args import KeyHeaders, MoveArgs, MoveHeaders
from api.schemas.tournament_responses import (
    EntrantsImportedDoc,
    EntryClaimDoc,
    EntryClaimedDoc,
    EventCodeDoc,
    EventOfferDoc,
    EventOffersDoc,
    ImportedLineDoc,
    TournamentWrittenDoc,
)
from api.schemas.tournament_schemas import (
    EnterSchema,
    EntryCodeSchema,
    EventInvitationSchema,
    HallCodeSchema,
    ImportEntrantsSchema,
)
from api.services import services
from api.tournament_calls import (
    execute_for_caller,
    list_person,
    load_tournament,
    own_players,
    require_one_division,
    written_response,
)
from api.tournament_rights import require_right
from domain.accounts.accounts import Account
from domain.errors import RuleError
from domain.kernel.text.message_catalog import Message
from domain.service.event_people import ENTRANT, EventOffer, make_event_code
from domain.service.idempotency_keys import IdempotencyKey
from domain.tournaments.aggregate.basic_commands import Enter, refuse_unless
from domain.tournaments.aggregate.entry_commands import EnterOthers
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_ruling_commands import DeputeOfficer
from domain.types import Doc

bp = Blueprint(
    "entry_offers",
    __name__,
    url_prefix="/v1",
    description="People of a tournament: invitations, imported entrants and their claims, the code of a hall.",
)
EVENT = "/tournaments/<tournament:tournament>"
OWN = "/me/event-offers/<tournament:tournament>/<code:part>"
HOUR_MS = 3_600_000


# --- offers ----------------------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    f"{EVENT}/invitations",
    "invite_entrant",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=EventInvitationSchema,
    headers=KeyHeaders,
    status=201,
)
def invite_entrant(body: Doc, headers: Doc, tournament: str) -> JsonResponse[EventOfferDoc]:
    """Invite a person to your tournament. Nobody enters before saying yes (`PUT /v1/me/event-offers/...`)."""
    t, by = require_right(tournament, "invite_entrant")
    person = find_person(body)
    _require_outside(t, person.player)
    offer, key = EventOffer(t.id, person.player, ENTRANT, by, services().clock()), person_key(headers["key"])
    store_offer(offer, key)
    found = services().seat_tokens.event_people.find_offer(offer) or offer  # a repetition finds the first one
    return creation_response(offer_to_json(found, person.name), key)


def _require_outside(t: Tournament, player: str) -> None:
    """Raise RuleError if a person cannot enter: the event is over, or the person is an entrant."""
    refuse_unless(not t.is_over, "wrong_status", status=t.status)
    if t.find_entrant(services().account_store.accounts.list_alike([player])) is not None:
        raise RuleError("already_entered")


def store_offer(offer: EventOffer, key: IdempotencyKey | None = None) -> None:
    """Store an offer, and tell the person's pages."""
    s = services()
    s.seat_tokens.event_people.offer(offer, key)
    s.notify_changed(offer.player)


def offer_to_json(offer: EventOffer, name: str | None) -> EventOfferDoc:
    """Return an offer with the name of the other person."""
    return {"tournament": offer.tournament, "player": offer.player, "part": offer.part, "at": offer.at, "name": name}


@bp.operation(
    "DELETE",
    f"{EVENT}/offers/<player:player>",
    "recall_event_offer",
    access=authorization.require_directing_account,
    errors=(403, 404),
    status=204,
)
def recall_event_offer(tournament: str, player: str) -> Response:
    """Take back your open questions to a person: an invitation, or an office that you have offered."""
    require_right(tournament, "recall_event_offer")
    if not services().seat_tokens.event_people.withdraw_offer(tournament, player):
        raise Problem("not_found")
    services().notify_changed(player)
    return Response(status=204)


@bp.operation("GET", "/me/event-offers", "my_event_offers", access=authorization.require_account, errors=(403,))
def my_event_offers() -> JsonResponse[EventOffersDoc]:
    """Return the questions to you: invitations to tournaments, and offices there.

    Questions by blocked people are left out.
    """
    offers = list_own_offers()
    names = services().seat_tokens.texts.list_names([each.by for each in offers])
    return json_response({"items": [offer_to_json(each, names.get(each.by)) for each in offers]})


def list_own_offers() -> list[EventOffer]:
    """Return the open questions to the caller."""
    s, me = services(), authorization.credential_owner().account
    blocked = {player for player, _ in s.account_store.social_graph.list_blocks(me)}
    found = s.seat_tokens.event_people.list_offers(own_players())
    return [each for each in found if each.by not in blocked and not load_tournament(each.tournament).is_over]


@bp.operation("PUT", OWN, "accept_event_offer", access=authorization.require_playing_account, errors=(403, 404, 409))
def accept_event_offer(tournament: str, part: str) -> JsonResponse[TournamentWrittenDoc]:
    """Say yes: enter the tournament (`entrant`), or be its `arbiter` or `deputy` from now on."""
    authorization.require_good_standing()
    if part != ENTRANT:
        authorization.check_scope("direct")
    offer = _find_own(tournament, part)
    ended = [services().seat_tokens.event_people.end_offer(tournament, offer.player, part)]
    if part == ENTRANT:
        t = load_tournament(tournament)
        require_one_division(t)
        charge_quota("seats")
        player = authorization.current_account().player
        command = Enter(player, own_players(), rated=rate_entrant(t, player))
        stored = execute_for_caller(tournament, command, {"key": ""}, more=ended)
    else:
        people = list_person(offer.by)
        stored = execute_for_caller(
            tournament, DeputeOfficer(offer.player, part), {"key": ""}, more=ended, people=people
        )
    return written_response(stored, status=200)


def _find_own(tournament: str, part: str) -> EventOffer:
    found = [each for each in list_own_offers() if (each.tournament, each.part) == (tournament, part)]
    if not found:
        raise Problem("not_found")
    return found[0]


@bp.operation(
    "DELETE",
    OWN,
    "decline_event_offer",
    access=authorization.require_playing_account,
    errors=(403, 404),
    status=204,
)
def decline_event_offer(tournament: str, part: str) -> Response:
    """Say no to an invitation or an office."""
    offer = _find_own(tournament, part)
    services().seat_tokens.event_people.withdraw_offer(tournament, offer.player, part)
    return Response(status=204)


# --- imports and claims ----------------------------------------------------------------------------------------


@bp.operation(
    "POST",
    f"{EVENT}/entrants/imports",
    "import_entrants",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=ImportEntrantsSchema,
    headers=MoveHeaders,
    query=MoveArgs,
    status=201,
)
def import_entrants(body: Doc, headers: Doc, args: Doc, tournament: str) -> JsonResponse[EntrantsImportedDoc]:
    """Enter people from a list in CSV, before the first draw: all of its lines, or none.

    The first line names the columns. `name` enters a person without an account, who gets a claim code: it is in this
    response alone. `account` invites the owner of an account. With `dry_run=1` you learn of each line whether it is
    accepted; else a refused line refuses the list, with a reason for each.
    """
    t, officer = require_right(tournament, "import_entrants")
    try:
        listed = read_entrant_list(body["csv"])
    except ListRefused as refused:
        raise Problem("invalid_body", errors=[{"at": "/csv", "message": refused.reason}]) from refused
    checked = [_check_line(t, line) for line in listed]
    errors = [{"at": f"/csv/{line.line}", "message": line.fault} for line, _ in checked if line.fault]
    if args["dry_run"] == "1":
        return json_response(
            {"tournament": t.id, "version": t.version, "lines": [_line_to_json(line) for line, _ in checked]}, 200
        )
    if errors:
        raise Problem("invalid_body", errors=errors)
    return _store_list(t, officer, checked, headers)


def _check_line(t: Tournament, line: ListedEntrant) -> tuple[ListedEntrant, Account | None]:
    """Return a line with its fault, and the person of an account."""
    if line.fault or not line.account:
        return line, None
    count_lookup()
    accounts = services().account_store.accounts
    person = accounts.find_by_name(line.account)
    if person is None or person.state != "active":
        return line._replace(fault=Message("There is no account with this name.")), None
    if t.find_entrant(accounts.list_players(person.id)) is not None:
        return line._replace(fault=Message("This person has entered.")), None
    return line, person


def _line_to_json(line: ListedEntrant, entrant: int | None = None, code: str | None = None) -> ImportedLineDoc:
    state = "refused" if line.fault else "invited" if line.account else "entered"
    reason = translate(line.fault, request_language()) if line.fault else None
    return {
        "line": line.line,
        "name": line.account or line.name,
        "state": state,
        "reason": reason,
        "entrant": entrant,
        "code": code,
    }


def _store_list(
    t: Tournament, officer: str, checked: Sequence[tuple[ListedEntrant, Account | None]], headers: Doc
) -> JsonResponse[EntrantsImportedDoc]:
    """Enter and invite everybody in one transaction, and return the lines with their codes."""
    s, key = services(), headers["key"]
    people, now = s.seat_tokens.event_people, s.clock()
    request = ("event-entrant", t.id, officer, key)
    new, rows = dict[int, tuple[str, str]](), []
    for line, person in checked:
        if person is None:
            made = s.seat_tokens.make_token(*((*request, str(line.line)) if key else ()))
            new[line.line] = made.player, make_event_code()
            rows += s.seat_tokens.texts.set_name(made.player, line.name)
            rows.append(people.add_claim(t.id, made.player, new[line.line][1], now))
        else:
            rows.append(people.add_offer(EventOffer(t.id, person.player, ENTRANT, officer, now)))
    first, replayed = len(t.entrants), False
    if new:
        command = EnterOthers(officer, tuple(player for player, _ in new.values()))
        stored = execute_for_caller(t.id, command, headers, more=rows)
        first, replayed = stored.records[0].body["entrant"], stored.replayed
        s.notify_appended(stored.position)
    else:
        bound = person_key(key)
        people.store(rows, bound)
        replayed = bound is not None and bound.first is not None
    for _, person in checked:
        if person:
            s.notify_changed(person.player)
    numbers = {line: first + place for place, line in enumerate(new)}
    lines = [
        _line_to_json(line, numbers.get(line.line), None if replayed or person else new[line.line][1])
        for line, person in checked
    ]
    doc: EntrantsImportedDoc = {"tournament": t.id, "version": s.ledger.version(t.id), "lines": lines}
    response = json_response(doc, 201)
    if replayed:
        response.headers["Idempotency-Replayed"] = "true"
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.operation(
    "POST",
    f"{EVENT}/entrants/<entrant:entrant>/claims",
    "renew_claim",
    access=authorization.require_directing_account,
    errors=(403, 404),
    body=EnterSchema,
    body_required=False,
    status=201,
)
def renew_claim(_: Doc, tournament: str, entrant: int) -> JsonResponse[EntryClaimDoc]:
    """Make a new claim code for an imported entrant without an account: the old one works no more. It is shown once."""
    t = require_right(tournament, "renew_claim")[0]
    people = services().seat_tokens.event_people
    if entrant >= len(t.entrants) or t.entrants[entrant].player not in people.list_unclaimed(t.id):
        raise Problem("not_found")
    code = make_event_code()
    people.store([people.add_claim(t.id, t.entrants[entrant].player, code, services().clock())])
    doc: EntryClaimDoc = {"tournament": t.id, "entrant": entrant, "code": code}
    response = json_response(doc, 201)
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.operation(
    "POST",
    "/me/entries",
    "claim_entry",
    access=authorization.require_playing_account,
    errors=(403, 409),
    body=EntryCodeSchema,
)
def claim_entry(body: Doc) -> JsonResponse[EntryClaimedDoc]:
    """Use a code of an event. A claim code makes its entrant yours, once: its seats and results are your account's.

    The code of a hall makes you one of its people: the limits of your address no longer apply to you.
    """
    authorization.require_good_standing()
    charge_quota("seats")
    s, me, own = services(), authorization.current_account(), own_players()
    people = s.seat_tokens.event_people
    found = people.find_claim(body["code"])
    if found is None:
        return _join_hall(body["code"], me.id)
    t = load_tournament(found[0])
    if t.find_entrant(own) is not None:
        raise RuleError("already_entered")
    require_one_division(t)
    if t.is_substitute(own) or any(player in (t.director, *t.officers) for player in own):
        raise RuleError("conflict_of_interest")
    rows = [people.end_claim(*found), *s.seat_tokens.texts.set_name(found[1], me.name)]
    s.account_store.accounts.claim(me.id, found[1], rows)
    s.notify_changed(me.player)
    entrant = t.find_entrant([found[1]])
    return json_response({"tournament": t.id, "entrant": entrant})


def _join_hall(code: str, account: str) -> JsonResponse[EntryClaimedDoc]:
    """Mark an account as one of the people of an event's code. Raise Problem."""
    s = services()
    people = s.seat_tokens.event_people
    used = people.use_code(code, s.clock())
    if used is None:
        raise Problem("event_code_refused")
    people.store([people.add_guest(account, *used)])
    return json_response({"tournament": used[0], "entrant": None})


# --- the code of a hall ----------------------------------------------------------------------------------------


@bp.operation(
    "PUT",
    f"{EVENT}/code",
    "set_event_code",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=HallCodeSchema,
)
def set_event_code(body: Doc, tournament: str) -> JsonResponse[EventCodeDoc]:
    """Make the code of your event, in place of the one before: the limits of an address do not apply to its people.

    As many `people` of one hall register with it, or use it with their account, within its `hours`. It is shown once.
    """
    t = require_right(tournament, "set_event_code")[0]
    refuse_unless(not t.is_over, "wrong_status", status=t.status)
    code, until = make_event_code(), services().clock() + body["hours"] * HOUR_MS
    services().seat_tokens.event_people.set_code(t.id, code, body["people"], until)
    doc: EventCodeDoc = {"tournament": t.id, "code": code, "people": body["people"], "until": until}
    response = json_response(doc)
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.operation(
    "DELETE",
    f"{EVENT}/code",
    "end_event_code",
    access=authorization.require_directing_account,
    errors=(403, 404),
    status=204,
)
def end_event_code(tournament: str) -> Response:
    """End the code of your event: the limits apply to its people again."""
    require_right(tournament, "end_event_code")
    if not services().seat_tokens.event_people.end_code(tournament):
        raise Problem("not_found")
    return Response(status=204)
