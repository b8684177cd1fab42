"""Files of mailboxes, whole or with disclosed messages alone, and their proof against the records of the game."""

from __future__ import annotations

from collections.abc import Collection

from api.services import ApiServices
from domain.errors import VerificationError
from domain.kernel.game.game import AnyGame
from domain.kernel.records.export import Export
from domain.talk.mailboxes import dump_mailbox, entry_to_json, verify_mailbox
from domain.talk.talk_store import MailboxReader
from domain.types import PUBLIC, Doc

PAGE = 500
"""Entries of a mailbox in one read."""


def build_file(s: ApiServices, now: AnyGame, reader: MailboxReader, kept: Collection[int] | None = None) -> bytes:
    """Return a mailbox as a file of JSON lines; with `kept` only the messages at these places have their texts."""
    entries, after = list[Doc](), 0
    while found := s.talk.list_entries(reader, after=after, limit=PAGE, whole=True):
        entries += [
            entry_to_json(each.commitment, each.message if kept is None or each.entry in kept else None)
            for each in found
        ]
        after = found[-1].entry
    roots = [record.public["talk"] for record in s.ledger.read(now.id)]
    anchors = s.talk.find_anchors(now.id, reader.mailbox, now.table.seats, roots)
    header: Doc = {"annals_mailbox": 1, "game": now.id, "seat": reader.mailbox, "entries": len(entries)}
    return dump_mailbox(header, entries, anchors)


def check_file(s: ApiServices, now: AnyGame, data: bytes) -> str:
    """Return an empty code if a file is proved by the records of the game, or else that of the first fault."""
    records = tuple(s.ledger.read(now.id))
    try:
        verify_mailbox(Export(now.id, now.ruleset, PUBLIC, records), data.splitlines(keepends=True))
    except VerificationError as error:
        return error.code
    return ""
