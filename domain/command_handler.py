"""Commands: the only way to write. They load a game, let an act decide, and append what came of it.

A command is decided on the game as this process knows it. The version that the append expects is the whole
concurrency control, and nothing is refused before that is known to be the newest version.
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

from domain.errors import CommandReused, DecisionClosed, NotSeated, RuleError, ServerReplaced, StaleVersion, UnknownGame
from domain.fork_safety import heed
from domain.kernel.game.command import Act
from domain.kernel.game.game import AnyGame, Player, advance, fold, line
from domain.kernel.game.record_builder import AnyStep, Moment
from domain.kernel.game.table_commands import Close, Open
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Command, Ledger, Receipt
from domain.ruleset_registry import Catalogue
from domain.service.database import Statement
from domain.service.seed_store import Vault
from domain.types import Doc, Json, Seat

RACES = 100
"""How often a command is decided anew before it gives up: each lost race is somebody else's command stored."""

Sitting = tuple[Seat, str]
"""A seat and who must sit there when it is stored: who asked may have been put out meanwhile."""

Beside = Callable[[Record], Sequence[Statement]]
"""The rows that belong to a record, written in its transaction, and not again when the command is repeated."""

_REFUSALS = (RuleError, DecisionClosed, NotSeated, StaleVersion)


def _nothing(_: Record) -> Sequence[Statement]:
    return ()


@dataclass(frozen=True)
class Answer:
    """What a command stored; the same for ever when the command is repeated (`replayed`)."""

    game: str
    versions: tuple[int, ...]
    position: int
    """Of the last record, in the whole log."""
    records: tuple[Record, ...]
    replayed: bool = False


@dataclass(frozen=True)
class _Held:
    """What a process knows of a game, as it was after some version."""

    rules: AnyRuleset
    game: AnyGame
    seed: bytes = field(repr=False)
    server: str
    """Of the database that has told it."""


@dataclass(frozen=True)
class _Order:
    """A command on its way."""

    game: str
    act: Act
    command: Command | None
    expected: int | None
    follow: bool
    """Decided anew after a lost race; else the loser is told."""
    sitting: Sitting | None
    beside: Beside
    ahead: int


def new_game() -> str:
    """A random id for a game to open."""
    return str(uuid4())


class Commands:
    """Every command may raise RuleError, UnknownGame and StoreUnavailable, and with an id CommandReused.

    `clock` gives ms since 1970 UTC; `keep` is the number of games that a process remembers.
    """

    def __init__(
        self, ledger: Ledger, catalogue: Catalogue, vault: Vault, clock: Callable[[], int], keep: int = 128
    ) -> None:
        self._ledger, self._catalogue, self._vault, self._clock = ledger, catalogue, vault, clock
        self._recent = _Recent(keep)

    # --- the table

    def open(
        self,
        game: str,
        ruleset: str,
        seats: int,
        options: Mapping[str, Json] | None = None,
        *,
        body: Doc | None = None,
        unsaid: Collection[str] = (),
        command: str | None = None,
        beside: Beside = _nothing,
    ) -> Answer:
        """A new game, its id from `new_game`; `body` adds pace and policies to the record.

        `unsaid` names what of the body the request did not hold, so that it can be repeated although bodies have grown.
        Raises UnknownRuleset and InvalidTable, and StaleVersion if the game exists.
        """
        rules = self._catalogue.get(ruleset)
        table = rules.table(seats, options)
        said = body and {name: value for name, value in body.items() if name not in unsaid}
        args = {"ruleset": ruleset, "seats": seats, "options": dict(options or {}), "body": said}
        named = _command(command, Open.verb, args)

        def attempt() -> Answer:
            server = self._ledger.server
            # The seed first: one without a game does no harm, and is found when the command is repeated.
            seed = self._vault.create(game)
            step = Open(game, table, body or {}).step(rules, self._moment(seed, named))
            return self._store(game, named, beside, _Held(rules, step.game, seed, server), [step])

        return self._for_ever(game, named, attempt)

    def do(
        self,
        game: str,
        act: Act,
        *,
        expected: int | None = None,
        sitting: Sitting | None = None,
        command: str | None = None,
        beside: Beside = _nothing,
        ahead: int = 0,
    ) -> Answer:
        """Whatever can be done to a game that is open; raises as the act does.

        With `expected` it counts on that version only (StaleVersion); else an act that lasts is decided anew after a
        lost race, and any other is meant for what is the newest when it comes. `sitting`: who must sit where
        (NotSeated). `ahead`: ms by which its record is ahead of the clock, which is about to leap by as much.
        """
        args = _args(act)
        named = _command(command, act.verb, args, expected)
        order = _Order(game, act, named, expected, act.lasting and expected is None, sitting, beside, ahead)
        return self._for_ever(game, named, lambda: self._race(order))

    # --- what is known

    def game(self, game: str) -> AnyGame:
        """A game as it is; raises UnknownGame."""
        return self._load(game, newest=True).game

    def _past(self, held: _Held, to: int) -> AnyGame:
        records = self._ledger.read(held.game.id, upto=held.game.version)
        if to not in line(records):
            raise RuleError("not_on_line", "", {"to": to})
        return fold(held.rules, records, to)

    def _load(self, game: str, *, newest: bool) -> _Held:
        """As it was when last seen here, or the newest: then only the records since are read."""
        known = self._recent.get(game)
        later = self._ledger.read(game, after=known.game.version) if known and newest else []
        if known is None or known.server != self._ledger.server:
            return self._recent.put(game, self._fold(game))
        if not later:
            return known
        if any(r.kind == "rewound" for r in later):
            return self._recent.put(game, self._fold(game))
        found = functools.reduce(lambda g, r: advance(known.rules, g, r), later, known.game)
        return self._recent.put(game, _Held(known.rules, found, known.seed, known.server))

    def _fold(self, game: str) -> _Held:
        server, records = self._ledger.server, self._ledger.read(game)
        if not records:
            raise UnknownGame(game)
        rules = self._catalogue.get(records[0].body["ruleset"])
        return _Held(rules, fold(rules, records), self._vault.seed(game), server)

    # --- how a command is done

    def _for_ever(self, game: str, named: Command | None, attempt: Callable[[], Answer]) -> Answer:
        """A command that was accepted before is answered as it was, also where it would now be refused.

        So the happy path asks nothing: a repetition is refused, or met by the append itself.
        """
        try:
            return attempt()
        except _REFUSALS:
            row = self._ledger.command(game, named.id) if named else None
            if named is None or row is None:
                raise
            if row.body_hash != named.body_hash:
                raise CommandReused(named.id) from None
            return self._replayed(game, Receipt(row.first, row.last, row.positions))

    def _race(self, order: _Order) -> Answer:
        # A move that names neither version nor decision is meant for what is the newest when it comes.
        newest = not order.follow and order.expected is None
        for _ in range(RACES):
            held = self._load(order.game, newest=newest)
            try:
                steps = self._decide(order, held)
            except _REFUSALS:
                if newest:
                    raise
                newest = True
                continue
            try:
                after = _Held(held.rules, steps[-1].game, held.seed, held.server)
                return self._store(order.game, order.command, order.beside, after, steps)
            except ServerReplaced:
                newest = True
            except StaleVersion:
                if not order.follow:
                    raise
                newest = True
        head = self._ledger.version(order.game)
        raise StaleVersion(head - 1, head)

    def _decide(self, order: _Order, held: _Held) -> list[AnyStep]:
        game, rules, moment = held.game, held.rules, self._moment(held.seed, order.command, order.ahead)
        if order.expected is not None and order.expected != game.version:
            raise StaleVersion(order.expected, game.version)
        if order.sitting is not None and game.players.get(order.sitting[0], Player("")).id != order.sitting[1]:
            raise NotSeated(order.sitting[0])
        step = order.act.step(rules, game, replace(moment, past=partial(self._past, held)))
        if step.game.status != "over":
            return [step]
        return [step, Close().step(rules, step.game, moment)]

    def _moment(self, seed: bytes, named: Command | None, ahead: int = 0) -> Moment:
        return Moment(seed, self._clock() + ahead, named.id if named else "")

    def _store(
        self, game: str, named: Command | None, beside: Beside, after: _Held, steps: Sequence[AnyStep]
    ) -> Answer:
        records = tuple(step.record for step in steps)
        receipt = self._ledger.append(game, records, records[0].version - 1, named, beside(records[0]), after.server)
        if receipt.replayed:
            return self._replayed(game, receipt)
        self._recent.put(game, after)
        return Answer(game, tuple(r.version for r in records), receipt.positions[-1], records)

    def _replayed(self, game: str, receipt: Receipt) -> Answer:
        records = self._ledger.read(game, receipt.first - 1, receipt.last)
        versions = tuple(r.version for r in records)
        return Answer(game, versions, receipt.positions[-1], tuple(records), replayed=True)


class _Recent:
    """The games that were used last, as they are in the ledger; for all threads of one process."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._begin()
        heed(self)

    def after_fork(self) -> None:
        """The lock may be held by a thread that is not there."""
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._recent: LRUCache[str, _Held] = LRUCache(self._keep)

    def get(self, game: str) -> _Held | None:
        """The game as it was put last."""
        with self._lock:
            return self._recent.get(game)

    def put(self, game: str, held: _Held) -> _Held:
        """Remember the game unless a newer one is known, which another thread may have put; returns the newer.

        What another server has told is not newer, whatever its version.
        """
        with self._lock:
            known = self._recent.get(game)
            if known is None or known.server != held.server or known.game.version < held.game.version:
                self._recent[game] = known = held
            return known


def _args(act: Act) -> Doc:
    """Its fields, as they are hashed; those that acts have got since only where they say something."""
    own = fields(act)  # type: ignore[arg-type] # every act is a dataclass
    values = ((f, getattr(act, f.name)) for f in own if not f.metadata.get("unsaid"))
    return {f.name: value for f, value in values if not (f.metadata.get("later") and value == f.default)}


def _command(
    id: str | None,  # noqa: A002 - the word of the table
    verb: str,
    args: Mapping[str, Json],
    expected: int | None = None,
) -> Command | None:
    """The hash is of canonical JSON; the standard library's, since a refused move may hold any JSON at all."""
    if id is None:
        return None
    body = json.dumps([verb, args, expected], sort_keys=True, separators=(",", ":"))
    return Command(id, hashlib.sha256(body.encode()).hexdigest())
