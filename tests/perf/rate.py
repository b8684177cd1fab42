"""How many moves a service takes from several tables at once, by one and by two processes of its API.

The clients are one connection each, in one process.
"""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from deploy.runtime.embedded_redis import server_url
from deploy.simulation import demo
from tests.perf.cores import part_of_a_core, processes
from tests.perf.figures import TURNS, Figure, in_a_row, quantile
from tests.perf.line import Line
from tests.perf.pace import pace
from tests.perf.service import BOTH, Played, Table
from workers.signals import Signals

TABLES = 20

TAKES = 5
"""How often the rate of a few tables is taken, and that of parts of cores; the median counts."""

PACE = 200
"""Moves a second at which the lag is taken, on the day of the budgets."""

PATIENCE = 60.0
"""Seconds in which the views come to what has been played, also on a busy machine."""

NAP = 0.1
"""Seconds after which one who listens sees that it is over."""

API = "annals-api"
PART = 0.4

moment = time.perf_counter


@dataclass
class Player:
    """Seat 0 of a table: says over and over that it is ready, and that it is not."""

    path: str
    token: str
    version: int
    position: int = 0
    """Where the last move stands in the log."""
    made: int = 0

    def play(self, address: str, moves: int, played: Played) -> None:
        """So many accepted moves over one connection, each on the version that the one before gave."""
        with Line(address, self.token) as line:
            for _ in range(moves):
                self._move(line, played)

    def keep_to(self, address: str, times: Sequence[float], played: Played) -> list[tuple[int, float]]:
        """A move at each of these times of the clock `moment`: where it stands in the log, and when it was answered."""
        answered = []
        with Line(address, self.token) as line:
            for at in times:
                time.sleep(max(at - moment(), 0))
                self._move(line, played)
                answered.append((self.position, moment()))
        return answered

    def _move(self, line: Line, played: Played) -> None:
        body = json.dumps({"move": played.again[self.made % 2]})
        reply = line.ask("POST", f"{self.path}/moves", body, If_Match=f'"{self.version}"')
        assert reply.status == HTTPStatus.CREATED, reply
        doc = json.loads(reply.body)
        self.version, self.position, self.made = doc["version"], doc["position"], self.made + 1

    def wait(self, address: str) -> None:
        """Until the views show its last move."""
        end = moment() + PATIENCE
        with Line(address, self.token) as line:
            while True:
                reply = line.ask("GET", f"{self.path}/board?wait={self.position}")
                if reply.status == HTTPStatus.OK:
                    return
                assert reply.status == HTTPStatus.SERVICE_UNAVAILABLE, reply  # they are behind
                assert moment() < end, reply


def figures(played: Played, tables: int = TABLES) -> Iterator[Figure]:
    """A few tables by one process; then many, and the same by two, half of them each."""
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        data = Path(folder) / "data"
        with demo.run_service(data) as address:
            players = [seat_player(address, played) for _ in range(tables)]
            yield from _lag(address, server_url(data), players[: played.crowd], played)
            yield from _few(address, players[: played.crowd], played)
            where = f"{played.name}, {played.seats} seats: {tables} tables at once"
            moves = played.crowd_moves // TURNS
            one = in_a_row(lambda: measure_rate([address], players, moves, played), cores=BOTH)
            what = "accepted moves of many tables, one API process"
            yield Figure(what, where, one.value, "/s", ">= 500", pace=one.pace)
            with another(data, address) as second:
                two = in_a_row(lambda: measure_rate([address, second], players, moves, played), cores=BOTH)
            what = "accepted moves of many tables, two API processes"
            yield Figure(what, where, two.value, "/s", "", one.value, "one process", two.pace)
            yield from _limited(data, address, players, played, where)


def _few(address: str, players: Sequence[Player], played: Played) -> Iterator[Figure]:
    """So few that moves seldom arrive together."""
    where = f"{played.name}, {played.seats} seats: {len(players)} tables at once"
    take = in_a_row(lambda: measure_rate([address], players, played.crowd_moves, played), TAKES, cores=BOTH)
    begun = time.perf_counter()
    for player in players:
        player.wait(address)
    behind = time.perf_counter() - begun
    yield Figure("accepted moves, one API process", where, take.value, "/s", ">= 500", pace=take.pace)
    yield Figure("views complete after the last of them", where, 1000 * behind, "ms", "")


def _lag(address: str, redis: str, players: Sequence[Player], played: Played) -> Iterator[Figure]:
    """How late the views are while moves are made at a steady pace, more than one at a time.

    From the answer to a move until the pump tells that the views have come to it. A machine that takes twice as long is
    given half as many moves.
    """
    moves, crowd = played.crowd_moves // TURNS, len(players)
    taken: dict[float, list[float]] = {}

    def p95() -> float:
        lags = _lags(address, redis, players, PACE / pace(BOTH), moves, played)
        found = 1000 * quantile(lags, 0.95)
        taken[found] = lags
        return found

    take = in_a_row(p95, cores=BOTH, unit="ms")
    where = f"{played.name}, {played.seats} seats: {crowd} tables, {PACE} moves/s at pace 1"
    what, p50 = "lag of the views at a steady pace", 1000 * quantile(taken[take.value], 0.5)
    yield Figure(f"{what}, p50", where, p50, "ms", "", pace=take.pace)
    yield Figure(f"{what}, p95", where, take.value, "ms", "<= 5", pace=take.pace)


def _lags(address: str, redis: str, players: Sequence[Player], rate: float, moves: int, played: Played) -> list[float]:
    """Seconds of each of so many moves of each player, of which so many are made in a second."""
    crowd = len(players)
    with _told(redis) as told, ThreadPoolExecutor(crowd) as pool:
        begun = moment()
        times = [[begun + n / rate for n in range(i, crowd * moves, crowd)] for i in range(crowd)]
        taken = list(pool.map(lambda player, at: player.keep_to(address, at, played), players, times))
        for player in players:
            player.wait(address)
        last, end = max(position for each in taken for position, _ in each), moment() + PATIENCE
        while not (told and told[-1][0] >= last):  # the views are there, and who makes them says so after that
            assert moment() < end, "it was not told how far the views are"
            time.sleep(NAP)
    come = [position for position, _ in told]
    return [max(told[bisect_left(come, position)][1] - at, 0) for each in taken for position, at in each]


@contextmanager
def _told(redis: str) -> Iterator[list[tuple[int, float]]]:
    """Positions to which the views come, each higher than the one before, and when that is heard."""
    told: list[tuple[int, float]] = []
    over = threading.Event()

    def listen() -> None:
        while not over.is_set():
            if (pumped := signals.wait_projected(NAP)) and pumped.position > (told[-1][0] if told else 0):
                told.append((pumped.position, moment()))

    with closing(Signals(redis)) as signals, ThreadPoolExecutor(1) as pool:
        signals.wait_projected(0)  # from now on nothing is missed
        listening = pool.submit(listen)
        try:
            yield told
            time.sleep(2 * NAP)
        finally:
            over.set()
            listening.result()


def _limited(data: Path, address: str, players: Sequence[Player], played: Played, where: str) -> Iterator[Figure]:
    """The same with so little of a core for each that all others have their fill: nothing where that cannot be had.

    By one and by two in turn; of all turns that with the median ratio.
    """
    first, moves = processes(API), played.crowd_moves // TURNS
    with part_of_a_core(first, PART) as possible:
        if not possible:
            return
        with another(data, address) as second, part_of_a_core(set(processes(API)) - set(first), PART):
            ways = ([address], [address, second])
            taken = [[measure_rate(way, players, moves, played) for way in ways] for _ in range(TAKES)]
    one, two = sorted(taken, key=lambda turn: turn[1] / turn[0])[TAKES // 2]
    where += f", {PART:g} of a core for each process"
    yield Figure(
        "accepted moves of many tables, two API processes", where, two, "/s", ">= 1.8 times", one, "one process"
    )


def seat_player(address: str, played: Played) -> Player:
    """Open a table and return the player of its first seat."""
    table = Table.opened(address, played)
    table.close()
    return Player(table.game.path, table.client.token, table.version)


def measure_rate(addresses: Sequence[str], players: Sequence[Player], moves: int, played: Played) -> float:
    """Accepted moves a second, so many of each player, from the first request to the last answer."""
    ways = [addresses[n % len(addresses)] for n in range(len(players))]
    with ThreadPoolExecutor(len(players)) as pool:
        begun = time.perf_counter()
        list(pool.map(lambda pair: pair[0].play(pair[1], moves, played), zip(players, ways, strict=True)))
        return len(players) * moves / (time.perf_counter() - begun)


@contextmanager
def another(data: Path, first: str) -> Iterator[str]:
    """The address of one more process of the API on the same folder, with a front of its own."""
    command = [sys.executable, "-P", "-m", "deploy", "api", "--port", "0", "--data", str(data)]
    known = {str(urlsplit(first).port)}
    process = subprocess.Popen([*command, "--log-level", "error"])
    try:
        yield _answering(data / "front", known, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _answering(fronts: Path, known: set[str], process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        for port in {front.name for front in fronts.iterdir()} - known:
            line = http.client.HTTPConnection("127.0.0.1", int(port), timeout=5)
            try:
                line.request("GET", "/healthz")
                if line.getresponse().status == 200:
                    return f"http://127.0.0.1:{port}"
            except OSError:
                time.sleep(0.05)
            finally:
                line.close()
        time.sleep(0.05)
    raise demo.DemoError("the second process did not start")
