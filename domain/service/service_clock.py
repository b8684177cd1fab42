"""The time of the service: a common clock of all processes and machines, monotonic under any change of their clocks.

It follows the clock of the machine. If that is set back, or starts behind the others, time follows the monotonic clock
at nine tenths of its speed until they meet. If it is set forward, time ignores the change until every game with a
deadline has a record of it (`workers.maintenance.outage_recovery`); then time jumps for all processes at once.

One row for each machine stores the time, so it continues after a restart.
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
from domain.fork_safety import reset_after_fork
from domain.service.database import Database, Execute, Row

STEP = 2_000
"""ms: a smaller change of a machine's clock is followed at once."""

PERIOD = 1.0
"""Seconds between two reads of the rows by a process, which then knows of a jump."""

FRESH = 5_000
"""ms after which a machine's row is written again."""

ADOPTED = 3_000
"""ms after a jump until every process knows of it."""

ALIVE = 60_000
"""ms since the last write of its row for which a machine counts as running."""

FORGOTTEN = 30 * 24 * 3600 * 1000
"""ms after which the row of a missing machine is deleted."""

OTHERS = 2.5
"""Seconds after which a running machine has certainly written a beat."""

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
    """The time of the service and the clocks of the machine at one moment, all ms."""

    at: int
    wall: int
    """The machine's clock since 1970 UTC."""
    up: int
    """Time since the machine's start, sleep included."""

    def time_at(self, wall: int, up: int) -> int:
        """Return the time of the service for these readings of the clocks."""
        passed = max(up - self.up, 0)
        plain = self.at + passed
        if wall < plain:
            return max(wall, self.at + passed * 9 // 10)
        return wall if wall - plain <= STEP else plain


@dataclass(frozen=True)
class Machine:
    """A machine that ran lately."""

    name: str
    offset: int
    """Lead of the service's time over the machine's clock, ms."""


@dataclass(frozen=True)
class ClockJump:
    """A clock that was set forward. `began`, the time of the service at the discovery, identifies it."""

    began: int
    ms: int
    is_done: bool
    """True once time has jumped, at `position` of the log, to `leapt`."""
    position: int
    leapt: int


class ServiceClock:
    """The clock of one process: a call returns the time in ms since 1970 UTC, never less than before.

    It never fails: before the first contact with the store it returns the machine's time. `wall` and `up` read the
    clocks of the `machine`, shown to operators by its `name`; `alone` excludes other machines.
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
        self._database, self._is_alone = database, alone
        self._wall, self._up, self._machine = wall or wall_clock, up or up_clock, machine
        self._name = (name or socket.gethostname())[:40]
        self._reading: Reading | None = None
        self._last = 0
        self._reset()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Start over without the thread, which exists in the parent only."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self) -> int:
        if self._thread is None:
            self._start()
        wall, up = self._wall(), self._up()
        with self._lock:
            if self._reading is None:
                return max(wall, self._last)
            self._last = max(self._last, self._reading.time_at(wall, up))
            return self._last

    def close(self) -> None:
        """Stop reading the rows; a later use starts again."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._reset()

    # --- what others know

    def sync(self) -> None:
        """Exchange times with the other machines through the rows; may raise StoreUnavailable."""
        rows = _readings_by_machine(self._database.execute(_ROWS))
        row, wall, up = rows.get(self._machine_id), self._wall(), self._up()
        if row is None and self._reading is None and not self._is_alone:
            self._follow_service(max((row.at for row in rows.values()), default=wall))
        if row is None or up > row.up + FRESH or abs(_clock_step(row, wall, up)) > STEP:
            self._database.run_in_append_order(self._write_row)
        else:
            self._set(Reading(self._current_time(rows, wall, up), wall, up))

    @property
    def _machine_id(self) -> str:
        self._machine = self._machine or boot_id()
        return self._machine

    def _start(self) -> None:
        """Start the background thread, so that callers do not wait for the store."""
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

    def _follow_service(self, reached: int) -> None:
        """Adopt the service's time if this machine is ahead of a service that runs without it."""
        end = time.monotonic() + OTHERS
        while self._wall() - reached > STEP and time.monotonic() < end:
            time.sleep(0.1)
            now = max((row.at for row in _readings_by_machine(self._database.execute(_ROWS)).values()), default=0)
            if now > reached:
                self._set(Reading(now, self._wall(), self._up()))
                return

    def _current_time(self, rows: dict[str, Reading], wall: int, up: int) -> int:
        """Return the time of the service, from all readings."""
        times = [
            reading.time_at(wall, up) for reading in (self._reading, rows.get(self._machine_id)) if reading is not None
        ]
        return max([*(times or [wall]), *(row.at for row in rows.values())])

    def _set(self, reading: Reading) -> None:
        with self._lock:
            self._reading = Reading(max(reading.at, self._last), reading.wall, reading.up)

    def _write_row(self, execute: Execute) -> None:
        """Write this machine's row. The first process to see a forward change of the clock also stores the jump."""
        rows = _readings_by_machine(execute(_ROWS, ()))
        wall, up = self._wall(), self._up()
        at, row = self._current_time(rows, wall, up), rows.get(self._machine_id)
        if row is not None:
            pending = int(execute(_PENDING, ())[0][0] or 0)
            if (ms := min(_clock_step(row, wall, up), wall - at - pending)) > STEP:
                execute(_NOTE, (max(at, execute(_NEXT, ())[0][0] or 0), ms))
        else:
            execute("DELETE FROM clocks WHERE at < ?", (at - FORGOTTEN,))
        execute(_KEEP, (self._machine_id, self._name, at, wall, up))
        self._set(Reading(at, wall, up))


class ClockRows:
    """The rows of all machines. Times are ms; every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_machines(self) -> list[Machine]:
        """Return the machines that ran lately, by name, each with its last start."""
        rows = self._database.execute("SELECT name, at, wall FROM clocks ORDER BY at")
        lately = {name: Machine(name, at - wall) for name, at, wall in rows if at > rows[-1][1] - ALIVE}
        return [lately[name] for name in sorted(lately)]

    def count_jumps(self) -> int:
        """Return the number of forward changes of clocks."""
        return int(self._database.execute("SELECT count(*) FROM leaps")[0][0])

    def list_jumps(self) -> list[tuple[int, int]]:
        """Return the target and the size of each jump, ms, in order."""
        rows = self._database.execute("SELECT leapt, ms FROM leaps WHERE stage > 0 ORDER BY leapt")
        return [(leapt, ms) for leapt, ms in rows]

    def list_unsettled(self) -> list[ClockJump]:
        """Return the jumps that some game has no record of, or some process does not know."""
        rows = self._database.execute(_UNSETTLED)
        return [ClockJump(began, ms, bool(done), position, leapt) for began, ms, done, position, leapt in rows]

    def apply_jump(self, jump: ClockJump, position: int, leapt: int) -> None:
        """Move time forward for all processes at once, and the last beat with it: the jump is no outage."""

        def write(execute: Execute) -> None:
            if execute("SELECT 1 FROM leaps WHERE began = ? AND stage = 0", (jump.began,)):
                execute(_LEAP, (position, leapt, jump.began))
                execute("UPDATE clocks SET at = at + ?", (jump.ms,))
                execute("UPDATE heartbeat SET at = at + ? WHERE name = 'service'", (jump.ms,))

        self._database.run_in_append_order(write)

    def mark_settled(self, jump: ClockJump) -> None:
        """Record that every game concerned has a record of the jump."""
        self._database.execute("UPDATE leaps SET stage = 2 WHERE began = ?", (jump.began,))


def sum_jumps(execute: Execute, after: int) -> int:
    """Return the sum of all jumps after that time, ms."""
    return int(execute(_LEAPT, (after,))[0][0])


def _readings_by_machine(rows: list[Row]) -> dict[str, Reading]:
    """Return the readings by machine; the last beat counts as a machine without a name."""
    return {machine: Reading(at, wall, up) for machine, _, at, wall, up in rows}


def _clock_step(before: Reading, wall: int, up: int) -> int:
    """Return the change of the machine's clock since then: the difference of its two clocks."""
    return (wall - up) - (before.wall - before.up)


# --- the clocks of this machine --------------------------------------------------------------------------------


def wall_clock() -> int:
    """Return the machine's adjustable time, ms since 1970 UTC."""
    return time.time_ns() // 1_000_000


def up_clock() -> int:
    """Return the machine's time since its start, ms, sleep included; nobody can set it."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


@functools.cache
def boot_id() -> str:
    """Return an id of the machine since its start, the origin of `up_clock`."""
    path = Path("/proc/sys/kernel/random/boot_id")
    if path.exists():
        return path.read_text("utf-8").strip()
    command = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.strip()
