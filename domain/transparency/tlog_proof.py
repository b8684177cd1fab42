"""Proofs as text: of one record in a checkpoint's log, and of growth in the request to a witness.

Sources: https://c2sp.org/tlog-proof@v1.0.0 and https://c2sp.org/tlog-witness@v1.0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import NoteError
from domain.transparency.checkpoint import MAX_SIZE
from domain.transparency.merkle_tree import Hash
from domain.transparency.signed_note import SignedNote, decode_base64, encode_base64, expect

_TITLE = "c2sp.org/tlog-proof@v1"
MAX_PATH = 63
"""Most hashes of a path."""


def _parse_path(lines: Sequence[str]) -> list[Hash]:
    path = [decode_base64(line) for line in lines]
    expect(len(path) <= MAX_PATH and all(len(node) == 32 for node in path))
    return path


def _parse_number(line: str, word: str) -> int:
    first, _, text = line.partition(" ")
    number = int(text) if text.isascii() and text.isdecimal() else -1
    expect(first == word and str(number) == text and number <= MAX_SIZE)
    return number


@dataclass(frozen=True)
class TlogProof:
    """The proof of a record as number `index` of the log of a checkpoint."""

    index: int
    path: Sequence[Hash]
    note: SignedNote

    def __str__(self) -> str:
        return "\n".join([_TITLE, f"index {self.index}", *map(encode_base64, self.path), "", str(self.note)])

    @classmethod
    def parse(cls, text: str) -> TlogProof:
        """Return the parts of a proof, nothing of it checked; raise NoteError `proof_malformed`, `note_malformed`."""
        head, separator, note = text.partition("\n\n")
        try:
            title, *lines = head.split("\n")
            if lines and lines[0].startswith("extra "):
                decode_base64(lines.pop(0).removeprefix("extra "))
            expect(title == _TITLE and bool(lines) and bool(separator))
            index, path = _parse_number(lines[0], "index"), _parse_path(lines[1:])
        except ValueError:
            raise NoteError("proof_malformed") from None
        return cls(index, path, SignedNote.parse(note))


@dataclass(frozen=True)
class AddCheckpoint:
    """A request to a witness: the path from the log at size `old` to the log of the checkpoint."""

    old: int
    path: Sequence[Hash]
    note: SignedNote

    def __str__(self) -> str:
        return "\n".join([f"old {self.old}", *map(encode_base64, self.path), "", str(self.note)])

    @classmethod
    def parse(cls, text: str) -> AddCheckpoint:
        """Return the parts of a request; raise NoteError `proof_malformed`, `note_malformed`."""
        head, separator, note = text.partition("\n\n")
        try:
            first, *lines = head.split("\n")
            expect(bool(separator))
            old, path = _parse_number(first, "old"), _parse_path(lines)
        except ValueError:
            raise NoteError("proof_malformed") from None
        return cls(old, path, SignedNote.parse(note))
