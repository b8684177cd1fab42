"""Two nodes, PostgreSQL and Redis in networks of their own, with partitions between each pair: what clients see.

`python -m tests.chaos.partitions [--seconds S]`, as root on Linux with iproute2; some five minutes. Clients play at six
tables meanwhile. A table of what they saw is printed, then what must hold of all that was acknowledged is checked.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from projections.leases import LEASE
from projections.projector import Projector
from projections.reader import Reader
from projections.viewer_history import ViewerHistory
from tests import postgres, valkey
from tests.chaos.children import CATALOGUE, KEY, Place, make_worker_context, now
from tests.chaos.history import LOOK, READ, READY, WRITE, Answer, faults
from tests.chaos.network import Direction, Flicker, Network, both, inside, new_network, report
from tests.chaos.storm import head_of, rows
from tests.chaos.visitors import CLIENTS, HASTY, PATIENT, Harness, Inspector, Player, Watcher
from tests.deploy.harness import Service, serving
from tests.perf.figures import quantile
from workers.context import set_context
from workers.jobs import audits, rebuilds

NODES = ("a", "b")
DATABASE, REDIS = "database", "redis"
PORT = 6379
MOVES: Sequence[str] = (WRITE,)
READS: Sequence[str] = (READ, LOOK)
INSPECTIONS: Sequence[str] = (READY,)

PAUSE = 4.0
"""Seconds until the next partition."""

CALM = 30.0
"""Seconds after which all must be well again."""

EVERYBODY = (*NODES, CLIENTS, DATABASE, REDIS)


@dataclass(frozen=True)
class Partition:
    """Links that are cut together."""

    name: str
    cut: Sequence[Direction] = ()
    flicker: bool = False
    """All links lose a fifth of the time."""
    narrow: str = ""
    """A host behind a narrow line."""


PARTITIONS = (
    Partition("none"),
    Partition("a from PostgreSQL", both(["a"], [DATABASE])),
    Partition("PostgreSQL's answers to a are lost", [(DATABASE, "a")]),
    Partition("both nodes from PostgreSQL", both(NODES, [DATABASE])),
    Partition("a from Redis", both(["a"], [REDIS])),
    Partition("both nodes from Redis", both(NODES, [REDIS])),
    Partition("a from its clients", both(["a"], [CLIENTS])),
    Partition("a from b", both(["a"], ["b"])),
    Partition("a from everything", both(["a"], ["b", CLIENTS, DATABASE, REDIS])),
    Partition("all links lose a fifth of the time", flicker=True),
    Partition("256 kbit/s to PostgreSQL", narrow=DATABASE),
)


# --- the service -----------------------------------------------------------------------------------------------


@contextmanager
def stores(network: Network) -> Iterator[tuple[Place, dict[str, str]]]:
    """Where they are on this machine, and the settings of a node that reaches them by network."""
    with ExitStack() as stack:
        address = network.addresses[DATABASE]
        with inside(network.name(DATABASE)):
            server = stack.enter_context(postgres.new_server(more=f"-h {address}"))
        with (server.data / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.77.0.0/16 trust\n")
        server.call("pg_ctl", "reload")
        url = stack.enter_context(postgres.new_database(server.dsn))
        host = ("--port", str(PORT), "--bind", network.addresses[REDIS], "--protected-mode", "no")
        with inside(network.name(REDIS)):
            redis = stack.enter_context(valkey.new_server(*host))
        name = url.removeprefix("postgresql:///").partition("?")[0]
        yield (
            Place(url, url, redis.url),
            {
                "ANNALS_DATABASE_URL": f"postgresql://postgres@{address}/{name}",
                "ANNALS_REDIS_URL": f"redis://{network.addresses[REDIS]}:{PORT}",
                "ANNALS_KEY": KEY.hex(),
                "ANNALS_PLAIN_HTTP": "yes",
            },
        )


@contextmanager
def nodes(network: Network, settings: dict[str, str]) -> Iterator[dict[str, Service]]:
    """Both, ready."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="annals-partitions-")))
        found = dict[str, Service]()
        for node in NODES:
            with inside(network.name(node)):
                told = {**settings, "ANNALS_HOST": network.addresses[node]}
                found[node] = stack.enter_context(serving(folder / node, **told))
        yield found


# --- what is seen ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What clients saw at one node during a partition, and after it."""

    partition: str
    node: str
    cells: Sequence[str]
    after: Sequence[float]
    """Seconds from the heal to the first good answer: to a move, and to a board."""

    def line(self) -> str:
        """As a row of a table."""
        after = " and ".join(f"{s:.1f} s" if s < CALM else "never" for s in self.after)
        return f"| {' | '.join([self.partition, self.node, *self.cells, after])} |"


HEAD = (
    "| cut | node | moves stored | boards | instead | `/readyz` | after the heal |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


def endure(harness: Harness, partition: Partition, seconds: float) -> Iterator[Row]:
    """One partition and its heal: a row for each node."""
    history, begun = harness.history, time.monotonic()
    harness.network.cut(partition.cut)
    if partition.narrow:
        harness.network.slow(partition.narrow, "256kbit")
    every = [d for d in itertools.permutations(EVERYBODY, 2) if CLIENTS not in d]
    flicker = Flicker(harness.network, every, 0.1, 0.5) if partition.flicker else None
    if flicker:
        flicker.start()
    time.sleep(seconds)
    if flicker:
        flicker.end()
    harness.network.heal()
    healed = time.monotonic()
    first: dict[tuple[str, str], float] = {}
    places = [*itertools.product((MOVES, READS), NODES)]
    while time.monotonic() < healed + CALM and len(first) < len(places):
        time.sleep(0.05)
        for kinds, node in places:
            good = [a.ended - healed for a in history.since(healed, time.monotonic(), kinds, node) if a.good]
            if good:
                first[kinds[0], node] = min(good)
    time.sleep(PAUSE)
    for node in NODES:
        moves, boards, ready = (history.since(begun, healed, kinds, node) for kinds in (MOVES, READS, INSPECTIONS))
        cells = [*(rate_of(found, begun, healed) for found in (moves, boards)), others_of([*moves, *boards])]
        states = Counter(a.said for a in ready)
        cells.append(", ".join(f"{count} {said}" for said, count in states.most_common()))
        yield Row(partition.name, node, cells, [first.get((kinds[0], node), CALM) for kinds in (MOVES, READS)])


def rate_of(answers: Sequence[Answer], begun: float, healed: float) -> str:
    """How many good ones there were, how long they took, and the longest time without any."""
    good = [a for a in answers if a.good]
    if not good:
        return "none"
    times = [begun, *sorted(a.ended for a in good), healed]
    gap = max(after - before for before, after in itertools.pairwise(times))
    return f"{len(good)}, p95 {1000 * quantile([a.ended - a.begun for a in good], 0.95):.0f} ms, gap {gap:.1f} s"


def others_of(answers: Sequence[Answer]) -> str:
    """Each other answer, and how long it took at most."""
    others: dict[str, list[float]] = {}
    for answer in answers:
        if not answer.good:
            others.setdefault(answer.said, []).append(answer.ended - answer.begun)
    return ", ".join(f"{len(taken)} {said} ({max(taken):.0f} s)" for said, taken in sorted(others.items()))


def checked(place: Place, harness: Harness) -> list[str]:
    """What does not hold, with the nodes at an end."""
    context = make_worker_context(place)
    set_context(context)
    try:
        logs = {game: context.ledger.read(game) for game in harness.games}
        found = [*harness.faults, *faults(harness.history, logs)]
        for game in harness.games:
            audit = audits.audit_game(context, game)
            found += [] if audit["verified"] else [f"{game}: {audit}"]
        projector = Projector(ViewerHistory(context.ledger, CATALOGUE, context.views), "checker")
        later = now() + 2 * LEASE  # when the leases of the nodes are over
        slices = [*iter(lambda: projector.run(later), None)]  # games went on until the nodes ended
        print(f"pieces of the log that the nodes left unread: {len(slices)}", file=sys.stderr)
        before = rows(context.views)
        rebuilds.rebuild_views(context)
        after = rows(context.views)
        found += [f"the rebuilt {name} are others" for name, was in before.items() if was != after[name]]
        kinds = Counter(str(r.body.get("act", r.kind)) for records in logs.values() for r in records)
        print(f"{len(logs)} games: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}", flush=True)
    finally:
        context.views.close()
        context.ledger.close()
    return found


def play(seconds: float, partitions: Sequence[Partition]) -> list[str]:
    """All partitions in turn, printed; what does not hold."""
    with new_network(EVERYBODY) as network, stores(network) as (place, settings):
        with nodes(network, settings) as services:
            harness = Harness(network, {node: service.url for node, service in services.items()})
            seats: list[tuple[Sequence[str], float]] = [
                (("a",), PATIENT),
                (("a",), HASTY),
                (("b",), PATIENT),
                (("b",), HASTY),
            ]
            seats += [(("a", "b"), HASTY), (("b", "a"), HASTY)]
            players = [Player(harness, n, *seat) for n, seat in enumerate(seats)]
            visitors = [*players, *(kind(harness, node) for kind in (Watcher, Inspector) for node in NODES)]
            for visitor in visitors:
                visitor.start()
            time.sleep(5)
            print(HEAD, flush=True)
            for partition in partitions:
                for row in endure(harness, partition, seconds):
                    print(row.line(), flush=True)
            harness.over.set()
            for visitor in visitors:
                visitor.join(CALM)
                if visitor.is_alive():
                    harness.faults.append(f"{type(visitor).__name__} does not end")
            until_read(place)
            for node, service in services.items():
                said = service.complaints().splitlines()
                print(f"\nlog of {node}: {len(said)} lines", *said[-60:], sep="\n  ", file=sys.stderr)
        return checked(place, harness)


def until_read(place: Place) -> None:
    """The views have come to the end of the log."""
    context = make_worker_context(place)
    try:
        assert Reader(context.views).wait_for_position(head_of(context.ledger), 20), "the views stay behind"
    finally:
        context.views.close()
        context.ledger.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Print what clients saw; status 1 if anything does not hold, 2 without namespaces."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=17, help="of each partition")
    parser.add_argument("--only", type=int, action="append", metavar="N", help="its number, from 0; repeatable")
    args = parser.parse_args(argv)
    chosen = [PARTITIONS[n] for n in args.only] if args.only else PARTITIONS
    return report(lambda: play(args.seconds, chosen))


if __name__ == "__main__":
    raise SystemExit(main())
