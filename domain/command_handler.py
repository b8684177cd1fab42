"""Command handler, the only writer of games: it loads a game, executes a command and appends the resulting records.

A command is decided on the game as known to this process. The version expected by the append is the whole concurrency
control; a refusal stands only after it was decided on the newest version.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from uuid import uuid4

from cachetools import LRUCache

from domain.errors import DecisionClosed, NotSeated, RuleError, ServerReplaced, StaleVersion, UnknownGame
from domain.fork_safety import reset_after_fork
from domain.kernel.game.command import Command, check_office
from domain.kernel.game.game import AnyGame, Player, active_versions, apply_record, fold
from domain.kernel.game.officers import Officer
from domain.kernel.game.record_builder import Agreement, AnyTransition, CommandContext
from domain.kernel.game.table_commands import Close, Open
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import IdempotencyKey, Ledger, Receipt
from domain.ruleset_registry import RulesetRegistry
from domain.service.database import Statement
from domain.service.request_keys import RequestKey
from domain.service.seed_store import SeedStore
from domain.types import Doc, Json, Seat

MAX_ATTEMPTS = 100
"""Attempts to decide a command before giving up. Each lost race means another stored command."""

SeatGuard = tuple[Seat, str]
"""(seat, player): the player expected at the seat at the time of the append."""

ExtraStatements = Callable[[Record], Sequence[Statement]]
"""Build the rows written in the record's transaction; a repeated command does not write them again."""

_REFUSALS = (RuleError, DecisionClosed, NotSeated, StaleVersion)


def _no_statements(_: Record) -> Sequence[Statement]:
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


@dataclass(frozen=True)
class _CachedGame:
    """A game as known to this process after some version."""

    rules: AnyRuleset
    game: AnyGame
    seed: bytes = field(repr=False)
    log_id: str
    """Id of the log read."""


@dataclass(frozen=True)
class _PendingCommand:
    """A command with the conditions of its execution."""

    game: str
    command: Command
    idempotency_key: IdempotencyKey | None
    expected: int | None
    retry: bool
    """Decide again after a lost race, instead of raising StaleVersion."""
    seat_guard: SeatGuard | None
    officer: Collection[str]
    author: Officer | None
    agreement: Agreement | None
    extra_statements: ExtraStatements
    ahead_ms: int


def new_game_id() -> str:
    """Return a random id for a new game."""
    return str(uuid4())


class CommandHandler:
    """Loads games, executes commands and appends their records.

    Each command may raise RuleError, UnknownGame and StoreUnavailable, and with an idempotency key CommandReused.
    `clock` gives ms since 1970 UTC; `keep` is the number of games cached by the process.
    """

    def __init__(
        self,
        ledger: Ledger,
        registry: RulesetRegistry,
        seed_store: SeedStore,
        clock: Callable[[], int],
        keep: int = 128,
    ) -> None:
        self._ledger, self._registry, self._seed_store, self._clock = ledger, registry, seed_store, clock
        self._recent = _RecentGames(keep)

    # --- the table

    def open(
        self,
        game: str,
        ruleset: str,
        seats: int,
        options: Mapping[str, Json] | None = None,
        *,
        body: Doc | None = None,
        defaulted: Collection[str] = (),
        idempotency_key: RequestKey | str | None = None,
        extra_statements: ExtraStatements = _no_statements,
    ) -> CommandResult:
        """Open a new game under an id from `new_game_id`; `body` adds pace and policies to the record.

        `defaulted` names members of the body absent from the request, so repetitions of requests of earlier versions
        stay equal. Raise UnknownRuleset and InvalidTable, and StaleVersion if the game exists.
        """
        rules = self._registry.get(ruleset)
        table = rules.make_table(seats, options)
        sent = body and {name: value for name, value in body.items() if name not in defaulted}
        args = {"ruleset": ruleset, "seats": seats, "options": dict(options or {}), "body": sent}
        key = _idempotency_key(idempotency_key, Open.verb, args)

        def attempt() -> CommandResult:
            log_id = self._ledger.log_id
            if key and key.claim:
                key.claim.check(self._ledger.execute)
            # The seed first: a seed without a game is harmless, and a repeated command finds it.
            seed = self._seed_store.create(game)
            transition = Open(game, table, body or {}).execute(rules, self._context(seed, key))
            return self._store(
                game, key, extra_statements, _CachedGame(rules, transition.game, seed, log_id), [transition]
            )

        return self._idempotent(game, key, attempt)

    def handle(
        self,
        game: str,
        command: Command,
        *,
        expected: int | None = None,
        seat_guard: SeatGuard | None = None,
        officer: Collection[str] = (),
        author: Officer | None = None,
        agreement: Agreement | None = None,
        idempotency_key: RequestKey | str | None = None,
        extra_statements: ExtraStatements = _no_statements,
        ahead_ms: int = 0,
    ) -> CommandResult:
        """Execute a command on an open game; raise as the command does.

        `expected`: the only version to decide on (StaleVersion); without it a retryable command is decided again after
        a lost race, and any other is decided on the newest version. `seat_guard`: the player required at a seat
        (NotSeated). `officer`: player ids of a director who executes it; at a table with neutral officers one who has a
        seat is refused (`director_has_stake`). `author`: the officer that the record names, with a role that allows it
        (`office_ended`, `office_insufficient`). `agreement`: the players' consent in place of a director. `ahead_ms`:
        ms added to the clock for the record, before a clock jump of the same size.
        """
        args = _hashed_fields(command)
        key = _idempotency_key(idempotency_key, command.verb, args, expected)
        pending = _PendingCommand(
            game,
            command,
            key,
            expected,
            command.is_retryable and expected is None,
            seat_guard,
            officer,
            author,
            agreement,
            extra_statements,
            ahead_ms,
        )
        return self._idempotent(game, key, lambda: self._decide_and_append(pending))

    # --- games

    def game(self, game: str) -> AnyGame:
        """Return the newest version of a game; raise UnknownGame."""
        return self._load(game, newest=True).game

    def _game_at(self, loaded: _CachedGame, version: int) -> AnyGame:
        records = self._ledger.read(loaded.game.id, upto=loaded.game.version)
        if version not in active_versions(records):
            raise RuleError("not_on_line", "", {"to": version})
        return fold(loaded.rules, records, version)

    def _load(self, game: str, *, newest: bool) -> _CachedGame:
        """Return the cached game, or with `newest` the newest version after reading only the later records."""
        cached = self._recent.get(game)
        later = self._ledger.read(game, after=cached.game.version) if cached and newest else []
        if cached is None or cached.log_id != self._ledger.log_id:
            return self._recent.remember(game, self._fold(game))
        if not later:
            return cached
        if any(r.kind == "rewound" for r in later):
            return self._recent.remember(game, self._fold(game))
        newest_game = functools.reduce(lambda g, r: apply_record(cached.rules, g, r), later, cached.game)
        return self._recent.remember(game, _CachedGame(cached.rules, newest_game, cached.seed, cached.log_id))

    def _fold(self, game: str) -> _CachedGame:
        log_id, records = self._ledger.log_id, self._ledger.read(game)
        if not records:
            raise UnknownGame(game)
        rules = self._registry.get(records[0].body["ruleset"])
        return _CachedGame(rules, fold(rules, records), self._seed_store.seed(game), log_id)

    # --- execution

    def _idempotent(self, game: str, key: IdempotencyKey | None, attempt: Callable[[], CommandResult]) -> CommandResult:
        """Run the attempt; return the stored result of a command accepted before, even if it would now be refused.

        The usual path reads nothing more: a repetition is refused, or detected by the append itself.
        """
        try:
            return attempt()
        except _REFUSALS:
            if key is None:
                raise
            row = self._ledger.find_command(game, key.id)
            if row is None:
                if key.claim:
                    key.claim.check(self._ledger.execute)
                raise
            key.check_hash(row.body_hash)
            return self._replayed_result(game, Receipt(row.first, row.last, row.positions))

    def _decide_and_append(self, pending: _PendingCommand) -> CommandResult:
        # A move without version and decision is decided on the newest version.
        newest = not pending.retry and pending.expected is None
        for _ in range(MAX_ATTEMPTS):
            loaded = self._load(pending.game, newest=newest)
            try:
                transitions = self._decide(pending, loaded)
            except _REFUSALS:
                if newest:
                    raise
                newest = True
                continue
            try:
                after = _CachedGame(loaded.rules, transitions[-1].game, loaded.seed, loaded.log_id)
                return self._store(pending.game, pending.idempotency_key, pending.extra_statements, after, transitions)
            except ServerReplaced:
                newest = True
            except StaleVersion:
                if not pending.retry:
                    raise
                newest = True
        head = self._ledger.version(pending.game)
        raise StaleVersion(head - 1, head)

    def _decide(self, pending: _PendingCommand, loaded: _CachedGame) -> list[AnyTransition]:
        game, rules = loaded.game, loaded.rules
        context = self._context(loaded.seed, pending.idempotency_key, pending.ahead_ms)
        if pending.expected is not None and pending.expected != game.version:
            raise StaleVersion(pending.expected, game.version)
        if (
            pending.seat_guard is not None
            and game.players.get(pending.seat_guard[0], Player("")).id != pending.seat_guard[1]
        ):
            raise NotSeated(pending.seat_guard[0])
        _check_neutrality(game, pending)
        check_office(game, pending.author, pending.command)
        acting = replace(
            context,
            game_at=partial(self._game_at, loaded),
            agreement=pending.agreement,
            officer=pending.author,
        )
        transition = pending.command.execute(rules, game, acting)
        if transition.game.status != "over" or transition.game.pending_ruling is not None:
            return [transition]
        return [transition, Close().execute(rules, transition.game, replace(acting, officer=None))]

    def _context(self, seed: bytes, key: IdempotencyKey | None, ahead_ms: int = 0) -> CommandContext:
        return CommandContext(seed, self._clock() + ahead_ms, key.id if key else "")

    def _store(
        self,
        game: str,
        key: IdempotencyKey | None,
        extra_statements: ExtraStatements,
        after: _CachedGame,
        transitions: Sequence[AnyTransition],
    ) -> CommandResult:
        records = tuple(step.record for step in transitions)
        receipt = self._ledger.append(
            game, records, records[0].version - 1, key, extra_statements(records[0]), after.log_id
        )
        if receipt.replayed:
            return self._replayed_result(game, receipt)
        self._recent.remember(game, after)
        return CommandResult(game, tuple(r.version for r in records), receipt.positions[-1], records)

    def _replayed_result(self, game: str, receipt: Receipt) -> CommandResult:
        records = self._ledger.read(game, receipt.first - 1, receipt.last)
        versions = tuple(r.version for r in records)
        return CommandResult(game, versions, receipt.positions[-1], tuple(records), replayed=True)


def _check_neutrality(game: AnyGame, pending: _PendingCommand) -> None:
    """Raise RuleError if an officer with a seat executes a command that is left to officers without one."""
    is_guarded = game.terms.get("officers") == "neutral" and not pending.command.open_to_players
    if is_guarded and pending.officer and pending.agreement is None and game.has_stake(pending.officer):
        raise RuleError("director_has_stake")


class _RecentGames:
    """Cache of the most recently used games, shared by all threads of a process."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._reset()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Replace the lock, since an absent thread may hold it."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._recent: LRUCache[str, _CachedGame] = LRUCache(self._keep)

    def get(self, game: str) -> _CachedGame | None:
        """Return the cached game, or None."""
        with self._lock:
            return self._recent.get(game)

    def remember(self, game: str, loaded: _CachedGame) -> _CachedGame:
        """Cache the game unless a newer version is cached; return the newer one.

        A version from another log is never newer.
        """
        with self._lock:
            cached = self._recent.get(game)
            if cached is None or cached.log_id != loaded.log_id or cached.game.version < loaded.game.version:
                self._recent[game] = cached = loaded
            return cached


def _hashed_fields(command: Command) -> Doc:
    """Return the command's fields as hashed; fields added later only if they differ from their default."""
    declared = fields(command)  # type: ignore[arg-type] # every command is a dataclass
    values = ((f, getattr(command, f.name)) for f in declared if not f.metadata.get("not_hashed"))
    return {
        f.name: value for f, value in values if not (f.metadata.get("hashed_unless_default") and value == f.default)
    }


def _idempotency_key(
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
