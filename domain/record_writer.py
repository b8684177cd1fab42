"""Writing of records, shared by games and tournaments: requests that may repeat, lost races, and recent aggregates."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache

from domain.errors import DecisionClosed, NotSeated, RuleError, StaleVersion
from domain.fork_safety import reset_after_fork
from domain.kernel.records.record import Record
from domain.ledger import IdempotencyKey, Ledger, Receipt
from domain.service.database import Statement
from domain.service.request_keys import RequestKey
from domain.types import Doc, Json

MAX_ATTEMPTS = 100
"""Attempts to decide a command before giving up. Each lost race means another stored command."""

ExtraStatements = Callable[[Record], Sequence[Statement]]
"""Build the rows written in the record's transaction; a repeated command does not write them again."""

REFUSALS = (RuleError, DecisionClosed, NotSeated, StaleVersion)
"""Errors of a command that may have been accepted before."""


def no_statements(_: Record) -> Sequence[Statement]:
    """Return no rows."""
    return ()


@dataclass(frozen=True)
class CommandResult:
    """Records stored by a command; a repetition of the command returns the same, marked `replayed`."""

    game: str
    versions: tuple[int, ...]
    position: int
    """Position of the last record in the whole log."""
    records: tuple[Record, ...]
    replayed: bool = False


class RecordWriter:
    """Base of the handlers of commands."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def run_once(self, game: str, key: IdempotencyKey | None, attempt: Callable[[], CommandResult]) -> CommandResult:
        """Run the attempt; return the stored result of a command accepted before, even if it would now be refused.

        The usual path reads nothing more: a repetition is refused, or detected by the append itself.
        """
        try:
            return attempt()
        except REFUSALS:
            if key is None:
                raise
            stored = self.find_stored(game, key)
            if stored is None:
                if key.claim:
                    key.claim.check(self._ledger.execute)
                raise
            return stored

    def find_stored(self, game: str, key: IdempotencyKey) -> CommandResult | None:
        """Return the stored result of a command accepted before, or None."""
        row = self._ledger.find_command(game, key.id)
        if row is None:
            return None
        key.check_hash(row.body_hash)
        return self.replay(game, Receipt(row.first, row.last, row.positions))

    def replay(self, game: str, receipt: Receipt) -> CommandResult:
        """Return the result of a command accepted before."""
        records = self._ledger.read(game, receipt.first - 1, receipt.last)
        versions = tuple(r.version for r in records)
        return CommandResult(game, versions, receipt.positions[-1], tuple(records), replayed=True)


class CachedVersion(Protocol):
    """An aggregate as known to this process."""

    @property
    def version(self) -> int: ...
    @property
    def log_id(self) -> str: ...


Cached = TypeVar("Cached", bound=CachedVersion)


class RecentCache(Generic[Cached]):
    """Cache of the most recently used aggregates, shared by all threads of a process."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._reset()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, since an absent thread may hold it."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._recent: LRUCache[str, Cached] = LRUCache(self._keep)

    def get(self, id_: str) -> Cached | None:
        """Return the cached aggregate, or None."""
        with self._lock:
            return self._recent.get(id_)

    def remember(self, id_: str, loaded: Cached) -> Cached:
        """Cache the aggregate unless a newer version is cached; return the newer one.

        A version from another log is never newer.
        """
        with self._lock:
            cached = self._recent.get(id_)
            if cached is None or cached.log_id != loaded.log_id or cached.version < loaded.version:
                self._recent[id_] = cached = loaded
            return cached


def hash_fields(command: object) -> Doc:
    """Return the command's fields as hashed; fields added later only if they differ from their default."""
    declared = fields(command)  # type: ignore[arg-type] # every command is a dataclass
    values = ((f, getattr(command, f.name)) for f in declared if not f.metadata.get("not_hashed"))
    return {
        f.name: value for f, value in values if not (f.metadata.get("hashed_unless_default") and value == f.default)
    }


def make_idempotency_key(
    id: RequestKey | str | None,  # noqa: A002 - the word of the table
    verb: str,
    args: Mapping[str, Json],
    expected: int | None = None,
) -> IdempotencyKey | None:
    """Return the key of a request, or None without an id.

    A client's request is known by its fingerprint, one of the service by the hash of its command. That hash covers
    canonical JSON from the standard library, since a refused move may hold any JSON at all.
    """
    if id is None:
        return None
    body = json.dumps([verb, args, expected], sort_keys=True, separators=(",", ":"))
    body_hash = hashlib.sha256(body.encode()).hexdigest()
    if isinstance(id, str):
        return IdempotencyKey(id, body_hash)
    return IdempotencyKey(id.id, id.fingerprint, earlier_hash=body_hash, claim=id.claim)
