"""Checkpoints: size and root of a log as a signed note, by the log and by witnesses.

Sources: https://c2sp.org/tlog-checkpoint@v1.0.0 and https://c2sp.org/tlog-cosignature@v1.1.0-rc.1.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey, MLDSA44PublicKey

from domain.errors import NoteError
from domain.transparency.signed_note import (
    ED25519,
    ED25519_COSIGNATURE,
    ML_DSA_44,
    Signature,
    SignedNote,
    VerifierKey,
    decode_base64,
    encode_base64,
    expect,
)

SECRET_BYTES = 32
MAX_SIZE = 2**63 - 1
"""Largest size of a log."""
MAX_ORIGIN = 255
"""Longest origin, bytes."""
_TIME_BYTES = 8


@dataclass(frozen=True)
class Checkpoint:
    """The log `origin` at a size: its number of records, and the root of its Merkle tree (RFC 6962)."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """Return the text to be signed."""
        return f"{self.origin}\n{self.size}\n{encode_base64(self.root)}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Return the checkpoint of a note's text; raise NoteError `checkpoint_malformed`. Extensions are ignored."""
        lines = text.split("\n")
        try:
            origin, number, root, *extensions, end = lines
            parsed = cls(origin, int(number), decode_base64(root))
            expect(number == str(parsed.size) and len(parsed.root) == 32 and all(extensions) and not end)
            expect(0 < len(origin.encode()) <= MAX_ORIGIN and 0 <= parsed.size <= MAX_SIZE)
        except ValueError:
            raise NoteError("checkpoint_malformed") from None
        return parsed


class Signer:
    """Signs checkpoints under one name with two keys, both derived from one secret of 32 bytes.

    A log signs its text with Ed25519, known to every checker; a `witness` signs time and text with it. Both also sign
    with ML-DSA-44, safe from quantum computers.
    """

    def __init__(self, name: str, secret: bytes, *, witness: bool = False) -> None:
        if len(secret) != SECRET_BYTES:
            raise ValueError("the secret of a signer has 32 bytes")
        role = "witness" if witness else "log"
        self._classical = Ed25519PrivateKey.from_private_bytes(
            hmac.digest(secret, f"{role} ed25519".encode(), "sha256")
        )
        self._lattice = MLDSA44PrivateKey.from_seed_bytes(hmac.digest(secret, f"{role} ml-dsa-44".encode(), "sha256"))
        kind = ED25519_COSIGNATURE if witness else ED25519
        self.keys = (
            VerifierKey(name, kind, self._classical.public_key().public_bytes_raw()),
            VerifierKey(name, ML_DSA_44, self._lattice.public_key().public_bytes_raw()),
        )
        """The two verifier keys."""

    def sign(self, note_text: str, now: int) -> list[Signature]:
        """Return its two signatures of a checkpoint's text at the time `now`, seconds since 1970 UTC."""
        classical, lattice = self.keys
        first = self._classical.sign(_message(classical, note_text, now))
        stamp = now.to_bytes(_TIME_BYTES, "big")
        stamped = first if classical.kind == ED25519 else stamp + first
        second = stamp + self._lattice.sign(_message(lattice, note_text, now))
        return [Signature(k.name, k.id, data) for k, data in zip(self.keys, (stamped, second), strict=True)]


def _message(key: VerifierKey, note_text: str, time: int) -> bytes:
    """Return the signed bytes of a checkpoint."""
    if key.kind == ED25519:
        return note_text.encode()
    if key.kind == ED25519_COSIGNATURE:
        return f"cosignature/v1\ntime {time}\n{note_text}".encode()
    checkpoint = Checkpoint.parse(note_text)
    name, origin = key.name.encode(), checkpoint.origin.encode()
    parts = (
        b"subtree/v1\n\0",
        bytes([len(name)]) + name,
        time.to_bytes(_TIME_BYTES, "big"),
        bytes([len(origin)]) + origin,
        bytes(8),  # the first leaf
        checkpoint.size.to_bytes(8, "big"),
        checkpoint.root,
    )
    return b"".join(parts)


def is_valid(key: VerifierKey, note_text: str, data: bytes) -> bool:
    """Return whether the data of a signature is the key's for a checkpoint's text."""
    time = 0
    if key.kind != ED25519:
        time, data = int.from_bytes(data[:_TIME_BYTES], "big"), data[_TIME_BYTES:]
    try:
        message = _message(key, note_text, time)
        if key.kind == ML_DSA_44:
            MLDSA44PublicKey.from_public_bytes(key.key).verify(data, message)
        else:
            Ed25519PublicKey.from_public_bytes(key.key).verify(data, message)
    except (InvalidSignature, NoteError, ValueError, OverflowError):
        return False
    return True


def find_valid_signatures(note: SignedNote, keys: Iterable[VerifierKey]) -> list[tuple[VerifierKey, Signature]]:
    """Return the signatures by these keys, each checked; raise NoteError `signature_false`. Others are ignored."""
    found = [(key, s) for key in keys for s in note.signatures if s.is_by(key)]
    for key, signature in found:
        if not is_valid(key, note.text, signature.data):
            raise NoteError("signature_false", key.name)
    return found


def open_checkpoint(note: SignedNote, keys: Sequence[VerifierKey]) -> Checkpoint:
    """Return the checkpoint of a note signed by one of the keys.

    Raise NoteError `not_signed`, `signature_false` or `checkpoint_malformed`.
    """
    if not find_valid_signatures(note, keys):
        raise NoteError("not_signed", "no signature by a known key")
    return Checkpoint.parse(note.text)
