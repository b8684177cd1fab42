"""The keys under which secrets rest: random ones, kept wrapped by the master key, and one of each for every game.

The ring holds numbered keys. The newest seals what is written, the others open what was written before; of each a key
for every game is derived. Only the ring is wrapped by the master key, so another master key means a few small rows, and
no record is written again. While the master key is being changed two of them open the ring.
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
"""Of the ring: what the answers to requests are derived from. It stays, so that repeated requests keep theirs."""

_GAMES = 4096
"""Games whose derived keys are remembered."""

_OWN = "SELECT number, wrapped FROM keyring WHERE mark = ?"
_INSERT = "INSERT INTO keyring (number, mark, wrapped) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_MISFIT = "the master key is not the one that the seeds of this ledger were sealed with"


def mark_of(master: bytes) -> str:
    """What names a master key and opens nothing."""
    return hmac.digest(master, b"annals master key", "sha256").hex()


class Keyring:
    """Safe with threads and forks; reads the ring when a key is first needed. May raise StoreUnavailable."""

    def __init__(self, database: Database, master: bytes) -> None:
        if len(master) != KEY_BYTES:
            raise ValueError("the master key has 32 bytes")
        self._database, self._master = database, master
        self._ring: Mapping[int, bytes] = {}
        self._server = ""
        """Of which log the ring is: what another one does not know nobody could open any more."""
        self._cipher = self._ciphers()

    # --- what is sealed

    def seal(self, game: str, about: str, plain: bytes) -> bytes:
        """The bytes under the game's key, bound to what they are about: they open in no other place."""
        number, nonce = max(self._known()), secrets.token_bytes(_NONCE)
        sealed = self._cipher(number, game).encrypt(nonce, plain, about.encode())
        return number.to_bytes(_NUMBER, "big") + nonce + sealed

    def open(self, game: str, about: str, sealed: bytes) -> bytes:
        """What was sealed; raises WrongKey if its key is gone from the ring, ValueError for bytes that were altered."""
        number, nonce, box = sealed[:_NUMBER], sealed[_NUMBER : _NUMBER + _NONCE], sealed[_NUMBER + _NONCE :]
        if len(box) < 16:
            raise ValueError("too short to have been sealed")
        try:
            return self._cipher(int.from_bytes(number, "big"), game).decrypt(nonce, box, about.encode())
        except InvalidTag:
            raise ValueError("not what was sealed here") from None

    def requests(self) -> bytes:
        """What ids and tokens are derived from, so that a repeated request gets the same ones."""
        return self._known()[_REQUESTS]

    def _ciphers(self) -> Callable[[int, str], AESGCM]:
        return functools.lru_cache(_GAMES)(self._derived)

    def _derived(self, number: int, game: str) -> AESGCM:
        ring = self._known()
        if number not in ring:
            ring = self._read()  # another process may have begun a new one
        if not _REQUESTS < number <= max(ring):  # the ring has never had it: the bytes are others
            raise ValueError(f"no ring of this ledger has had a key {number}")
        if number not in ring:
            raise WrongKey(f"key {number} of this ledger is not on the ring of this master key")
        return AESGCM(hmac.digest(ring[number], f"game|{game}".encode(), "sha256"))

    # --- the ring

    def check(self) -> None:
        """Raises WrongKey unless this master key opens the ledger; the first one stays until it is changed."""
        self._ring = {}
        self._known()

    def _known(self) -> Mapping[int, bytes]:
        return self._ring if self._ring and self._server == self._database.server else self._read()

    def _read(self) -> Mapping[int, bytes]:
        server = self._database.server
        rows = self._database.execute(_OWN, (mark_of(self._master),))
        if not rows:
            self._database.among_appends(self._begin)
            rows = self._database.execute(_OWN, (mark_of(self._master),))
        self._ring = {int(number): _unwrapped(self._master, number, wrapped) for number, wrapped in rows}
        if server != self._server:
            self._server, self._cipher = server, self._ciphers()
        return self._ring

    def _begin(self, execute: Execute) -> None:
        """A ring, unless there is one: then it is another master key's."""
        if execute("SELECT 1 FROM keyring LIMIT 1", ()):
            if execute(_OWN, (mark_of(self._master),)):
                return
            raise WrongKey(_MISFIT)
        if self._ring:  # a dump is just being put back: another ring would lie beside the one that comes
            raise StoreUnavailable("the ring of keys is gone from the database")
        before = self._of_before(execute)
        self._add(execute, self._master, _REQUESTS, before or secrets.token_bytes(KEY_BYTES))
        self._add(execute, self._master, 1, secrets.token_bytes(KEY_BYTES))

    def _of_before(self, execute: Execute) -> bytes | None:
        """In a ledger that is older than the ring: what answers were derived from. Raises WrongKey."""
        marks = [str(mark) for (mark,) in execute("SELECT mark FROM master_key", ())]
        if marks and marks != [mark_of(self._master)]:
            raise WrongKey(_MISFIT)
        seeds = execute("SELECT game, nonce, box FROM seeds LIMIT 1", ())
        for game, nonce, box in seeds:
            self.open_old(str(game), bytes(nonce), bytes(box))
        return hmac.digest(self._master, b"annals requests", "sha256") if marks or seeds else None

    def open_old(self, game: str, nonce: bytes, box: bytes) -> bytes:
        """What was sealed with the master key itself, before there was a ring; raises WrongKey."""
        try:
            return AESGCM(self._master).decrypt(nonce, box, game.encode())
        except (InvalidTag, ValueError):
            raise WrongKey(_MISFIT) from None

    @staticmethod
    def _add(execute: Execute, master: bytes, number: int, key: bytes) -> None:
        nonce = secrets.token_bytes(_NONCE)
        box = _wrapping(master).encrypt(nonce, key, str(number).encode())
        execute(_INSERT, (number, mark_of(master), (nonce + box).hex()))

    # --- another master key

    def admit(self, master: bytes) -> None:
        """From now on that master key opens the ledger too. May be repeated."""
        if len(master) != KEY_BYTES:
            raise ValueError("the master key has 32 bytes")

        def write(execute: Execute) -> None:
            for number, wrapped in execute(_OWN, (mark_of(self._master),)):
                self._add(execute, master, number, _unwrapped(self._master, number, wrapped))

        self._known()
        self._database.among_appends(write)

    def finish(self) -> int:
        """From now on no other master key opens the ledger, and a new key seals; how many others there were.

        Whatever is still at work with another master key cannot read what is written from now on.
        """
        others: list[str] = []

        def write(execute: Execute) -> None:
            own = mark_of(self._master)
            others[:] = [mark for (mark,) in execute("SELECT DISTINCT mark FROM keyring WHERE mark <> ?", (own,))]
            if not others:
                return
            execute("DELETE FROM keyring WHERE mark <> ?", (own,))
            execute("DELETE FROM master_key", ())  # versions of before the ring would take it for theirs
            ((newest,),) = execute("SELECT max(number) FROM keyring", ())
            self._add(execute, self._master, newest + 1, secrets.token_bytes(KEY_BYTES))

        self._known()
        self._database.among_appends(write)
        self._read()
        return len(others)

    def admitted(self) -> int:
        """How many master keys open the ledger: two while one is being changed."""
        ((count,),) = self._database.execute("SELECT count(DISTINCT mark) FROM keyring")
        return int(count)


def _wrapping(master: bytes) -> AESGCM:
    return AESGCM(hmac.digest(master, b"annals keyring", "sha256"))


def _unwrapped(master: bytes, number: int, wrapped: str) -> bytes:
    kept = bytes.fromhex(wrapped)
    try:
        return _wrapping(master).decrypt(kept[:_NONCE], kept[_NONCE:], str(number).encode())
    except InvalidTag:
        raise WrongKey(_MISFIT) from None
