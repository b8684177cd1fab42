"""Other software in turn with the service, on the same cores: `./run perf --peers`.

boardgame.io keeps its games in memory, or as files (`FlatFile`). Its packages are locked in `tests/perf/npm`; npm
installs them where nothing else looks.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deploy.simulation import demo
from tests.perf import rate
from tests.perf.service import Played

ROOT = Path(__file__).resolve().parents[2]
LOCKED = Path(__file__).parent / "npm"
LOCK_FILES = ("package.json", "package-lock.json", ".npmrc")
PROGRAMS = ("server.cjs", "bench.cjs")
PATIENCE = 300.0
"""Seconds for an installation, and for a measurement."""


class MissingError(Exception):
    """A peer cannot be run here."""


@dataclass(frozen=True)
class Crowd:
    """Tables at once, moves of each, and turns of each measurement."""

    tables: int = 20
    moves: int = 50
    turns: int = 3
    regions: int = 200
    """Of a state of the peer: the size of a board here."""


def rows(quick: bool = False) -> Iterator[str]:
    """Yield the lines of the table, and what could not be run."""
    crowd, missing = Crowd(2, 10, 1) if quick else Crowd(), list[str]()
    played = Played("imperunde", 6, {"turn_limit": 200, "goal": 45}, crowd_moves=crowd.moves)
    try:
        folder = install()
    except MissingError as error:
        folder = None
        missing.append(f"boardgame.io: {error}")
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as data, demo.run_service(Path(data) / "data") as address:
        players = [rate.seat_player(address, played) for _ in range(crowd.tables)]
        with rate.another(Path(data) / "data", address) as second:
            takes: dict[str, Callable[[], float]] = {
                "ours, one process": partial(rate.measure_rate, [address], players, crowd.moves, played),
                "ours, two processes": partial(rate.measure_rate, [address, second], players, crowd.moves, played),
            }
            if folder:
                for name, files in (("boardgame.io 0.50.2, in memory", ""), ("boardgame.io 0.50.2, in files", "files")):
                    takes[name] = partial(_rate_of_peer, folder, crowd, files)
            found: dict[str, list[float]] = {name: [] for name in takes}
            for _ in range(crowd.turns):  # in turn, so that all have the same minutes
                for name, take in list(takes.items()):
                    try:
                        found[name].append(take())
                    except (MissingError, OSError, subprocess.SubprocessError, ValueError) as error:
                        missing.append(f"{name}: {error}")
                        del takes[name]
    yield from tabulate(found, crowd)
    yield from (f"not run: {each}" for each in missing)


def tabulate(found: dict[str, list[float]], crowd: Crowd) -> Iterator[str]:
    """Yield the lines of a table: rates, and the median of each for that of each peer."""
    medians = {name: statistics.median(rates) for name, rates in found.items() if rates}
    peers = [name for name in medians if not name.startswith("ours")]
    columns = [f"quantity, {crowd.tables} tables at once", "moves a second", *(f"for each of {peer}" for peer in peers)]
    yield "| " + " | ".join(columns) + " |"
    yield "| " + " | ".join("---" for _ in columns) + " |"
    for name, median in medians.items():
        rates = ", ".join(f"{each:.0f}" for each in found[name])
        yield f"| {name} | {rates} | " + " | ".join(f"{median / medians[peer]:.2f}" for peer in peers) + " |"


def install() -> Path:
    """Return the folder with the peer, installed once for each state of its lock. Raises MissingError."""
    if not shutil.which("npm") or not shutil.which("node"):
        raise MissingError("npm is not there")
    state = hashlib.sha256(b"".join((LOCKED / name).read_bytes() for name in LOCK_FILES)).hexdigest()[:16]
    folder = ROOT / ".tools" / f"peers-{state}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (folder / "stamp").exists():
            for name in LOCK_FILES:
                shutil.copy(LOCKED / name, folder)
            _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder)
            (folder / "stamp").touch()
        for name in PROGRAMS:
            shutil.copy(LOCKED / name, folder)
    return folder


def _run(*command: str, folder: Path, **environment: str) -> str:
    """Return the output of a command. Raises MissingError if it fails."""
    told = {**os.environ, **environment}
    try:
        done = subprocess.run(
            command, cwd=folder, env=told, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise MissingError(f"{command[0]} does not end") from None
    if done.returncode:
        raise MissingError(f"{command[0]} fails: {done.stderr.strip()[-300:]}")
    return done.stdout


def _rate_of_peer(folder: Path, crowd: Crowd, files: str) -> float:
    """Return the moves a second of boardgame.io with two seats at each table; each waits for the other's update."""
    with (
        tempfile.TemporaryDirectory(prefix="annals-perf-") as store,
        _serve_peer(folder, crowd, files and store) as port,
    ):
        said = _run("node", "bench.cjs", str(crowd.tables), str(crowd.moves), folder=folder, PORT=str(port))
    return float(json.loads(said.splitlines()[-1])["moves_per_s"])


@contextmanager
def _serve_peer(folder: Path, crowd: Crowd, files: str) -> Iterator[int]:
    """Run the peer's server and yield its port. Raises MissingError."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    told = {**os.environ, "NODE_ENV": "production", "PORT": str(port), "R": str(crowd.regions), "FLAT": files}
    server = subprocess.Popen(
        [shutil.which("node") or "node", "server.cjs"],
        cwd=folder,
        env=told,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for_port(server, port)
        yield port
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=60)


def _wait_for_port(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise MissingError("its server does not start")
