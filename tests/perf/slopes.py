"""Slopes of the past: how each figure grows with records, viewers and games, beside the board of now.

`./run perf --slopes`. All games are in one store. Each figure is a ratio of medians, taken in turn.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from deploy.config.settings import load_settings
from deploy.runtime import wiring
from deploy.simulation import demo
from tests.perf import past
from tests.perf.figures import seconds
from tests.perf.line import Line

FAR = 32
"""Versions of a visit, and of neighbouring boards. Smaller games have fewer."""

REPLAY = "replay, for each version"

Paths = Callable[[int, int, random.Random], str]
"""Function from the number of a request and the newest version to the path, within the game's."""

KINDS: dict[str, Paths] = {
    "past board of any version": lambda _, last, rng: f"/board?version={rng.randint(1, last)}",
    "past board of a version near 10": lambda i, last, rng: f"/board?version={5 + i % 10}",
    "past board of a version near the end": lambda i, last, rng: f"/board?version={last - 5 - i % 10}",
    "neighbouring past boards": lambda i, last, rng: f"/board?version={last // 2 + i % FAR}",
    "timeline from any version": lambda _, last, rng: f"/timeline?after={rng.randrange(last - 49)}",
    "digest from the beginning": lambda i, last, rng: "/digest",
    "digest of a visit": lambda _, last, rng: f"/digest?after={last - rng.randint(1, FAR)}",
    "changes of the board in a visit": lambda _, last, rng: f"/board/changes?from={last - rng.randint(1, FAR)}",
    "scores": lambda i, last, rng: "/scores",
}
NAMES = frozenset((*KINDS, REPLAY))


@dataclass(frozen=True)
class Store:
    """Games of one store, the smallest first; further small ones fill it."""

    name: str = "egc"
    seats: int = 10
    records: Sequence[int] = (100, 1_000, 10_000)
    games: int = 20
    viewers: Sequence[int] = (1, 4, 11)
    asked: int = 100


@dataclass(frozen=True)
class _Game:
    path: str
    tokens: Sequence[str]
    """Those of the public, and of each seat."""
    records: int


def rows(store: Store) -> Iterator[str]:
    """Yield the lines of the table."""
    middle = store.records[len(store.records) // 2]
    sizes = [f"{records:,} records" for records in store.records]
    crowds = [f"{viewers} viewers" for viewers in store.viewers[1:]]
    columns = ["quantity", *sizes, "slope", *crowds, "alone in the store"]
    yield "| " + " | ".join(columns) + " |"
    yield "| " + " | ".join("---" for _ in columns) + " |"
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        settings = load_settings({"data": folder}, {})
        wiring.migrate(settings)

        def add(records: int) -> _Game:
            game, tokens = past.store_game(settings, past.Long(store.name, store.seats, records), range(store.seats))
            return _Game(f"/v1/games/{game}", ("", *tokens), records)

        games = {middle: add(middle)}
        with demo.run_service(Path(folder)) as address:
            alone = _ratios(address, games[middle], 1, store.asked)
        games |= {records: add(records) for records in store.records if records != middle}
        others = [add(store.records[0]) for _ in range(store.games - len(games))]
        with demo.run_service(Path(folder)) as address:
            for game in others:
                past.wait_for_views(address, game.path, game.records)
            by_size = [_ratios(address, games[records], 1, store.asked) for records in store.records]
            by_crowd = [_ratios(address, games[middle], viewers, store.asked) for viewers in store.viewers[1:]]
    for name in (*KINDS, REPLAY):
        cells = [f"{ratios[name]:.1f}" for ratios in by_size]
        slope = math.log(by_size[-1][name] / by_size[0][name], store.records[-1] / store.records[0])
        crowd = [f"{ratios[name]:.1f}" if name in ratios else "" for ratios in by_crowd]
        yield f"| {name} | " + " | ".join([*cells, f"{slope:.2f}", *crowd, f"{alone[name]:.1f}"]) + " |"


def _ratios(address: str, game: _Game, viewers: int, asked: int) -> dict[str, float]:
    """Return the median of each figure for each of the board of now; `viewers` ask in turn."""
    past.wait_for_views(address, game.path, game.records)
    rng, found = random.Random(past.SEED), dict[str, float]()
    for token in game.tokens[:viewers]:
        with Line(address, token) as line:
            for first in ("/digest", "/board?version=5"):  # makes outline and keyframes
                past.time_answer(line, game.path + first)
    for name, path in KINDS.items():
        ours, now = list[float](), list[float]()
        with ExitStack() as stack:
            lines = [stack.enter_context(Line(address, token)) for token in game.tokens[:viewers]]
            for i in range(asked):
                line = lines[i % viewers]
                ours.append(past.time_answer(line, game.path + path(i, game.records, rng)))
                now.append(past.time_answer(line, game.path + "/board"))
        found[name] = statistics.median(ours) / statistics.median(now)
    if viewers == 1:
        with Line(address) as line:
            board = statistics.median(past.time_answer(line, f"{game.path}/board") for _ in range(asked))
        taken = seconds(lambda: past.drain(address, f"{game.path}/replay"))
        found[REPLAY] = 1000 * taken / game.records / board
    return found
