"""Documents of messages shown to others by a participant: disclosed or reported, with their proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from api.documents.mailbox_files import build_file, check_file
from api.documents.talk import build_messages
from api.http import i18n, rate_limits
from api.http.i18n import request_language
from api.response_builders import load_table
from api.schemas.talk_responses import DisclosureDoc, ProvedDoc, ReportedMessagesDoc
from api.services import services
from domain.kernel.game.game import AnyGame
from domain.kernel.text.message_catalog import Message
from domain.talk.disclosures import Disclosure
from domain.talk.message_reports import ReportedMessages
from domain.talk.talk_store import Entry, MailboxReader

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
"""Code of a mailbox's proof -> reason why messages are not proved."""


def find_entries(reader: MailboxReader, entries: Sequence[int]) -> list[Entry]:
    """Return the messages at these places of a mailbox, as far as there are any."""
    found = (services().talk.find_entry(reader, entry) for entry in entries)
    return [each for each in found if each is not None]


def reader_of(now: AnyGame, found: Disclosure | ReportedMessages) -> MailboxReader:
    """Return the participant behind shown messages, as a reader."""
    passed_on = now.terms.get("papers") == "pass_on"
    return MailboxReader(found.game, found.mailbox, (found.player,), passed_on=passed_on)


def disclosure_to_json(now: AnyGame, found: Disclosure) -> DisclosureDoc:
    """Return the document of a disclosure."""
    own: DisclosureDoc = {
        "disclosure": found.id,
        "seat": found.mailbox,
        "to": found.to,
        "at": found.at,
        **_prove(now, reader_of(now, found), found.entries),
    }
    return own


@rate_limits.whole_game_slot()
def reported_to_json(found: ReportedMessages) -> ReportedMessagesDoc:
    """Return reported messages with their proof, and their writers."""
    _, now = load_table(found.game)
    reader = replace(reader_of(now, found), for_report=True)
    writers = {each.seat: each.author for each in find_entries(reader, found.entries) if each.author}
    return {
        "seat": found.mailbox,
        "writers": [{"seat": seat, "player": player} for seat, player in sorted(writers.items())],
        **_prove(now, reader, found.entries),
    }


def _prove(now: AnyGame, reader: MailboxReader, entries: Sequence[int]) -> ProvedDoc:
    code = check_file(services(), now, build_file(services(), now, reader, {*entries}))
    messages = build_messages(services(), now, reader, find_entries(reader, entries), request_language())
    for each in messages:  # ids, states, answers and promises are of the mailbox's owner alone
        each["conversation"], each["own"] = "", False
        if each["treaty"]:
            each["treaty"] |= {"may_answer": False, "answers": [], "promises": []}
    reason = i18n.translate(_REASONS[code], request_language()) if code else ""
    return {"proved": not code, "code": code, "reason": reason, "messages": messages}
