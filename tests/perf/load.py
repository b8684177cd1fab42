"""A service with thousands of open tables: `./run perf load [--tables N] [--postgres]`, alone on the machine.

Tables are opened over HTTP in steps, each four times as many as before. At each step a few tables are played at a given
pace while boards and the lobby are read; at the last one with hundreds of streams, and with turns of a correspondence
game that all end in the same second. Everything is bounded, and goes to a service of its own on this machine.
"""

from __future__ import annotations

import argparse
import math
import random
import secrets
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from deploy.simulation import demo
from tests import postgres, valkey
from tests.perf.figures import Figure, head, quantile
from tests.perf.service import SEED, Played, Table
from tests.perf.streams import SHARED, Crowd, held, meanwhile

IDLE = demo.DemoPlan("struggle_of_empires@1", 2, {}, SEED, Path(), "correspondence")
"""Tables that are open and wait for their players."""

PLAYED = Played("imperunde", 6, {"turn_limit": 200, "goal": 45})
ACTIVE = 50
"""Tables that are played."""

TURN = 30
"""Seconds for the orders of a turn: all tables must have begun it before the first one ends."""

HANDS = 8
"""Clients that open tables at once."""


@dataclass
class Harness:
    """A service of one node or more, and where it keeps its data."""

    addresses: Sequence[str]
    files: Sequence[Path]
    database: str = ""

    def size(self) -> float:
        """MB of its databases."""
        if self.database:
            with psycopg.connect(self.database) as db:
                row = db.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(row[0] if row else 0) / 1e6
        return sum(f.stat().st_size for folder in self.files for f in folder.glob("*.sqlite*")) / 1e6


@dataclass
class Step:
    """What was measured with so many open tables."""

    tables: int
    values: dict[str, float] = field(default_factory=dict)


@contextmanager
def sqlite() -> Iterator[Harness]:
    """One node, files."""
    with (
        tempfile.TemporaryDirectory(prefix="annals-load-") as folder,
        demo.run_service(Path(folder) / "data", **SHARED) as address,
    ):
        yield Harness([address], [Path(folder) / "data"])


@contextmanager
def nodes(count: int) -> Iterator[Harness]:
    """Several nodes over one PostgreSQL and one Redis."""
    with ExitStack() as stack:
        server = stack.enter_context(postgres.new_server())
        url = stack.enter_context(postgres.new_database(server.dsn))
        redis = stack.enter_context(valkey.new_server())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="annals-load-")))
        given = {
            "ANNALS_DATABASE_URL": url,
            "ANNALS_REDIS_URL": redis.url,
            "ANNALS_KEY": secrets.token_hex(32),
            **SHARED,
        }
        addresses = [stack.enter_context(demo.run_service(folder / f"node-{n}", **given)) for n in range(count)]
        yield Harness(addresses, [folder / f"node-{n}" for n in range(count)], url)


# --- tables ----------------------------------------------------------------------------------------------------


def opened(harness: Harness, count: int) -> list[str]:
    """So many started tables; their ids."""

    def one(n: int) -> str:
        game = demo.open_table(harness.addresses[n % len(harness.addresses)], IDLE, random.Random(n))
        for seat in game.seats:
            seat.close()
        return game.game

    with ThreadPoolExecutor(HANDS) as pool:
        return list(pool.map(one, range(count)))


def burst(harness: Harness, count: int) -> list[float]:
    """Turns of a batch game whose deadlines end together: seconds from the deadline of each until it was resolved."""
    pace = {"seconds": {"turn_zero": 1, "turn": TURN}, "grace": 0}
    with ThreadPoolExecutor(HANDS) as pool:

        def seated(n: int) -> tuple[demo.DemoClient, str]:
            host, guest = (demo.DemoClient(harness.addresses[n % len(harness.addresses)]) for _ in range(2))
            made = host.call("POST", "/v1/games", {"ruleset": "egc@1", "seats": 10, "pace": pace})
            host.token = made["token"]
            for seat in range(10):
                guest.call("POST", f"/v1/games/{made['game']}/seats", {"seat": seat})
            guest.close()
            return host, f"/v1/games/{made['game']}"

        tables = list(pool.map(seated, range(count)))
        list(pool.map(lambda table: table[0].call("POST", f"{table[1]}/start", {}), tables))
    orders = {path: _orders(host, path, "") for host, path in tables}
    late = []
    for host, path in tables:
        _orders(host, path, orders[path]["id"])
        late.append(time.time() - orders[path]["deadline"] / 1000)
        host.close()
    return late


def _orders(host: demo.DemoClient, path: str, before: str) -> dict[str, Any]:
    """The decision in which all give orders, once there is another one than before."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        for found in host.call("GET", f"{path}/decisions")["decisions"]:
            if found["id"] != before and not found["engine"] and found["kind"] == "orders":
                return dict(found)
        time.sleep(0.02)
    raise demo.DemoError("a turn was not resolved")


# --- what is measured ------------------------------------------------------------------------------------------


def memory() -> float:
    """MB that all processes of the service, of its stores and of its front have, shared pages by their share."""
    whole = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text().strip()
            text = (folder / "smaps_rollup").read_text()
        except OSError:
            continue
        if name.startswith("annals") or name in ("nginx", "valkey-server", "redis-server", "postgres"):
            whole += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return whole / 1024


def measured(harness: Harness, games: Sequence[str], active: Sequence[Table], seconds: float, pace: float) -> Step:
    """Requests while the active tables are played."""
    step = Step(len(games) + len(active))
    work = meanwhile(active, seconds, pace)
    rng, client, boards = random.Random(SEED), demo.DemoClient(harness.addresses[0]), list[float]()
    for _ in range(200):
        asked = time.monotonic()
        client.call("GET", f"/v1/games/{rng.choice(games)}/board")
        boards.append(time.monotonic() - asked)
    lags = []
    for n in range(100):
        table = active[n % len(active)]
        table.move()
        done = time.monotonic()
        client.call("GET", f"{table.game.path}/board?wait={table.game.position}")
        lags.append(time.monotonic() - done)
    client.close()
    for what, times in {**work.times, "a board of any table": boards, "board after a move": lags}.items():
        step.values[f"{what}, p50 ms"] = 1000 * statistics.median(times)
        step.values[f"{what}, p95 ms"] = 1000 * quantile(times, 0.95)
    step.values["memory, MB"] = memory()
    step.values["databases, MB"] = harness.size()
    return step


def run(harness: Harness, args: argparse.Namespace) -> list[Step]:
    """All steps, the last one with streams and with turns that end together."""
    active = [
        Table.opened(address, PLAYED) for _, address in zip(range(args.active), _round(harness.addresses), strict=False)
    ]
    games: list[str] = []
    steps = []
    for wanted in (args.tables // 16, args.tables // 4, args.tables):
        began, more = time.monotonic(), max(wanted - len(games) - len(active), 1)
        games += opened(harness, more)
        rate = more / (time.monotonic() - began)
        step = measured(harness, games, active, args.seconds, args.pace)
        step.values["tables opened, /s"] = rate
        steps.append(step)
        print(f"{step.tables} tables: {step.values}", flush=True)
    last = steps[-1]
    crowd = Crowd(len(active), max(args.streams // len(active), 1), args.seconds, args.pace)
    with held(harness.addresses[0], [table.game for table in active], crowd) as (begun, asked):
        work = meanwhile(active, args.seconds, args.pace)
        asked.send("over")
        seen, _ = asked.recv()
    told = [at - work.made[key] for key, times in seen.items() if key in work.made for at in times]
    last.values[f"with {begun} streams: moves, p95 ms"] = 1000 * quantile(work.times["moves"], 0.95)
    last.values[f"with {begun} streams: told after, p95 ms"] = 1000 * quantile(told, 0.95)
    late = burst(harness, args.due) or [0.0]
    last.values[f"{args.due} turns that end together: half resolved after, s"] = statistics.median(late)
    last.values[f"{args.due} turns that end together: all resolved after, s"] = max(late)
    for table in active:
        table.close()
    return steps


def _round(addresses: Sequence[str]) -> Iterator[str]:
    while True:
        yield from addresses


def figures(steps: Sequence[Step], where: str) -> Iterator[Figure]:
    """Each quantity at the most tables; the slope is 1 where it grows as the tables do, 0 where it does not."""
    first, last = steps[0], steps[-1]
    grown = math.log(last.tables / first.tables)
    for what, value in last.values.items():
        name, _, unit = what.rpartition(" ")
        yield Figure(name.rstrip(","), f"{where}, {last.tables} tables", value, unit, "")
        if (before := first.values.get(what)) and value > 0:
            slope = math.log(value / before) / grown
            yield Figure(f"slope of {name.rstrip(',')}", f"{first.tables} to {last.tables} tables", slope, "", "<= 1")


def main(argv: Sequence[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="./run perf load", description=__doc__)
    parser.add_argument("--tables", type=int, default=10_000, metavar="N", help="open tables at the last step")
    parser.add_argument("--active", type=int, default=ACTIVE, metavar="N", help="tables that are played")
    parser.add_argument("--streams", type=int, default=500, metavar="N", help="streams at the last step")
    parser.add_argument("--due", type=int, default=200, metavar="N", help="turns that end in the same second")
    parser.add_argument("--seconds", type=float, default=30, metavar="S", help="how long each step is measured")
    parser.add_argument("--pace", type=float, default=20, metavar="R", help="moves a second meanwhile")
    parser.add_argument("--postgres", type=int, default=0, metavar="N", help="so many nodes over one PostgreSQL")
    args = parser.parse_args(argv)
    with nodes(args.postgres) if args.postgres else sqlite() as harness:
        steps = run(harness, args)
    print(head())
    for figure in figures(steps, f"PostgreSQL, {args.postgres} nodes" if args.postgres else "SQLite"):
        print(figure.line(), flush=True)
    return 0
