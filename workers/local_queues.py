"""Signals and job queues of a service in one process, in place of those of Redis.

Due work is a row here too: after the end of the process the next one finds it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue

from cachetools import LRUCache

from domain.errors import StoreUnavailable
from workers.job_calls import BATCH_SECONDS, QUEUES, JobCall, check_game, period_of
from workers.signal_channel import OnChange

MAX_JOBS = 10_000
"""Attempts whose state is known."""

GRACE_SECONDS = 5.0
"""Time limit for the current jobs at the end, seconds. An interrupted job is repeated later."""

log = logging.getLogger("annals.jobs")


class LocalSignals:
    """Signals between the threads of a process."""

    def __init__(self) -> None:
        self._appended = threading.Event()
        self._listeners: list[OnChange] = []

    def notify_appended(self, _: int) -> None:
        """Wake the projector."""
        self._appended.set()

    def notify_projected(self, _: int, games: Sequence[str]) -> None:
        """Tell all listeners that these games have changed."""
        for on_change in self._listeners:
            on_change(frozenset(games))

    def notify_changed(self, game: str) -> None:
        """Wake the projector and tell all listeners: something outside the log has changed."""
        self.notify_appended(0)
        self.notify_projected(0, [game])

    def wait_appended(self, seconds: float) -> bool:
        """Wait for new records, at most `seconds`; return True if there are any."""
        found = self._appended.wait(seconds)
        self._appended.clear()
        return found

    def listen(self, on_change: OnChange) -> None:
        """Call back in the projector's thread after each change."""
        self._listeners.append(on_change)

    def is_up(self) -> bool:
        """Return True: a process always reaches itself."""
        return True

    def close(self) -> None:
        """Do nothing: there is no connection."""


class LocalQueues:
    """Job queues with a thread each. The process must have a worker context."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: LRUCache[str, str] = LRUCache(MAX_JOBS)
        self._waiting = {name: SimpleQueue[tuple[str, JobCall] | None]() for name in QUEUES}
        self._deadlines: dict[str, float] = {}
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads."""
        self._threads = [
            threading.Thread(target=self._run, args=(name,), name=name, daemon=True) for name in self._waiting
        ]
        for thread in self._threads:
            thread.start()

    def enqueue(self, calls: Sequence[JobCall], now: int) -> int:
        """Enqueue these jobs, each once in its period; return the number of new ones."""
        with self._lock:
            new = {id_: call for call in calls if (id_ := call.id(now)) not in self._states}
            for id_ in new:
                self._states[id_] = ""
        for id_, call in new.items():
            self._waiting[call.queue].put((id_, call))
        return len(new)

    def job_state(self, name: str, now: int) -> str:
        """Return the state of a job: `running`, `failed` (will be retried) or an empty string."""
        period = period_of(name)
        attempts = 1 + BATCH_SECONDS * 1000 // period
        with self._lock:
            states = {self._states.get(f"{name}-{now // period - back}", "") for back in range(attempts + 1)}
        return next((state for state in ("running", "failed") if state in states), "")

    @property
    def is_stuck(self) -> bool:
        """True if a job exceeds its time limit: only a new process gets rid of its thread."""
        return any(time.monotonic() > deadline for deadline in [*self._deadlines.values()])

    def count_workers(self) -> dict[str, int]:
        """Return queue -> number of its threads."""
        return {thread.name: int(thread.is_alive()) for thread in self._threads}

    def close(self) -> None:
        """Start no more jobs and wait briefly for the current ones."""
        for waiting in self._waiting.values():
            while not waiting.empty():
                waiting.get_nowait()
            waiting.put(None)
        for thread in self._threads:
            thread.join(GRACE_SECONDS)

    def _run(self, queue: str) -> None:
        while found := self._waiting[queue].get():
            id_, call = found
            self._deadlines[queue] = time.monotonic() + call.timeout
            self._note(id_, "running")
            self._note(id_, self._run_call(call))
            self._deadlines.pop(queue)

    def _run_call(self, call: JobCall) -> str | None:
        """Return the state after the job; None if it may be tried again at once."""
        try:
            call.run()
        except StoreUnavailable as error:
            log.warning("the store does not answer: %s", error)
            return None
        except Exception:
            log.exception("%s has failed", call.name)
            check_game(call)
            return "failed"
        return ""

    def _note(self, id_: str, state: str | None) -> None:
        with self._lock:
            if state is None:
                self._states.pop(id_, None)
            else:
                self._states[id_] = state
