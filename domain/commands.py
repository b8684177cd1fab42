"""Commands: the only way to write. They load a position, let `kernel.acts` decide, and append what came of it.

A command is decided on the position that this process knows. The version that the append expects is the whole
concurrency control, and nothing is refused before the position is known to be the newest.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from domain.catalogue import Catalogue
from domain.errors import CommandReused, DecisionClosed, NotSeated, RuleError, StaleVersion, UnknownGame
from domain.ids import Json, Seat
from domain.kernel import acts
from domain.kernel.acts import By, Hand, Step
from domain.kernel.game import Game, Player, advance, fold, line
from domain.kernel.record import Doc, Record
from domain.kernel.ruleset import Ruleset
from domain.ledger import Command, Ledger, Receipt
from domain.tables import Statement
from domain.vault import Vault

RACES = 100
"""How often a command is decided anew before it gives up: each lost race is somebody else's command stored."""

Decide = Callable[[Ruleset[Any], Game[Any], Hand], Step[Any]]

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
class _Table:
    """What a process knows of a game, as it was after some version."""

    rules: Ruleset[Any]
    position: Game[Any]
    seed: bytes = field(repr=False)


@dataclass(frozen=True)
class _Order:
    """A command on its way."""

    game: str
    decide: Decide
    command: Command | None
    expected: int | None = None
    follow: bool = True
    """Decided anew after a lost race; else the loser is told."""
    sitting: tuple[Seat, str] | None = None
    """A seat and who must sit there when it is stored: who asked may have been put out meanwhile."""
    beside: Beside = _nothing


def new_game() -> str:
    """A random id for a game to open."""
    return str(uuid4())


class Commands:
    """Every command may raise RuleError, UnknownGame and StoreUnavailable, and with an id CommandReused.

    `clock` gives ms since 1970 UTC; `keep` is the number of games whose newest position a process remembers.
    """

    def __init__(
        self, ledger: Ledger, catalogue: Catalogue, vault: Vault, clock: Callable[[], int], keep: int = 128
    ) -> None:
        self._ledger, self._catalogue, self._vault, self._clock = ledger, catalogue, vault, clock
        self._tables = _Tables(keep)

    # --- the table

    def open(
        self,
        game: str,
        ruleset: str,
        seats: int,
        options: Mapping[str, Json] | None = None,
        *,
        body: Doc | None = None,
        command: str | None = None,
        beside: Beside = _nothing,
    ) -> Answer:
        """A new game, its id from `new_game`; `body` adds pace and policies to the record.

        Raises UnknownRuleset and InvalidTable, and StaleVersion if the game exists.
        """
        rules = self._catalogue.get(ruleset)
        table = rules.table(seats, options)
        named = _command(command, "open", ruleset=ruleset, seats=seats, options=dict(options or {}), body=body)

        def attempt() -> Answer:
            # The seed first: one without a game does no harm, and is found when the command is repeated.
            seed = self._vault.create(game)
            step = acts.open_game(rules, game, table, self._hand(seed, named), body)
            order = _Order(game, lambda r, p, h: step, named, beside=beside)
            return self._store(order, _Table(rules, step.position, seed), [step])

        return self._for_ever(game, named, attempt)

    def join(
        self,
        game: str,
        seat: Seat | None,
        player: str,
        nonce_hash: str = "",
        *,
        command: str | None = None,
        beside: Beside = _nothing,
    ) -> Answer:
        """A player takes a seat that is free, without a number the first, and may commit to a nonce."""
        named = _command(command, "join", seat=seat, player=player, nonce_hash=nonce_hash)
        order = _Order(game, lambda r, p, h: acts.join(r, p, h, seat, player, nonce_hash), named, beside=beside)
        return self._run(order)

    def reveal(self, game: str, seat: Seat, nonce: str, *, player: str = "", command: str | None = None) -> Answer:
        """A seat shows its nonce (hex)."""
        named = _command(command, "reveal", seat=seat, nonce=nonce)
        sitting = _sitting(seat, player)
        return self._run(_Order(game, lambda r, p, h: acts.reveal(r, p, h, seat, nonce), named, sitting=sitting))

    def leave(
        self,
        game: str,
        seat: Seat,
        *,
        player: str = "",
        expected: int | None = None,
        command: str | None = None,
        beside: Beside = _nothing,
    ) -> Answer:
        """A player gives a seat back, or leaves a running game; with `expected` on that version only."""
        named = _command(command, "leave", seat=seat)
        sitting = _sitting(seat, player)
        order = _Order(game, lambda r, p, h: acts.leave(r, p, h, seat), named, expected, sitting=sitting, beside=beside)
        return self._run(order)

    def start(self, game: str, patch: Json = None, *, command: str | None = None) -> Answer:
        """The set-up; `patch` is a scenario's."""
        named = _command(command, "start", patch=patch)
        return self._run(_Order(game, lambda r, p, h: acts.start(r, p, h, patch), named))

    def close(self, game: str, reason: str = "finished", *, command: str | None = None) -> Answer:
        """Shows the seed. A game that ends by its rules is closed by the command that ends it; this is for others."""
        named = _command(command, "close", reason=reason)
        return self._run(_Order(game, lambda r, p, h: acts.close(r, p, h, reason), named))

    # --- play

    def move(
        self,
        game: str,
        seat: Seat,
        moves: Sequence[Json],
        *,
        decision: str | None = None,
        expected: int | None = None,
        player: str = "",
        command: str | None = None,
    ) -> Answer:
        """One move or an atomic list, for whoever sits there, or (NotSeated) for that `player` alone.

        With `decision` it counts while that decision is open (DecisionClosed), whatever else is stored meanwhile; with
        `expected` on that version only (StaleVersion); with neither, on the version that is the newest now.
        """
        named = _command(command, "move", seat=seat, moves=list(moves), decision=decision, expected=expected)
        order = _Order(game, _moving("seat", seat, moves, decision), named, expected, decision is not None)
        return self._run(replace(order, sitting=_sitting(seat, player)))

    def rule(
        self,
        game: str,
        seat: Seat,
        moves: Sequence[Json],
        *,
        decision: str | None = None,
        expected: int | None = None,
        command: str | None = None,
    ) -> Answer:
        """The director moves for a seat; as `move`."""
        named = _command(command, "rule", seat=seat, moves=list(moves), decision=decision, expected=expected)
        moving = _moving("director", seat, moves, decision)
        return self._run(_Order(game, moving, named, expected, decision is not None))

    def lapse(
        self,
        game: str,
        decision: str,
        seats: Sequence[Seat] = (),
        *,
        command: str | None = None,
    ) -> Answer:
        """A missed deadline: defaults for all (or these) who still owe, each of whom must be due or vacant (RuleError).

        Raises DecisionClosed once that is done.
        """
        named = _command(command, "lapse", decision=decision, seats=list(seats))
        return self._run(_Order(game, lambda r, p, h: acts.lapse(r, p, h, decision, seats), named))

    def resolve(self, game: str, decision: str, *, command: str | None = None) -> Answer:
        """The engine's batch work. Raises DecisionClosed once that is done."""
        named = _command(command, "resolve", decision=decision)
        return self._run(_Order(game, lambda r, p, h: acts.resolve(r, p, h, decision), named))

    def look(self, game: str, *, command: str | None = None) -> Answer:
        """The director looks at what is hidden; the table is told after the end."""
        return self._run(_Order(game, acts.look, _command(command, "look")))

    def extend(self, game: str, decision: str, ms: int, *, by: By = "director", command: str | None = None) -> Answer:
        """The deadline of the open decision moves by so many ms (DecisionClosed); not too near (RuleError)."""
        named = _command(command, "extend", decision=decision, ms=ms, by=by)
        return self._run(_Order(game, lambda r, p, h: acts.extend(r, p, h, decision, ms, by), named))

    def rest(self, game: str, seat: Seat, days: int, *, player: str = "", command: str | None = None) -> Answer:
        """A seat takes whole days of its vacation."""
        named = _command(command, "rest", seat=seat, days=days)
        sitting = _sitting(seat, player)
        return self._run(_Order(game, lambda r, p, h: acts.rest(r, p, h, seat, days), named, sitting=sitting))

    def rewind(
        self,
        game: str,
        to: int,
        expected: int,
        *,
        by: By = "director",
        seat: Seat | None = None,
        consent: Sequence[Seat] = (),
        reason: str = "",
        fresh: bool = False,
        command: str | None = None,
    ) -> Answer:
        """Back to version `to` of the line, if `expected` is the newest (StaleVersion). Reads the whole stream.

        `reason` is a salted hash of the text.
        """
        how: dict[str, Any] = {"by": by, "seat": seat, "consent": list(consent), "reason": reason, "fresh": fresh}
        named = _command(command, "rewind", to=to, expected=expected, **how)

        def decide(rules: Ruleset[Any], p: Game[Any], hand: Hand) -> Step[Any]:
            return acts.rewind(rules, p, hand, self._target(rules, p, to), **how)

        return self._run(_Order(game, decide, named, expected))

    # --- what is known

    def position(self, game: str) -> Game[Any]:
        """The newest position of a game; raises UnknownGame."""
        return self._load(game, newest=True).position

    def _target(self, rules: Ruleset[Any], p: Game[Any], to: int) -> Game[Any]:
        records = self._ledger.read(p.game, upto=p.version)
        if to not in line(records):
            raise RuleError("not_on_line", "", {"to": to})
        return fold(rules, records, to)

    def _load(self, game: str, *, newest: bool) -> _Table:
        """As it was when last seen here, or the newest: then only the records since are read."""
        known = self._tables.get(game)
        if known is None:
            return self._tables.put(game, self._fold(game))
        later = self._ledger.read(game, after=known.position.version) if newest else []
        if not later:
            return known
        if any(r.kind == "rewound" for r in later):
            return self._tables.put(game, self._fold(game))
        position = functools.reduce(lambda p, r: advance(known.rules, p, r), later, known.position)
        return self._tables.put(game, _Table(known.rules, position, known.seed))

    def _fold(self, game: str) -> _Table:
        records = self._ledger.read(game)
        if not records:
            raise UnknownGame(game)
        rules = self._catalogue.get(records[0].body["ruleset"])
        return _Table(rules, fold(rules, records), self._vault.seed(game))

    # --- how a command is done

    def _run(self, order: _Order) -> Answer:
        follow = order.follow and order.expected is None
        return self._for_ever(order.game, order.command, lambda: self._race(replace(order, follow=follow)))

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
            table = self._load(order.game, newest=newest)
            try:
                steps = self._decide(order, table)
            except _REFUSALS:
                if newest:
                    raise
                newest = True
                continue
            try:
                after = _Table(table.rules, steps[-1].position, table.seed)
                return self._store(order, after, steps)
            except StaleVersion:
                if not order.follow:
                    raise
                newest = True
        head = self._ledger.head(order.game)
        raise StaleVersion(head - 1, head)

    def _decide(self, order: _Order, table: _Table) -> list[Step[Any]]:
        p, hand = table.position, self._hand(table.seed, order.command)
        if order.expected is not None and order.expected != p.version:
            raise StaleVersion(order.expected, p.version)
        if order.sitting is not None and p.players.get(order.sitting[0], Player("")).id != order.sitting[1]:
            raise NotSeated(order.sitting[0])
        step = order.decide(table.rules, p, hand)
        if step.position.status != "over":
            return [step]
        return [step, acts.close(table.rules, step.position, hand)]

    def _hand(self, seed: bytes, named: Command | None) -> Hand:
        return Hand(seed, self._clock(), named.id if named else "")

    def _store(self, order: _Order, after: _Table, steps: Sequence[Step[Any]]) -> Answer:
        game, records = order.game, tuple(step.record for step in steps)
        receipt = self._ledger.append(game, records, records[0].version - 1, order.command, order.beside(records[0]))
        if receipt.replayed:
            return self._replayed(game, receipt)
        self._tables.put(game, after)
        return Answer(game, tuple(r.version for r in records), receipt.positions[-1], records)

    def _replayed(self, game: str, receipt: Receipt) -> Answer:
        records = self._ledger.read(game, receipt.first - 1, receipt.last)
        versions = tuple(r.version for r in records)
        return Answer(game, versions, receipt.positions[-1], tuple(records), replayed=True)


class _Tables:
    """The tables that were used last, as they are in the ledger; for all threads of one process."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._begin()

    def _begin(self) -> None:
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._tables: OrderedDict[str, _Table] = OrderedDict()

    def _own(self) -> threading.Lock:
        if self._pid != os.getpid():  # in a fork the lock may be held by a thread that is not there
            self._begin()
        return self._lock

    def get(self, game: str) -> _Table | None:
        """The table as it was put last."""
        with self._own():
            if game in self._tables:
                self._tables.move_to_end(game)
            return self._tables.get(game)

    def put(self, game: str, table: _Table) -> _Table:
        """Remember the table unless a newer one is known, which another thread may have put; returns the newer."""
        with self._own():
            known = self._tables.get(game)
            if known is None or known.position.version < table.position.version:
                self._tables[game] = known = table
            self._tables.move_to_end(game)
            while len(self._tables) > self._keep:
                self._tables.popitem(last=False)
            return known


def _sitting(seat: Seat, player: str) -> tuple[Seat, str] | None:
    return (seat, player) if player else None


def _moving(by: By, seat: Seat, moves: Sequence[Json], decision: str | None) -> Decide:
    def decide(rules: Ruleset[Any], p: Game[Any], hand: Hand) -> Step[Any]:
        return acts.move(rules, p, hand, seat, moves, decision, by)

    return decide


def _command(id: str | None, verb: str, **args: Json) -> Command | None:  # noqa: A002 - the word of the table
    """The hash is of canonical JSON; the standard library's, since a refused move may hold any JSON at all."""
    if id is None:
        return None
    body = json.dumps([verb, args], sort_keys=True, separators=(",", ":"))
    return Command(id, hashlib.sha256(body.encode()).hexdigest())
