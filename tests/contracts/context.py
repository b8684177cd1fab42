"""Processes that use a ledger at the same time, and what they do. Importable, so that they can be started anywhere."""

import gc
import itertools
import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any
from uuid import UUID

from domain.command_handler import CommandHandler, new_game_id
from domain.errors import DecisionClosed, StaleVersion, WrongKey
from domain.kernel.game.game_fold import fold
from domain.kernel.game.play_commands import Play, Resolve
from domain.kernel.game.table_commands import Join, Start
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.keyring import Keyring
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from tests.kernel.flows import orders, skirmish

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.contracts.context"])


def game(n: int = 1) -> str:
    """The id of the n-th game."""
    return str(UUID(int=n))


def record(version: int, note: Any = "") -> Record:
    """A small record that tells who wrote it."""
    return Record({"v": version, "kind": "moved", "at": version, "body": {"note": note}}, {"table": {"pad": "." * 99}})


def records(first: int, count: int, note: Any = "") -> list[Record]:
    """So many records from that version on."""
    return [record(v, note) for v in range(first, first + count)]


def together(count: int, work: Callable[..., Any], *args: Any) -> list[Any]:
    """Call `work(i, *args)` in so many processes at once; their results, in order."""
    gate = CONTEXT.Barrier(count)
    context = [start(_behind, gate, work, i, *args) for i in range(count)]
    results = [pipe.recv() for _, pipe in context]
    for process, _ in context:
        process.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def start(work: Callable[..., Any], *args: Any) -> tuple[Any, Connection]:
    """A process that calls `work(pipe, *args)`, and our end of the pipe."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=work, args=(theirs, *args), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _behind(pipe: Connection, gate: Barrier, work: Callable[..., Any], *args: Any) -> None:
    gate.wait(30)
    try:
        pipe.send(work(*args))
    except BaseException as e:  # noqa: BLE001 - it is raised again where it is waited for
        pipe.send(e)


KEY = bytes(range(32))
_CLOCK = itertools.count(1_000, 1_000)
CATALOGUE = RulesetRegistry([orders.RULESET, skirmish.RULESET])


def issue(ledger: Ledger, access: SeatTokens, name: str, role: int | str, player: str, called: str = "") -> str:
    """A token for a role, as a record would bring it."""
    token = access.make_token().token
    for statement, params in access.issue(name, role, player, token, called):
        ledger.execute(statement, params)
    return token


def commands(ledger: Ledger, **more: Any) -> CommandHandler:
    """As one process has them; the clock that all share goes on by a second each time it is asked."""
    return CommandHandler(ledger, CATALOGUE, SeedStore(ledger, Keyring(ledger, KEY)), lambda: next(_CLOCK), **more)


def running(commands: CommandHandler, ruleset: str = "orders@1", seats: int = 3, **options: Any) -> str:
    """A game that has started."""
    game = new_game_id()
    pace = {"seconds": dict.fromkeys({"move", *CATALOGUE.get(ruleset).meta.clocks.values()}, 1)}
    commands.open(game, ruleset, seats, options, body={"pace": pace})
    for seat in range(seats):
        commands.handle(game, Join(seat, f"p{seat}"))
    commands.handle(game, Start())
    return game


def decision(commands: CommandHandler, game: str) -> str:
    p = commands.game(game)
    return decisions(CATALOGUE.get(p.ruleset), p.state, p.lasting.rewinds.count)[0].id


def refolded(ledger: Ledger, game: str) -> Any:
    records = ledger.read(game)
    return fold(CATALOGUE.get(records[0].body["ruleset"]), records)


# --- what they do


def migrate(_: int, url: str) -> None:
    """As several services that start at the same time."""
    ledger = Ledger.open(url)
    ledger.migrate()
    ledger.close()


def begin(me: int, url: str) -> int:
    """Begin the ring of a ledger with a key that every second process has; whether it is that one's."""
    try:
        Keyring(Ledger.open(url), KEY if me % 2 else KEY[::-1]).check()
    except WrongKey:
        return 0
    return 1


def win(me: int, url: str, wins: int) -> list[int]:
    """Race for the next version of one game until so many were won; which ones."""
    return won(Ledger.open(url), me, wins)


def won(ledger: Ledger, me: Any, wins: int) -> list[int]:
    """As `win`, on a ledger that is open."""
    mine: list[int] = []
    while len(mine) < wins:
        head = ledger.version(game())
        try:
            mine += ledger.append(game(), [record(head + 1, me)], head).positions and [head + 1]
        except StaleVersion:
            continue
    return mine


def fill(me: int, url: str, count: int) -> list[int]:
    """Write so many records, two at a time, to a game of one's own; their positions."""
    ledger = Ledger.open(url)
    positions: list[int] = []
    for version in range(1, count, 2):
        positions += ledger.append(game(10 + me), records(version, 2, me), version - 1).positions
    return positions


def insist(_: int, url: str, commands: int) -> list[tuple[int, bool]]:
    """Send the same commands as all others, as often as it takes; the version of each and whether it was there."""
    ledger = Ledger.open(url)
    answers: list[tuple[int, bool]] = []
    while len(answers) < commands:
        head = ledger.version(game())
        named = IdempotencyKey(f"c{len(answers)}", "hash")
        try:
            receipt = ledger.append(game(), [record(head + 1, named.id)], head, named)
        except StaleVersion:
            continue
        answers.append((receipt.first, receipt.replayed))
    return answers


def write_until_killed(pipe: Connection, url: str) -> None:
    """Two records and a command at a time, for ever; the version is told once it is acknowledged."""
    ledger = Ledger.open(url)
    head = ledger.version(game())
    while True:
        head = ledger.append(game(), records(head + 1, 2), head, IdempotencyKey(f"c{head}", "hash")).last
        pipe.send(head)


def fork_in_use(pipe: Connection, url: str) -> None:
    """Use a ledger, fork, use it in both at once, then see it still whole; sends what each has stored."""
    ledger = Ledger.open(url)
    ledger.append(game(), [record(1)], 0)
    child = os.fork()
    mine = won(ledger, "parent" if child else "child", 20)
    if not child:
        os._exit(0 if len(set(mine)) == 20 else 1)
    status = os.waitpid(child, 0)[1]
    mine += won(ledger, "parent", 1)
    pipe.send((status, [r.body["note"] for r in ledger.read(game())]))


def fork_unused(pipe: Connection, url: str) -> None:
    """Fork with connections open; the child never uses the ledger, and collects it as ending programs do."""
    ledger = Ledger.open(url)
    ledger.append(game(), [record(1)], 0)
    child = os.fork()
    if not child:
        del ledger
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    ledger.append(game(), [record(2)], 1)
    pipe.send((ledger.version(game()), Ledger.open(url).version(game())))


def submit(me: int, url: str, name: str, decision: str) -> tuple[int, ...]:
    """Answer a simultaneous decision for one's own seat; the versions of the answer."""
    return commands(Ledger.open(url)).handle(name, Play(me, [{"type": "submit"}], decision)).versions


def resolve(_: int, url: str, name: str, decision: str) -> bool:
    """Do the batch work, unless another worker was faster; whether it was done here."""
    try:
        commands(Ledger.open(url)).handle(name, Resolve(decision))
    except DecisionClosed:
        return False
    return True
