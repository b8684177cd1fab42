"""Figures of rules and kernel: in one process, without a store."""

from __future__ import annotations

import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from deploy.runtime import gc_tuning
from deploy.simulation.simulate import simulate
from domain.bots import deciding_seats
from domain.command_handler import new_game_id
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.canonical_json import canonical
from domain.ledger import Ledger
from domain.rollouts import random_pick
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR, Doc, Json, Seat
from tests.perf.figures import LONG, LONGEST, Figure, in_a_row, in_turn, quantile

SEED = 7

SHORT = 0.5
"""Seconds for which a figure is taken that only shows that it can be."""


@dataclass(frozen=True)
class Game:
    """A table to measure, and what was agreed about its speed."""

    name: str
    seats: int
    budget: str
    """Random full games a second."""
    options: Mapping[str, Json] = field(default_factory=dict)
    games: int = 4
    records: int = 2_000
    """Records after which the walk through the game ends."""

    @property
    def rules(self) -> Ruleset[Any]:
        """The newest version."""
        return load_shipped().latest(self.name)

    @property
    def where(self) -> str:
        """As a position."""
        options = "".join(f", {name} {value}" for name, value in self.options.items())
        return f"{self.name}, {self.seats} seats{options}"


@dataclass
class Walk:
    """A random game, and the time of every question on the way by kind of decision, ms."""

    match: InMemoryGame[Any]
    asked: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    resolved: list[float] = field(default_factory=list)
    """ms of each batch resolution."""


def walk(game: Game, full: int = 0) -> Walk:
    """Plays until the end, or until the game has enough records; every state is met for the first time.

    With `full`, nobody brings the game on before having answered a decision so many times: full order sheets.
    """
    rng = random.Random(SEED)
    walked = Walk(InMemoryGame(game.rules, game.seats, bytes(32), options=game.options))
    match = walked.match
    filed: Counter[tuple[int, Seat]] = Counter()
    while not match.state.over and len(match.records) < game.records:
        if match.state.top.engine:
            begun = time.perf_counter()
            match.resolve()
            walked.resolved.append(1000 * (time.perf_counter() - begun))
            continue
        seat = rng.choice(deciding_seats(match))
        place = match.state.top.n, seat
        match.play(seat, _built(walked, seat, rng, filed[place] < full))
        filed[place] += 1
    return walked


def _built(walked: Walk, seat: Seat, rng: random.Random, longer: bool) -> Json:
    rules, state = walked.match.rules, walked.match.state
    picks: list[Json] = []
    while True:
        begun = time.perf_counter()
        found = query_builder(rules, state, seat, picks)
        walked.asked[state.top.kind].append(1000 * (time.perf_counter() - begun))
        if not isinstance(found, Choice):
            return found
        going_on = [o.value for o in found.options if not o.ends] if longer and found.kind == "one" else []
        picks.append(rng.choice(going_on) if going_on else random_pick(rng, found))


def builder(game: Game, walked: Walk) -> Iterator[Figure]:
    """The next choice, in the kind of decision where it takes longest."""
    often = {kind: times for kind, times in walked.asked.items() if len(times) >= 20} or walked.asked
    worst = max(often, key=lambda kind: quantile(often[kind], 0.95))
    times = often[worst]
    where = f"{game.where}: `{worst}`, {len(times)} questions up to version {walked.match.game.version}"
    yield Figure("next choice, median", where, statistics.median(times), "ms", "<= 0.5")
    yield Figure("next choice, p95", where, quantile(times, 0.95), "ms", "<= 2")


def stored(game: Game, walked: Walk) -> Iterator[Figure]:
    """Bytes in the ledger for each record, padding and seals included."""
    sizes = [len(canonical(r.public)) + len(canonical(r.packs)) for r in walked.match.records]
    where = f"{game.where}: {len(sizes)} records"
    yield Figure("stored bytes a move", where, statistics.mean(sizes), "bytes", "<= 1500")


def games(game: Game) -> Iterator[Figure]:
    """Whole games by random builders: the same ones three times, the median at the machine's pace."""
    found: dict[str, Json] = {}

    def rate() -> float:
        found.update(simulate(game.rules, game.seats, game.games, SEED, game.options, probes=0))
        return float(game.games / (found["moves"] / found["moves_per_second"]))

    take = in_a_row(rate)
    where = (
        f"{game.where}: {game.games} games of {found['moves_per_game']:.0f} moves, {found['passes_share']:.0%} passes"
    )
    yield Figure("random full games", where, take.value, "/s/core", game.budget, pace=take.pace)


def resolution(game: Game, full: int) -> Iterator[Figure]:
    """Turns for which every seat has filed as many orders as it could, up to `full`."""
    walked = walk(game, full)
    if times := walked.resolved:
        where = f"{game.where}: {len(times)} turns up to version {walked.match.game.version}, up to {full} orders each"
        yield Figure("simultaneous resolution, median", where, statistics.median(times), "ms", "<= 10")
        yield Figure("simultaneous resolution, p95", where, quantile(times, 0.95), "ms", "")


def rebuilt(game: Game, walked: Walk, quick: bool, count: int = 500) -> Iterator[Figure]:
    """Folded, and read from the ledger and folded; beside them the JSON of the same records."""
    records, name = walked.match.records[:count], new_game_id()
    texts = [json.dumps([r.public, r.packs]) for r in records]
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        ledger = Ledger.open(f"sqlite:///{Path(folder) / 'ledger.sqlite'}", bytes(32))
        ledger.migrate()
        for record in records:
            ledger.append(name, [record], record.version - 1)
        taken = in_turn(
            lambda: [json.loads(text) for text in texts],
            lambda: fold(game.rules, records),
            lambda: fold(game.rules, ledger.read(name)),
            least=SHORT if quick else LONG,
            longest=LONG if quick else LONGEST,
        )
        ledger.close()
    where = f"{game.where}: {len(records)} records"
    budgets = {"refold of a game": "<= 4 x bare", "rebuild of a game": "<= 6 x bare"}
    for (what, budget), (ours, bare, pace) in zip(budgets.items(), taken, strict=True):
        yield Figure(what, where, ours, "ms", budget, bare, "json.loads of the records", pace)


@dataclass
class Taken:
    """What was taken of a game, and its records."""

    figures: list[Figure]
    records: list[Record]


def taken(game: Game, quick: bool) -> Taken:
    """All of them, one after the other, in a process of its own: what was taken before fills no memory of it."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, gc_tuning.reduce_gc_frequency) as pool:
        figures, parts = pool.submit(_taken, game, quick).result()
    return Taken(figures, [Record(*each) for each in parts])


def _taken(game: Game, quick: bool) -> tuple[list[Figure], list[tuple[Doc, Doc]]]:
    walked = walk(game)
    figures = [*builder(game, walked), *stored(game, walked), *rebuilt(game, walked, quick)]
    parts = [(r.public, r.packs) for r in walked.match.records]  # before the game is closed
    if not quick:
        figures += [*audited(game, walked), *games(game)]
    return figures, parts


def audited(game: Game, walked: Walk) -> Iterator[Figure]:
    """Chain, chance and rules of a whole game, for each 1,000 records; beside it the hashes of their public parts."""
    match = walked.match
    if not match.state.over:
        return
    match.close()
    found = export.parse(export.dump(match.records, DIRECTOR))
    parts = [canonical(r.public) for r in match.records]
    (turn,) = in_turn(lambda: [sha256(p).digest() for p in parts], lambda: verify.verify(game.rules, found))
    share = 1000 / len(parts)
    where = f"{game.where}: {len(parts)} records"
    limit = "SHA-256 of them"
    yield Figure(
        "audit of 1,000 records", where, turn.ours * share, "ms", "<= 500 x bare", turn.bare * share, limit, turn.pace
    )
