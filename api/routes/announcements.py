"""Routes of announcements: an event's officers write to all entrants, or to one table."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.caller_keys import creation_response, person_key
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, load_table
from api.schemas.query_args import KeyHeaders
from api.schemas.tournament_responses import AnnouncementDoc, AnnouncementsDoc
from api.schemas.tournament_schemas import AnnouncementsArgs, NewAnnouncementSchema
from api.services import services
from api.tournament_calls import load_tournament
from api.tournament_rights import require_right
from domain.notifications.personal_news import ANNOUNCED
from domain.service.database import Statement
from domain.service.event_announcements import EventAnnouncement
from domain.talk.silences import EVERYWHERE
from domain.tournaments.aggregate.tournament import Tournament
from domain.types import Doc

bp = Blueprint(
    "announcements",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="What the officers of a tournament say to its entrants.",
)


@bp.operation(
    "POST",
    "/announcements",
    "announce",
    access=authorization.require_directing_account,
    errors=(403, 404, 409),
    body=NewAnnouncementSchema,
    headers=KeyHeaders,
    status=201,
)
def announce(body: Doc, headers: Doc, tournament: str) -> JsonResponse[AnnouncementDoc]:
    """Say something to all entrants, or with `game` to one table of the event.

    All read it on the event's page and at its tables; what is said to one table, its players and officers alone.
    """
    t, player = require_right(tournament, "announce")
    s, game, key = services(), body["game"], person_key(headers["key"])
    if found := s.silences.find(EVERYWHERE, "", authorization.credential_owner().account):
        raise found.refusal
    if game and not _is_table_of(t.id, game):
        raise Problem("unknown_game")

    def tell(id_: str) -> list[Statement]:
        data = {"tournament": t.id, "ruleset": t.terms.ruleset, "version": t.version, "status": t.status}
        data |= {"game": game or None, "announcement": id_}
        people = load_table(game)[1].lasting.seating.stakeholders if game else _list_entrants(t)
        return s.notifications.outbox.personal_news.add(ANNOUNCED, id_, {*people} - {player}, data)

    made = s.seat_tokens.announcements.add(t.id, game, player, body["text"], s.account_store.clock(), key, tell)
    return creation_response(_to_json(made), key)


def _list_entrants(t: Tournament) -> set[str]:
    """Return the entrants of an event and their substitutes."""
    present = [each for each in t.entrants if not each.withdrawn]
    return {player for each in present for player in (each.player, *each.substitutes)}


def _is_table_of(tournament: str, game: str) -> bool:
    place = services().reader.find_tournament(game)
    return place is not None and place.tournament == tournament


@bp.operation(
    "GET",
    "/announcements",
    "announcements",
    access=authorization.optional_person("read"),
    errors=(403, 404),
    query=AnnouncementsArgs,
)
def list_announcements(args: Doc, tournament: str) -> JsonResponse[AnnouncementsDoc]:
    """Return what the officers have said to all, the newest first; with `game` also to that table, for its people."""
    t, game = load_tournament(tournament), args["game"]
    found = services().seat_tokens.announcements.list_newest(t.id, game if game and _may_read(t.id, game) else "")
    return json_response({"items": [_to_json(each) for each in found]})


def _may_read(tournament: str, game: str) -> bool:
    """Return whether the caller plays at a table of the event, or is one of its officers."""
    if not _is_table_of(tournament, game):
        return False
    players, t = authorization.player_ids(), load_tournament(tournament)
    return bool({t.director, *t.officers} & {*players}) or load_table(game)[1].lasting.seating.has_stakeholder(players)


@bp.operation(
    "DELETE",
    "/announcements/<disclosure:announcement>",
    "remove_announcement",
    access=authorization.require_directing_account,
    errors=(403, 404),
    status=204,
)
def remove_announcement(tournament: str, announcement: str) -> Response:
    """Take an announcement back."""
    t, _ = require_right(tournament, "remove_announcement")
    if not services().seat_tokens.announcements.remove(t.id, announcement):
        raise Problem("not_found")
    return Response(status=204)


def _to_json(found: EventAnnouncement) -> AnnouncementDoc:
    names = services().seat_tokens.texts.list_names([found.player])
    return {
        "announcement": found.id,
        "game": found.game or None,
        "by": found.player,
        "name": names.get(found.player),
        "text": found.said,
        "at": found.at,
    }
