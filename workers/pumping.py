"""The pump process: reads the log into the views whenever the bell rings, and hands out what has become due.

It does itself what the queue does not get done.
"""

from __future__ import annotations

import logging
import time

from domain.errors import StoreUnavailable
from projections.progress import LeaseLostError
from projections.pump import Pump
from projections.reader import Reader
from workers import pulse
from workers.bell import Bell
from workers.crew import Crew
from workers.damaged import DamagedGames
from workers.leaps import Leaps
from workers.outages import Watch
from workers.reconcile import Reconciler
from workers.standby import Standby

NAP = 0.5
"""Seconds to wait for the bell: the longest that views are behind when nobody could ring."""

PASS = 1.0
"""Seconds between two looks at the due work when nothing happens: how late a deadline may be noticed."""

SIGN = 30.0
"""Seconds within which the loop gives a sign of life."""

log = logging.getLogger("annals.pump")


class Pumping:
    """The loop. `stop` may be called from a signal handler."""

    def __init__(self, crew: Crew, bell: Bell, reconciler: Reconciler) -> None:
        self._crew, self._bell, self._reconciler = crew, bell, reconciler
        self._pump = Pump(crew.ledger, crew.catalogue, crew.views, crew.node)
        self._watch = Watch(crew, Reader(crew.views), self.catch_up)
        self._leaps = Leaps(crew, Reader(crew.views), self.catch_up)
        self._damaged = DamagedGames(crew, self._pump)
        self._standby = Standby(crew.clock)
        self._position = -1
        self._reconciled = 0.0
        self._rung = self._stopping = False

    def stop(self) -> None:
        """Leave the loop after the slice that is being written."""
        self._stopping = True

    def run(self) -> None:
        """Until `stop`."""
        while not self._stopping:
            pulse.promise(SIGN)
            try:
                self.turn()
            except LeaseLostError as holder:
                log.info("standing by: %s holds the lease", holder)
                time.sleep(NAP)
            except StoreUnavailable as error:
                log.warning("the store does not answer: %s", error)
                time.sleep(0.1)
            if self._standby.stuck():  # only a new process is rid of it
                log.error("%s takes too long: the pump ends, and is to be started anew", self._standby.doing)
                self.stop()
        self._standby.stop()

    def turn(self) -> None:
        """Read to the end of the log, make outages and clocks good, see to the due work, wait for the bell."""
        moved = self.catch_up()
        if self._stopping:  # in the middle of the log: what the views say of deadlines is not true yet
            return
        if moved or self._rung or time.monotonic() > self._reconciled + PASS:
            self._damaged.look()
            self._watch.look()
            self._leaps.look()
            self._reconciler.pass_once()
            self._standby.take(self._reconciler.left)
            self._reconciled = time.monotonic()
        self._rung = self._bell.wait(NAP)

    def catch_up(self) -> bool:
        """Whether there was anything to read."""
        moved = False
        while not self._stopping:
            pulse.promise(SIGN)
            position, games = self._pump.run(self._crew.clock())
            if position == self._position:  # a slice of games set aside moves on without naming one
                return moved
            self._position, moved = position, True
            self._bell.announce(position, games)
        return moved
