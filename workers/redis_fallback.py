"""Stands in for the workers: turns and deadlines go on when Redis is away, or nobody takes what it holds.

Doing work twice changes nothing, so nobody is asked whether a worker is at it after all.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from domain.errors import StoreUnavailable
from workers.queues import TURN_SECONDS, Call, judge

GRACE = 5.0
"""Seconds that the piece of work at hand has when the process ends; what is cut off then is done again."""

log = logging.getLogger("annals.standby")


class Standby:
    """One thread, while there is work: the views go on meanwhile. Its process has signed on a crew."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._thread: threading.Thread | None = None
        self._tried: set[str] = set()
        self._began = 0.0
        self._stopping = False
        self.doing = ""
        """The name of the work at hand."""

    def take(self, calls: Sequence[Call]) -> None:
        """Do these, unless others are being done; returns at once."""
        if calls and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self.do, args=(calls,), name="standby", daemon=True)
            self._thread.start()

    def do(self, calls: Sequence[Call]) -> None:
        """Each once in its period, as a queue would; the newest first, since what hangs or fails gets old."""
        ids = {call.id(self._clock()): call for call in calls}
        self._tried &= ids.keys()
        for id_ in reversed([id_ for id_ in ids if id_ not in self._tried]):
            if self._stopping:
                return
            self._tried.add(id_)
            self._do(ids[id_])

    def _do(self, call: Call) -> None:
        self._began, self.doing = time.monotonic(), call.name
        try:
            call.work(*call.args)
        except StoreUnavailable as error:
            self._tried.clear()
            log.warning("the store does not answer: %s", error)
        except Exception:
            log.exception("%s has failed", call.name)
            judge(call)
        finally:
            self.doing = ""

    def stuck(self) -> bool:
        """Whether the work at hand takes longer than any may."""
        return bool(self.doing) and time.monotonic() > self._began + TURN_SECONDS

    def stop(self) -> None:
        """Begin nothing new, and wait for what is being done; not for long."""
        self._stopping = True
        if self._thread is not None and not self.stuck():
            self._thread.join(GRACE)
