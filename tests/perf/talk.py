"""Figures of talk: messages and marks against a small move, moves beside much talk, long conversations, and streams."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deploy.simulation import demo
from domain.rollouts import random_move
from domain.ruleset_registry import load_shipped
from tests.api.conftest import Site, make_site
from tests.perf.figures import Figure, quantile, seconds
from tests.perf.service import SEED, Played
from tests.perf.streams import SAID, SHARED, Crowd, held

RULESET = "imperunde@1"
FEW = 100
"""Messages of the short conversation."""

TALKERS = 10
TABLES = 2
"""Tables that they talk at."""

EVERY = 2.5
"""Seconds between two messages of one of them: a seat has 30 a minute."""


@dataclass(frozen=True)
class Talk:
    """What is measured."""

    messages: int = 10_000
    """Messages at the table with much talk."""
    count: int = 200
    """How often each is done, in turn with what stands beside it."""
    seconds: float = 20
    """How long ten people talk."""


def figures(talk: Talk, played: Played, crowd: Crowd) -> Iterator[Figure]:
    """The sums in this process, then the streams of a service."""
    with (
        tempfile.TemporaryDirectory(prefix="annals-perf-") as folder,
        closing(make_site(Path(folder), load_shipped())) as site,
    ):
        yield from beside_moves(site, talk)
    yield from streams(talk, played, crowd)


def beside_moves(site: Site, talk: Talk) -> Iterator[Figure]:
    """What is written and read beside a small move, which changes no views here: that would flatter the messages."""
    silent, quiet, loud = (Mover(site, talk=term) for term in ("none", "free", "free"))
    for number in range(talk.messages):
        loud.say(number, site.services.clock)
    for number in range(min(FEW, talk.messages)):
        quiet.say(number, site.services.clock)
    site.asleep = True
    sent, marked = iter(range(10**6)), iter(range(10**6))
    times = alternate(
        talk.count,
        move=quiet.move,
        message=lambda: quiet.say(next(sent), site.services.clock),
        mark=lambda: quiet.mark(next(marked)),
    )
    where = f"{RULESET}, 3 seats, in this process, SQLite"
    yield _compare("message sent, p50", where, times["message"], times["move"], "<= 1.3 x bare", "a small move")
    yield _compare("read mark set, p50", where, times["mark"], times["move"], "<= 1.3 x bare", "a small move")
    times = alternate(talk.count, bare=silent.move, few=quiet.move, many=loud.move)
    for name, messages in (("few", FEW), ("many", talk.messages)):
        place = f"{where}, {messages} messages at the table"
        yield _compare("move beside talk, p50", place, times[name], times["bare"], "<= 1.05 x bare", "without talk")
    times = alternate(talk.count, few=quiet.read, many=loud.read)
    place = f"{where}, {talk.messages} messages"
    limit = f"of {FEW} messages"
    yield _compare("first page of a conversation, p50", place, times["many"], times["few"], "<= 2 x bare", limit)
    site.asleep = False


class Mover:
    """A table in its talks, at which seat 0 moves to and fro, and the seats write letters in turn."""

    def __init__(self, site: Site, **terms: Any) -> None:
        self.table = site.table(RULESET, 3, options={"turn_limit": 200}, **terms)
        dice, services = random.Random(SEED), site.services
        while (now := services.commands.game(self.table.game)).state.top.kind != "diplomacy":
            seat = now.state.top.owing[0]
            move = random_move(services.registry.get(now.ruleset), now.state, seat, dice)
            assert self.table.move(seat, move).status_code == 201
        self._ready = False

    def move(self) -> None:
        self._ready = not self._ready
        move = {"type": "ready" if self._ready else "unready"}
        headers = {"If_Match": f'"{self.table.version}"'}
        answer = self.table.post("/moves", {"move": move}, self.table.tokens[0], **headers)
        assert answer.status_code == 201, answer.text

    def say(self, number: int, step: Callable[[], object]) -> None:
        """Send a message to the table, and let as much time pass as a seat has to wait."""
        step()
        body = {"to": [], "text": f"Message {number} of this evening, about as long as people write."}
        answer = self.table.post("/talk/messages", body, self.table.tokens[number % 3])
        assert answer.status_code == 201, answer.text

    def mark(self, number: int) -> None:
        body = {"conversation": "table", "upto": number}
        answer = self.table.site.put(f"{self.table.path}/talk/read", body, self.table.tokens[1])
        assert answer.status_code == 204, answer.text

    def read(self) -> None:
        query = "?conversation=table&before=9007199254740991&limit=50"
        assert self.table.get(f"/talk/messages{query}", 1).status_code == 200


def alternate(count: int, **works: Callable[[], object]) -> dict[str, list[float]]:
    """Do each in turn, so often; ms of each time."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(count):
        for name, work in works.items():
            times[name].append(1000 * seconds(work))
    return times


def _compare(what: str, where: str, ours: list[float], bare: list[float], budget: str, limit: str) -> Figure:
    return Figure(what, where, statistics.median(ours), "ms", budget, statistics.median(bare), limit)


def streams(talk: Talk, played: Played, crowd: Crowd) -> Iterator[Figure]:
    """Ten people talk at two tables while streams are open at these and many others."""
    with (
        tempfile.TemporaryDirectory(prefix="annals-perf-") as folder,
        demo.run_service(Path(folder) / "data", **SHARED) as address,
    ):
        dice = random.Random(SEED)
        games = [demo.open_table(address, played.plan(), dice) for _ in range(crowd.games)]
        with held(address, games, crowd, SAID) as (_, asked):
            sent = _talk(games, talk.seconds)
            time.sleep(1)
            asked.send("over")
            seen, open_ = asked.recv()
        lags = [at - sent[key] for key, times in seen.items() for at in times]
        where = f"{open_} streams of {crowd.games} games, {TALKERS} people talk, {talk.seconds:g} s"
        told = sum(map(len, seen.values())) / len(sent)
        yield Figure("streams that were told of a message", where, told, "", f">= {crowd.viewers}")
        yield Figure("from a message to its event, p50", where, 1000 * statistics.median(lags), "ms", "")
        yield Figure("from a message to its event, p95", where, 1000 * quantile(lags, 0.95), "ms", "<= 100")
        for game in games:
            for seat in game.seats:
                seat.close()


def _talk(games: list[demo.DemoGame], lasting: float) -> dict[tuple[str, int], float]:
    """Let ten people write in turn; game and number of a message -> when it was sent."""
    sent: dict[tuple[str, int], float] = {}
    begun, tables = time.monotonic(), games[:TABLES]
    people = [(game, seat) for seat in range(len(tables[0].seats)) for game in tables][:TALKERS]
    for number in range(int(lasting * len(people) / EVERY)):
        game, seat = people[number % len(people)]
        sent[game.game, number] = time.monotonic()
        say = partial(game.seats[seat].call, "POST", f"{game.path}/talk/messages")
        say({"to": [], "text": f"n{number}"})
        time.sleep(max(begun + (number + 1) * EVERY / len(people) - time.monotonic(), 0))
    return sent
