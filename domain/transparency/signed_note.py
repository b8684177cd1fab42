"""Signed notes and verifier keys: a text with one signature per line (https://c2sp.org/signed-note@v1.0.0)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from domain.errors import NoteError

ED25519 = 1
"""Ed25519 over the note's text."""
ED25519_COSIGNATURE = 4
"""Ed25519 over a time and the note's text, by a witness."""
ML_DSA_44 = 6
"""ML-DSA-44 over the size and root of a checkpoint."""
KEY_BYTES = {ED25519: 32, ED25519_COSIGNATURE: 32, ML_DSA_44: 1312}
"""Kind of a key -> length of its public key."""

MAX_NOTE = 256 * 1024
"""Longest note, bytes."""
MAX_SIGNATURES = 64
"""Most signatures of a note."""

_DASH = "\N{EM DASH}"
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")
_NAME = re.compile(r"[^\s+]+")


def decode_base64(text: str) -> bytes:
    """Return the bytes of standard base64; raise ValueError."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None


def expect(is_sound: bool) -> None:
    """Raise ValueError unless a part of a text is sound."""
    if not is_sound:
        raise ValueError("malformed")


def encode_base64(data: bytes) -> str:
    """Return standard base64."""
    return base64.b64encode(data).decode()


@dataclass(frozen=True)
class VerifierKey:
    """A public key with its name and kind; as text `name+id+base64`."""

    name: str
    kind: int
    key: bytes

    @property
    def id(self) -> bytes:
        """Return its 4 bytes in signature lines."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.key).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{encode_base64(bytes([self.kind]) + self.key)}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """Return the key of a text; raise NoteError `key_malformed`, also for unknown kinds."""
        try:
            name, key_id, data = text.split("+", 2)
            kind, key = decode_base64(data)[0], decode_base64(data)[1:]
            parsed = cls(name, kind, key)
            expect(bool(_NAME.fullmatch(name)) and KEY_BYTES.get(kind) == len(key) and key_id == parsed.id.hex())
        except (ValueError, IndexError):
            raise NoteError("key_malformed", text[:80]) from None
        return parsed


class Signature(NamedTuple):
    """One signature line."""

    name: str
    key_id: bytes
    data: bytes

    def __str__(self) -> str:
        return f"{_DASH} {self.name} {encode_base64(self.key_id + self.data)}"

    @classmethod
    def parse(cls, line: str) -> Signature:
        """Return the signature of a line without its end; raise NoteError `note_malformed`."""
        try:
            dash, name, text = line.split(" ")
            data = decode_base64(text)
            expect(dash == _DASH and bool(_NAME.fullmatch(name)) and len(data) > 4)
        except ValueError:
            raise NoteError("note_malformed", "a signature line") from None
        return cls(name, data[:4], data[4:])

    def is_by(self, key: VerifierKey) -> bool:
        """Return whether it names this key."""
        return (self.name, self.key_id) == (key.name, key.id)


def parse_signatures(text: str) -> list[Signature]:
    """Return the signatures of lines, each with a newline at its end; raise NoteError `note_malformed`."""
    lines = text.split("\n")
    if lines.pop() or not lines or len(lines) > MAX_SIGNATURES:
        raise NoteError("note_malformed", "the signatures")
    return [Signature.parse(line) for line in lines]


@dataclass(frozen=True)
class SignedNote:
    """A text with a newline at its end, and its signatures, nothing of them checked."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        return f"{self.text}\n" + "".join(f"{s}\n" for s in self.signatures)

    def add(self, signatures: Iterable[Signature]) -> SignedNote:
        """Return the note with further signatures; those of the same key are replaced."""
        merged = {(s.name, s.key_id): s for s in (*self.signatures, *signatures)}
        return SignedNote(self.text, tuple(merged.values()))

    @classmethod
    def parse(cls, note: str) -> SignedNote:
        """Return the parts of a note; raise NoteError `note_malformed`."""
        text, separator, lines = note.rpartition("\n\n")
        if not separator or len(note.encode()) > MAX_NOTE or _CONTROL.search(note):
            raise NoteError("note_malformed", "no signed note")
        return cls(f"{text}\n", tuple(parse_signatures(lines)))
