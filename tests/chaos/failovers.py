"""The primary is lost under load: a synchronous standby takes over by Patroni, and nothing acknowledged is lost.

`./run chaos failovers [--runs N] [--only NAME]`, as root on Linux with iproute2 and etcd; a minute for each. The old
primary comes back by `pg_rewind` before the next one is lost. `--asynchronous` shows what is lost without a synchronous
standby, and that signing stops.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from domain.transparency.checkpoint_store import CheckpointStore
from domain.transparency.signed_note import encode_base64
from projections.reader import Reader
from tests.chaos.children import KEY, Place, make_worker_context
from tests.chaos.cluster import ASYNCHRONOUS, DCS, REPLICATED, Cluster, Machine, new_cluster, until
from tests.chaos.history import WRITE, Answer
from tests.chaos.network import both, inside, new_network, report
from tests.chaos.partitions import CALM, checked, until_read
from tests.chaos.visitors import CLIENTS, HASTY, PATIENT, Harness, Inspector, Player, Watcher
from tests.deploy.harness import serving

NODE = "a"
DATABASES = ("one", "two")
DATABASE = "annals"
RECOVERED = 60.0
"""Seconds until a move is stored again, at most."""


@dataclass(frozen=True)
class Loss:
    """How a primary is lost, and how its machine comes back."""

    name: str
    lose: Callable[[Machine, Cluster], None]
    restore: Callable[[Machine, Cluster], None]


def _kill(machine: Machine, _: Cluster) -> None:
    machine.signal(signal.SIGKILL)


def _power_off(machine: Machine, cluster: Cluster) -> None:
    _cut_off(machine, cluster)
    machine.signal(signal.SIGKILL)


def _power_on(machine: Machine, cluster: Cluster) -> None:
    machine.network.heal()
    machine.start()
    del cluster


def _cut_off(machine: Machine, cluster: Cluster) -> None:
    machine.network.cut(both([machine.host], [*(h for h in _everybody() if h != machine.host)]))
    del cluster


def _split(machine: Machine, cluster: Cluster) -> None:
    """The nodes reach it still: two primaries, if anything could make two."""
    machine.network.cut(both([machine.host], [DCS, cluster.other(machine).host]))


LOSSES = (
    Loss("killed", _kill, lambda m, _: m.start()),
    Loss("frozen", lambda m, _: m.signal(signal.SIGSTOP), lambda m, _: m.signal(signal.SIGCONT)),
    Loss("cut off from the other and etcd", _split, lambda m, _: m.network.heal()),
    Loss("disk full", lambda m, _: m.fill(), lambda m, _: m.empty()),
    Loss("power lost", _power_off, _power_on),
)


def _everybody() -> Sequence[str]:
    return (NODE, CLIENTS, DCS, *DATABASES)


@dataclass(frozen=True)
class Failover:
    """What one of them looked like, in seconds from the loss."""

    loss: str
    gap: float
    """Longest time without an acknowledged move."""
    promoted: float
    first: float
    """The first move after the promotion, in seconds from it."""
    back: float
    """The old primary follows again, in seconds from its return."""
    rewound: bool
    rate: float
    """Moves a second before the loss."""
    instead: str

    HEAD = (
        "| primary | moves/s before | no moves for | promoted after | first move after that | the old one follows after"
        " | instead of moves |\n| --- | --- | --- | --- | --- | --- | --- |"
    )

    def line(self) -> str:
        """As a row of a table."""
        how = " by pg_rewind" if self.rewound else ""
        cells = [self.loss, f"{self.rate:.0f}", *(f"{s:.1f} s" for s in (self.gap, self.promoted, self.first))]
        return f"| {' | '.join([*cells, f'{self.back:.0f} s{how}', self.instead])} |"


def endure(harness: Harness, cluster: Cluster, loss: Loss) -> Failover:
    """One primary is lost, another takes over, and the first one comes back."""
    old = cluster.settle()
    new = cluster.other(old)
    time.sleep(5)
    begun, log = time.monotonic(), old.log.stat().st_size
    before = _moves(harness, begun - 5, begun)
    loss.lose(old, cluster)
    until(new.is_primary, why="a promotion")
    promoted = time.monotonic()
    try:
        until(lambda: _moves(harness, promoted, time.monotonic()), RECOVERED, "the first move")
    except TimeoutError as error:
        harness.faults.append(f"{loss.name}: {error}")
    first = min((a.ended for a in _moves(harness, promoted, time.monotonic())), default=promoted + RECOVERED)
    time.sleep(5)  # old and new live side by side
    returned = time.monotonic()
    loss.restore(old, cluster)
    cluster.settle()
    back = time.monotonic()
    with old.log.open() as file:
        file.seek(log)
        rewound = "pg_rewind" in file.read()
    times = [begun, *sorted(a.ended for a in _moves(harness, begun, back))]
    gap = max(after - earlier for earlier, after in itertools.pairwise(times))
    answers = harness.history.since(begun, back, (WRITE,), NODE)
    others = sorted({a.said for a in answers if not a.good and a.said[0] != "4"})
    figures = (gap, promoted - begun, first - promoted, back - returned)
    return Failover(loss.name, *figures, rewound, len(before) / 5, ", ".join(others))


def _moves(harness: Harness, begun: float, ended: float) -> list[Answer]:
    return [a for a in harness.history.since(begun, ended, (WRITE,), NODE) if a.good]


def play(runs: int, losses: Sequence[Loss], *, asynchronous: bool, pooled: bool) -> list[str]:
    """All of them in turn, printed; what does not hold."""
    kind = ASYNCHRONOUS if asynchronous else REPLICATED
    with new_network(_everybody()) as network, new_cluster(network, DATABASES, kind) as cluster, ExitStack() as stack:
        place = Place(cluster.local_url(DATABASE), cluster.local_url(DATABASE), "redis://127.0.0.1:1")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="annals-failovers-")))
        settings = {
            "ANNALS_DATABASE_URL": f"{cluster.start_pooler(NODE)}/{DATABASE}" if pooled else cluster.url(DATABASE),
            "ANNALS_KEY": KEY.hex(),
            "ANNALS_PLAIN_HTTP": "yes",
            "ANNALS_HOST": network.addresses[NODE],
            "ANNALS_SIGNING": "always" if asynchronous else "confirmed",
        }
        with inside(network.name(NODE)), serving(folder / NODE, **settings) as service:
            harness = Harness(network, {NODE: service.url}, may_forget=asynchronous)
            visitors = [Player(harness, n, (NODE,), HASTY if n % 2 else PATIENT, 0.02) for n in range(6)]
            others = [Watcher(harness, NODE), Inspector(harness, NODE)]
            for visitor in (*visitors, *others):
                visitor.start()
            print(Failover.HEAD, flush=True)
            for _, loss in zip(range(runs), itertools.cycle(losses), strict=False):
                print(endure(harness, cluster, loss).line(), flush=True)
            harness.over.set()
            for visitor in (*visitors, *others):
                visitor.join(CALM)
                if visitor.is_alive():
                    harness.faults.append(f"{type(visitor).__name__} does not end")
            until_read(place)
            said = service.complaints().splitlines()
            print(f"\nlog of the node: {len(said)} lines", *said[-80:], sep="\n  ", file=sys.stderr)
        if asynchronous:
            return lost(place, harness)
        return [*checked(place, harness), *signed(place, harness)]


def signed(place: Place, harness: Harness) -> list[str]:
    """Checkpoints that anybody has seen, and that the log at the end contradicts."""
    context = make_worker_context(place)
    try:
        proofs = Reader(context.views).proofs
        seen = {(size, root) for _, size, root in harness.history.checkpoints}
        found = [f"the log has another root at {n}" for n, root in seen if _root(proofs.root_at(n)) != root]
        found += [
            f"signing has stopped: {reason}" for reason in CheckpointStore(context.ledger, context.ledger.keys).halts
        ]
        print(f"{len(seen)} checkpoints seen, of up to {max((n for n, _ in seen), default=0)} records", flush=True)
    finally:
        context.views.close()
        context.ledger.close()
    return found


def lost(place: Place, harness: Harness) -> list[str]:
    """What a lagging standby has cost, printed; a fault only if signing went on over it."""
    faults = [f for f in checked(place, harness) if "no end" not in f]
    gone = [f for f in faults if "is lost" in f]
    contradicted = [f for f in signed(place, harness) if "root" in f]
    print(f"{len(gone)} acknowledged moves are lost", *faults[:20], sep="\n  ", flush=True)
    context = make_worker_context(place)
    halts = CheckpointStore(context.ledger, context.ledger.keys).halts
    context.views.close()
    context.ledger.close()
    print(f"signing: {halts or 'goes on'}", flush=True)
    return [] if halts else ["signing went on", *contradicted]


def _root(root: bytes | None) -> str:
    return encode_base64(root) if root else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was seen; status 1 if anything does not hold, 2 if this machine cannot."""
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="./run chaos failovers", description=about)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", choices=[loss.name for loss in LOSSES], action="append", metavar="NAME")
    parser.add_argument("--asynchronous", action="store_true", help="without a synchronous standby")
    parser.add_argument("--pooled", action="store_true", help="through PgBouncer in transaction mode, and HAProxy")
    args = parser.parse_args(argv)
    chosen = [loss for loss in LOSSES if not args.only or loss.name in args.only]
    return report(lambda: play(args.runs, chosen, asynchronous=args.asynchronous, pooled=args.pooled))


if __name__ == "__main__":
    raise SystemExit(main())
