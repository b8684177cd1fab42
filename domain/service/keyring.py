"""The key ring: random keys wrapped by the master key, and a derived key for every game.

The ring holds numbered keys. The newest one seals, the older ones open earlier texts; each game's key is derived from
them. The master key wraps the ring alone, so its rotation rewrites a few small rows and no record. During a rotation
two master keys open the ring.
"""

from __future__ import annotations

import functools
import hmac
import secrets
from collections.abc import Callable, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.errors import StoreUnavailable, WrongKey
from domain.service.database import Database, Execute

KEY_BYTES = 32
_NONCE = 12
_NUMBER = 2
_REQUESTS = 0
"""Number of the key from which ids and tokens of requests are derived. It never changes, so repeated requests get the
same ones."""

_GAMES = 4096
"""Games with a cached cipher."""

_SELECT = "SELECT number, wrapped FROM keyring WHERE mark = ?"
_INSERT = "INSERT INTO keyring (number, mark, wrapped) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_MISFIT = "the master key is not the one that the seeds of this ledger were sealed with"


def fingerprint(master: bytes) -> str:
    """Return a name of a master key that reveals nothing of it."""
    return hmac.digest(master, b"annals master key", "sha256").hex()


class Keyring:
    """The key ring, read when a key is first needed. Safe with threads and forks; may raise StoreUnavailable."""

    def __init__(self, database: Database, master: bytes) -> None:
        if len(master) != KEY_BYTES:
            raise ValueError("the master key has 32 bytes")
        self._database, self._master = database, master
        self._ring: Mapping[int, bytes] = {}
        self._log_id = ""
        """Id of the log of this ring: a secret sealed for another log could never be opened."""
        self._cipher = self._new_cipher_cache()

    # --- what is sealed

    def seal(self, game: str, about: str, plain: bytes) -> bytes:
        """Return the bytes encrypted with the game's key and bound to their use: they open for the same use only."""
        number, nonce = max(self._load_ring()), secrets.token_bytes(_NONCE)
        sealed = self._cipher(number, game).encrypt(nonce, plain, about.encode())
        return number.to_bytes(_NUMBER, "big") + nonce + sealed

    def open(self, game: str, about: str, sealed: bytes) -> bytes:
        """Return sealed bytes; raise WrongKey if the ring lacks their key, ValueError if they were altered."""
        number, nonce, box = sealed[:_NUMBER], sealed[_NUMBER : _NUMBER + _NONCE], sealed[_NUMBER + _NONCE :]
        if len(box) < 16:
            raise ValueError("too short to have been sealed")
        try:
            return self._cipher(int.from_bytes(number, "big"), game).decrypt(nonce, box, about.encode())
        except InvalidTag:
            raise ValueError("not what was sealed here") from None

    def request_key(self) -> bytes:
        """Return the key from which ids and tokens of requests are derived, the same for repeated requests."""
        return self._load_ring()[_REQUESTS]

    def _new_cipher_cache(self) -> Callable[[int, str], AESGCM]:
        return functools.lru_cache(_GAMES)(self._derive_cipher)

    def _derive_cipher(self, number: int, game: str) -> AESGCM:
        ring = self._load_ring()
        if number not in ring:
            ring = self._read_ring()  # another process may have added a new key
        if not _REQUESTS < number <= max(ring):  # the ring never had it: the bytes were altered
            raise ValueError(f"no ring of this ledger has had a key {number}")
        if number not in ring:
            raise WrongKey(f"key {number} of this ledger is not on the ring of this master key")
        return AESGCM(hmac.digest(ring[number], f"game|{game}".encode(), "sha256"))

    # --- the ring

    def check(self) -> None:
        """Raise WrongKey unless this master key opens the ledger; the first one is stored until a rotation."""
        self._ring = {}
        self._load_ring()

    def _load_ring(self) -> Mapping[int, bytes]:
        return self._ring if self._ring and self._log_id == self._database.log_id else self._read_ring()

    def _read_ring(self) -> Mapping[int, bytes]:
        server = self._database.log_id
        rows = self._database.execute(_SELECT, (fingerprint(self._master),))
        if not rows:
            self._database.run_in_append_order(self._create_ring)
            rows = self._database.execute(_SELECT, (fingerprint(self._master),))
        self._ring = {int(number): _unwrap(self._master, number, wrapped) for number, wrapped in rows}
        if server != self._log_id:
            self._log_id = server
            self._cipher = self._new_cipher_cache()
        return self._ring

    def _create_ring(self, execute: Execute) -> None:
        """Create a ring if the ledger has none; raise WrongKey if it belongs to another master key."""
        if execute("SELECT 1 FROM keyring LIMIT 1", ()):
            if execute(_SELECT, (fingerprint(self._master),)):
                return
            raise WrongKey(_MISFIT)
        if self._ring:  # a dump is being restored: a second ring would conflict with the dumped one
            raise StoreUnavailable("the ring of keys is gone from the database")
        before = self._legacy_request_key(execute)
        self._insert_key(execute, self._master, _REQUESTS, before or secrets.token_bytes(KEY_BYTES))
        self._insert_key(execute, self._master, 1, secrets.token_bytes(KEY_BYTES))

    def _legacy_request_key(self, execute: Execute) -> bytes | None:
        """Return the request key of a ledger older than the ring, or None; raise WrongKey."""
        marks = [str(mark) for (mark,) in execute("SELECT mark FROM master_key", ())]
        if marks and marks != [fingerprint(self._master)]:
            raise WrongKey(_MISFIT)
        seeds = execute("SELECT game, nonce, box FROM seeds LIMIT 1", ())
        for game, nonce, box in seeds:
            self.open_legacy(str(game), bytes(nonce), bytes(box))
        return hmac.digest(self._master, b"annals requests", "sha256") if marks or seeds else None

    def open_legacy(self, game: str, nonce: bytes, box: bytes) -> bytes:
        """Return bytes that the master key itself sealed, before there was a ring; raise WrongKey."""
        try:
            return AESGCM(self._master).decrypt(nonce, box, game.encode())
        except (InvalidTag, ValueError):
            raise WrongKey(_MISFIT) from None

    @staticmethod
    def _insert_key(execute: Execute, master: bytes, number: int, key: bytes) -> None:
        nonce = secrets.token_bytes(_NONCE)
        box = _wrapping_cipher(master).encrypt(nonce, key, str(number).encode())
        execute(_INSERT, (number, fingerprint(master), (nonce + box).hex()))

    # --- another master key

    def add_master_key(self, master: bytes) -> None:
        """Let another master key open the ledger too. Safe to repeat."""
        if len(master) != KEY_BYTES:
            raise ValueError("the master key has 32 bytes")

        def write(execute: Execute) -> None:
            for number, wrapped in execute(_SELECT, (fingerprint(self._master),)):
                self._insert_key(execute, master, number, _unwrap(self._master, number, wrapped))

        self._load_ring()
        self._database.run_in_append_order(write)

    def complete_rotation(self) -> int:
        """Remove all other master keys, start a new key, and return the number of removed ones.

        Processes with another master key cannot read later writes.
        """
        others: list[str] = []

        def write(execute: Execute) -> None:
            own_mark = fingerprint(self._master)
            others[:] = [mark for (mark,) in execute("SELECT DISTINCT mark FROM keyring WHERE mark <> ?", (own_mark,))]
            if not others:
                return
            execute("DELETE FROM keyring WHERE mark <> ?", (own_mark,))
            execute("DELETE FROM master_key", ())  # versions older than the ring would mistake it for theirs
            ((newest,),) = execute("SELECT max(number) FROM keyring", ())
            self._insert_key(execute, self._master, newest + 1, secrets.token_bytes(KEY_BYTES))

        self._load_ring()
        self._database.run_in_append_order(write)
        self._read_ring()
        return len(others)

    def count_master_keys(self) -> int:
        """Return the number of master keys that open the ledger: two during a rotation."""
        ((count,),) = self._database.execute("SELECT count(DISTINCT mark) FROM keyring")
        return int(count)


def _wrapping_cipher(master: bytes) -> AESGCM:
    return AESGCM(hmac.digest(master, b"annals keyring", "sha256"))


def _unwrap(master: bytes, number: int, wrapped: str) -> bytes:
    box = bytes.fromhex(wrapped)
    try:
        return _wrapping_cipher(master).decrypt(box[:_NONCE], box[_NONCE:], str(number).encode())
    except InvalidTag:
        raise WrongKey(_MISFIT) from None
