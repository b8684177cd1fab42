"""Runs jobs in the projector process while Redis is away or no worker takes them.

A worker may run the same job meanwhile; running it twice changes nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from domain.errors import StoreUnavailable
from workers.job_calls import TURN_SECONDS, JobCall, check_game

GRACE_SECONDS = 5.0
"""Time limit for the current job at shutdown, seconds. A job cut off is repeated later."""

log = logging.getLogger("annals.standby")


class RedisFallback:
    """One thread that runs jobs next to the projector. The process must have a worker context."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._thread: threading.Thread | None = None
        self._attempted: set[str] = set()
        self._began = 0.0
        self._stopping = False
        self.current_job = ""
        """Name of the current job, or empty."""

    def start(self, calls: Sequence[JobCall]) -> None:
        """Run these jobs in the thread and return at once; do nothing while it is busy."""
        if calls and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self.run_all, args=(calls,), name="standby", daemon=True)
            self._thread.start()

    def run_all(self, calls: Sequence[JobCall]) -> None:
        """Run each job once per period, newest first, because hanging or failing jobs get old."""
        ids = {call.id(self._clock()): call for call in calls}
        self._attempted &= ids.keys()
        for id_ in reversed([id_ for id_ in ids if id_ not in self._attempted]):
            if self._stopping:
                return
            self._attempted.add(id_)
            self._run_call(ids[id_])

    def _run_call(self, call: JobCall) -> None:
        self._began = time.monotonic()
        self.current_job = call.name
        try:
            call.run()
        except StoreUnavailable as error:
            self._attempted.clear()
            log.warning("the store does not answer: %s", error)
        except Exception:
            log.exception("%s has failed", call.name)
            check_game(call)
        finally:
            self.current_job = ""

    def is_stuck(self) -> bool:
        """Return True if the current job exceeds its time limit."""
        return bool(self.current_job) and time.monotonic() > self._began + TURN_SECONDS

    def stop(self) -> None:
        """Start no more jobs and wait briefly for the current one."""
        self._stopping = True
        if self._thread is not None and not self.is_stuck():
            self._thread.join(GRACE_SECONDS)
