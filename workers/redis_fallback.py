"""Stands in for the workers: turns and deadlines go on when Redis is away, or nobody takes what it holds.

Doing work twice changes nothing, so nobody is asked whether a worker is at it after all.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from domain.errors import StoreUnavailable
from workers.queues import TURN_SECONDS, JobCall, check_game

GRACE_SECONDS = 5.0
"""Seconds that the piece of work at hand has when the process ends; what is cut off then is done again."""

log = logging.getLogger("annals.standby")


class RedisFallback:
    """One thread, while there is work: the views go on meanwhile. Its process has signed on a crew."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._thread: threading.Thread | None = None
        self._attempted: set[str] = set()
        self._began = 0.0
        self._stopping = False
        self.current_job = ""
        """The name of the work at hand."""

    def start(self, calls: Sequence[JobCall]) -> None:
        """Do these, unless others are being done; returns at once."""
        if calls and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self.run_all, args=(calls,), name="standby", daemon=True)
            self._thread.start()

    def run_all(self, calls: Sequence[JobCall]) -> None:
        """Each once in its period, as a queue would; the newest first, since what hangs or fails gets old."""
        ids = {call.id(self._clock()): call for call in calls}
        self._attempted &= ids.keys()
        for id_ in reversed([id_ for id_ in ids if id_ not in self._attempted]):
            if self._stopping:
                return
            self._attempted.add(id_)
            self._run_call(ids[id_])

    def _run_call(self, call: JobCall) -> None:
        self._began, self.current_job = time.monotonic(), call.name
        try:
            call.function(*call.args)
        except StoreUnavailable as error:
            self._attempted.clear()
            log.warning("the store does not answer: %s", error)
        except Exception:
            log.exception("%s has failed", call.name)
            check_game(call)
        finally:
            self.current_job = ""

    def is_stuck(self) -> bool:
        """Whether the work at hand takes longer than any may."""
        return bool(self.current_job) and time.monotonic() > self._began + TURN_SECONDS

    def stop(self) -> None:
        """Begin nothing new, and wait for what is being done; not for long."""
        self._stopping = True
        if self._thread is not None and not self.is_stuck():
            self._thread.join(GRACE_SECONDS)
