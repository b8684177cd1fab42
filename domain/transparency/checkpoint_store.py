"""Signing keys and signed checkpoints of the log, in the ledger's database.

A signed size never shrinks. The newest signed checkpoint is stored before anybody sees it, and nothing smaller, or of
another tree, is signed afterwards. `halt` stops signing for good, until an operator resumes it.

On PostgreSQL with standbys nothing is signed unless a synchronous one confirms it: the row of a checkpoint is written
after its records were read, so whoever takes over has both. Each row tells the server that signed it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from domain.errors import NoteError
from domain.service.database import Database, Execute, create_tables
from domain.service.keyring import Keyring
from domain.service.replication import Replication, read_replication
from domain.transparency.checkpoint import SECRET_BYTES, Checkpoint, Signer, open_checkpoint
from domain.transparency.signed_note import SignedNote, VerifierKey

_TABLES = (
    """CREATE TABLE IF NOT EXISTS signing_keys (
  number INTEGER PRIMARY KEY, origin TEXT NOT NULL, secret TEXT NOT NULL, vkeys TEXT NOT NULL,
  since BIGINT NOT NULL, until BIGINT NOT NULL, reason TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS checkpoints (
  name TEXT PRIMARY KEY, size BIGINT NOT NULL, root TEXT NOT NULL, note TEXT NOT NULL, at BIGINT NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS signing_halts (reason TEXT PRIMARY KEY, at BIGINT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS signing_server (
  name TEXT PRIMARY KEY, timeline BIGINT NOT NULL, confirmed BIGINT NOT NULL)""",
)
_SIGNED, _SHOWN = "signed", "shown"
_SELECT = "SELECT size, root, note, at FROM checkpoints WHERE name = ?"
_UPSERT = """
INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE
SET size = excluded.size, root = excluded.root, note = excluded.note, at = excluded.at"""
_HALT = "INSERT INTO signing_halts VALUES (?, ?) ON CONFLICT DO NOTHING"
_UPSERT_SERVER = """
INSERT INTO signing_server VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
SET timeline = excluded.timeline, confirmed = excluded.confirmed"""
_SEALED_FOR = "signing key"
_FROM_SETTINGS = ""
"""Stored in place of a secret that the settings give."""

RESTORED = "restored from a backup: larger checkpoints may have been signed since"
ANOTHER_LOG = "the log is not the one that was signed"
SHORTER_LOG = "the log is shorter than the signed one"
HALTED = "the operator has halted it"
FORGOTTEN = "the database has lost a checkpoint that was signed: another server, or a backup, has taken its place"
OTHER_SERVER = "another server has taken over, and may lack what was signed: no synchronous standby had confirmed it"


@dataclass(frozen=True)
class StoredCheckpoint:
    """A signed checkpoint, and the time of its signing in ms since 1970 UTC."""

    size: int
    root: bytes
    note: str
    at: int


@dataclass(frozen=True)
class SigningKey:
    """A signing key without its secret. `until`: ms since 1970 UTC, 0 while it signs."""

    number: int
    origin: str
    keys: tuple[VerifierKey, ...]
    since: int
    until: int
    reason: str
    """Why it ended."""


class CheckpointStore:
    """Signs and stores checkpoints. Every method may raise StoreUnavailable, and with a secret WrongKey."""

    def __init__(
        self,
        database: Database,
        keyring: Keyring,
        origin: str = "",
        secret: bytes = b"",
        *,
        sign_unconfirmed: bool = False,
    ) -> None:
        """`origin` names the log; without one, a random name is made. `secret` replaces the key of the ring.

        With `sign_unconfirmed` asynchronous standbys do not keep it from signing: one that takes over halts it.
        """
        self._database, self._keyring = database, keyring
        self._origin, self._secret = origin, secret
        self._sign_unconfirmed = sign_unconfirmed
        self._signers: dict[int, Signer] = {}

    def migrate(self) -> None:
        """Create missing tables."""
        create_tables(self._database, _TABLES)

    # --- checkpoints

    @property
    def largest(self) -> StoredCheckpoint | None:
        """Return the largest signed checkpoint; it may not be shown yet."""
        return _read_checkpoint(self._database.execute, _SIGNED)

    @property
    def public(self) -> StoredCheckpoint | None:
        """Return the checkpoint for readers, with its cosignatures by witnesses."""
        return _read_checkpoint(self._database.execute, _SHOWN)

    def sign(self, size: int, root: bytes, now: int, *, show: bool) -> StoredCheckpoint | None:
        """Sign and store a checkpoint at the time `now`, ms; return it.

        Return None, and sign nothing, if it is not larger than the largest signed one, signing is halted, or a server
        that may lack what was signed has taken over, which halts it. Raise NoteError `unconfirmed` if no synchronous
        standby would confirm it. Without `show` readers see it after `show_note`.
        """
        signers = self._active_signers(now)
        if not signers:
            return None
        text = Checkpoint(signers[0].keys[0].name, size, root).text
        note = str(SignedNote(text, tuple(s for signer in signers for s in signer.sign(text, now // 1000))))
        stored: list[StoredCheckpoint] = []

        def write(execute: Execute) -> None:
            before = _read_checkpoint(execute, _SIGNED)
            if (before and size <= before.size) or execute("SELECT 1 FROM signing_halts LIMIT 1", ()):
                return
            if not self._note_server(execute, read_replication(self._database, execute), now):
                return
            for name in (_SIGNED, _SHOWN) if show else (_SIGNED,):
                execute(_UPSERT, (name, size, root.hex(), note, now))
            stored.append(StoredCheckpoint(size, root, note, now))

        self._database.run_in_append_order(write)
        return stored[0] if stored else None

    def _note_server(self, execute: Execute, replication: Replication, now: int) -> bool:
        """Note the server; return False, and halt, if it took over from one whose signatures it may lack."""
        if replication.may_lose and not self._sign_unconfirmed:
            raise NoteError("unconfirmed", "the standbys are asynchronous: make one synchronous (ANNALS_SIGNING)")
        known = execute("SELECT timeline, confirmed FROM signing_server", ())
        if known and known[0][0] != replication.timeline and not known[0][1]:
            execute(_HALT, (OTHER_SERVER, now))
            return False
        server = (replication.timeline, int(replication.is_confirmed))
        if not known or tuple(known[0]) != server:
            execute(_UPSERT_SERVER, (_SIGNED, *server))
        return True

    def show_note(self, note: SignedNote, now: int) -> None:
        """Show the signed checkpoint with these cosignatures, beside those that it has.

        Anything but the largest signed one is ignored.
        """
        checkpoint = Checkpoint.parse(note.text)

        def write(execute: Execute) -> None:
            signed, shown = (_read_checkpoint(execute, name) for name in (_SIGNED, _SHOWN))
            if not signed or (signed.size, signed.root) != (checkpoint.size, checkpoint.root):
                return
            before = shown if shown and shown.size == signed.size else signed
            merged = SignedNote.parse(before.note).add(note.signatures)
            execute(_UPSERT, (_SHOWN, signed.size, signed.root.hex(), str(merged), now))

        self._database.run_in_append_order(write)

    # --- halts

    @property
    def halts(self) -> list[str]:
        """Return the reasons for signing nothing, none if signing goes on."""
        return [str(reason) for (reason,) in self._database.execute("SELECT reason FROM signing_halts ORDER BY at")]

    def halt(self, reason: str, now: int) -> None:
        """Sign nothing more until an operator resumes; safe to repeat."""
        self._database.execute(_HALT, (reason, now))

    def resume(self, note: SignedNote | None, root: bytes | None, now: int) -> None:
        """Sign again, after the operator has found the largest checkpoint in anybody's hands.

        `note` is that checkpoint, and `root` the root of this log at its size; None: nobody holds a larger one than
        stored. Raise NoteError `forked` if the log does not contain it, and the errors of `open_checkpoint`.
        """
        known = None if note is None else open_checkpoint(note, [k for key in self.keys for k in key.keys])
        if known and known.root != root:
            raise NoteError("forked", f"this log has another root at {known.size} records, or fewer records")

        def write(execute: Execute) -> None:
            before = _read_checkpoint(execute, _SIGNED)
            if known and (not before or known.size > before.size):
                for name in (_SIGNED, _SHOWN):
                    execute(_UPSERT, (name, known.size, known.root.hex(), str(note), now))
            execute("DELETE FROM signing_halts", ())
            execute("DELETE FROM signing_server", ())

        self._database.run_in_append_order(write)

    # --- keys

    @property
    def keys(self) -> list[SigningKey]:
        """Return all signing keys, also ended ones, the newest first."""
        rows = self._database.execute(
            "SELECT number, origin, vkeys, since, until, reason FROM signing_keys ORDER BY number DESC"
        )
        return [
            SigningKey(number, origin, tuple(map(VerifierKey.parse, vkeys.split())), since, until, reason)
            for number, origin, vkeys, since, until, reason in rows
        ]

    def add_key(self, now: int, origin: str = "", secret: bytes = b"") -> SigningKey:
        """Add a signing key and return it; it signs beside the older ones until they end.

        Without an `origin` the log keeps its name. Another origin is another log to everybody: older keys end, and
        their signatures bind it no more. Without a `secret` one is made and sealed with the ring.
        """
        sealed = _FROM_SETTINGS
        if not secret:
            secret = secrets.token_bytes(SECRET_BYTES)
        if secret != self._secret:
            sealed = self._keyring.seal("", _SEALED_FOR, secret).hex()

        def write(execute: Execute) -> None:
            rows = execute("SELECT number, origin FROM signing_keys ORDER BY number DESC LIMIT 1", ())
            number, before = rows[0] if rows else (0, "")
            name = origin or before or self._origin or f"annals.invalid/{secrets.token_hex(8)}"
            if before and name != before:
                execute(
                    "UPDATE signing_keys SET until = ?, reason = ? WHERE until = 0", (now, f"the log is now {name}")
                )
                for table in ("checkpoints", "signing_halts", "signing_server"):
                    execute(f"DELETE FROM {table}", ())  # noqa: S608 - fixed names
            vkeys = "\n".join(map(str, Signer(name, secret).keys))
            if execute("SELECT 1 FROM signing_keys WHERE vkeys = ?", (vkeys,)):
                return
            row = (number + 1, name, sealed, vkeys, now, 0, "")
            execute("INSERT INTO signing_keys VALUES (?, ?, ?, ?, ?, ?, ?)", row)

        self._database.run_in_append_order(write)
        return self.keys[0]

    def end_key(self, number: int, now: int, reason: str) -> None:
        """End a key: it signs nothing more, and stays listed with the reason. Raise NoteError `key_unknown`.

        The only active key cannot end (`key_needed`): add another one first.
        """
        active = [key.number for key in self.keys if not key.until]
        if number not in active:
            raise NoteError("key_unknown", str(number))
        if active == [number]:
            raise NoteError("key_needed", "no other key would sign")
        self._database.execute("UPDATE signing_keys SET until = ?, reason = ? WHERE number = ?", (now, reason, number))
        self._signers.pop(number, None)

    def _active_signers(self, now: int) -> list[Signer]:
        """Return the signers of the active keys, the newest first. Create the first key."""
        rows = self._database.execute(_ACTIVE)
        if not rows or (self._secret and all(secret != _FROM_SETTINGS for _, _, secret in rows)):
            self.add_key(now, secret=self._secret)
            rows = self._database.execute(_ACTIVE)
        return [self._load_signer(int(number), str(origin), str(secret)) for number, origin, secret in rows]

    def _load_signer(self, number: int, origin: str, sealed: str) -> Signer:
        if number not in self._signers:
            secret = self._secret
            if sealed != _FROM_SETTINGS:
                secret = self._keyring.open("", _SEALED_FOR, bytes.fromhex(sealed))
            if not secret:
                raise NoteError("key_missing", "the settings no longer give the key that signs")
            self._signers[number] = Signer(origin, secret)
        return self._signers[number]


_ACTIVE = "SELECT number, origin, secret FROM signing_keys WHERE until = 0 ORDER BY number DESC"


def _read_checkpoint(execute: Execute, name: str) -> StoredCheckpoint | None:
    rows = execute(_SELECT, (name,))
    return StoredCheckpoint(int(rows[0][0]), bytes.fromhex(rows[0][1]), rows[0][2], int(rows[0][3])) if rows else None
