"""Two nodes of version 0.1.0 are replaced by this one, one by one behind HAProxy, and back, while tables are played.

`./run chaos upgrade`, as root on Linux with iproute2, git and HAProxy; some five minutes. Both versions share
PostgreSQL and Redis. Clients see one address. One of them has the client file of 0.1.0. A stream follows each table.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from domain.service.job_requests import JobRequest, new_id
from tests.chaos.children import Place, make_worker_context, now
from tests.chaos.cluster import AS_NOBODY, until
from tests.chaos.history import LOOK, READ, WRITE
from tests.chaos.network import Network, NoNamespaces, inside, new_network, report
from tests.chaos.partitions import CALM, EVERYBODY, NODES, checked, others_of, rate_of, stores, until_read
from tests.chaos.visitors import CLIENTS, HASTY, PATIENT, Doc, Harness, Inspector, Player, Visitor, Watcher
from tests.deploy.harness import ROOT, Service

FIRST = "43f98280"
"""Commit of version 0.1.0."""

FRONT = "front"
PORT = 8000

SHIPPED = ROOT / "deploy" / "cluster" / "haproxy.cfg"

OLD_CLIENT = """
import sys, threading
from annals_client import Annals, at_random
while True:
    table = Annals(sys.argv[1]).open("orders@1", 3, options={"turns": 3}, pace={"seconds": {"turn": 4}})
    seats = [Annals(sys.argv[1]).table(table.game).join(n) for n in range(3)]
    table.start()
    threads = [threading.Thread(target=seat.play, args=(at_random,)) for seat in seats]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    seats[0].check_head()
    print(table.game, len(table.export().splitlines()), flush=True)
"""


@dataclass(frozen=True)
class Build:
    """A version of the service, with an environment of its own."""

    name: str
    root: Path
    python: str

    def start(self, network: Network, node: str, folder: Path, settings: dict[str, str]) -> Service:
        """A node, ready."""
        told = {**settings, "ANNALS_HOST": network.addresses[node], "PYTHONPATH": str(self.root)}
        with inside(network.name(node)):
            return Service(folder / node, "--port", str(PORT), python=self.python, **told)


@contextmanager
def first_release(checkout: Path | None) -> Iterator[Build]:
    """Version 0.1.0 in a checkout, or out of the history of this clone. Raises NoNamespaces."""
    if checkout is not None:
        yield _set_up(checkout)
        return
    folder = Path(tempfile.mkdtemp(prefix="annals-first-"))
    git = ["git", "-C", str(ROOT), "worktree"]
    try:
        made = subprocess.run(
            [*git, "add", "--detach", str(folder / "0.1.0"), FIRST], capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise NoNamespaces(f"this needs version 0.1.0, commit {FIRST}: {made.stderr.strip()}")
        yield _set_up(folder / "0.1.0")
    finally:
        subprocess.run([*git, "remove", "--force", str(folder / "0.1.0")], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _set_up(root: Path) -> Build:
    subprocess.run(["./run", "test", "--version"], cwd=root, stdout=sys.stderr, check=True)
    return Build("0.1.0", root, str(root / ".venv" / "test" / "bin" / "python"))


@contextmanager
def front(network: Network, folder: Path) -> Iterator[None]:
    """HAProxy before both nodes, which asks `/readyz`."""
    if not shutil.which("haproxy"):
        raise NoNamespaces("this needs haproxy (Debian: haproxy)")
    text = SHIPPED.read_text("utf-8").replace("bind :8000", f"bind {network.addresses[FRONT]}:{PORT}")
    for node, shown in zip(NODES, ("10.0.0.1", "10.0.0.2"), strict=True):
        text = text.replace(f"server {node} {shown}:8000", f"server {node} {network.addresses[node]}:{PORT}")
    folder.chmod(0o755)
    (folder / "haproxy.cfg").write_text(text)
    with inside(network.name(FRONT)), (folder / "haproxy.log").open("w") as log:
        process = subprocess.Popen(
            [*AS_NOBODY, "haproxy", "-db", "-f", str(folder / "haproxy.cfg")], cwd="/", stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Follower(Visitor):
    """Follows the table of one player by a stream, as a client does: after an end again, with the last id."""

    def __init__(self, harness: Harness, number: int) -> None:
        super().__init__(harness)
        self.number = number
        self.seen: dict[str, list[int]] = {}
        """Versions of the timeline by game, in the order in which they came."""
        self.last: dict[str, str] = {}
        self.begun: dict[str, int] = {}
        self.ends = Counter[str]()
        self.trace: dict[str, list[str]] = {}
        """What came, in short."""

    def visit(self) -> None:
        """Until the stream ends."""
        stored = self.harness.newest.get(self.number)
        if stored is None:
            time.sleep(0.1)
            return
        host, port = self.harness.addresses[FRONT].removeprefix("http://").split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=8)  # a comment comes every five seconds
        named = {"Authorization": f"Bearer {stored.token}", "Accept": "application/x-ndjson"}
        if stored.game in self.last:
            named["Last-Event-ID"] = self.last[stored.game]
        else:  # a board, and then what comes after it
            self.begun.pop(stored.game, None)
            self.seen.pop(stored.game, None)
        self.trace.setdefault(stored.game, []).append(f"connects with {self.last.get(stored.game)}")
        try:
            connection.request("GET", f"/v1/games/{stored.game}/stream", headers=named)
            answer = connection.getresponse()
            if answer.status != 200:
                self.ends[str(answer.status)] += 1
                if answer.status not in (429, 503):
                    self.harness.faults.append(f"stream: {answer.status} {answer.read()[:200]!r}")
                time.sleep(0.5)
                return
            for line in answer:
                if self.harness.over.is_set() or (line.strip() and not self._note(stored.game, json.loads(line))):
                    return
            self.ends["closed"] += 1
        except (OSError, http.client.HTTPException) as error:
            self.ends[type(error).__name__] += 1
        finally:
            connection.close()

    def _note(self, game: str, event: Doc) -> bool:
        """Take in one event; False at the end of the stream."""
        kind = event["event"]
        self.trace[game].append(f"{kind} {event['data'].get('version')} id {event.get('id')}")
        if kind == "board":
            self.begun.setdefault(game, event["data"]["version"])
        if kind == "timeline":
            self.seen.setdefault(game, []).append(event["data"]["version"])
        if "id" in event:
            self.last[game] = str(event["id"])
        if kind in ("end", "bye"):
            self.ends[kind] += 1
            time.sleep(0.2)
        return kind not in ("end", "bye")

    def gaps(self) -> list[str]:
        """Versions that no stream told, though a later one was told."""
        found = []
        for game, seen in self.seen.items():
            missing = set(range(self.begun.get(game, 0) + 1, max(seen) + 1)) - set(seen)
            if missing:
                trace = self.trace[game]
                later = f"timeline {min(v for v in seen if v > min(missing))} "
                near = next(n for n, said in enumerate(trace) if said.startswith(later))
                said = trace[max(near - 12, 0) : near + 1]
                found.append(f"stream of {game}: {sorted(missing)} never came: {said}")
        return found


class Auditor(threading.Thread):
    """Asks for an audit of a game every second, as an operator does. Each is a job of the slow queue."""

    def __init__(self, harness: Harness, place: Place) -> None:
        super().__init__(daemon=True)
        self._house, self._place = harness, place
        self.asked: list[str] = []

    def run(self) -> None:
        """Until all is over."""
        context = make_worker_context(self._place)
        try:
            while not self._house.over.wait(1):
                if self._house.games:
                    game = self._house.games[len(self.asked) % len(self._house.games)]
                    request = JobRequest(new_id("audit"), "audit", game, at=now())
                    context.job_requests.submit(request)
                    self.asked.append(request.id)
        finally:
            context.views.close()
            context.ledger.close()

    def outcomes(self) -> list[str]:
        """What does not hold; waits for those that are open."""
        context = make_worker_context(self._place)
        try:

            def found() -> list[Doc] | None:
                requests = [context.job_requests.find(id_) for id_ in self.asked]
                outcomes = [r.outcome for r in requests if r is not None and r.outcome is not None]
                return outcomes if len(outcomes) == len(self.asked) else None

            outcomes = until(found, why="an audit")
            print(f"{len(outcomes)} audits are done", flush=True)
            return [f"audit: {outcome}" for outcome in outcomes if '"verified": true' not in json.dumps(outcome)]
        finally:
            context.views.close()
            context.ledger.close()


@dataclass
class Fleet:
    """Both nodes, and what versions they have."""

    network: Network
    folder: Path
    settings: dict[str, str]
    harness: Harness
    running: dict[str, tuple[Build, Service]] = field(default_factory=dict)

    def replace(self, node: str, build: Build) -> str:
        """End what is there, start that build, and return a row of the table."""
        begun = time.monotonic()
        ended = 0.0
        if node in self.running:
            status = self.running.pop(node)[1].end()
            ended = time.monotonic() - begun
            if status:
                self.harness.faults.append(f"{node} ended with status {status}")
        self.running[node] = build, build.start(self.network, node, self.folder, self.settings)
        ready = time.monotonic() - begun - ended
        time.sleep(8)
        now = time.monotonic()
        found = [self.harness.history.since(begun, now, (kind,), FRONT) for kind in (WRITE, READ, LOOK)]
        both = " and ".join(self.running[n][0].name if n in self.running else "none" for n in NODES)
        cells = [both, f"{ended:.1f} s", f"{ready:.1f} s", *(rate_of(f, begun, now) for f in found[:2])]
        return f"| {' | '.join([*cells, others_of([a for f in found for a in f])])} |"

    def end(self) -> None:
        """End all of them, whatever happened."""
        for _, service in self.running.values():
            if service.process.poll() is None:
                service.kill_group()
            service.http.close()
            assert service.process.stdout is not None
            service.process.stdout.close()


HEAD = (
    "| a and b | ended after | the next one ready after | moves stored | boards | instead |\n"
    "| --- | --- | --- | --- | --- | --- |"
)


@contextmanager
def old_client(network: Network, build: Build, url: str, folder: Path) -> Iterator[Path]:
    """The client file of a version at work; the file of what it has played."""
    out = folder / "old-client.out"
    with inside(network.name(CLIENTS)), out.open("w") as output, (folder / "old-client.err").open("w") as errors:
        process = subprocess.Popen(
            [build.python, "-c", OLD_CLIENT, url],
            env={"PYTHONPATH": str(build.root / "clients" / "python")},
            stdout=output,
            stderr=errors,
        )
    try:
        yield out
    finally:
        process.kill()
        process.wait()


def play(steps: Sequence[str], checkout: Path | None) -> list[str]:
    """All replacements in turn, printed; what does not hold."""
    this = Build("this", ROOT, sys.executable)
    with ExitStack() as stack:
        first = stack.enter_context(first_release(checkout))
        network = stack.enter_context(new_network((*EVERYBODY, FRONT)))
        place, settings = stack.enter_context(stores(network))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="annals-upgrade-")))
        stack.enter_context(front(network, folder))
        url = f"http://{network.addresses[FRONT]}:{PORT}"
        harness = Harness(network, {FRONT: url})
        fleet = Fleet(network, folder, settings, harness)
        stack.callback(fleet.end)
        builds = {"0": first, "1": this}
        for node in NODES:
            fleet.running[node] = first, first.start(network, node, folder, settings)
        until(lambda: house_is_ready(harness), why="the front")
        players = [Player(harness, n, (FRONT,), HASTY if n % 2 else PATIENT) for n in range(4)]
        followers = [Follower(harness, n) for n in range(4)]
        auditor = Auditor(harness, place)
        visitors: list[threading.Thread] = [
            *players,
            *followers,
            auditor,
            Watcher(harness, FRONT),
            Inspector(harness, FRONT),
        ]
        played = stack.enter_context(old_client(network, first, url, folder))
        for visitor in visitors:
            visitor.start()
        time.sleep(5)
        print(HEAD, flush=True)
        for step in steps:
            for node, wanted in zip(NODES, step, strict=True):
                if fleet.running[node][0] is not builds[wanted]:
                    print(fleet.replace(node, builds[wanted]), flush=True)
        harness.over.set()
        for visitor in visitors:
            visitor.join(CALM)
            if visitor.is_alive():
                harness.faults.append(f"{type(visitor).__name__} does not end")
        if any(build is this for build, _ in fleet.running.values()):
            until_read(place)
        ends = sum((f.ends for f in followers), Counter[str]())
        told = sum(len(seen) for f in followers for seen in f.seen.values())
        games = played.read_text().split()
        print(f"streams: {told} entries told; ends: {dict(ends)}")
        print(f"the client of 0.1.0 has played {len(games) // 2} games", flush=True)
        wrong = (folder / "old-client.err").read_text()
        faults = [*auditor.outcomes(), *(gap for f in followers for gap in f.gaps())]
        faults += [f"the client of 0.1.0: {wrong}"] if wrong or not games else []
        for node, (build, service) in fleet.running.items():
            said = service.complaints().splitlines()
            print(f"\nlog of {node}, {build.name}: {len(said)} lines", *said[-60:], sep="\n  ", file=sys.stderr)
        fleet.end()
        return [*faults, *checked(place, harness)]


def house_is_ready(harness: Harness) -> bool:
    """Whether the front passes requests on."""
    with inside(harness.network.name(CLIENTS)):
        return harness.ask(FRONT, 5, "GET", "/readyz")[0] == "200"


def main(argv: Sequence[str] | None = None) -> int:
    """Print what clients saw; status 1 if anything does not hold, 2 if this machine cannot."""
    about = __doc__.splitlines()[0] if __doc__ else ""
    parser = argparse.ArgumentParser(prog="./run chaos upgrade", description=about)
    parser.add_argument(
        "steps", nargs="*", default=["11", "00", "10"], help="versions of both nodes: 0 is 0.1.0, 1 is this one"
    )
    parser.add_argument("--first", type=Path, metavar="FOLDER", help="a checkout of 0.1.0, to set it up once")
    args = parser.parse_args(argv)
    return report(lambda: play(args.steps, args.first))


if __name__ == "__main__":
    raise SystemExit(main())
