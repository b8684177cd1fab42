"""The keeper: reads the log against its tree, archives games, and sees to the running backup, in its own process."""

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
from workers.context import Crew, sign_on
from workers.log_throttle import Seldom
from workers.maintenance.archiving import Archiving
from workers.maintenance.scrubbing import PATIENCE, STEP, Scrubbing

SIGN = PATIENCE + 30.0
"""Seconds within which the loop gives a sign of life."""

NAP = 2.0
"""Seconds to wait while somebody else does the work, or a store is away."""

RATE = 500
"""Records that are archived in a second."""

SLOWEST = 50
"""Records in a second that are archived wherever the service can be used at all."""

REST = 600.0
"""Seconds between two looks for games that have become old enough."""

log = logging.getLogger("annals.keeper")


class Copying(Protocol):
    """A running backup, in a thread of its own: its folder may hang."""

    def start(self) -> None: ...
    def stuck(self) -> bool: ...
    def stop(self) -> None: ...


def keep(crew: Crew, rate: int, copying: Copying | None = None, archiving: Archiving | None = None) -> None:
    """Until a signal comes; `rate`: records that are looked at in a second, 0 for none."""
    sign_on(crew)
    over = threading.Event()

    def stop(_: int, __: FrameType | None) -> None:
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    if copying:
        copying.start()
    scrubbing = Scrubbing(crew, rate) if rate else None
    shelving = Shelving(archiving) if archiving else None
    away = Seldom()
    while not over.is_set():
        liveness.promise(SIGN)
        if shelving:
            shelving.step()
        over.wait(_step(scrubbing, away) if scrubbing else NAP)
        if copying and copying.stuck():  # only a new process is rid of it
            log.error("the folder of the backup hangs: the keeper ends, and is to be started anew")
            return
    if copying:
        copying.stop()


class Shelving:
    """Archives so many records a second that others who write hardly notice."""

    def __init__(self, archiving: Archiving) -> None:
        self._archiving, self._free = archiving, 0.0

    def step(self) -> None:
        """The next game once its time has come; the larger one was, the longer it takes until then."""
        if time.monotonic() < self._free:
            return
        wait = REST
        try:
            if found := self._archiving.next():
                liveness.promise(SIGN + found.version / SLOWEST)
                wait = max(self._archiving.archive(found), 1) / RATE
        except StoreUnavailable as error:
            log.warning("nothing is archived now: %s", error)
        self._free = time.monotonic() + wait


def _step(scrubbing: Scrubbing, away: Seldom) -> float:
    """Seconds to wait after it."""
    try:
        scrubbing.step()
    except LeaseLostError as holder:
        log.info("standing by: %s reads the log against its tree", holder)
    except StoreUnavailable as error:
        if away(str(error)):
            log.warning("the store does not answer: %s", error)
    else:
        return STEP
    scrubbing.forget()
    return NAP
