"""Figures of the service as its users have it: started by its command, spoken to over HTTP."""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path

from deploy.simulation import demo
from domain.command_handler import new_game_id
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.ruleset_registry import load_shipped
from domain.types import Json
from tests.perf.cores import descendants
from tests.perf.figures import TURNS, Figure, quantile, seconds
from tests.perf.line import Line
from tests.perf.pace import pace

SEED = 7
BOTH = 2
"""Cores that are busy at once while the views follow a move, or many clients play."""

IDLE_SECONDS = 5.0
"""Seconds after the start until the service is idle."""

TABLES = 10
"""Games that are begun at most, until one lasts as long as is asked for."""


@dataclass(frozen=True)
class Played:
    """The table whose moves are measured."""

    name: str
    seats: int
    options: dict[str, Json] = field(default_factory=dict)
    early: int = 10
    late: int = 2_000
    far: int = 10_000
    """From `late` on two moves are made in turn up to here: a long log of a game that has been played."""
    count: int = 200
    """Moves measured from each of these on: the slowest twentieth are ten."""
    crowd: int = 4
    """Clients at once, each with a table of its own, for the rate."""
    crowd_moves: int = 300
    again: tuple[dict[str, Json], ...] = (
        {"type": "ready"},
        {"type": "unready"},
    )
    """Two public moves that seat 0 can make in turn for ever ..."""
    during: str = "diplomacy"
    """... while this is to be decided, early in the game."""

    def plan(self) -> demo.DemoPlan:
        """As the clients open it."""
        return demo.DemoPlan(load_shipped().latest(self.name).meta.ruleset, self.seats, self.options, SEED, Path())


@dataclass(frozen=True)
class Whole:
    """A table of a game that is played from its beginning by random picks: moves of all kinds."""

    name: str
    seats: int
    options: dict[str, Json] = field(default_factory=dict)
    moves: int = 200
    """Moves measured at most; a shorter game is measured whole."""


def figures(played: Played, wholes: Sequence[Whole] = ()) -> Iterator[Figure]:
    """One service, one run."""
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        data = Path(folder) / "data"
        with demo.run_service(data) as address:
            yield from work_of_a_start()
            time.sleep(IDLE_SECONDS)
            yield from whole_memory("idle", 220)
            yield from moves(address, played, Path(folder) / "bare.sqlite")
            for whole in wholes:
                yield whole_game(address, whole, Path(folder) / f"{whole.name}.sqlite")
            yield from memory()
            yield from whole_memory("after play", 290)
        yield from starts(data)


class Table:
    """A game in which one seat moves to and fro."""

    def __init__(self, game: demo.DemoGame, played: Played) -> None:
        """It is played on until that seat may, and nobody has done so yet: a decision of that kind has just come up."""
        for come in (False, True):
            while (self._open(game) == played.during) is not come:
                game.step()
        self.game, self.client, self._moves, self._turn = game, game.seats[0], played.again, 0
        self.version: int = self.client.call("GET", f"{game.path}?wait={game.position}")["version"]

    @staticmethod
    def _open(game: demo.DemoGame) -> str:
        """The kind of decision that is open."""
        found = game.find_decision(game.seats[0])
        if found is None:
            raise demo.DemoError("the game has ended before such a decision came up")
        return str(found["kind"])

    @classmethod
    def opened(cls, address: str, played: Played) -> Table:
        """A new one."""
        return cls(demo.open_table(address, played.plan(), random.Random(SEED)), played)

    def move(self) -> None:
        """One of the two."""
        body = {"move": self._moves[self._turn % len(self._moves)]}
        answer = self.client.call("POST", f"{self.game.path}/moves", body, If_Match=f'"{self.version}"')
        self._turn, self.version = self._turn + 1, answer["version"]
        self.game.position = answer["position"]

    def to(self, version: int) -> None:
        """As many of them as that takes."""
        while self.version < version:
            self.move()

    def close(self) -> None:
        """Nobody at it has a connection any more."""
        for seat in self.game.seats:
            seat.close()


# --- moves -----------------------------------------------------------------------------------------------------


@dataclass
class Times:
    """Seconds of each of several measured moves and of what stands beside them."""

    post: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    """From the answer until every viewer has been shown the new board."""
    waited: list[float] = field(default_factory=list)
    """Of it, what the first of them waited, against the same board again."""
    same: list[float] = field(default_factory=list)
    """A board again, by who names its tag: nothing has changed. By the smallest client ..."""
    empty: list[float] = field(default_factory=list)
    """... as the emptiest request."""
    alive: list[float] = field(default_factory=list)
    """The emptiest request."""
    append: list[float] = field(default_factory=list)
    """The bare store: one durable append of a record of that size."""


def moves(address: str, played: Played, bare: Path) -> Iterator[Figure]:
    """Moves early and late in a game; all viewers read after each. One that ends before is followed by another."""
    games = (demo.open_table(address, played.plan(), random.Random(seed)) for seed in range(SEED, SEED + TABLES))
    game, store, public = next(games), _Bare(bare), demo.DemoClient(address)
    for first in (played.early, played.late, played.far):
        if first == played.far:
            game = _far(games, game, played)
        times, before = Times(), pace(BOTH)
        while (head := _version(game)) < first + played.count:
            taken = [(client, len(client.calls)) for client in game.seats]
            if not game.step():
                game = _next(games, game, first)
            elif head >= first:
                _measure(times, game, [public, *game.seats], taken, store)
                _again(times, address, f"{game.path}/board")
        where = f"{played.name}, {played.seats} seats: versions {first} to {head}"
        yield from _told(times, where, (before + pace(BOTH)) / 2)
    store.close()
    for client in (public, *game.seats):
        client.close()


def whole_game(address: str, whole: Whole, bare: Path) -> Figure:
    """Moves of a game from its beginning. The bare limit is taken in turn with each."""
    ruleset = load_shipped().latest(whole.name).meta.ruleset
    plan = demo.DemoPlan(ruleset, whole.seats, whole.options, SEED, Path())
    game, store, times = demo.open_table(address, plan, random.Random(SEED)), _Bare(bare), Times()
    while len(times.post) < whole.moves:
        before = [len(client.calls) for client in game.seats]
        if not game.step():
            break
        for client, count in zip(game.seats, before, strict=True):
            if len(client.calls) > count + 1:  # more than the question for the decision: its last call is the move
                times.post.append(client.calls[-1])
                times.alive.append(seconds(partial(client.call, "GET", "/healthz")))
                times.append.append(seconds(store.append))
    store.close()
    for client in game.seats:
        client.close()
    where = f"{whole.name}, {whole.seats} seats: its first {len(times.post)} moves"
    limit = 1000 * (statistics.median(times.alive) + statistics.median(times.append))
    ours = 1000 * statistics.median(times.post)
    return Figure("moves of all kinds, p50", where, ours, "ms", "", limit, "empty request and durable append")


def _version(game: demo.DemoGame) -> int:
    """How long it is."""
    return int(game.seats[0].call("GET", f"{game.path}?wait={game.position}")["version"])


def _far(games: Iterator[demo.DemoGame], game: demo.DemoGame, played: Played) -> demo.DemoGame:
    """The game at version `far`; another one, played as long, where it ends before anybody can move to and fro."""
    while True:
        try:
            table = Table(game, played)
        except demo.DemoError:
            game = _next(games, game, played.far)
            while _version(game) < played.late + played.count and game.step():
                pass
        else:
            table.to(played.far)
            return game


def _next(games: Iterator[demo.DemoGame], ended: demo.DemoGame, first: int) -> demo.DemoGame:
    """Dice differ from run to run, since a game's id is one of their keys: none is sure to last long enough."""
    for client in ended.seats:
        client.close()
    game = next(games, None)
    if game is None:
        raise demo.DemoError(f"none of {TABLES} games came to version {first}")
    return game


def _measure(
    times: Times,
    game: demo.DemoGame,
    viewers: list[demo.DemoClient],
    taken: list[tuple[demo.DemoClient, int]],
    store: _Bare,
) -> None:
    posts = [c.calls[-1] for c, before in taken if len(c.calls) > before + 1]
    if not posts:
        return  # a turn that the workers resolved
    times.post.append(posts[0])
    board = f"{game.path}/board?wait={game.position}"
    first, *others = viewers
    waits = seconds(lambda: first.call("GET", board))  # until the views are there, for all viewers at once
    times.seen.append(waits + seconds(lambda: [viewer.call("GET", board) for viewer in others]))
    times.waited.append(max(waits - seconds(lambda: first.call("GET", board)), 0))
    times.alive.append(seconds(lambda: viewers[0].call("GET", "/healthz")))
    times.append.append(seconds(store.append))


def _again(times: Times, address: str, board: str) -> None:
    """Whoever has a board is told that it is still the same."""
    with Line(address) as line:  # not kept: between two parts of a game it idles longer than the service would keep it
        tag = line.ask("GET", board).tag
        begun = time.perf_counter()
        reply = line.ask("GET", board, If_None_Match=tag)
        times.same.append(time.perf_counter() - begun)
        if reply.status != HTTPStatus.NOT_MODIFIED:
            raise demo.DemoError(f"{board} is asked for by its tag, and the answer is {reply.status}")
        times.empty.append(seconds(lambda: line.ask("GET", "/healthz")))


def _told(times: Times, where: str, both: float) -> Iterator[Figure]:
    """`both`: the machine's pace meanwhile with two cores busy."""
    if not times.post:
        return
    bare = 1000 * (statistics.median(times.alive) + statistics.median(times.append))
    limit = "empty request and durable append"
    yield Figure("move over HTTP, p50", where, 1000 * statistics.median(times.post), "ms", "<= 2 x bare", bare, limit)
    yield Figure("move over HTTP, p95", where, 1000 * quantile(times.post, 0.95), "ms", "<= 20")
    same, empty = 1000 * statistics.median(times.same), 1000 * statistics.median(times.empty)
    yield Figure("board that has not changed, p50", where, same, "ms", "<= 2 x bare", empty, "empty request")
    lag = {"p50": statistics.median(times.waited), "p95": quantile(times.waited, 0.95)}
    seen = 1000 * statistics.median(times.seen)
    yield Figure("all viewers' boards after a move, p50", where, seen, "ms", "", pace=both)
    what = "lag of the views behind an answer"
    yield Figure(f"{what}, p50", where, 1000 * lag["p50"], "ms", "", pace=both)
    yield Figure(f"{what}, p95", where, 1000 * lag["p95"], "ms", "<= 5", pace=both)


class _Bare:
    """The store by itself: the same record over and over."""

    def __init__(self, file: Path) -> None:
        self._ledger = Ledger.open(f"sqlite:///{file}")
        self._ledger.migrate()
        rules = load_shipped().latest("struggle_of_empires")
        self._record = InMemoryGame(rules, 3, bytes(32)).records[-1]
        self._game, self._version = new_game_id(), 0

    def append(self) -> None:
        record = Record({**self._record.public, "v": self._version + 1}, self._record.packs)
        self._ledger.append(self._game, [record], self._version)
        self._version += 1

    def close(self) -> None:
        self._ledger.close()


# --- processes -------------------------------------------------------------------------------------------------


def work_of_a_start() -> Iterator[Figure]:
    """Processor time of all processes of the service, until now."""
    ticks = 0
    for pid in descendants():
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # its own, and of its children that have ended
    if ticks:
        yield Figure("processor time of a start", "cold, all processes", ticks / os.sysconf("SC_CLK_TCK"), "s", "")


def whole_memory(when: str, most: int) -> Iterator[Figure]:
    """Sum over all processes of the service, shared pages by their share: also nginx, Redis and the supervisor."""
    sizes: list[float] = []
    for pid in descendants():
        with suppress(OSError):
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            sizes += [int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("Pss:")]
    if sizes:
        yield Figure(f"memory of the whole service, {when}", f"{len(sizes)} processes", sum(sizes), "MB", f"<= {most}")


def memory() -> Iterator[Figure]:
    """What each process of the service has to itself, shared pages by their share."""
    sizes: dict[str, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text().strip()
            text = (folder / "smaps_rollup").read_text()
        except OSError:
            continue
        if name.startswith("annals-"):
            pss = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
            sizes[name] = max(sizes.get(name, 0.0), pss / 1024)
    if sizes:
        name, size = max(sizes.items(), key=lambda item: item[1])
        where = ", ".join(f"{n.removeprefix('annals-')} {s:.0f}" for n, s in sorted(sizes.items()))
        yield Figure("memory of the largest process", f"{name} of {where}", size, "MB", "<= 100")


def starts(data: Path) -> Iterator[Figure]:
    """From the command to the line `ready`."""
    taken = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        with demo.run_service(data):
            taken.append(time.perf_counter() - begun)
    yield Figure("start to ready", f"warm, {os.cpu_count()} cores", statistics.median(taken), "s", "<= 2")
