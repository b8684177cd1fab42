"""Command handler, the only writer of games: it loads a game, executes a command and appends the resulting records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

from domain.errors import NotSeated, RuleError, UnknownGame
from domain.game_history import GameHistory
from domain.kernel.game.command import Command, check_office, refuse_unless
from domain.kernel.game.forks import fold_origin, open_fork
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import Officer
from domain.kernel.game.record_builder import Agreement, AnyTransition, CommandContext
from domain.kernel.game.seat_players import Player
from domain.kernel.game.table_commands import Close, Open
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Ledger
from domain.record_writer import (
    CommandResult,
    Conditions,
    ExtraStatements,
    RecordWriter,
    make_idempotency_key,
    no_statements,
)
from domain.ruleset_registry import RulesetRegistry
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.seed_store import SeedStore
from domain.talk.anchors import MailboxAnchors
from domain.types import Doc, Json, Seat, Viewer, is_import_id, is_tournament_id

__all__ = ["CommandHandler", "CommandResult", "ExtraStatements", "GameConditions", "SeatGuard", "new_game_id"]

SeatGuard = tuple[Seat, str]
"""(seat, player): the player expected at the seat at the time of the append."""


@dataclass(frozen=True, kw_only=True)
class GameConditions(Conditions):
    """Conditions of a command on a game."""

    seat_guard: SeatGuard | None = None
    """Player required at a seat (NotSeated)."""
    officer: Collection[str] = ()
    """Player ids of a director who executes it. At a table with neutral officers a director with a seat is refused
    (`director_has_stake`).
    """
    plays_in_event: bool = False
    """Whether the director has a place in the tournament of the table: refused likewise (`director_in_event`)."""
    author: Officer | None = None
    """Officer named by the record, with a role that allows the command (`office_ended`, `office_insufficient`)."""
    agreement: Agreement | None = None
    """The players' consent in place of a director."""
    ahead_ms: int = 0
    """ms added to the clock for the record, before a clock jump of the same size."""


@dataclass(frozen=True)
class _DecidedGame:
    """A game as known to this process after some version."""

    rules: AnyRuleset
    game: AnyGame
    seed: bytes = field(repr=False)
    log_id: str
    """Id of the log read."""

    @property
    def version(self) -> int:
        return self.game.version


UNCONDITIONAL = GameConditions()


def new_game_id() -> str:
    """Return a random id for a new game."""
    return str(uuid4())


class CommandHandler(RecordWriter[_DecidedGame, Command, GameConditions]):
    """Loads games, executes commands and appends their records.

    Each command may raise RuleError, UnknownGame and StoreUnavailable, and with an idempotency key CommandReused.
    `clock` gives ms since 1970 UTC; `keep` is the number of games cached by the process, and
    `history` the process's own.
    """

    def __init__(
        self,
        ledger: Ledger,
        registry: RulesetRegistry,
        seed_store: SeedStore,
        clock: Callable[[], int],
        keep: int = 128,
        history: GameHistory | None = None,
    ) -> None:
        super().__init__(ledger, keep)
        self._registry, self._seed_store, self._clock = registry, seed_store, clock
        self._history = history or GameHistory(ledger, registry)
        self.anchors = MailboxAnchors(ledger, lambda: ledger.keys)

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
        idempotency_key: IdempotencyKey | str | None = None,
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
            self._check_claim(key)
            # The seed first: a seed without a game is harmless, and a repeated command finds it.
            seed = self._seed_store.create(game)
            context = self._context(game, seats, seed, key)
            steps = [Open(game, table, body or {}).execute(rules, context)]
            for command in followed_by:
                steps.append(command.execute(rules, steps[-1].game, context))
            after = _DecidedGame(rules, steps[-1].game, seed, log_id)
            return self._store(game, key, extra_statements, after, [step.record for step in steps])

        return self._run_once(game, key, attempt)

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
        idempotency_key: IdempotencyKey | str | None = None,
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
            self._check_claim(key)
            rules = self._registry.get(records[0].body["ruleset"])
            beginning = fold_origin(rules, records, version, viewer)
            beginning = replace(beginning, imported=is_import_id(origin))
            seed = self._seed_store.create(game)
            steps = open_fork(
                rules, beginning, game, player, terms, self._context(game, beginning.table.seats, seed, key)
            )
            after = _DecidedGame(rules, steps[-1].game, seed, log_id)
            return self._store(game, key, extra_statements, after, [step.record for step in steps])

        return self._run_once(game, key, attempt)

    def handle(self, game: str, command: Command, conditions: GameConditions = UNCONDITIONAL) -> CommandResult:
        """Execute a command on an open game; raise as the command does, and as the conditions say."""
        return self._handle(game, command, conditions)

    # --- games

    def game(self, game: str) -> AnyGame:
        """Return the newest version of a game; raise UnknownGame."""
        return self._load(game, newest=True).game

    def game_at(self, game: AnyGame, version: int) -> AnyGame:
        """Return a game at one of its active versions; raise RuleError `not_on_line` for any other."""
        refuse_unless(game.is_active(version), "not_on_line", to=version)
        return self._history.load(game.id, version)

    def _load(self, id_: str, *, newest: bool) -> _DecidedGame:
        game, cached = id_, self._recent.get(id_)
        later = self._ledger.read(game, after=cached.game.version) if cached and newest else []
        if cached is None or cached.log_id != self._ledger.log_id:
            return self._recent.remember(game, self._fold(game))
        if not later:
            return cached
        newest_game = functools.reduce(partial(self._history.advance, cached.rules), later, cached.game)
        self._history.note(newest_game)
        return self._recent.remember(game, _DecidedGame(cached.rules, newest_game, cached.seed, cached.log_id))

    def _fold(self, game: str) -> _DecidedGame:
        if is_import_id(game):
            raise RuleError("game_over")  # nothing changes a file
        log_id = self._ledger.log_id
        if is_tournament_id(game) or not self._ledger.version(game):
            raise UnknownGame(game)
        newest = self._history.load(game)
        return _DecidedGame(self._registry.get(newest.ruleset), newest, self._seed_store.seed(game), log_id)

    # --- execution

    def _decide(
        self, loaded: _DecidedGame, command: Command, conditions: GameConditions, key: IdempotencyKey | None
    ) -> tuple[_DecidedGame, Sequence[Record]]:
        transitions = self._execute(loaded, command, conditions, key)
        return replace(loaded, game=transitions[-1].game), [step.record for step in transitions]

    def _execute(
        self, loaded: _DecidedGame, command: Command, conditions: GameConditions, key: IdempotencyKey | None
    ) -> list[AnyTransition]:
        """Return the command's transition, and the close of a game that it ends."""
        game, rules = loaded.game, loaded.rules
        _check_seat_guard(game, conditions.seat_guard)
        _check_neutrality(game, command, conditions)
        check_office(game, conditions.author, command)
        context = replace(
            self._context(game.id, game.table.seats, loaded.seed, key, conditions.ahead_ms),
            game_at=partial(self.game_at, game),
            agreement=conditions.agreement,
            officer=conditions.author,
        )
        transition = command.execute(rules, game, context)
        if transition.game.status in ("over", "closed") and self._is_withheld(game):
            refuse_unless(transition.record.kind not in ("closed", "ruled"), "still_running")
            return [transition]
        if transition.game.status != "over" or transition.game.pending_ruling is not None:
            return [transition]
        return [transition, Close().execute(rules, transition.game, replace(context, officer=None))]

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

    def _context(
        self, game: str, seats: int, seed: bytes, key: IdempotencyKey | None, ahead_ms: int = 0
    ) -> CommandContext:
        root = partial(self.anchors.root, game, seats)
        return CommandContext(seed, self._clock() + ahead_ms, key.id if key else "", talk_root=root)

    def _remember(self, id_: str, loaded: _DecidedGame) -> None:
        super()._remember(id_, loaded)
        self._history.note(loaded.game)


def _check_seat_guard(game: AnyGame, guard: SeatGuard | None) -> None:
    """Raise NotSeated unless the expected player sits at the seat."""
    if guard is not None and game.players.get(guard[0], Player("")).id != guard[1]:
        raise NotSeated(guard[0])


def _check_neutrality(game: AnyGame, command: Command, conditions: GameConditions) -> None:
    """Raise RuleError if an officer with a seat executes a command that is left to officers without one."""
    is_guarded = game.terms.get("officers") == "neutral" and not command.open_to_players
    is_guarded = is_guarded or command.forbids_stake
    if is_guarded and conditions.officer and conditions.agreement is None:
        refuse_unless(not game.has_stake(conditions.officer), "director_has_stake")
        refuse_unless(not conditions.plays_in_event, "director_in_event")
