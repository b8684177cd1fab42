"""Writing of records, shared by games and tournaments: requests that may repeat, lost races, and recent aggregates.

A command is decided on the aggregate as known to this process. The version expected by the append is the whole
concurrency control; a refusal stands only after it was decided on the newest version.
"""

from __future__ import annotations

import hashlib
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Generic, Protocol, TypeVar

from cachetools import LRUCache

from domain.errors import DecisionClosed, NotSeated, RuleError, ServerReplaced, StaleVersion
from domain.fork_safety import reset_after_fork
from domain.kernel.records.record import Record
from domain.ledger import Ledger, Receipt
from domain.service.database import Statement
from domain.service.idempotency_keys import IdempotencyKey
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


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Conditions under which a command is executed, and what is stored with its records."""

    expected: int | None = None
    """Only version to decide on (StaleVersion). Without it a command may be decided again after a lost race."""
    idempotency_key: IdempotencyKey | str | None = None
    """Makes the command repeatable (CommandReused); a text for the service's own commands."""
    extra_statements: ExtraStatements = no_statements
    slot: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held while a long command decides, after its own check; entering it may raise."""


@dataclass(frozen=True)
class CommandResult:
    """Records stored by a command; a repetition of the command returns the same, marked `replayed`."""

    aggregate: str
    """Id of the game or tournament."""
    versions: tuple[int, ...]
    position: int
    """Position of the last record in the whole log."""
    records: tuple[Record, ...]
    replayed: bool = False


class LoadedVersion(Protocol):
    """An aggregate as known to this process."""

    @property
    def version(self) -> int: ...
    @property
    def log_id(self) -> str: ...


class Decidable(Protocol):
    """A command: a dataclass with a verb."""

    @property
    def verb(self) -> str: ...
    @property
    def is_retryable(self) -> bool: ...


Loaded = TypeVar("Loaded", bound=LoadedVersion)
CommandT = TypeVar("CommandT", bound=Decidable)
ConditionsT = TypeVar("ConditionsT", bound=Conditions)


class RecordWriter(ABC, Generic[Loaded, CommandT, ConditionsT]):
    """Base of the handlers of commands: the loop of load, decide and append. A handler says how to load and decide."""

    decides_on_cached: ClassVar[bool] = True
    """Whether a command is first decided on the cached version, without a read."""

    def __init__(self, ledger: Ledger, keep: int) -> None:
        """`keep` is the number of aggregates cached by the process."""
        self._ledger = ledger
        self._recent: RecentCache[Loaded] = RecentCache(keep)

    @abstractmethod
    def _load(self, id_: str, *, newest: bool) -> Loaded:
        """Return the cached aggregate, or with `newest` the newest version after reading only the later records."""

    @abstractmethod
    def _decide(
        self, loaded: Loaded, command: CommandT, conditions: ConditionsT, key: IdempotencyKey | None
    ) -> tuple[Loaded, Sequence[Record]]:
        """Return the aggregate after the command, and its records; raise as the command does."""

    def _remember(self, id_: str, loaded: Loaded) -> None:
        """Keep an aggregate of which all records are stored."""
        self._recent.remember(id_, loaded)

    def _handle(self, id_: str, command: CommandT, conditions: ConditionsT) -> CommandResult:
        key = make_idempotency_key(conditions.idempotency_key, command.verb, hash_fields(command), conditions.expected)
        if conditions.slot is not nullcontext and key and (stored := self._find_stored(id_, key)):
            return stored  # long work is not repeated
        return self._run_once(id_, key, lambda: self._decide_and_append(id_, command, conditions, key))

    def _decide_and_append(
        self, id_: str, command: CommandT, conditions: ConditionsT, key: IdempotencyKey | None
    ) -> CommandResult:
        may_retry = command.is_retryable and conditions.expected is None
        # A command that is neither retryable nor bound to a version is decided on the newest version.
        newest = not self.decides_on_cached or not (may_retry or conditions.expected is not None)
        for _ in range(MAX_ATTEMPTS):
            loaded = self._load(id_, newest=newest)
            try:
                require_expected(conditions, loaded)
                after, records = self._decide(loaded, command, conditions, key)
            except REFUSALS:
                if newest:
                    raise
                newest = True
                continue
            try:
                return self._store(id_, key, conditions.extra_statements, after, records)
            except ServerReplaced:
                newest = True
            except StaleVersion:
                if not may_retry:
                    raise
                newest = True
        head = self._ledger.version(id_)
        raise StaleVersion(head - 1, head)

    def _run_once(self, id_: str, key: IdempotencyKey | None, attempt: Callable[[], CommandResult]) -> CommandResult:
        """Run the attempt; return the stored result of a command accepted before, even if it would now be refused.

        The usual path reads nothing more: a repetition is refused, or detected by the append itself.
        """
        try:
            return attempt()
        except REFUSALS:
            if key is None:
                raise
            stored = self._find_stored(id_, key)
            if stored is None:
                self._check_claim(key)
                raise
            return stored

    def _find_stored(self, id_: str, key: IdempotencyKey) -> CommandResult | None:
        """Return the stored result of a command accepted before, or None."""
        row = self._ledger.find_command(id_, key.id)
        if row is None:
            return None
        key.check_hash(row.body_hash)
        return self._replay(id_, Receipt(row.first, row.last, row.positions))

    def _check_claim(self, key: IdempotencyKey | None) -> None:
        """Raise CommandReused if the caller's key behind a command's own is bound to another request."""
        if key and key.claim:
            key.claim.check(self._ledger.execute)

    def _store(
        self,
        id_: str,
        key: IdempotencyKey | None,
        extra_statements: ExtraStatements,
        after: Loaded,
        records: Sequence[Record],
    ) -> CommandResult:
        """Append the records of a command; return those of its first execution if it was accepted before."""
        expected, statements = records[0].version - 1, extra_statements(records[0])
        receipt = self._ledger.append(id_, records, expected, key, statements, after.log_id)
        if receipt.replayed:
            return self._replay(id_, receipt)
        self._remember(id_, after)
        return CommandResult(id_, tuple(r.version for r in records), receipt.positions[-1], tuple(records))

    def _replay(self, id_: str, receipt: Receipt) -> CommandResult:
        records = self._ledger.read(id_, receipt.first - 1, receipt.last)
        versions = tuple(r.version for r in records)
        return CommandResult(id_, versions, receipt.positions[-1], tuple(records), replayed=True)


class RecentCache(Generic[Loaded]):
    """Cache of the most recently used aggregates, shared by all threads of a process.

    Without it a command on a game of 3,000 records waits 17 times as long for its game
    (`python -m tests.perf.history`).
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._reset()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, since an absent thread may hold it."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._recent: LRUCache[str, Loaded] = LRUCache(self._keep)

    def get(self, id_: str) -> Loaded | None:
        """Return the cached aggregate, or None."""
        with self._lock:
            return self._recent.get(id_)

    def remember(self, id_: str, loaded: Loaded) -> Loaded:
        """Cache the aggregate unless a newer version is cached; return the newer one.

        A version from another log is never newer.
        """
        with self._lock:
            cached = self._recent.get(id_)
            if cached is None or cached.log_id != loaded.log_id or cached.version < loaded.version:
                self._recent[id_] = cached = loaded
            return cached


def require_expected(conditions: Conditions, loaded: LoadedVersion) -> None:
    """Raise StaleVersion if the command is for another version than this one."""
    if conditions.expected not in (None, loaded.version):
        raise StaleVersion(conditions.expected or 0, loaded.version)


def hash_fields(command: object) -> Doc:
    """Return the command's fields as hashed; fields added later only if they differ from their default."""
    declared = fields(command)  # type: ignore[arg-type] # every command is a dataclass
    values = ((f, getattr(command, f.name)) for f in declared if not f.metadata.get("not_hashed"))
    return {
        f.name: value for f, value in values if not (f.metadata.get("hashed_unless_default") and value == f.default)
    }


def make_idempotency_key(
    key: IdempotencyKey | str | None, verb: str, args: Mapping[str, Json], expected: int | None = None
) -> IdempotencyKey | None:
    """Return the key of a command, or None without one.

    A client's request is known by its fingerprint, one of the service by the hash of its command. That hash covers
    canonical JSON from the standard library, since a refused move may hold any JSON at all.
    """
    if key is None:
        return None
    body = json.dumps([verb, args, expected], sort_keys=True, separators=(",", ":"))
    body_hash = hashlib.sha256(body.encode()).hexdigest()
    return IdempotencyKey(key, body_hash) if isinstance(key, str) else replace(key, earlier_hash=body_hash)
