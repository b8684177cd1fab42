"""Routes of disclosures: a participant shows messages to the table or to its officers, with their proof."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents.mailbox_files import build_file
from api.documents.shown_messages import disclosure_to_json, find_entries, reader_of
from api.documents.talk import check_silence, find_reader, find_seat
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, load_table
from api.schemas.talk_responses import DisclosureDoc, DisclosuresDoc
from api.schemas.talk_schemas import NewDisclosureSchema
from api.services import services
from domain.errors import RuleError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.record_builder import has_talk
from domain.kernel.text.message_catalog import Message
from domain.talk.disclosures import Disclosure
from domain.talk.talk_store import Entry
from domain.types import Doc

bp = Blueprint("disclosures", __name__, url_prefix="/v1/games", description="Messages between players.")

LINES = "application/x-ndjson"


@bp.operation(
    "PUT",
    "/<game:game>/talk/disclosures",
    "disclose",
    access=authorization.require_talk,
    errors=(403, 404, 409),
    body=NewDisclosureSchema,
)
@rate_limits.whole_game_slot()
def disclose(body: Doc, game: str) -> JsonResponse[DisclosureDoc]:
    """Show messages of your mailbox to the table, or to its officers without a stake in the game.

    Only their readers can do so. The proof tells how many messages you have at each record, also at later ones, and no
    other word. The same messages are shown once; nothing takes it back.
    """
    _, now = load_table(game)
    caller = authorization.optional_principal()
    seat, reader = find_seat(caller), find_reader(game, now, own=True)
    if seat is None or caller is None or reader.mailbox != seat:
        raise Problem("lent_token" if caller and caller.lent else "not_a_participant")
    authorization.require_good_standing()
    entries = sorted({*body["entries"]})
    found = find_entries(reader, entries)
    if body["to"] == "table" and any(_has_own_words(each, seat) for each in found):
        check_silence(now, caller.player, private=False)  # else a letter would carry words to the table
    if len(found) != len(entries) or any(each.message is None for each in found):
        raise RuleError("unknown_reference", "", {"at": "/entries"})
    s = services()
    id_ = s.talk.anchors.keyed_hash(game, f"disclosure|{seat}|{body['to']}|{entries}")[:24]
    shown = [each.id for each in s.disclosures.list_disclosures(game) if each.mailbox == seat]
    if id_ not in shown and len(shown) >= MOST_DISCLOSURES:
        raise Problem("too_many", Message("A seat shows {most} disclosures at most.", most=MOST_DISCLOSURES))
    made = s.disclosures.add(id_, game, seat, caller.player, body["to"], entries)
    s.notify_changed(game)
    return json_response(disclosure_to_json(now, made))


def _has_own_words(entry: Entry, seat: int) -> bool:
    """Return True for a message with a text by this seat."""
    return entry.seat == seat and bool((entry.message or {}).get("text"))


@bp.operation(
    "GET",
    "/<game:game>/talk/disclosures",
    "disclosures",
    access=authorization.optional_talk,
    errors=(403, 404),
)
@rate_limits.whole_game_slot()
def disclosures(game: str) -> JsonResponse[DisclosuresDoc]:
    """Return the messages shown to you by participants: each is proved, or has a reason why not."""
    _, now = load_table(game)
    return json_response({"items": [disclosure_to_json(now, each) for each in _list_visible(now)]})


@bp.operation(
    "GET",
    "/<game:game>/talk/disclosures/<disclosure:disclosure>/file",
    "disclosure_file",
    access=authorization.optional_talk,
    errors=(403, 404),
    response={"type": "string"},
    content_type=LINES,
)
@rate_limits.whole_game_slot()
def disclosure_file(game: str, disclosure: str) -> Response:
    """Return a disclosure as a file for `annals verify GAME --mailbox FILE` and for the one-file verifier."""
    _, now = load_table(game)
    found = next((each for each in _list_visible(now) if each.id == disclosure), None)
    if found is None:
        raise Problem("not_found")
    response = Response(_build_file(now, found), content_type=LINES)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Disposition"] = 'attachment; filename="disclosure.jsonl"'
    return response


def _list_visible(now: AnyGame) -> list[Disclosure]:
    """Return the disclosures for the caller: those to the table, the own ones, and those to officers for an officer."""
    if not has_talk(now.terms):
        return []
    caller, players = authorization.optional_principal(), authorization.player_ids()
    is_officer = caller is not None and caller.seat is None and not now.lasting.seating.has_stakeholder(players)
    if find_reader(now.id, now, own=True).upto is not None:  # the proof tells of later letters
        return []
    return [
        each
        for each in services().disclosures.list_disclosures(now.id)
        if each.to == "table" or each.player in players or (is_officer and caller is not None and not caller.lent)
    ]


def _build_file(now: AnyGame, found: Disclosure) -> bytes:
    return build_file(services(), now, reader_of(now, found), {*found.entries})


MOST_DISCLOSURES = 50
"""Disclosures of one seat at a table: each is proved for every reader."""
