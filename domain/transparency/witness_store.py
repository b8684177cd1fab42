"""A witness for the logs of others (https://c2sp.org/tlog-witness@v1.0.0), in the ledger's database.

For each log the largest cosigned checkpoint is stored before its cosignature is given. No statement makes it smaller,
or one of another tree. The witness has a key of its own, never that of the log.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from domain.errors import NoteError
from domain.service.database import Database, Execute, create_tables
from domain.service.keyring import Keyring
from domain.transparency.checkpoint import SECRET_BYTES, Checkpoint, Signer, find_valid_signatures
from domain.transparency.merkle_tree import root_hash, verify_consistency
from domain.transparency.policy_file import LogKeys
from domain.transparency.signed_note import Signature, SignedNote, VerifierKey
from domain.transparency.tlog_proof import AddCheckpoint

_TABLES = (
    """CREATE TABLE IF NOT EXISTS witness_keys (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL, secret TEXT NOT NULL, vkeys TEXT NOT NULL,
  since BIGINT NOT NULL, until BIGINT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS witnessed_logs (
  origin_hash TEXT PRIMARY KEY, size BIGINT NOT NULL, root TEXT NOT NULL, note TEXT NOT NULL, at BIGINT NOT NULL)""",
)
_SELECT = "SELECT size, root, note FROM witnessed_logs WHERE origin_hash = ?"
_REPLACE = """
INSERT INTO witnessed_logs VALUES (?, ?, ?, ?, ?) ON CONFLICT (origin_hash) DO UPDATE
SET size = excluded.size, root = excluded.root, note = excluded.note, at = excluded.at
WHERE witnessed_logs.size = ? AND witnessed_logs.root = ? RETURNING size"""
"""Stores a checkpoint if the stored one is still the one that it was compared with."""
_ACTIVE = "SELECT number, name, secret, vkeys FROM witness_keys WHERE until = 0 ORDER BY number DESC LIMIT 1"
_SEALED_FOR = "witness key"
_EMPTY = (0, root_hash([]))
"""Size and root of a log without a cosigned checkpoint."""


class SizeConflict(NoteError):
    """The request does not begin at the largest cosigned checkpoint; `size` is that one's."""

    def __init__(self, size: int) -> None:
        super().__init__("size_conflict", str(size))
        self.size = size


@dataclass(frozen=True)
class WitnessKey:
    """The key of the witness without its secret. `since`: ms since 1970 UTC."""

    number: int
    name: str
    keys: tuple[VerifierKey, ...]


def hash_origin(origin: str) -> str:
    """Return the SHA-256 of a log's name, hex: its place at the monitoring prefix."""
    return hashlib.sha256(origin.encode()).hexdigest()


class WitnessStore:
    """Cosigns checkpoints of the logs that it knows. Every method may raise StoreUnavailable and WrongKey."""

    def __init__(self, database: Database, keyring: Keyring, name: str = "", logs: LogKeys | None = None) -> None:
        """`name` is that of the first key; without one, a random name is made."""
        self._database, self._keyring = database, keyring
        self._name, self._logs = name, logs or {}
        self._signer: tuple[int, Signer] | None = None

    def migrate(self) -> None:
        """Create missing tables."""
        create_tables(self._database, _TABLES)

    def cosign(self, request: AddCheckpoint, now: int) -> list[Signature]:
        """Return the witness's cosignatures of a checkpoint at the time `now`, ms. The checkpoint is stored before.

        Raise SizeConflict, and NoteError `checkpoint_malformed` or `old_size_larger`, `log_unknown`, `not_signed` or
        `signature_false`, `log_inconsistent`.
        """
        checkpoint = Checkpoint.parse(request.note.text)
        keys = self._logs.get(checkpoint.origin)
        if keys is None:
            raise NoteError("log_unknown")
        signed = find_valid_signatures(request.note, keys)
        if not signed:
            raise NoteError("not_signed")
        if request.old > checkpoint.size:
            raise NoteError("old_size_larger")
        place = hash_origin(checkpoint.origin)
        before = self._read_state(place)
        _check_growth(before, request, checkpoint)
        cosignatures = self._load_signer(now).sign(request.note.text, now // 1000)
        note = SignedNote(request.note.text, (*(signature for _, signature in signed), *cosignatures))
        row = (place, checkpoint.size, checkpoint.root.hex(), str(note), now)
        if not self._database.execute(_REPLACE, (*row, before[0], before[1].hex())):
            after = self._read_state(place)
            if after != (checkpoint.size, checkpoint.root):  # the same checkpoint may have come twice
                raise SizeConflict(after[0])
        return cosignatures

    def find_note(self, origin_hash: str) -> str | None:
        """Return the largest cosigned checkpoint of a log, with the log's signatures and ours; None without one."""
        rows = self._database.execute(_SELECT, (origin_hash,))
        return str(rows[0][2]) if rows else None

    def _read_state(self, place: str) -> tuple[int, bytes]:
        rows = self._database.execute(_SELECT, (place,))
        return (int(rows[0][0]), bytes.fromhex(rows[0][1])) if rows else _EMPTY

    # --- the key

    @property
    def key(self) -> WitnessKey | None:
        """Return the key that cosigns, or None before the first."""
        rows = self._database.execute(_ACTIVE)
        return _to_key(*rows[0]) if rows else None

    def ensure_key(self, now: int) -> WitnessKey:
        """Return the key that cosigns; make the first one."""
        return self.key or self.renew_key(now, replace=False)

    def renew_key(self, now: int, name: str = "", *, replace: bool = True) -> WitnessKey:
        """End the key, make another one, and return it: a new witness to everybody.

        Without a `name` it keeps its name. Without `replace`, only make a key if there is none.
        """
        secret = secrets.token_bytes(SECRET_BYTES)
        sealed = self._keyring.seal("", _SEALED_FOR, secret).hex()

        def write(execute: Execute) -> None:
            if not replace and execute(_ACTIVE, ()):
                return
            rows = execute("SELECT number, name FROM witness_keys ORDER BY number DESC LIMIT 1", ())
            number, before = rows[0] if rows else (0, "")
            chosen = name or before or self._name or f"annals.invalid/{secrets.token_hex(8)}"
            vkeys = "\n".join(map(str, Signer(chosen, secret, witness=True).keys))
            execute("UPDATE witness_keys SET until = ? WHERE until = 0", (now,))
            execute("INSERT INTO witness_keys VALUES (?, ?, ?, ?, ?, ?)", (number + 1, chosen, sealed, vkeys, now, 0))

        self._database.run_in_append_order(write)
        return _to_key(*self._database.execute(_ACTIVE)[0])

    def _load_signer(self, now: int) -> Signer:
        number = self.ensure_key(now).number
        if self._signer is None or self._signer[0] != number:
            ((number, name, sealed, _),) = self._database.execute(_ACTIVE)
            secret = self._keyring.open("", _SEALED_FOR, bytes.fromhex(sealed))
            self._signer = number, Signer(name, secret, witness=True)
        return self._signer[1]


def _to_key(number: int, name: str, _: str, vkeys: str) -> WitnessKey:
    return WitnessKey(number, name, tuple(map(VerifierKey.parse, vkeys.split())))


def _check_growth(before: tuple[int, bytes], request: AddCheckpoint, checkpoint: Checkpoint) -> None:
    """Raise SizeConflict or NoteError unless the checkpoint continues the largest cosigned one."""
    size, root = before
    if request.old != size:
        raise SizeConflict(size)
    path: Sequence[bytes] = request.path
    if size:
        is_sound = verify_consistency(checkpoint.root, checkpoint.size, root, size, path)
    else:
        is_sound = not path and (checkpoint.size > 0 or checkpoint.root == root)
    if not is_sound:
        raise NoteError("log_inconsistent")
