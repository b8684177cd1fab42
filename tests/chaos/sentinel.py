"""The master of a Redis with Sentinels is lost, emptied or set back under a burst of turns: none is late or done twice.

`./run chaos sentinel [--runs N] [--only NAME]`, as root on Linux with iproute2; half a minute for each. Three machines
have a server and a Sentinel with `deploy/cluster/sentinel.conf`. Clients play at twelve tables meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from redis import Redis
from redis.exceptions import RedisError

from deploy.runtime import embedded_redis
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import Record
from tests import postgres
from tests.chaos.children import KEY, Place, make_worker_context, now
from tests.chaos.cluster import until
from tests.chaos.history import READY
from tests.chaos.network import Network, NoNamespaces, both, inside, new_network, report
from tests.chaos.partitions import CALM, DATABASE, checked, until_read
from tests.chaos.visitors import CLIENTS, HASTY, PATIENT, Harness, Inspector, Player, Watcher
from tests.deploy.harness import Service, serving
from tests.perf.figures import quantile

NODE = "a"
MACHINES = ("one", "two", "three")
EVERYBODY = (NODE, CLIENTS, DATABASE, *MACHINES)
SERVICE = "annals"
PORT, SENTINEL_PORT = 6379, 26379
SHIPPED = Path(__file__).resolve().parents[2] / "deploy" / "cluster" / "sentinel.conf"
TABLES = 12
TURN_MS = 4000
"""Time for a turn at these tables: `Player.visit`."""
LATE = 10.0
"""Seconds that a turn may be late."""
WATCHED = 20.0
"""Seconds for which turns are watched after each loss."""


@dataclass
class Machine:
    """A host with a server and a Sentinel. The server listens at a socket too, which this program uses."""

    network: Network
    host: str
    folder: Path
    server: subprocess.Popen[bytes] | None = None
    sentinel: subprocess.Popen[bytes] | None = None
    settings: Sequence[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.network.addresses[self.host]

    def prepare(self, master: str) -> None:
        """Write the settings of the Sentinel: those that are shipped, but for addresses, folder and passwords."""
        self.folder.mkdir()
        text = SHIPPED.read_text("utf-8")
        text = text.replace("bind 10.0.0.1", f"bind {self.address}").replace("10.0.0.1 6379", f"{master} {PORT}")
        text = re.sub(r"(?m)^(requirepass|sentinel auth-pass|dir) .*\n", "", text)
        (self.folder / "sentinel.conf").write_text(f"{text}dir {self.folder}\nunixsocket {self.folder}/sentinel\n")

    def _start(self, *args: str) -> subprocess.Popen[bytes]:
        command = ["setpriv", "--pdeathsig", "KILL", embedded_redis.find_server(), *args]
        with inside(self.network.name(self.host)), (self.folder / "log").open("a") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_server(self, master: str = "") -> None:
        """Start it, as a replica if a master is given."""
        (self.folder / "socket").unlink(missing_ok=True)
        command = ["--port", str(PORT), "--bind", self.address, "--protected-mode", "no", "--save", ""]
        command += ["--unixsocket", f"{self.folder}/socket", "--dir", str(self.folder)]
        command += ["--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0"]
        self.server = self._start(*command, *(["--replicaof", f"{master} {PORT}"] if master else []))

    def start_sentinel(self) -> None:
        self.sentinel = self._start(str(self.folder / "sentinel.conf"), "--sentinel")

    def signal(self, number: signal.Signals, *, sentinel: bool = False) -> None:
        """Send it to the server, and to the Sentinel if wanted."""
        for process in (self.server, self.sentinel if sentinel else None):
            if process is not None:
                process.send_signal(number)
                if number == signal.SIGKILL:
                    process.wait()

    def tell(self, *command: str, sentinel: bool = False) -> object:
        """What the server or the Sentinel answers; None if it does not."""
        url = f"unix://{self.folder}/{'sentinel' if sentinel else 'socket'}"
        with suppress(RedisError, OSError), closing(Redis.from_url(url, socket_timeout=2)) as client:
            return cast(object, client.execute_command(*command))  # type: ignore[no-untyped-call]
        return None

    def replicas(self) -> int:
        """How many follow it; -1 if it is no master."""
        found = self.tell("INFO", "replication")
        if not isinstance(found, dict) or found["role"] != "master":
            return -1
        return sum(1 for name, one in found.items() if re.fullmatch("slave[0-9]+", name) and one["state"] == "online")


@dataclass
class Group:
    """The three machines."""

    network: Network
    machines: Sequence[Machine]
    backup: Path
    service: Service | None = None

    def master(self) -> Machine | None:
        """The one that the Sentinels name, once both others follow it."""
        named = [m.tell("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE, sentinel=True) for m in self.machines]
        return next(
            (m for m in self.machines if all(_host_of(n) == m.address for n in named) and m.replicas() == 2), None
        )

    def named(self, but: Machine | None = None) -> str:
        """The address that the Sentinels of the other machines name."""
        said = {
            _host_of(m.tell("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE, sentinel=True))
            for m in self.machines
            if m is not but
        }
        return said.pop() if len(said) == 1 else ""

    def settle(self) -> Machine:
        """Wait for a master with two replicas."""
        found: Machine = until(self.master, why="a settled group of servers")
        return found

    def url(self) -> str:
        return f"redis+sentinel://{','.join(f'{m.address}:{SENTINEL_PORT}' for m in self.machines)}/{SERVICE}"


def _host_of(said: object) -> str:
    return bytes(said[0]).decode() if isinstance(said, list) and said else ""


@contextmanager
def new_group(network: Network) -> Iterator[Group]:
    """Started, with a master."""
    if not shutil.which("setpriv"):
        raise NoNamespaces("this needs setpriv (Debian: util-linux)")
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sentinel-", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        machines = [Machine(network, host, folder / host) for host in MACHINES]
        first = machines[0]
        for machine in machines:
            machine.prepare(first.address)
            stack.callback(machine.signal, signal.SIGKILL, sentinel=True)
            machine.start_server("" if machine is first else first.address)
        until(lambda: first.replicas() == 2, why="replication")
        for machine in machines:
            machine.start_sentinel()
        group = Group(network, machines, folder / "backup.rdb")
        group.settle()
        until(lambda: _known(first) == 2, why="the acquaintance of Sentinels")
        yield group


def _known(machine: Machine) -> int:
    """How many other Sentinels its Sentinel knows."""
    found = machine.tell("SENTINEL", "SENTINELS", SERVICE, sentinel=True)
    return len(found) if isinstance(found, list) else 0


# --- losses ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """How the master is lost or changed, and what brings it back."""

    name: str
    lose: Callable[[Machine, Group], None]
    before: Callable[[Machine, Group], None] = lambda _, __: None
    restore: Callable[[Machine, Group], None] = lambda _, __: None
    replaced: bool = True
    """Whether another machine takes over."""


def _kill(machine: Machine, _: Group) -> None:
    machine.signal(signal.SIGKILL)


def _power_off(machine: Machine, group: Group) -> None:
    group.network.cut(both([machine.host], [host for host in EVERYBODY if host != machine.host]))
    machine.signal(signal.SIGKILL, sentinel=True)


def _power_on(machine: Machine, group: Group) -> None:
    group.network.heal()
    machine.start_server()
    machine.start_sentinel()


def _fail_over(machine: Machine, group: Group, *how: str) -> None:
    other = next(m for m in group.machines if m is not machine)
    until(lambda: other.tell("SENTINEL", "FAILOVER", SERVICE, *how, sentinel=True), why="a planned failover")


def _return_empty(machine: Machine, _: Group) -> None:
    """Before the Sentinels miss it; its replicas are then emptied by it."""
    machine.signal(signal.SIGKILL)
    machine.start_server()


def _save(machine: Machine, group: Group) -> None:
    """Keep what it holds now, and let it grow old."""
    machine.tell("SAVE")
    shutil.move(machine.folder / "dump.rdb", group.backup)
    time.sleep(15)


def _return_old(machine: Machine, group: Group) -> None:
    """Before the Sentinels miss it."""
    shutil.copy(group.backup, machine.folder / "dump.rdb")
    machine.signal(signal.SIGKILL)
    machine.start_server()
    until(lambda: machine.tell("PING"), why="the old Redis")
    (machine.folder / "dump.rdb").unlink()


def _end_workers(_: Machine, group: Group) -> None:
    """Five times, amid turns; the supervisor starts others."""
    for _again in range(5):
        if group.service and (worker := group.service.find("annals-worker-1")):
            os.kill(worker, signal.SIGTERM)
        time.sleep(4)


LOSSES = (
    Loss("killed", _kill, restore=lambda m, _: m.start_server()),
    Loss("planned failover", _fail_over),
    Loss("planned failover, `COORDINATED`", lambda m, g: _fail_over(m, g, "COORDINATED")),
    Loss("frozen", lambda m, _: m.signal(signal.SIGSTOP), restore=lambda m, _: m.signal(signal.SIGCONT)),
    Loss("power lost", _power_off, restore=_power_on),
    Loss("comes back empty", _return_empty, replaced=False),
    Loss("comes back old", _return_old, _save, replaced=False),
    Loss("well; workers end five times", _end_workers, replaced=False),
)


class Sleeper(Player):
    """Misses a tenth of its deadlines: one seat says nothing to a decision, however often it is looked at."""

    def silent_seat(self, decision: str) -> int | None:
        return 2 if random.Random(f"{self.number} {decision}").random() < 0.1 else None


# --- what is seen ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Episode:
    """A loss, and when turns were watched, in ms of the clock."""

    loss: str
    begun: int
    ended: int
    replaced: float
    """Seconds until the Sentinels named another master."""
    away: float
    """Seconds for which the node said that Redis is away."""

    HEAD = (
        "| Redis | another master after | `redis: away` for | turns | late: p50 | p95 | most |\n"
        "| --- | --- | --- | --- | --- | --- | --- |"
    )

    def line(self, late: Sequence[tuple[int, float]]) -> str:
        """As a row of a table; `late` has the time of each turn and by how much it was late."""
        found = [seconds for at, seconds in late if self.begun <= at < self.ended]
        replaced = f"{self.replaced:.1f} s" if self.replaced else ""
        figures = [f"{quantile(found, part):.1f} s" for part in (0.5, 0.95, 1)] if found else ["", "", ""]
        return f"| {' | '.join([self.loss, replaced, f'{self.away:.0f} s', str(len(found)), *figures])} |"


def endure(harness: Harness, group: Group, loss: Loss) -> Episode:
    """One loss, and what brings the machine back."""
    old = group.settle()
    loss.before(old, group)
    begun, at = time.monotonic(), now()
    loss.lose(old, group)
    replaced = 0.0
    if loss.replaced:
        until(lambda: group.named(but=old) not in ("", old.address), why="another master")
        replaced = time.monotonic() - begun
    time.sleep(WATCHED)
    loss.restore(old, group)
    group.settle()
    answers = harness.history.since(begun, time.monotonic(), (READY,), NODE)
    missed = [a for a in answers if "redis away" in a.said]
    away = missed[-1].ended - missed[0].begun if missed else 0.0
    return Episode(loss.name, at, now(), replaced, away)


def lateness(logs: Mapping[str, Sequence[Record]]) -> list[tuple[int, float]]:
    """When each turn was resolved, or answered for a seat that missed its deadline, and by how many seconds late."""
    found = list[tuple[int, float]]()
    for records in logs.values():
        opened = 0
        for before, record in itertools.pairwise(records):
            if record.kind == "resolved":
                found.append((record.time, (record.time - before.time) / 1000))
            elif record.kind == "lapsed":
                found.append((record.time, (record.time - opened - TURN_MS) / 1000))
            if record.kind in ("started", "resolved"):
                opened = record.time
    return found


def wrong_turns(logs: Mapping[str, Sequence[Record]]) -> list[str]:
    """Turns that are late or there twice, and commands that were stored twice."""
    found = [f"a turn is late by {late:.1f} s" for _, late in lateness(logs) if late > LATE]
    for game, records in logs.items():
        commands = Counter(
            c for r in records if r.kind != "closed" and (c := r.packs.get(TABLE_KEY, {}).get("command"))
        )
        found += [f"{game}: {command} is stored {times} times" for command, times in commands.items() if times > 1]
        pairs = itertools.pairwise(records)
        found += [f"{game}: a turn is resolved twice" for a, b in pairs if a.kind == b.kind == "resolved"]
    return found


@contextmanager
def database(network: Network) -> Iterator[str]:
    """A server of PostgreSQL in a network of its own; the address of a new database by its socket."""
    with ExitStack() as stack:
        address = network.addresses[DATABASE]
        with inside(network.name(DATABASE)):
            server = stack.enter_context(postgres.new_server(more=f"-h {address}"))
        with (server.data / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.77.0.0/16 trust\n")
        server.call("pg_ctl", "reload")
        yield stack.enter_context(postgres.new_database(server.dsn))


def play(runs: int, losses: Sequence[Loss]) -> list[str]:
    """All of them in turn, printed; what does not hold."""
    with ExitStack() as stack:
        network = stack.enter_context(new_network(EVERYBODY))
        url = stack.enter_context(database(network))
        group = stack.enter_context(new_group(network))
        place = Place(url, url, "redis://127.0.0.1:1")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="annals-sentinel-")))
        name = url.removeprefix("postgresql:///").partition("?")[0]
        settings = {
            "ANNALS_DATABASE_URL": f"postgresql://postgres@{network.addresses[DATABASE]}/{name}",
            "ANNALS_REDIS_URL": group.url(),
            "ANNALS_KEY": KEY.hex(),
            "ANNALS_PLAIN_HTTP": "yes",
            "ANNALS_HOST": network.addresses[NODE],
        }
        with inside(network.name(NODE)), serving(folder / NODE, **settings) as service:
            harness, group.service = Harness(network, {NODE: service.url}), service
            players = [Sleeper(harness, n, (NODE,), HASTY if n % 2 else PATIENT, 0.05) for n in range(TABLES)]
            visitors = [*players, Watcher(harness, NODE), Inspector(harness, NODE)]
            for visitor in visitors:
                visitor.start()
            time.sleep(10)
            begun = now()
            time.sleep(WATCHED)
            episodes = [Episode("nothing", begun, now(), 0, 0)]
            for _, loss in zip(range(runs), itertools.cycle(losses), strict=False):
                episodes.append(endure(harness, group, loss))
                print(f"{loss.name}: over", file=sys.stderr)
            harness.over.set()
            for visitor in visitors:
                visitor.join(CALM)
                if visitor.is_alive():
                    harness.faults.append(f"{type(visitor).__name__} does not end")
            until_read(place)
            said = service.complaints().splitlines()
            print(f"\nlog of the node: {len(said)} lines", *said[-80:], sep="\n  ", file=sys.stderr)
        context = make_worker_context(place)
        logs = {game: context.ledger.read(game) for game in harness.games}
        context.views.close()
        context.ledger.close()
        late = lateness(logs)
        print(Episode.HEAD, *(episode.line(late) for episode in episodes), sep="\n", flush=True)
        return [*wrong_turns(logs), *checked(place, harness)]


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was seen; status 1 if anything does not hold, 2 if this machine cannot."""
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="./run chaos sentinel", description=about)
    parser.add_argument("--runs", type=int, default=len(LOSSES))
    parser.add_argument("--only", choices=[loss.name for loss in LOSSES], action="append", metavar="NAME")
    args = parser.parse_args(argv)
    chosen = [loss for loss in LOSSES if not args.only or loss.name in args.only]
    return report(lambda: play(args.runs, chosen))


if __name__ == "__main__":
    raise SystemExit(main())
