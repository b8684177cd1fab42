"""The maintenance process: scrubs the log, archives games, erases old texts and runs the continuous backup."""

from __future__ import annotations

import logging
import signal
import threading
import time
from types import FrameType
from typing import Protocol

from domain.errors import StoreUnavailable
from projections.leases import LeaseLostError
from workers import liveness
from workers.context import WorkerContext, set_context
from workers.log_throttle import LogThrottle
from workers.maintenance.archiving import GameArchiver
from workers.maintenance.scrubbing import PAGE_CHECK_SECONDS, STEP_SECONDS, Scrubber
from workers.maintenance.talk_retention import TalkRetention

LIVENESS_SECONDS = PAGE_CHECK_SECONDS + 30.0
"""Liveness deadline of the loop, seconds."""

RETRY_SECONDS = 2.0
"""Seconds to wait while another process does the work or a store is away."""

ARCHIVE_RATE = 500
"""Records archived per second."""

MIN_ARCHIVE_RATE = 50
"""Slowest archiving in records per second on any usable machine."""

REST_SECONDS = 600.0
"""Seconds between two searches for games to archive."""

log = logging.getLogger("annals.keeper")


class BackupThread(Protocol):
    """A continuous backup in its own thread, because its folder may hang."""

    def start(self) -> None: ...
    def is_stuck(self) -> bool: ...
    def stop(self) -> None: ...


def stop_on_signals() -> threading.Event:
    """Return an event that the signals to stop set."""
    stopped = threading.Event()

    def stop(_: int, __: FrameType | None) -> None:
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return stopped


def run_maintenance(
    context: WorkerContext,
    stopped: threading.Event,
    rate: int,
    backup: BackupThread | None = None,
    archiver: GameArchiver | None = None,
    retention: TalkRetention | None = None,
) -> None:
    """Run until `stopped` is set; `rate` is the number of records scrubbed per second, 0 for none."""
    set_context(context)
    if backup:
        backup.start()
    scrubber = Scrubber(context, rate) if rate else None
    pacer = ArchivePacer(archiver) if archiver else None
    log_throttle = LogThrottle()
    while not stopped.is_set():
        liveness.set_deadline(LIVENESS_SECONDS)
        if pacer:
            pacer.step()
        if retention:
            retention.step()
        stopped.wait(_scrub(scrubber, log_throttle) if scrubber else RETRY_SECONDS)
        if backup and backup.is_stuck():  # only a new process gets rid of the thread
            log.error("the folder of the backup hangs: the keeper ends, and is to be started anew")
            return
    if backup:
        backup.stop()


class ArchivePacer:
    """Archives games at a rate low enough for other writers."""

    def __init__(self, archiver: GameArchiver) -> None:
        self._archiver, self._next_at = archiver, 0.0

    def step(self) -> None:
        """Archive the next game if it is due. A larger game makes a longer pause."""
        if time.monotonic() < self._next_at:
            return
        wait = REST_SECONDS
        try:
            if game := self._archiver.find_next():
                liveness.set_deadline(LIVENESS_SECONDS + game.version / MIN_ARCHIVE_RATE)
                wait = max(self._archiver.archive(game), 1) / ARCHIVE_RATE
        except StoreUnavailable as error:
            log.warning("nothing is archived now: %s", error)
        self._next_at = time.monotonic() + wait


def _scrub(scrubber: Scrubber, log_throttle: LogThrottle) -> float:
    """Scrub one slice; return the seconds to wait afterwards."""
    try:
        scrubber.step()
    except LeaseLostError as holder:
        log.info("standing by: %s reads the log against its tree", holder)
    except StoreUnavailable as error:
        if log_throttle(str(error)):
            log.warning("the store does not answer: %s", error)
    else:
        return STEP_SECONDS
    scrubber.discard_progress()
    return RETRY_SECONDS
