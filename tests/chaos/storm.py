"""A storm: games are played while players, pump and workers are killed again and again and Redis is emptied.

`python -m tests.chaos.storm [--minutes M] [--database URL]` goes on for as long as it is told.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis import Redis
from sqlalchemy import select

from domain.commands import new_game
from domain.kernel.audience import TABLE_KEY
from domain.ledger import Ledger
from projections import schema
from projections.reader import Reader
from projections.store import Views
from tests.chaos.children import POINTS, Kill, Place, crew_of, run_player, run_pump, run_worker, start
from tests.valkey import new_server
from workers import audits, rebuilds
from workers.crew import Crew, sign_on

WIPED = "redis emptied"

PLAYER = ("before the append", "after the append, before the answer")
PUMP = (
    "rows written, position not",
    "views committed, nobody told",
    "before the enqueueing",
    "enqueued, not known",
)
WORKER = ("job begun", "before the append", "after the append, before the answer")

Stored = tuple[str, str, tuple[int, ...]]
"""Game, command, versions: an answer that a player got."""


@dataclass
class _Role:
    """A process that is started anew whenever it is killed, each time with the next trap."""

    run: Callable[..., None]
    place: Place
    traps: list[Kill]
    args: Sequence[Any] = ()
    process: Any = None
    pipe: Any = None
    done: bool = False

    def tend(self, hits: Counter[str], stored: list[Stored]) -> None:
        """Hear what it says, and start it if it is not there."""
        if self.process is None:
            trap = self.traps.pop(0) if self.traps else None
            self.process, self.pipe = start(self.run, self.place, trap, *self.args)
        self._hear(hits, stored)
        if self.process.exitcode is not None and not self.done:
            self._hear(hits, stored)
            assert self.process.exitcode == -9, f"{self.run.__name__} ended with {self.process.exitcode}"
            self.process = None

    def _hear(self, hits: Counter[str], stored: list[Stored]) -> None:
        try:
            while self.pipe.poll():
                word, told = self.pipe.recv()
                if word == "hit":
                    hits[f"{self.run.__name__}: {told}"] += 1
                elif word == "stored":
                    stored.append(told)
                else:
                    self.done = True
        except (EOFError, ConnectionError):
            pass

    def end(self) -> None:
        """It is not needed any more."""
        if self.process is not None:
            self.process.kill()
            self.process.join()


@dataclass
class Report:
    """What has happened."""

    games: list[str]
    hits: Counter[str] = field(default_factory=Counter)
    stored: list[Stored] = field(default_factory=list)
    seconds: float = 0.0


def traps(points: Sequence[str], rounds: int, rng: random.Random) -> list[Kill]:
    """Every point so many times, in any order, the first or a later time it is come to."""
    out = [Kill(point, rng.randint(1, 3)) for point in points for _ in range(rounds)]
    rng.shuffle(out)
    return out


def storm(place: Place, *, games: int, turns: int, rounds: int, seed: int, patience: float = 60) -> Report:
    """Play all games to their end, whoever is killed meanwhile."""
    rng = random.Random(seed)
    crew = crew_of(place)
    crew.ledger.migrate()
    crew.views.migrate()
    report = Report([opened(crew, turns) for _ in range(games)])
    half = games // 2
    players = [
        _Role(run_player, place, traps(PLAYER, rounds, rng), [part])
        for part in (report.games[:half], report.games[half:])
    ]
    others = [
        _Role(run_pump, place, traps(PUMP, rounds, rng)),
        *(_Role(run_worker, place, traps(WORKER, rounds, rng)) for _ in range(2)),
    ]
    began = time.monotonic()
    try:
        _until_played(place, report, players, others, rng, began + patience)
        assert Reader(crew.views).wait(_head(crew.ledger), 10), "the views do not come to the end of the log"
    finally:
        for role in (*players, *others):
            role.end()
        crew.views.close()
        crew.ledger.close()
    report.seconds = time.monotonic() - began
    return report


def _until_played(
    place: Place, report: Report, players: list[_Role], others: list[_Role], rng: random.Random, end: float
) -> None:
    redis = Redis.from_url(place.redis)
    wipe = time.monotonic()
    most = sum(len(r.traps) for r in others)  # so that what the killed leave behind is not always wiped away
    while not all(p.done for p in players):
        assert time.monotonic() < end, f"not played in time; {report.hits}"
        for role in (*players, *others):
            role.tend(report.hits, report.stored)
        if time.monotonic() > wipe and report.hits[WIPED] < most:
            redis.flushall()
            report.hits[WIPED] += 1
            wipe = time.monotonic() + rng.uniform(0.1, 0.6)
        time.sleep(0.005)
    for role in others:
        role.traps.clear()
        role.tend(report.hits, report.stored)
    redis.close()


def opened(crew: Crew, turns: int) -> str:
    """A started game for three, with a deadline of a second."""
    game = new_game()
    crew.commands.open(game, "orders@1", 3, {"turns": turns}, body={"pace": {"seconds": {"turn": 1}}})
    for seat in range(3):
        crew.commands.join(game, seat, f"p{seat}")
    crew.commands.start(game)
    return game


def _head(ledger: Ledger) -> int:
    """The last position of the log."""
    position = 0
    while entries := ledger.log(position, 1000):
        position = entries[-1].position
    return position


# --- what must hold --------------------------------------------------------------------------------------------


def check(place: Place, report: Report, turns: int) -> None:
    """Nothing acknowledged is lost, nothing is there twice, the views are those of the log."""
    crew = crew_of(place)
    sign_on(crew)
    for game in report.games:
        _check_game(crew, game, turns)
    for game, command, versions in report.stored:
        row = crew.ledger.command(game, command)
        assert row is not None, f"{command} of {game} is lost"
        assert (row.first, row.last) == (versions[0], versions[-1])
    before = rows(crew.views)
    rebuilds.rebuild()
    after = rows(crew.views)
    for name, found in before.items():
        assert found == after[name], f"the rebuilt {name} are others"
    assert not after["due"]
    assert not after["aside"]
    crew.views.close()
    crew.ledger.close()


def _check_game(crew: Crew, game: str, turns: int) -> None:
    records = crew.ledger.read(game)
    assert records[-1].kind == "closed"
    kinds = Counter(r.kind for r in records)
    assert kinds["resolved"] == turns, "every turn is resolved exactly once"
    assert kinds["lapsed"] >= 1
    commands = [c for r in records if (c := r.packs.get(TABLE_KEY, {}).get("command")) and r.kind == "moved"]
    assert len(commands) == len(set(commands)), "a command is stored twice"
    found = audits.audit(game)
    assert found["verified"], found


def rows(views: Views) -> dict[str, list[tuple[Any, ...]]]:
    """All views, whatever their generation is called."""
    tables = (
        schema.games,
        schema.boards,
        schema.timeline,
        schema.results,
        schema.due,
        schema.leaves,
        schema.nodes,
        schema.aside,
    )
    with views.reading() as db:
        return {t.name: sorted(tuple(row)[1:] for row in db.execute(select(t))) for t in tables}


def expected() -> set[str]:
    """Everything that must have happened at least once."""
    roles = {"run_player": PLAYER, "run_pump": PUMP, "run_worker": WORKER}
    assert {p for points in roles.values() for p in points} == set(POINTS)
    return {f"{role}: {point}" for role, points in roles.items() for point in points} | {WIPED}


# --- for as long as it is told ---------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """One line for each storm."""
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    args.add_argument("--minutes", type=float, default=5)
    args.add_argument("--seed", type=int, default=1)
    found = args.parse_args(argv)
    end, seed = time.monotonic() + 60 * found.minutes, found.seed
    while time.monotonic() < end:
        with new_server() as redis, tempfile.TemporaryDirectory() as folder:
            files = [f"sqlite:///{Path(folder) / name}.sqlite" for name in ("ledger", "views")]
            place = Place(files[0], files[1], redis.url)
            report = storm(place, games=8, turns=6, rounds=6, seed=seed, patience=300)
            check(place, report, turns=6)
        line = {"seed": seed, "seconds": round(report.seconds, 1), "stored": len(report.stored), **report.hits}
        print(json.dumps(line), flush=True)
        seed += 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
