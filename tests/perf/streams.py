"""Figures of streams: many of them held, while moves are made and other requests are answered."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

from deploy.simulation import demo
from tests.perf.figures import Figure, quantile
from tests.perf.service import Played, Table

_ID = re.compile(rb"\nid: (\d+)\n")
SAID = re.compile(rb'"text":"n(\d+)"')
"""A message of a talk with a number."""

_OVERLAP = 24
"""Bytes that the end of a piece may hold of a number."""

SHARED = {"ANNALS_SHARED_NETWORKS": "127.0.0.1/32"}
"""All players of the tables have one address, and a connection each: more than an address has without this setting."""

EACH = 20
"""Streams from one address: a caller has no more."""


@dataclass(frozen=True)
class Crowd:
    """How many follow, for how long, and what goes on meanwhile."""

    games: int = 50
    viewers: int = 10
    seconds: float = 60
    pace: float = 10
    """Moves a second, in all games together."""

    @property
    def streams(self) -> int:
        """In all."""
        return self.games * self.viewers


def figures(played: Played, crowd: Crowd) -> Iterator[Figure]:
    """Other requests without and with the streams, what these take, and how late they are."""
    with (
        tempfile.TemporaryDirectory(prefix="annals-perf-") as folder,
        demo.run_service(Path(folder) / "data", **SHARED) as address,
    ):
        tables = [Table.opened(address, played) for _ in range(crowd.games)]
        quiet = meanwhile(tables, crowd.seconds / 3, crowd.pace)
        with held(address, [table.game for table in tables[:2]], crowd):  # what the first ones take is taken once
            pass
        before = _memory()
        with held(address, [table.game for table in tables], crowd) as (begun, asked):
            busy = meanwhile(tables, crowd.seconds, crowd.pace)
            after = _memory()
            asked.send("over")
            seen, open_ = asked.recv()
        where = f"{open_} streams of {crowd.games} games, {crowd.pace:g} moves/s, {crowd.seconds:g} s"
        yield Figure("streams that were held", where, open_, "", f">= {begun}")
        for name in sorted(after):
            used = (after[name] - before.get(name, 0)) / crowd.streams
            yield Figure(f"memory of a stream, {name}", where, used, "kB", "")
        whole = (sum(after.values()) - sum(before.values())) / crowd.streams
        yield Figure("memory of a stream", where, whole, "kB", "<= 100")
        for what in quiet.times:
            yield from _compared(what, where, quiet.times[what], busy.times[what])
        lags = [at - busy.made[key] for key, times in seen.items() if key in busy.made for at in times]
        yield Figure("from the answer to a move to its event, p50", where, 1000 * statistics.median(lags), "ms", "")
        yield Figure("from the answer to a move to its event, p95", where, 1000 * quantile(lags, 0.95), "ms", "")
        told = sum(len(times) for key, times in seen.items() if key in busy.made)
        yield Figure(
            "streams that were told of a move", where, told / max(len(busy.made), 1), "", f">= {crowd.viewers}"
        )
        for table in tables:
            table.close()


def _compared(what: str, where: str, quiet: Sequence[float], busy: Sequence[float]) -> Iterator[Figure]:
    for name, at in (("p50", 0.5), ("p95", 0.95)):
        budget = "<= 2 x quiet" if name == "p95" else ""
        yield Figure(
            f"{what} beside streams, {name}",
            where,
            1000 * quantile(busy, at),
            "ms",
            budget,
            1000 * quantile(quiet, at),
            "quiet",
        )


# --- what goes on ----------------------------------------------------------------------------------------------


@dataclass
class Work:
    times: dict[str, list[float]] = field(default_factory=lambda: {"moves": [], "boards": [], "lobby": []})
    """Seconds of each request."""
    made: dict[tuple[str, int], float] = field(default_factory=dict)
    """Game and version -> when it was answered."""


def meanwhile(tables: Sequence[Table], seconds: float, pace: float) -> Work:
    """Moves at that pace, each followed by reads."""
    work, begun, n = Work(), time.monotonic(), 0
    while (now := time.monotonic()) < begun + seconds:
        table = tables[n % len(tables)]
        table.move()
        done = time.monotonic()
        work.made[table.game.game, table.version] = done
        work.times["moves"].append(done - now)
        for what, path in (("boards", f"{table.game.path}/board"), ("lobby", "/v1/games?limit=20")):
            asked = time.monotonic()
            table.client.call("GET", path)
            work.times[what].append(time.monotonic() - asked)
        n += 1
        time.sleep(max(begun + n / pace - time.monotonic(), 0))
    return work


# --- who follows -----------------------------------------------------------------------------------------------


@contextmanager
def held(
    address: str, games: Sequence[demo.DemoGame], crowd: Crowd, pattern: re.Pattern[bytes] = _ID
) -> Iterator[tuple[int, Connection]]:
    """The streams, in a process of their own; it answers when each was told of a number, and how many were open."""
    asked: list[tuple[str, str]] = []
    for game in games:
        tokens = [*(seat.token for seat in game.seats), *[""] * crowd.viewers][: crowd.viewers]
        asked += [(game.game, token) for token in tokens]
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_follow, args=(address, asked, theirs, pattern), daemon=True
    )
    process.start()
    try:
        yield ours.recv(), ours
    finally:
        process.terminate()
        process.join()


def _follow(address: str, asked: Sequence[tuple[str, str]], other: Connection, pattern: re.Pattern[bytes]) -> None:
    asyncio.run(_follow_all(address, asked, other, pattern))


async def _follow_all(
    address: str, asked: Sequence[tuple[str, str]], other: Connection, pattern: re.Pattern[bytes]
) -> None:
    seen: dict[tuple[str, int], list[float]] = {}
    begun: asyncio.Queue[None] = asyncio.Queue()
    tasks = []
    for n, (game, token) in enumerate(asked):
        tasks.append(asyncio.create_task(_one(address, f"127.3.0.{1 + n // EACH}", game, token, pattern, seen, begun)))
        await begun.get()
    other.send(len(tasks))
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, other.recv)
    other.send((seen, sum(not task.done() for task in tasks)))


async def _one(
    address: str,
    source: str,
    game: str,
    token: str,
    pattern: re.Pattern[bytes],
    seen: dict[tuple[str, int], list[float]],
    begun: asyncio.Queue[None],
) -> None:
    where = urlsplit(address)
    reader, writer = await asyncio.open_connection(where.hostname, where.port, local_addr=(source, 0))
    shown = f"Authorization: Bearer {token}\r\n" if token else ""
    writer.write(f"GET /v1/games/{game}/stream HTTP/1.1\r\nHost: {where.netloc}\r\n{shown}\r\n".encode())
    kept, waits = b"", True
    while piece := await reader.read(65536):
        now, text = time.monotonic(), kept + piece
        for found in pattern.finditer(text):
            if found.end() > len(kept):
                seen.setdefault((game, int(found[1])), []).append(now)
        if waits and b"event: board" in text:
            waits = False
            begun.put_nowait(None)
        kept = text[-_OVERLAP:]


# --- what it takes ---------------------------------------------------------------------------------------------


def _memory() -> dict[str, int]:
    """kB that the processes which hold streams have to themselves."""
    found: dict[str, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "comm").read_text().strip()
            text = (folder / "smaps_rollup").read_text() if name in ("annals-streams", "nginx") else ""
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith("Pss:"):
                found[name] = found.get(name, 0) + int(line.split()[1])
    return found
