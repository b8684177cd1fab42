"""Command handler, the only writer of games: it loads a game, executes a command and appends the resulting records.

A command is decided on the game as known to this process. The version expected by the append is the whole concurrency
control; a refusal stands only after it was decided on the newest version.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

from domain.errors import NotSeated, RuleError, ServerReplaced, StaleVersion, UnknownGame
from domain.kernel.game.command import Command, check_office, refuse_unless
from domain.kernel.game.forks import fold_origin, open_fork
from domain.kernel.game.game import AnyGame, Player
from domain.kernel.game.officers import Officer
from domain.kernel.game.record_builder import Agreement, AnyTransition, CommandContext
from domain.kernel.game.table_commands import Close, Open
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import IdempotencyKey, Ledger
from domain.record_writer import (
    MAX_ATTEMPTS,
    REFUSALS,
    CommandResult,
    ExtraStatements,
    RecentCache,
    RecordWriter,
    hash_fields,
    make_idempotency_key,
    no_statements,
)
from domain.ruleset_registry import RulesetRegistry
from domain.service.request_keys import RequestKey
from domain.service.seed_store import SeedStore
from domain.types import Doc, Json, Seat, Viewer, is_import_id, is_tournament_id
from domain.version_cache import VersionCache

__all__ = ["CommandHandler", "CommandResult", "ExtraStatements", "SeatGuard", "new_game_id"]

SeatGuard = tuple[Seat, str]
"""(seat, player): the player expected at the seat at the time of the append."""


@dataclass(frozen=True)
class _CachedGame:
    """A game as known to this process after some version."""

    rules: AnyRuleset
    game: AnyGame
    seed: bytes = field(repr=False)
    log_id: str
    """Id of the log read."""

    @property
    def version(self) -> int:
        return self.game.version


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
    plays_in_event: bool
    author: Officer | None
    agreement: Agreement | None
    extra_statements: ExtraStatements
    ahead_ms: int


def new_game_id() -> str:
    """Return a random id for a new game."""
    return str(uuid4())


class CommandHandler(RecordWriter):
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
        super().__init__(ledger)
        self._registry, self._seed_store, self._clock = registry, seed_store, clock
        self._recent: RecentCache[_CachedGame] = RecentCache(keep)
        self._versions = VersionCache(ledger, registry)

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
        followed_by: Sequence[Command] = (),
        idempotency_key: RequestKey | str | None = None,
        extra_statements: ExtraStatements = no_statements,
    ) -> CommandResult:
        """Open a new game under an id from `new_game_id`; `body` adds pace and policies to the record.

        `defaulted` names members of the body absent from the request, so repetitions of requests of earlier versions
        stay equal. Records of the commands in `followed_by` are stored with the first one, or none of them. Raise
        UnknownRuleset and InvalidTable, and StaleVersion if the game exists.
        """
        rules = self._registry.get(ruleset)
        table = rules.make_table(seats, options)
        sent = body and {name: value for name, value in body.items() if name not in defaulted}
        args = {"ruleset": ruleset, "seats": seats, "options": dict(options or {}), "body": sent}
        key = make_idempotency_key(idempotency_key, Open.verb, args)

        def attempt() -> CommandResult:
            log_id = self._ledger.log_id
            if key and key.claim:
                key.claim.check(self._ledger.execute)
            # The seed first: a seed without a game is harmless, and a repeated command finds it.
            seed = self._seed_store.create(game)
            context = self._context(seed, key)
            steps = [Open(game, table, body or {}).execute(rules, context)]
            for command in followed_by:
                steps.append(command.execute(rules, steps[-1].game, context))
            return self._store(game, key, extra_statements, _CachedGame(rules, steps[-1].game, seed, log_id), steps)

        return self.run_once(game, key, attempt)

    def prepare_openings(self, games: Sequence[str]) -> None:
        """Make the seeds of games before their opening, in one write."""
        self._seed_store.prepare(games)

    def fork(
        self,
        game: str,
        origin: str,
        version: int,
        player: str,
        terms: Doc,
        *,
        viewer: Viewer | None = None,
        idempotency_key: RequestKey | str | None = None,
        extra_statements: ExtraStatements = no_statements,
    ) -> CommandResult:
        """Open and start a fork of a game at a version, with the player at every seat.

        With a `viewer` it begins from what the viewer knows; without one the origin must be closed. Its first records
        are stored together, or none of them. `terms` are members of the first one. Raise UnknownGame, and RuleError
        `still_running`, `not_running` or `unknown_seat`.
        """
        # A game may have been closed since: without a seat a repetition asks for the same as before.
        args = {"origin": origin, "version": version} | ({"seat": viewer} if isinstance(viewer, int) else {})
        key = make_idempotency_key(idempotency_key, "Fork", args)

        def attempt() -> CommandResult:
            log_id, records = self._ledger.log_id, self._ledger.read_original(origin)
            if not records or is_tournament_id(origin):
                raise UnknownGame(origin)
            if records[-1].kind != "closed" and viewer is None:
                raise RuleError("still_running")
            if key and key.claim:
                key.claim.check(self._ledger.execute)
            rules = self._registry.get(records[0].body["ruleset"])
            beginning = fold_origin(rules, records, version, viewer)
            beginning = replace(beginning, imported=is_import_id(origin))
            seed = self._seed_store.create(game)
            steps = open_fork(rules, beginning, game, player, terms, self._context(seed, key))
            return self._store(game, key, extra_statements, _CachedGame(rules, steps[-1].game, seed, log_id), steps)

        return self.run_once(game, key, attempt)

    def handle(
        self,
        game: str,
        command: Command,
        *,
        expected: int | None = None,
        seat_guard: SeatGuard | None = None,
        officer: Collection[str] = (),
        plays_in_event: bool = False,
        author: Officer | None = None,
        agreement: Agreement | None = None,
        idempotency_key: RequestKey | str | None = None,
        extra_statements: ExtraStatements = no_statements,
        ahead_ms: int = 0,
    ) -> CommandResult:
        """Execute a command on an open game; raise as the command does.

        `expected`: the only version to decide on (StaleVersion); without it a retryable command is decided again after
        a lost race, and any other is decided on the newest version. `seat_guard`: the player required at a seat
        (NotSeated). `officer`: player ids of a director who executes it; at a table with neutral officers one who has a
        seat is refused (`director_has_stake`), and with `plays_in_event` one who has a place in the tournament of the
        table (`director_in_event`). `author`: the officer that the record names, with a role that allows it
        (`office_ended`, `office_insufficient`). `agreement`: the players' consent in place of a director. `ahead_ms`:
        ms added to the clock for the record, before a clock jump of the same size.
        """
        args = hash_fields(command)
        key = make_idempotency_key(idempotency_key, command.verb, args, expected)
        pending = _PendingCommand(
            game,
            command,
            key,
            expected,
            command.is_retryable and expected is None,
            seat_guard,
            officer,
            plays_in_event,
            author,
            agreement,
            extra_statements,
            ahead_ms,
        )
        return self.run_once(game, key, lambda: self._decide_and_append(pending))

    # --- games

    def game(self, game: str) -> AnyGame:
        """Return the newest version of a game; raise UnknownGame."""
        return self._load(game, newest=True).game

    def game_at(self, game: AnyGame, version: int) -> AnyGame:
        """Return a game at one of its active versions; raise RuleError `not_on_line` for any other."""
        refuse_unless(game.is_active(version), "not_on_line", to=version)
        return self._versions.load(game.id, version)

    def _load(self, game: str, *, newest: bool) -> _CachedGame:
        """Return the cached game, or with `newest` the newest version after reading only the later records."""
        cached = self._recent.get(game)
        later = self._ledger.read(game, after=cached.game.version) if cached and newest else []
        if cached is None or cached.log_id != self._ledger.log_id:
            return self._recent.remember(game, self._fold(game))
        if not later:
            return cached
        newest_game = functools.reduce(partial(self._versions.advance, cached.rules), later, cached.game)
        self._versions.note(newest_game)
        return self._recent.remember(game, _CachedGame(cached.rules, newest_game, cached.seed, cached.log_id))

    def _fold(self, game: str) -> _CachedGame:
        if is_import_id(game):
            raise RuleError("game_over")  # nothing changes a file
        log_id = self._ledger.log_id
        if is_tournament_id(game) or not self._ledger.version(game):
            raise UnknownGame(game)
        newest = self._versions.load(game)
        return _CachedGame(self._registry.get(newest.ruleset), newest, self._seed_store.seed(game), log_id)

    # --- execution

    def _decide_and_append(self, pending: _PendingCommand) -> CommandResult:
        # A move without version and decision is decided on the newest version.
        newest = not pending.retry and pending.expected is None
        for _ in range(MAX_ATTEMPTS):
            loaded = self._load(pending.game, newest=newest)
            try:
                transitions = self._decide(pending, loaded)
            except REFUSALS:
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
            game_at=partial(self.game_at, game),
            agreement=pending.agreement,
            officer=pending.author,
        )
        transition = pending.command.execute(rules, game, acting)
        if transition.game.status in ("over", "closed") and self._is_withheld(game):
            refuse_unless(transition.record.kind not in ("closed", "ruled"), "still_running")
            return [transition]
        if transition.game.status != "over" or transition.game.pending_ruling is not None:
            return [transition]
        return [transition, Close().execute(rules, transition.game, replace(acting, officer=None))]

    def _is_withheld(self, game: AnyGame) -> bool:
        """Return whether a game is a fork with a seat's knowledge of a running game: its close would show that to all.

        A file tells nothing of a game here, and must not tell of its status either.
        """
        origin = game.terms.get("origin", {})
        if not isinstance(origin.get("known_to"), int) or origin.get("imported"):
            return False
        try:
            return self._load(origin["game"], newest=True).game.status != "closed"
        except UnknownGame:
            return False

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
            return self.replay(game, receipt)
        self._recent.remember(game, after)
        self._versions.note(after.game)
        return CommandResult(game, tuple(r.version for r in records), receipt.positions[-1], records)


def _check_neutrality(game: AnyGame, pending: _PendingCommand) -> None:
    """Raise RuleError if an officer with a seat executes a command that is left to officers without one."""
    command = pending.command
    is_guarded = game.terms.get("officers") == "neutral" and not command.open_to_players
    is_guarded = is_guarded or command.forbids_stake
    if is_guarded and pending.officer and pending.agreement is None:
        refuse_unless(not game.has_stake(pending.officer), "director_has_stake")
        refuse_unless(not pending.plays_in_event, "director_in_event")
