"""A storm: games are played while API, pump and workers are killed again and again and Redis is emptied.

Two processes of the API, a pump and two workers share nothing but a database and Redis; the clients know HTTP alone.

`python -m tests.chaos.storm [--minutes M] [--turns N] [--sqlite]` goes on for as long as it is told.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from redis import Redis
from sqlalchemy import select

from domain.accounts.account_store import AccountStore
from domain.command_handler import GameConditions, new_game_id
from domain.kernel.game.game_fold import active_versions
from domain.kernel.game.table_commands import Join, Start
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.notifications.notification_store import NotificationStore
from domain.service.database import Statement
from domain.service.seat_tokens import SeatTokens
from domain.types import DIRECTOR
from projections import schema
from projections.reader import Reader
from projections.view_store import ViewStore
from tests.chaos.children import POINTS, Kill, Place, make_worker_context, run_api, run_pump, run_worker, start
from tests.chaos.clients import Client, Game
from tests.postgres import new_database
from tests.postgres import new_server as new_postgres
from tests.projections.conftest import opened as unsealed
from tests.valkey import new_server
from workers.context import WorkerContext, set_context
from workers.jobs import audits, rebuilds

WIPED = "redis emptied"

API = (
    "before the append",
    "after the append, before the answer",
    "records stored, rows beside them not",
    "rows beside them stored, nothing committed",
    "asked for, not answered",
)
PUMP = (
    "rows written, position not",
    "views committed, nobody told",
    "before the enqueueing",
    "enqueued, not known",
)
WORKER = ("job begun", "before the append", "after the append, before the answer", "done, not written down")


@dataclass
class _Role:
    """A process that is started anew whenever it is killed, each time with the next trap."""

    run: Callable[..., None]
    place: Place
    traps: list[Kill]
    process: Any = None
    pipe: Any = None
    port: int = 0
    """Where it listens, if it does."""

    def tend(self, hits: Counter[str]) -> None:
        """Hear what it says, and start it if it is not there."""
        if self.process is None:
            trap = self.traps.pop(0) if self.traps else None
            self.process, self.pipe = start(self.run, self.place, trap)
        self._hear(hits)
        if self.process.exitcode is not None:
            self._hear(hits)
            assert self.process.exitcode == -9, f"{self.run.__name__} ended with {self.process.exitcode}"
            self.process, self.port = None, 0

    def _hear(self, hits: Counter[str]) -> None:
        try:
            while self.pipe.poll():
                word, told = self.pipe.recv()
                if word == "hit":
                    hits[f"{self.run.__name__}: {told}"] += 1
                else:
                    self.port = told
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

    games: list[Game]
    hits: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    """Requests that were sent again."""
    seconds: float = 0.0

    def figures(self) -> dict[str, Any]:
        """In one line."""
        jobs = Counter(job["status"] for g in self.games for job in g.jobs.values())
        stored = sum(len(g.stored) for g in self.games)
        line = {"seconds": round(self.seconds, 1), "stored": stored, "unanswered": self.unanswered}
        return line | {f"rewinds {status}": n for status, n in jobs.items()} | dict(self.hits)


def traps(points: Sequence[str], rounds: int, rng: random.Random) -> list[Kill]:
    """Every point so many times, in any order, the first or a later time it is come to."""
    out = [Kill(point, rng.randint(1, 3)) for point in points for _ in range(rounds)]
    rng.shuffle(out)
    return out


def storm(
    place: Place,
    *,
    games: int,
    turns: int,
    rounds: int,
    seed: int,
    rewinds: int = 2,
    changes: int = 4,
    patience: float = 60,
) -> Report:
    """Play all games to their end, whoever is killed meanwhile."""
    rng = random.Random(seed)
    context = make_worker_context(place)
    for each in (
        context.ledger,
        SeatTokens(context.ledger, context.ledger.keys),
        context.job_requests,
        context.heartbeat,
        AccountStore(context.ledger, context.ledger.keys),
        NotificationStore(context.ledger, context.ledger.keys),
        context.views,
    ):
        each.migrate()
    report = Report([opened(context, turns, rewinds, changes) for _ in range(games)])
    apis = [_Role(run_api, place, traps(API, rounds, rng)) for _ in range(2)]
    others = [
        _Role(run_pump, place, traps(PUMP, rounds, rng)),
        *(_Role(run_worker, place, traps(WORKER, rounds, rng)) for _ in range(2)),
    ]
    began = time.monotonic()
    end = began + patience

    def ports() -> list[int]:
        return [a.port for a in apis if a.port]

    clients = [Client(g, ports, rng.randrange(2**32), end) for g in report.games]
    over = threading.Event()
    threading.Thread(target=probe, args=(ports, over), daemon=True).start()
    try:
        for client in clients:
            client.start()
        _until_played(place, report, clients, [*apis, *others], rng)
        assert Reader(context.views).wait_for_position(head_of(context.ledger), 10), (
            "the views do not come to the end of the log"
        )
        _until_settled(context, [*apis, *others], report.hits, end)
    finally:
        over.set()
        for role in (*apis, *others):
            role.end()
        context.views.close()
        context.ledger.close()
    report.seconds = time.monotonic() - began
    report.unanswered = sum(c.unanswered for c in clients)
    return report


def _until_played(place: Place, report: Report, clients: list[Client], roles: list[_Role], rng: random.Random) -> None:
    redis = Redis.from_url(place.redis)
    wipe = time.monotonic()
    most = sum(len(r.traps) for r in roles)  # so that what the killed leave behind is not always wiped away
    while any(c.is_alive() for c in clients):
        for role in roles:
            role.tend(report.hits)
        if time.monotonic() > wipe and report.hits[WIPED] < most:
            redis.flushall()
            report.hits[WIPED] += 1
            wipe = time.monotonic() + rng.uniform(0.1, 0.6)
        time.sleep(0.005)
    for client in clients:
        assert client.fault is None, (client.fault, report.figures())
    for role in roles:
        role.traps.clear()
        role.tend(report.hits)
    redis.close()


def _until_settled(context: WorkerContext, roles: list[_Role], hits: Counter[str], end: float) -> None:
    """Whoever was killed between the log and the row is followed by one that writes the row."""
    while context.job_requests.list_open():
        assert time.monotonic() < end, context.job_requests.list_open()
        for role in roles:
            role.tend(hits)
        time.sleep(0.02)


def opened(context: WorkerContext, turns: int, rewinds: int, changes: int) -> Game:
    """A started game for three, with a deadline of two seconds."""
    game, access = new_game_id(), SeatTokens(context.ledger, context.ledger.keys)
    director, *tokens = (access.make_token().token for _ in range(4))
    pace = {"pace": {"seconds": {"turn": 2}}}
    rows = access.issue(game, DIRECTOR, "p9", director)
    context.commands.open(game, "orders@1", 3, {"turns": turns}, body=pace, extra_statements=lambda _: rows)
    for seat, token in enumerate(tokens):
        context.commands.handle(
            game, Join(seat, f"p{seat}"), GameConditions(extra_statements=partial(_issued, access, game, token))
        )
    context.commands.handle(game, Start())
    return Game(game, tokens, director, rewinds, changes)


def _issued(access: SeatTokens, game: str, token: str, joined: Record) -> list[Statement]:
    return access.issue(game, joined.public["seat"], joined.body["player"], token)


def probe(ports: Callable[[], list[int]], over: threading.Event) -> None:
    """As a prober does: while it is answered, players could be."""
    while not over.wait(0.3):
        for port in ports():
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
                connection.request("GET", "/readyz")
                connection.getresponse().read()
                connection.close()


def head_of(ledger: Ledger) -> int:
    """The last position of the log."""
    position = 0
    while entries := ledger.log(position, 1000):
        position = entries[-1].position
    return position


# --- what must hold --------------------------------------------------------------------------------------------


def check(place: Place, report: Report, turns: int) -> None:
    """Nothing acknowledged is lost, nothing is there twice, the views are those of the log."""
    context = make_worker_context(place)
    set_context(context)
    for game in report.games:
        _check_game(context, game, turns)
    assert any(r.kind == "lapsed" for game in report.games for r in context.ledger.read(game.id)), (
        "no deadline was missed"
    )
    before = rows(context.views)
    rebuilds.rebuild_views(context)
    after = rows(context.views)
    for name, found in before.items():
        assert found == after[name], f"the rebuilt {name} are others"
    assert not after["due"]
    assert not after["aside"]
    context.views.close()
    context.ledger.close()


def _check_game(context: WorkerContext, game: Game, turns: int) -> None:
    records = context.ledger.read(game.id)
    assert records[-1].kind == "closed"
    counting = set(active_versions(records))
    named = [(r, str(c)) for r in records if (c := r.packs.get(TABLE_KEY, {}).get("command"))]
    commands = [c for r, c in named if r.kind != "closed"]  # which comes with the record that ends the game
    assert len(commands) == len(set(commands)), "a command is stored twice"
    resolved = [r for r in records if r.kind == "resolved"]
    assert sum(r.version in counting for r in resolved) == turns, "every turn is resolved exactly once"
    assert all(c.startswith(f"resolve-{game.id}-") for r, c in named if r.kind == "resolved")
    _check_answers(context, game, records)
    _check_tokens(context, game)
    found = audits.audit_game(context, game.id)
    assert found["verified"], found


def _check_answers(context: WorkerContext, game: Game, records: list[Record]) -> None:
    assert len(set(game.stored.values())) == len(game.stored), "two commands were told the same version"
    for key, version in game.stored.items():
        assert records[version - 1].kind == "moved", f"{key} is lost"
    told = {id_: job["version"] for id_, job in game.jobs.items() if job["status"] == "done"}
    made = {str(r.packs[TABLE_KEY]["command"]): r.version for r in records if r.kind == "rewound"}
    assert told == made, "a rewind is lost, or there is one that nobody was told of"
    for errand in context.job_requests.list_rewinds(game.id, 1000):
        outcome = errand.outcome or {}
        assert outcome.get("version") == made[errand.id] if errand.id in made else "refused" in outcome


def _check_tokens(context: WorkerContext, game: Game) -> None:
    """Who sits there has the one token that opens the seat, and nobody has who does not."""
    access, players = (
        SeatTokens(context.ledger, context.ledger.keys),
        context.commands.game(game.id).players,
    )
    for seat, token in enumerate(game.seats):
        found = access.authenticate(token)
        assert (found.player if found else "") == players[seat].id, f"seat {seat} and its token do not go together"
    for doc in game.joined.values():
        assert doc["token"] == game.seats[2] or access.authenticate(doc["token"]) is None


def rows(views: ViewStore) -> dict[str, list[tuple[Any, ...]]]:
    """All views, whatever their generation is called."""
    tables = (
        schema.games,
        schema.boards,
        schema.timeline,
        schema.results,
        schema.due,
        schema.held_back,
        schema.seated,
        schema.leaves,
        schema.nodes,
        schema.aside,
    )
    with views.reading() as db:
        found = {t.name: [unsealed(views, row) for row in db.execute(select(t)).mappings()] for t in tables}
    return {name: sorted(tuple(row.values())[1:] for row in table) for name, table in found.items()}


def expected() -> set[str]:
    """Everything that must have happened at least once."""
    roles = {"run_api": API, "run_pump": PUMP, "run_worker": WORKER}
    assert {p for points in roles.values() for p in points} == set(POINTS)
    return {f"{role}: {point}" for role, points in roles.items() for point in points} | {WIPED}


# --- for as long as it is told ---------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """One line for each storm."""
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    args.add_argument("--minutes", type=float, default=5)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--turns", type=int, default=30, help="of each of the eight games")
    args.add_argument("--sqlite", action="store_true", help="instead of PostgreSQL")
    found = args.parse_args(argv)
    end, seed = time.monotonic() + 60 * found.minutes, found.seed
    while time.monotonic() < end:
        with new_server() as redis, _stores(found.sqlite) as (ledger, views):
            place = Place(ledger, views, redis.url)
            report = storm(place, games=8, turns=found.turns, rounds=6, seed=seed, rewinds=6, changes=12, patience=600)
            check(place, report, found.turns)
        print(json.dumps({"seed": seed, "turns": 8 * found.turns, **report.figures()}), flush=True)
        seed += 1
    return 0


@contextmanager
def _stores(sqlite: bool) -> Iterator[tuple[str, str]]:
    """The addresses of ledger and views."""
    if sqlite:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/ledger.sqlite", f"sqlite:///{folder}/views.sqlite"
    else:
        with new_postgres() as server, new_database(server.dsn) as url:
            yield url, url


if __name__ == "__main__":
    raise SystemExit(main())
