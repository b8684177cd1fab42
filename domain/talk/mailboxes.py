"""Mailboxes as hash chains, their root in a record, and the proof of a mailbox by its file.

An entry is the SHA-256 of [head before, commitment], a commitment the one of a message with its nonce. Each record of a
table with talk names the root (RFC 6962) over one leaf for each seat: the SHA-256 of [blind, mailbox head].

A file of a mailbox has JSON lines: a header, a line for each entry, a line for each record with the seat's blind and
path. It holds only what this seat knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from domain.errors import VerificationError
from domain.kernel.game.record_builder import has_talk
from domain.kernel.records.export import Export
from domain.kernel.schema.canonical_json import canonical, digest
from domain.transparency.merkle_tree import Hash, Subtree, inclusion_path, leaf_hash, node_hash, verify_inclusion
from domain.types import Doc, Json, Seat

EMPTY = ""
"""Head of a mailbox without entries."""

MAILBOX_CODES = {
    "mailbox_unreadable": "a line of the mailbox is no canonical JSON object of its form",
    "mailbox_other_game": "the mailbox is not of this game",
    "mailbox_cut_off": "the mailbox does not hold the entries it announces",
    "commitment_differs": "not proved: the commitment differs",
    "anchor_differs": "a record does not anchor this mailbox",
    "anchor_missing": "a record of the game has no anchor in the file",
    "seen_unknown": "a message names a record that the game does not have",
    "seen_later": "a message names a record after one that anchors it",
}
"""Refusals of a mailbox's proof."""


def commitment_of(message: Doc) -> str:
    """Return the commitment of a message with its nonce."""
    return digest(message)


def next_head(head: str, commitment: str) -> str:
    """Return the head of a mailbox after one more entry."""
    return digest([head, commitment])


def leaf_of(blind: str, head: str) -> Hash:
    """Return the leaf of a seat in the tree of a record."""
    return leaf_hash(digest([blind, head]))


def root_of(leaves: Sequence[Hash]) -> str:
    """Return the root over the leaves of all seats."""
    return _subtree_root(leaves).hex()


def path_of(leaves: Sequence[Hash], seat: Seat) -> list[str]:
    """Return the path of a seat's leaf to the root."""

    def find_root(subtree: Subtree) -> Hash:
        level, number = subtree
        return _subtree_root(leaves[number << level : (number + 1) << level])

    return [each.hex() for each in inclusion_path(find_root, seat, len(leaves))]


def _subtree_root(leaves: Sequence[Hash]) -> Hash:
    if len(leaves) == 1:
        return leaves[0]
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(_subtree_root(leaves[:middle]), _subtree_root(leaves[middle:]))


@dataclass(frozen=True)
class MailboxReport:
    """Result of the proof of a mailbox with the export of its game."""

    seat: Seat
    entries: int
    head: str
    readable: int
    """Entries with their text, each proved."""
    anchored: tuple[int | None, ...]
    """For each entry the first record that anchors it; None if none does yet."""
    behind: tuple[int, ...]
    """Records that anchor fewer entries than one before: the host had not the newest heads at hand."""

    def to_json(self) -> Doc:
        """Return the report as printed by the command line."""
        waiting = sum(each is None for each in self.anchored)
        doc: dict[str, Json] = {"seat": self.seat, "entries": self.entries, "head": self.head}
        doc |= {"readable": self.readable, "not_anchored": waiting, "records_behind": list(self.behind)}
        return doc


def verify_mailbox(export: Export, lines: Iterable[bytes]) -> MailboxReport:
    """Prove a mailbox against the records of its game, proved already; raise VerificationError."""
    lines = iter(lines)
    header = _read_line(next(lines, b""))
    seat, count = header.get("seat"), header.get("entries")
    if header.get("annals_mailbox") != 1 or type(seat) is not int or type(count) is not int:
        raise VerificationError("mailbox_unreadable", 0, "the header")
    seats = export.records[0].body["seats"]
    if header.get("game") != export.game or not has_talk(export.records[0].body) or not 0 <= seat < seats:
        raise VerificationError("mailbox_other_game")
    docs = [_read_line(line) for line in lines]
    entries, anchors = docs[:count], docs[count:]
    if len(entries) != count or any("commitment" not in entry for entry in entries):
        raise VerificationError("mailbox_cut_off")
    heads = _chain_entries(seat, entries)
    anchored, behind = _check_anchors(export, seat, heads, anchors)
    _check_seen(export, entries, anchored)
    readable = sum("message" in entry for entry in entries)
    return MailboxReport(seat, count, heads[-1], readable, tuple(anchored), tuple(behind))


def _chain_entries(seat: Seat, entries: Sequence[Doc]) -> list[str]:
    """Return the head before the first entry and after each; check the commitment of each message at hand."""
    heads = [EMPTY]
    for number, entry in enumerate(entries, 1):
        message = entry.get("message")
        if message is not None and (commitment_of(message) != entry["commitment"] or seat not in message["to"]):
            raise VerificationError("commitment_differs", 0, f"entry {number}")
        heads.append(next_head(heads[-1], entry["commitment"]))
    return heads


def _read_line(line: bytes) -> Doc:
    try:
        doc = msgspec.json.decode(line)
        if isinstance(doc, dict) and canonical(doc) + b"\n" == line:
            return doc
    except (ValueError, TypeError, RecursionError):
        pass
    raise VerificationError("mailbox_unreadable")


def _check_anchors(
    export: Export, seat: Seat, heads: Sequence[str], anchors: Sequence[Doc]
) -> tuple[list[int | None], list[int]]:
    """Return the first anchoring record of each entry, and the records with fewer entries than one before."""
    first: list[int | None] = [None] * (len(heads) - 1)
    seats, most, behind, size = export.records[0].body["seats"], 0, list[int](), len(export.records)
    for version, anchor in enumerate(anchors, 1):
        try:
            number = anchor["entry"]
            path, root = anchor["path"], export.records[version - 1].public["talk"]
            leaf = leaf_of(anchor["blind"], heads[number])
            steps = [bytes.fromhex(each) for each in path]
            leads = number >= 0 and verify_inclusion(bytes.fromhex(root), leaf, seat, seats, steps)
            is_right = leads and anchor["v"] == version
        except (LookupError, TypeError, ValueError):
            is_right, number = False, 0
        if not is_right:
            raise VerificationError("anchor_differs", version)
        behind += [version] if number < most else []
        if number > most:
            first[most:number] = [version] * (number - most)
            most = number
    if len(anchors) != size:
        raise VerificationError("anchor_missing", min(len(anchors), size - 1) + 1)
    return first, behind


def _check_seen(export: Export, entries: Sequence[Doc], anchored: Sequence[int | None]) -> None:
    """Check each message: written after the record named by it, and before its anchor."""
    versions = {record.hash: record.version for record in export.records}
    for number, (entry, first) in enumerate(zip(entries, anchored, strict=True), 1):
        if "message" not in entry:
            continue
        seen = versions.get(entry["message"].get("seen"))
        if seen is None or seen != entry["message"].get("version"):
            raise VerificationError("seen_unknown", 0, f"entry {number}")
        if first is not None and seen >= first:
            raise VerificationError("seen_later", first, f"entry {number}")


def entry_to_json(commitment: str, message: Doc | None) -> Doc:
    """Return an entry as the file has it, with its message if the text is at hand."""
    return {"commitment": commitment} | ({} if message is None else {"message": message})


def dump_mailbox(header: Doc, entries: Sequence[Doc], anchors: Sequence[Doc]) -> bytes:
    """Return the file of a mailbox."""
    return b"".join(canonical(doc) + b"\n" for doc in [header, *entries, *anchors])
