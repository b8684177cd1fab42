"""How many times the views of one process two of them make, on PostgreSQL."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

import psycopg

from deploy.runtime import gc_tuning
from domain.command_handler import new_game_id
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.ruleset_registry import load_shipped
from projections.leases import LEASE
from projections.partitions import PartitionShare, partition_of
from projections.projector import Projector
from projections.reader import Reader
from projections.rebuild import create_generation, drop_old_rows, switch_generation
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.perf.figures import Figure
from tests.perf.pace import pace
from tests.perf.views import written
from tests.postgres import SHORT, new_database, new_server

PAIRS = 7
"""How often one pump and two are taken in turn: the machine is quick and slow for seconds at a time."""

KEY = bytes(32)
PROCESS = "SELECT pg_backend_pid()"
NOW = 1
MEMORY = "/dev/shm"  # noqa: S108 - a folder of its own is made there
ROOM = 4 * 2**30
ALONE = "-c autovacuum=off"
"""It would clear away the views of the turn before while the next is timed."""
SPAWN = multiprocessing.get_context("spawn")


def figures(games: Sequence[Sequence[Record]], count: int, copies: int, pairs: int) -> Iterator[Figure]:
    """So many records of each game in turn in one log, and so many copies of it in each part."""
    with new_server(_folder(), ALONE) as server, new_database(server.dsn) as url:
        ledger = Ledger.open(url, KEY)
        ledger.migrate()
        views = ViewStore(url, ledger.keys)
        views.migrate()
        places = itertools.product(range(copies), range(views.parts), games)
        named = {_name(part, views.parts): records[:count] for _, part, records in places}
        total = written(ledger, named)
        taken = [(_seconds(url, views, 1), _seconds(url, views, 2), pace(), pace(2)) for _ in range(pairs)]
        views.close()
        ledger.close()
    where = f"PostgreSQL, {len(named)} games, {total} records, a core for each pump with its connections"
    alone, shared, one, two = map(statistics.median, zip(*taken, strict=True))
    rates = total / shared, "/s", ">= 1.7 times", total / alone, "one pump"
    yield Figure("views by two pumps", where, *rates, pace=two, bare_pace=one)
    yield Figure(
        "the pace's own work by two processes", "in turn with the pumps", 2 / two, "", "", 1 / one, "one process"
    )


def _folder() -> str:
    """In memory if there is room: what a drive takes has nothing to do with how many pumps there are."""
    try:
        return MEMORY if shutil.disk_usage(MEMORY).free >= ROOM else SHORT
    except OSError:
        return SHORT


def _seconds(url: str, views: ViewStore, count: int) -> float:
    """How long so many processes take for a whole log, from when all of them are ready."""
    gen = create_generation(views, 0)
    now = NOW
    for n in [*range(count)] * 2:  # who comes first takes all, and gives up what is not its share
        now += LEASE // 2 + 1
        with views.transaction() as db:
            PartitionShare(f"pump-{n}", gen).acquire(db, now)
    ends = [_begun(url, gen, n, now) for n in range(count)]
    for end, _ in ends:
        end.recv()
    began = time.perf_counter()
    for end, _ in ends:
        end.send(None)
    for end, process in ends:
        end.recv()
        process.join()
    taken = time.perf_counter() - began
    assert switch_generation(views, gen)
    drop_old_rows(views)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("VACUUM")
    return taken


def _name(part: int, parts: int) -> str:
    """A game of that part."""
    return next(name for name in iter(new_game_id, "") if partition_of(name, parts) == part)


def _begun(url: str, gen: int, number: int, now: int) -> tuple[Connection, multiprocessing.process.BaseProcess]:
    ours, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=_pump, args=(url, gen, number, now, theirs), daemon=True)
    process.start()
    return ours, process


def _pump(url: str, gen: int, number: int, now: int, end: Connection) -> None:
    gc_tuning.reduce_gc_frequency()  # as all processes of the service do
    ledger, catalogue = Ledger.open(url, KEY), load_shipped()
    views = ViewStore(url, ledger.keys)
    pump = Projector(ViewerHistory(ledger, catalogue, views), f"pump-{number}", gen)
    Reader(views).read_position()
    ledger.log(0, 1)
    cores = sorted(os.sched_getaffinity(0))
    with views.reading() as db:
        ours = [0, db.exec_driver_sql(PROCESS).scalar_one(), ledger.execute(PROCESS)[0][0]]
    with suppress(PermissionError):  # of a server that is somebody else's
        for process in ours:
            os.sched_setaffinity(process, {cores[number % len(cores)]})
    end.send(None)
    end.recv()
    while pump.run(now):
        pass
    end.send(None)
    views.close()
    ledger.close()
