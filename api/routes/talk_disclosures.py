"""Routes of disclosures: a participant shows messages to the table or to its officers, with their proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flask import Response

from api import authorization
from api.documents.mailbox_files import build_file, check_file
from api.documents.talk import build_messages, find_reader, find_seat
from api.http import i18n, rate_limits
from api.http.i18n import request_language
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
from domain.talk.talk_store import Entry, MailboxReader
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
    found = _find_entries(reader, entries)
    if len(found) != len(entries) or any(each.message is None for each in found):
        raise RuleError("unknown_reference", "", {"at": "/entries"})
    s = services()
    id_ = s.talk.anchors.keyed_hash(game, f"disclosure|{seat}|{body['to']}|{entries}")[:24]
    shown = [each.id for each in s.disclosures.list_disclosures(game) if each.mailbox == seat]
    if id_ not in shown and len(shown) >= MOST_DISCLOSURES:
        raise Problem("too_many", Message("A seat shows {most} disclosures at most.", most=MOST_DISCLOSURES))
    made = s.disclosures.add(id_, game, seat, caller.player, body["to"], entries)
    s.notify_changed(game)
    return json_response(_to_json(now, made))


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
    return json_response({"items": [_to_json(now, each) for each in _list_visible(now)]})


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


def _reader_of(found: Disclosure) -> MailboxReader:
    return MailboxReader(found.game, found.mailbox, (found.player,))


def _find_entries(reader: MailboxReader, entries: Sequence[int]) -> list[Entry]:
    found = (services().talk.find_entry(reader, entry) for entry in entries)
    return [each for each in found if each is not None]


def _build_file(now: AnyGame, found: Disclosure) -> bytes:
    return build_file(services(), now, _reader_of(found), {*found.entries})


MOST_DISCLOSURES = 50
"""Disclosures of one seat at a table: each is proved for every reader."""

_REASONS: Mapping[str, Message] = {
    "mailbox_unreadable": Message("The mailbox cannot be read."),
    "mailbox_other_game": Message("The mailbox is of another game."),
    "mailbox_cut_off": Message("The mailbox lacks some of its entries."),
    "commitment_differs": Message("The commitment differs."),
    "anchor_differs": Message("A record of the game does not anchor this mailbox."),
    "anchor_missing": Message("A record of the game has no anchor in the mailbox."),
    "seen_unknown": Message("The message names a record that the game does not have."),
    "seen_later": Message("The message names a record after the one that anchors it."),
}
"""Code of a mailbox's proof -> reason why a disclosure is not proved."""


def _to_json(now: AnyGame, found: Disclosure) -> DisclosureDoc:
    reader = _reader_of(found)
    code = check_file(services(), now, _build_file(now, found))
    messages = build_messages(services(), now, reader, _find_entries(reader, found.entries), request_language())
    for each in messages:  # ids, states, answers and promises are of the mailbox's owner alone
        each["conversation"], each["own"] = "", False
        if each["treaty"]:
            each["treaty"] |= {"may_answer": False, "answers": [], "promises": []}
    return {
        "disclosure": found.id,
        "seat": found.mailbox,
        "to": found.to,
        "at": found.at,
        "proved": not code,
        "code": code,
        "reason": i18n.translate(_REASONS[code], request_language()) if code else "",
        "messages": messages,
    }
