"""Routes of talk: conversations, messages, marks, and a person's own notes about a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from flask import Response

from api import authorization
from api.caller_keys import mark_replayed, role_key
from api.documents.mailbox_files import build_file
from api.documents.talk import build_messages, build_talk, check_silence, find_reader, find_seat, list_seats
from api.documents.treaty_teller import TreatyTeller
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import json_response, load_table, page_response
from api.schemas.query_args import KeyHeaders
from api.schemas.talk_responses import MessageDoc, MessagesDoc, NotesDoc, TalkDoc, TreatyKindsDoc
from api.schemas.talk_schemas import (
    MessagesArgs,
    MuteSchema,
    NewMessageSchema,
    NoteWishSchema,
    ReadMarkSchema,
    TreatyKindsArgs,
)
from api.services import services
from domain.errors import RuleError, UnknownGame
from domain.kernel.game.game import AnyGame
from domain.kernel.game.record_builder import has_talk
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.service.principals import Principal
from domain.talk.message_rules import (
    MOST_CHARACTERS,
    RATE_CODE,
    check_references,
    check_regions,
    check_seats,
    check_time,
    clean_text,
)
from domain.talk.talk_store import TABLE, MailboxReader, Post, conversation_of
from domain.talk.treaty_rules import check_running, check_treaty
from domain.types import Doc, Seat

bp = Blueprint("talk", __name__, url_prefix="/v1/games", description="Messages between players.")

LINES = "application/x-ndjson"

LINK = string_headers("Link")


@bp.operation(
    "GET",
    "/<game:game>/talk",
    "talk",
    access=authorization.optional_talk,
    errors=(403, 404),
)
def talk(game: str) -> JsonResponse[TalkDoc]:
    """Return the table's terms of talk, your rights to write now, and your conversations, the last one first.

    Spectators see the table's conversation, with the delay of their board. Nobody sees anything of the letters of
    others, not even their number.
    """
    rules, now = load_table(game)
    return json_response(build_talk(services(), rules, now, find_reader(game, now), request_language()))


@bp.operation(
    "GET",
    "/<game:game>/talk/messages",
    "messages",
    access=authorization.optional_talk,
    errors=(403, 404),
    query=MessagesArgs,
    response_headers=LINK,
)
def messages(args: Doc, game: str) -> JsonResponse[MessagesDoc]:
    """Return messages in their order, of one conversation or of all.

    Follow `next`, or ask with `after` as the last `entry` received: nothing is lost and nothing comes twice.
    """
    _, now = load_table(game)
    s, reader = services(), find_reader(game, now)
    conversation = _find_conversation(reader, args["conversation"]) if args["conversation"] else ""
    found = s.talk.list_entries(reader, conversation, after=args["after"], before=args["before"], limit=args["limit"])
    items = build_messages(s, now, reader, found, request_language())
    query = {"conversation": args["conversation"]} if args["conversation"] else {}
    last = found[-1].entry if found else args["after"]
    more = len(found) == args["limit"] and not args["before"]
    url = f"/v1/games/{game}/talk/messages?" + urlencode({**query, "after": last, "limit": args["limit"]})
    response: JsonResponse[MessagesDoc] = page_response({"items": items, "next": url if more else None})
    response.headers["Cache-Control"] = "no-store"
    return response


def _find_conversation(reader: MailboxReader, id_: str) -> str:
    """Return a conversation of the caller. Raise Problem for one of others."""
    found = services().talk.find_conversation(reader, id_)
    if found is None:
        raise Problem("not_found")
    return found


@bp.operation(
    "POST",
    "/<game:game>/talk/messages",
    "write_message",
    access=authorization.require_talk,
    errors=(403, 404, 409),
    body=NewMessageSchema,
    headers=KeyHeaders,
    status=201,
)
def write_message(body: Doc, headers: Doc, game: str) -> JsonResponse[MessageDoc]:
    """Write to the table, or a letter to one seat or several.

    It makes no record and moves no clock. A seat writes thirty messages a minute at most, ten of them at once. A
    letter must be allowed by the terms now: 409 `talk_is_off`, `not_now` with the number of the rule. It may propose
    a treaty, or answer one: 409 `unknown_treaty`, `no_treaty`, `treaty_answered`, `treaty_expired`.
    """
    rules, now = load_table(game)
    seat, caller = _writer(now)
    authorization.require_good_standing()
    s, key = services(), role_key(headers["key"])
    try:
        entry, replayed = s.talk.post(_make_post(rules, now, seat, caller, body), key)
    except RuleError as error:
        before = s.talk.find_repeated(game, seat, key) if key else None
        if before is None:
            raise _tell_refusal(error) from error
        entry, replayed = before, True
    reader = find_reader(game, now, own=True)
    found = s.talk.find_entry(reader, entry)
    if found is None:
        raise Problem("not_found")
    (doc,) = build_messages(s, now, reader, [found], request_language())
    response = json_response(doc, 201)
    if replayed:
        mark_replayed(response)
    else:
        s.notify_changed(game)
    return response


def _make_post(rules: AnyRuleset, now: AnyGame, seat: Seat, caller: Principal, body: Doc) -> Post:
    """Return the message as it is to be stored. Raise RuleError or Problem."""
    clock, given = services().clock(), body["answer"]
    target = _find_answered(now, seat, given, body) if given else _find_addressees(now, seat, body["to"])
    check_time(rules.meta.talk, now, clock, private=target.private)
    if given:
        check_running(now)
    if body["text"].strip():
        check_silence(now, caller.player, private=target.private)
    treaty = check_treaty(rules, now, seat, target.seats, body["treaty"], clock) if body["treaty"] else None
    return Post(
        now.id,
        seat,
        caller.player,
        conversation_of(target.seats) if target.private else TABLE,
        {each: now.players[each].id if each in now.players else "" for each in target.seats},
        now.table.seats,
        now.version,
        _find_seen(now, body["version"]),
        _check_text(body["text"], required=not (body["references"] or body["regions"] or treaty or given)),
        check_references(body["references"], now.version),
        check_regions(rules, body["regions"]),
        _find_quoted(now, target, body["quotes"]),
        treaty,
        (target.number, given["answer"]) if given else None,
    )


class _Target(NamedTuple):
    """The conversation of a message."""

    seats: Sequence[Seat]
    private: bool
    number: int = 0
    """Number of the message with the answered treaty."""


def _find_addressees(now: AnyGame, seat: Seat, to: Sequence[Seat]) -> _Target:
    """Return the conversation of a message to seats, or to the table. Raise RuleError."""
    return _Target(check_seats(now, seat, to) if to else range(now.table.seats), bool(to))


def _find_answered(now: AnyGame, seat: Seat, given: Doc, body: Doc) -> _Target:
    """Return the conversation of the answered treaty. Raise RuleError `no_treaty`, and Problem."""
    if body["to"]:
        raise _invalid("/to", Message("An answer goes where the treaty is: leave this empty."))
    if (given["answer"] == "counter") != bool(body["treaty"]):
        raise _invalid("/treaty", Message("A counter has another treaty, and no other answer has one."))
    reader = find_reader(now.id, now, own=True)
    found = services().talk.find_entry(reader, given["entry"])
    if found is None or "treaty" not in (found.message or {}):
        raise RuleError("no_treaty")
    return _Target(list_seats(now, found.conversation), found.conversation != TABLE, found.number)


def _find_quoted(now: AnyGame, target: _Target, entries: Sequence[int]) -> list[tuple[int, str]]:
    """Return numbers and commitments of quoted messages. Raise RuleError for one unknown to a reader."""
    reader = find_reader(now.id, now, own=True)
    shared, quoted = {TABLE, conversation_of(target.seats)}, []
    for place, entry in enumerate(dict.fromkeys(entries)):
        found = services().talk.find_entry(reader, entry)
        if found is None or found.conversation not in (shared if target.private else {TABLE}):
            raise RuleError("unknown_reference", "", {"at": f"/quotes/{place}"})
        quoted.append((found.number, found.commitment))
    return quoted


def _invalid(at: str, message: Message) -> Problem:
    return Problem("invalid_body", errors=[{"at": at, "message": message}])


def _tell_refusal(error: RuleError) -> Exception:
    """Return the error for a refused message: above the allowance a problem with the time to wait."""
    if error.code != RATE_CODE:
        return error
    headers = {"Retry-After": str(error.detail["seconds"])}
    return Problem(RATE_CODE, status=429, headers=headers, figures=error.detail)


def _writer(now: AnyGame) -> tuple[Seat, Principal]:
    """Return the caller's seat. Raise Problem for an officer, a spectator or a lent token."""
    caller = authorization.optional_principal()
    seat = find_seat(caller)
    if seat is None or caller is None or now.players[seat].id != caller.player:
        raise Problem("lent_token" if caller and caller.lent else "not_a_participant")
    return seat, caller


def _find_seen(now: AnyGame, version: int | None) -> tuple[int, str]:
    """Return version and hash of the record seen by the writer. Raise RuleError for a missing one."""
    if version in (None, now.version):
        return now.version, now.hash
    records = services().ledger.read(now.id, version - 1, version) if version <= now.version else []
    if not records:
        raise RuleError("unknown_reference", "", {"at": "/version"})
    return version, records[0].hash


def _check_text(text: str, *, required: bool) -> str:
    """Return the text of a message or note. Raise Problem."""
    text, refused = clean_text(text)
    if len(text) > MOST_CHARACTERS:
        raise Problem("too_long", figures={"most": MOST_CHARACTERS})
    if refused or (required and not text):
        message = (
            Message("The character {code} is not allowed.", code=f"U+{ord(refused):04X}")
            if refused
            else Message("It must not be empty.")
        )
        raise _invalid("/text", message)
    return text


@bp.operation(
    "GET",
    "/<game:game>/talk/treaties",
    "treaties",
    access=authorization.require_talk,
    errors=(403, 404, 409),
    query=TreatyKindsArgs,
)
def treaties(args: Doc, game: str) -> JsonResponse[TreatyKindsDoc]:
    """Return what you may propose to some seats or to the table, and the values of each field.

    A treaty binds nobody, and no rule of the game knows it. Send it as `treaty` of a message.
    """
    _, now = load_table(game)
    seat, _ = _writer(now)
    to = [int(each) for each in args["to"].split(",")] if args["to"] else []
    target, reader = _find_addressees(now, seat, to), find_reader(game, now, own=True)
    check_running(now)
    return json_response(TreatyTeller(services(), now, reader, request_language()).list_kinds(seat, target.seats))


@bp.operation(
    "PUT",
    "/<game:game>/talk/read",
    "mark_read",
    access=authorization.require_talk,
    errors=(403, 404),
    body=ReadMarkSchema,
    status=204,
)
def mark_read(body: Doc, game: str) -> Response:
    """Say how far you have read a conversation. Nobody else learns it."""
    reader = _own_reader(game)
    services().talk.mark_read(reader, _find_conversation(reader, body["conversation"]), body["upto"])
    return Response(status=204)


@bp.operation(
    "PUT",
    "/<game:game>/talk/mutes",
    "mute_conversation",
    access=authorization.require_talk,
    errors=(403, 404),
    body=MuteSchema,
    status=204,
)
def mute_conversation(body: Doc, game: str) -> Response:
    """Mute a conversation for yourself, or unmute it. Nobody else learns it."""
    reader = _own_reader(game)
    conversation = _find_conversation(reader, body["conversation"])
    services().talk.mute(reader, conversation, muted=body["muted"])
    return Response(status=204)


def _own_reader(game: str) -> MailboxReader:
    """Return the caller as the reader of an own mailbox. Raise Problem for anybody else."""
    reader = find_reader(game, load_table(game)[1], own=True)
    if reader.mailbox < 0:
        raise Problem("not_a_participant")
    return reader


# --- proof ---------------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/<game:game>/talk/mailbox",
    "mailbox",
    access=authorization.optional_talk,
    errors=(403, 404, 409),
    response={"type": "string"},
    content_type=LINES,
)
@rate_limits.whole_game_slot()
def mailbox(game: str) -> Response:
    """Return your seat's mailbox as a file of JSON lines: its entries, and its blind and path for each record.

    With the export of the game it proves each text in it, and when it was written at the latest. A reader of the file
    learns all of it, and the number of your messages. A text erased since is left out, and the rest is still proved.
    """
    _, now = load_table(game)
    reader = find_reader(game, now, own=True)
    if reader.mailbox < 0 or reader.upto is not None:
        raise Problem("not_a_participant")
    if not has_talk(now.terms):
        raise RuleError("talk_is_off", "", {"talk": "none"})
    response = Response(build_file(services(), now, reader), content_type=LINES)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Content-Disposition"] = 'attachment; filename="mailbox.jsonl"'
    return response


# --- notes -----------------------------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/<game:game>/notes",
    "notes",
    access=authorization.require_talk,
    errors=(403, 404),
)
def notes(game: str) -> JsonResponse[NotesDoc]:
    """Return your own notes about the table and its regions. Nobody else sees them."""
    _check_table(game)
    return json_response({"items": services().talk.list_notes(_note_players(), game)})


@bp.operation(
    "PUT",
    "/<game:game>/notes",
    "write_note",
    access=authorization.require_talk,
    errors=(403, 404),
    body=NoteWishSchema,
    status=204,
)
def write_note(body: Doc, game: str) -> Response:
    """Write your own note about the table, or about a region of it, in place of the one before."""
    _check_table(game)
    authorization.require_good_standing()
    services().talk.set_note(game, _note_players()[0], body["place"], _check_text(body["text"], required=False))
    return Response(status=204)


def _check_table(game: str) -> None:
    if not services().ledger.version(game):
        raise UnknownGame(game)


def _note_players() -> list[str]:
    """Return the ids of the caller as a person. Raise Problem for a lent token."""
    players = authorization.player_ids()
    if not players:
        raise Problem("lent_token")
    return players
