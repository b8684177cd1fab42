"""The time of the service: one for all its processes and machines, which rises whatever is done to their clocks.

It follows the clock of the machine. Where that is set back, or begins behind the others, time goes on by the monotonic
clock, a tenth slower, until it is caught up. Where it is set forward, time goes on as if it had not been, until every
game that waits for a time has a record of it (`workers.maintenance.outage_recovery`): then time leaps, for all at once.

How far it has come stands in rows beside the log, one for each machine, so that it goes on from there after a restart.
"""

from __future__ import annotations

import functools
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from domain.errors import StoreUnavailable
from domain.fork_safety import heed
from domain.service.database import Database, Execute, Row

STEP = 2_000
"""ms by which a machine's clock may be moved at once without being set: time follows it."""

PERIOD = 1.0
"""Seconds between two looks of a process at the rows: within that it knows of a leap."""

FRESH = 5_000
"""ms after which the row of a machine is written again."""

ADOPTED = 3_000
"""ms after a leap within which every process knows of it."""

ALIVE = 60_000
"""ms since its row was written for which a machine counts."""

FORGOTTEN = 30 * 24 * 3600 * 1000
"""ms after which the row of a machine that has gone is removed."""

OTHERS = 2.5
"""Seconds in which a machine that is up and beats is seen to do so."""

TABLES = (
    """CREATE TABLE IF NOT EXISTS clocks (
  machine TEXT PRIMARY KEY, name TEXT NOT NULL, at BIGINT NOT NULL, wall BIGINT NOT NULL, up BIGINT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS leaps (
  began BIGINT PRIMARY KEY, ms BIGINT NOT NULL, stage BIGINT NOT NULL, position BIGINT NOT NULL,
  leapt BIGINT NOT NULL)""",
)
_ROWS = """
SELECT machine, name, at, wall, up FROM clocks
UNION ALL SELECT '', '', at, at, 0 FROM heartbeat WHERE name = 'service'"""
_KEEP = """
INSERT INTO clocks VALUES (?, ?, ?, ?, ?) ON CONFLICT (machine) DO UPDATE
SET name = excluded.name, at = excluded.at, wall = excluded.wall, up = excluded.up"""
_PENDING = "SELECT sum(ms) FROM leaps WHERE stage = 0"
_NEXT = "SELECT max(began) + 1 FROM leaps"
_NOTE = "INSERT INTO leaps VALUES (?, ?, 0, 0, 0)"
_LEAP = "UPDATE leaps SET stage = 1, position = ?, leapt = ? WHERE began = ?"
_LEAPT = "SELECT coalesce(sum(ms), 0) FROM leaps WHERE stage > 0 AND leapt > ?"
_UNSETTLED = "SELECT began, ms, stage = 1, position, leapt FROM leaps WHERE stage < 2 ORDER BY began"


@dataclass(frozen=True)
class Reading:
    """The time of the service, and what the clocks of the machine showed then, all ms."""

    at: int
    wall: int
    """Its clock: since 1970 UTC."""
    up: int
    """Since it was started, sleep included."""

    def on(self, wall: int, up: int) -> int:
        """The time of the service when they show that."""
        passed = max(up - self.up, 0)
        plain = self.at + passed
        if wall < plain:
            return max(wall, self.at + passed * 9 // 10)
        return wall if wall - plain <= STEP else plain


@dataclass(frozen=True)
class Machine:
    """One that was up lately."""

    name: str
    offset: int
    """By how much the service is ahead of its clock, ms."""


@dataclass(frozen=True)
class Leap:
    """The clock was set forward. `began` (the time of the service when that was noticed) names it."""

    began: int
    ms: int
    done: bool
    """Whether time has leapt, at a `position` of the log, to `leapt`."""
    position: int
    leapt: int


class Clock:
    """Of one process: called, it gives the time of the service in ms since 1970 UTC, and never less than before.

    It never fails: a process that has not reached the store yet goes by its machine. `wall` and `up` read the clocks
    of the `machine`, which people know by its `name`; `alone`: no other machine can have a part in the service.
    """

    def __init__(
        self,
        database: Database,
        wall: Callable[[], int] | None = None,
        up: Callable[[], int] | None = None,
        machine: str = "",
        *,
        name: str = "",
        alone: bool = False,
    ) -> None:
        self._database, self._alone = database, alone
        self._wall, self._up, self._machine = wall or wall_clock, up or up_clock, machine
        self._name = (name or socket.gethostname())[:40]
        self._known: Reading | None = None
        self._last = 0
        self._begin()
        heed(self)

    def after_fork(self) -> None:
        """The thread stays behind in the parent."""
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self) -> int:
        if self._thread is None:
            self._start()
        wall, up = self._wall(), self._up()
        with self._lock:
            if self._known is None:
                return max(wall, self._last)
            self._last = max(self._last, self._known.on(wall, up))
            return self._last

    def close(self) -> None:
        """Look at the rows no more; a later use begins again."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._begin()

    # --- what others know

    def sync(self) -> None:
        """Learn what others know of the time, tell them what this one knows; may raise StoreUnavailable."""
        rows = _rows(self._database.execute(_ROWS))
        own, wall, up = rows.get(self._key), self._wall(), self._up()
        if own is None and self._known is None and not self._alone:
            self._follow(max((row.at for row in rows.values()), default=wall))
        if own is None or up > own.up + FRESH or abs(_step(own, wall, up)) > STEP:
            self._database.among_appends(self._write)
        else:
            self._set(Reading(self._at(rows, wall, up), wall, up))

    @property
    def _key(self) -> str:
        self._machine = self._machine or boot()
        return self._machine

    def _start(self) -> None:
        """In the background from now on: whoever asks for the time does not wait for a store."""
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, args=(self._over,), name="clock", daemon=True)
            self._thread.start()
        with suppress(StoreUnavailable):
            self.sync()

    def _run(self, over: threading.Event) -> None:
        while not over.wait(PERIOD):
            with suppress(StoreUnavailable):
                self.sync()

    def _follow(self, reached: int) -> None:
        """A machine that is ahead of a service which is up without it has a wrong clock, and goes by the service."""
        end = time.monotonic() + OTHERS
        while self._wall() - reached > STEP and time.monotonic() < end:
            time.sleep(0.1)
            now = max((row.at for row in _rows(self._database.execute(_ROWS)).values()), default=0)
            if now > reached:
                self._set(Reading(now, self._wall(), self._up()))
                return

    def _at(self, rows: dict[str, Reading], wall: int, up: int) -> int:
        """The time of the service, by all that is known."""
        own = [known.on(wall, up) for known in (self._known, rows.get(self._key)) if known is not None]
        return max([*(own or [wall]), *(row.at for row in rows.values())])

    def _set(self, known: Reading) -> None:
        with self._lock:
            self._known = Reading(max(known.at, self._last), known.wall, known.up)

    def _write(self, execute: Execute) -> None:
        """That the clock was set forward is noted once: whoever does so first writes down what it shows now."""
        rows = _rows(execute(_ROWS, ()))
        wall, up = self._wall(), self._up()
        at, own = self._at(rows, wall, up), rows.get(self._key)
        if own is not None:
            pending = int(execute(_PENDING, ())[0][0] or 0)
            if (ms := min(_step(own, wall, up), wall - at - pending)) > STEP:
                execute(_NOTE, (max(at, execute(_NEXT, ())[0][0] or 0), ms))
        else:
            execute("DELETE FROM clocks WHERE at < ?", (at - FORGOTTEN,))
        execute(_KEEP, (self._key, self._name, at, wall, up))
        self._set(Reading(at, wall, up))


class Clocks:
    """The rows of all machines. Times in ms; may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def machines(self) -> list[Machine]:
        """Those that were up lately, by name; of one that was started anew as it is now."""
        rows = self._database.execute("SELECT name, at, wall FROM clocks ORDER BY at")
        lately = {name: Machine(name, at - wall) for name, at, wall in rows if at > rows[-1][1] - ALIVE}
        return [lately[name] for name in sorted(lately)]

    def jumps(self) -> int:
        """How often a clock was set forward."""
        return int(self._database.execute("SELECT count(*) FROM leaps")[0][0])

    def leapt(self) -> list[tuple[int, int]]:
        """To when time leapt, and by how much, ms; in order."""
        rows = self._database.execute("SELECT leapt, ms FROM leaps WHERE stage > 0 ORDER BY leapt")
        return [(leapt, ms) for leapt, ms in rows]

    def unsettled(self) -> list[Leap]:
        """Those of which not every game has its record, or not every process knows."""
        rows = self._database.execute(_UNSETTLED)
        return [Leap(began, ms, bool(done), position, leapt) for began, ms, done, position, leapt in rows]

    def leap(self, leap: Leap, position: int, leapt: int) -> None:
        """Time leaps for all at once; the heart has beaten meanwhile, which is no outage."""

        def write(execute: Execute) -> None:
            if execute("SELECT 1 FROM leaps WHERE began = ? AND stage = 0", (leap.began,)):
                execute(_LEAP, (position, leapt, leap.began))
                execute("UPDATE clocks SET at = at + ?", (leap.ms,))
                execute("UPDATE heartbeat SET at = at + ? WHERE name = 'service'", (leap.ms,))

        self._database.among_appends(write)

    def settle(self, leap: Leap) -> None:
        """Every game that was to have a record of it has one."""
        self._database.execute("UPDATE leaps SET stage = 2 WHERE began = ?", (leap.began,))


def leapt(execute: Execute, since: int) -> int:
    """By how much time has leapt since then, all ms."""
    return int(execute(_LEAPT, (since,))[0][0])


def _rows(found: list[Row]) -> dict[str, Reading]:
    """By machine; the last beat of the heart stands as that of no machine."""
    return {machine: Reading(at, wall, up) for machine, _, at, wall, up in found}


def _step(own: Reading, wall: int, up: int) -> int:
    """By how much the clock of the machine was set since then: no time passes for the difference of its clocks."""
    return (wall - up) - (own.wall - own.up)


# --- the clocks of this machine --------------------------------------------------------------------------------


def wall_clock() -> int:
    """Ms since 1970 UTC, as somebody has set it."""
    return time.time_ns() // 1_000_000


def up_clock() -> int:
    """Ms since this machine was started, its sleep included: nobody sets it."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


@functools.cache
def boot() -> str:
    """An id of this machine since it was started: for so long `up_clock` counts."""
    given = Path("/proc/sys/kernel/random/boot_id")
    if given.exists():
        return given.read_text().strip()
    asked = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
