"""Roots over all mailboxes of a table, for its records: from heads in memory, without a read on a move's path."""

from __future__ import annotations

import hmac
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from cachetools import LRUCache

from domain.errors import AnnalsError
from domain.fork_safety import reset_after_fork
from domain.service.database import Database, placeholders
from domain.service.keyring import Keyring
from domain.talk.mailboxes import EMPTY, leaf_of, root_of
from domain.transparency.merkle_tree import Hash
from domain.types import Seat

TABLES_KEPT = 1024
"""Tables with heads in the memory of a process."""

LAG_SECONDS = 1.0
"""Seconds by which an anchor may lag behind a message that another process has stored."""

IDLE_SECONDS = 900.0
"""Seconds without a record after which a process no longer follows a table's heads."""

Heads = tuple[int, tuple[str, ...]]
"""Number of messages of a table, and the head of each mailbox after them."""


class MailboxAnchors:
    """The heads known to this process, and the roots made of them. Safe with threads and forks."""

    def __init__(self, database: Database, keys: Callable[[], Keyring]) -> None:
        """`keys` returns the ring; it is asked at the first record of a table with talk."""
        self._database, self._keys = database, keys
        self._follows = False
        self._reset()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, and start a thread again when it is needed."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._heads: LRUCache[str, Heads] = LRUCache(TABLES_KEPT)
        self._used: LRUCache[str, float] = LRUCache(TABLES_KEPT)
        self._derived: LRUCache[str, bytes] = LRUCache(TABLES_KEPT)
        self._thread: threading.Thread | None = None
        self._log_id = ""

    def root(self, game: str, seats: int, version: int) -> str:
        """Return the root for the record of this version; empty heads stand for those not at hand."""
        with self._lock:
            self._used[game] = time.monotonic()
            _, heads = self._heads.get(game, (0, ()))
        if self._follows and self._thread is None:
            self._start()
        return root_of(self.leaves(game, version, heads or (EMPTY,) * seats))

    def leaves(self, game: str, version: int, heads: Sequence[str]) -> list[Hash]:
        """Return the leaves of all seats with these heads."""
        return [leaf_of(self.blind(game, version, seat), head) for seat, head in enumerate(heads)]

    def blind(self, game: str, version: int, seat: Seat) -> str:
        """Return the blind of a seat in a record: it follows from the ring, and never from the seed."""
        return self.keyed_hash(game, f"blind|{version}|{seat}")

    def keyed_hash(self, game: str, subject: str) -> str:
        """Return a keyed hash about a table, in hex."""
        with self._lock:
            key = self._derived.get(game)
        if key is None:
            key = hmac.digest(self._keys().request_key(), f"annals talk|{game}".encode(), "sha256")
            with self._lock:
                self._derived[game] = key
        return hmac.digest(key, subject.encode(), "sha256").hex()

    def note(self, game: str, count: int, heads: Sequence[str]) -> None:
        """Keep the heads after a message; older ones are ignored."""
        with self._lock:
            if self._heads.get(game, (0, ()))[0] < count:
                self._heads[game] = count, tuple(heads)

    # --- messages that other processes have stored

    def follow(self) -> None:
        """Let a thread read the heads of tables in use from now on."""
        self._follows = True

    def refresh(self) -> None:
        """Read the heads of the tables in use; raise StoreUnavailable."""
        with self._lock:
            oldest = time.monotonic() - IDLE_SECONDS
            games = [game for game, used in self._used.items() if used > oldest]
        if not games:
            return
        if (log_id := self._database.log_id) != self._log_id:
            with self._lock:  # another log may hold fewer messages
                self._heads.clear()
            self._log_id = log_id
        found = read_heads(self._database, games)
        for game, (count, heads) in found.items():
            self.note(game, count, heads)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="talk anchors", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Let the thread end."""
        self._follows = False

    def _run(self) -> None:
        while self._follows:
            with suppress(AnnalsError):  # a store that is down refuses messages, and no move
                self.refresh()
            time.sleep(LAG_SECONDS)


def read_heads(database: Database, games: Sequence[str]) -> Mapping[str, Heads]:
    """Return the number of messages and the heads of these tables; those without any message are left out."""
    rows = database.execute(
        f"SELECT game, state FROM talk_tables WHERE game IN ({placeholders(games)})",  # noqa: S608 - question marks only
        games,
    )
    return {str(game): _parse(state) for game, state in rows}


def _parse(state: str) -> Heads:
    doc = json.loads(state)
    return doc["count"], tuple(doc["heads"])
