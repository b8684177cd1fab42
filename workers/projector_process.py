"""A pump process: reads the log into the views whenever the bell rings.

That which builds the tree hands out what has become due too, and does itself what the queue does not get done.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress

from domain.errors import StoreUnavailable
from projections.leases import LeaseLostError
from projections.partitions import Held
from projections.projector import Pump, Pumped
from projections.reader import Reader
from workers import liveness
from workers.batching_delay import SLICES, Gathering
from workers.context import Crew
from workers.log_throttle import Seldom
from workers.maintenance.clock_jumps import Leaps
from workers.maintenance.corruption_handler import DamagedGames
from workers.maintenance.outage_recovery import Watch
from workers.notifications.producer import Owing
from workers.reconciler import Reconciler
from workers.redis_fallback import Standby
from workers.signals import Bell

NAP = 0.5
"""Seconds to wait for the bell: the longest that views are behind when nobody could ring."""

PASS = 1.0
"""Seconds between two looks at the due work when nothing happens: how late a deadline may be noticed."""

APART = 0.02
"""Seconds at least between two looks: in a busy service each takes care of what several moves have brought."""

BEHIND = 5.0
"""Seconds that the parts of other pumps may be behind before work that needs them all is put off."""

SIGN = 30.0
"""Seconds within which the loop gives a sign of life."""

log = logging.getLogger("annals.pump")


class Pumping:
    """The loop. `stop` may be called from a signal handler."""

    def __init__(
        self, crew: Crew, bell: Bell, reconciler: Reconciler, owner: str = "", owing: Owing | None = None
    ) -> None:
        """`owner` names the pump where a node has several."""
        self._crew, self._bell, self._reconciler = crew, bell, reconciler
        self._pump = Pump(crew.ledger, crew.catalogue, crew.views, owner or crew.node)
        self._reader = Reader(crew.views)
        self._watch = Watch(crew, self._reader, self._level)
        self._leaps = Leaps(crew, self._reader, self._level)
        self._damaged = DamagedGames(crew, self._pump)
        self._standby, self._owing = Standby(crew.clock), owing
        self._gathering = Gathering(SLICES)
        self._position = 0
        self._looked, self._away = 0.0, Seldom()
        self._wanted = self._stopping = False

    def stop(self) -> None:
        """Leave the loop after the slice that is being written."""
        self._stopping = True

    def run(self) -> None:
        """Until `stop`."""
        while not self._stopping:
            liveness.promise(SIGN)
            try:
                self.turn()
            except LeaseLostError as holder:
                log.info("standing by: %s holds the lease", holder)
                time.sleep(NAP)
            except StoreUnavailable as error:
                if self._away(str(error)):
                    log.warning("the store does not answer: %s", error)
                time.sleep(0.1)
            if self._standby.stuck():  # only a new process is rid of it
                log.error("%s takes too long: the pump ends, and is to be started anew", self._standby.doing)
                self.stop()
        self._standby.stop()
        with suppress(StoreUnavailable):  # others take it then once the lease has ended
            self._pump.release()

    def turn(self) -> None:
        """Read to the end of the log, make outages and clocks good, see to the due work, wait for the bell."""
        moved = self.catch_up()
        if self._stopping:  # in the middle of the log: what the views say of deadlines is not true yet
            return
        since = time.monotonic() - self._looked
        wanted = moved or self._wanted or since > PASS
        if wanted and since > APART:
            self._look()
            self._looked, wanted = time.monotonic(), False
        self._wanted = self._bell.wait(APART if wanted else NAP) or wanted

    def _look(self) -> None:
        """What is to be done with the views at the end of the log: most of it by one pump alone."""
        try:
            self._damaged.look()
            if (held := self._pump.held) and held.tree:
                self._look_alone(held)
        except StoreUnavailable:
            if (held := self._pump.held) and held.tree:
                self._reconciler.long_work()
            raise

    def _look_alone(self, held: Held) -> None:
        if held.whole or self._shown():
            self._watch.look()
            self._leaps.look()
        if self._owing:
            self._owing.look()
        self._reconciler.pass_once()
        self._standby.take(self._reconciler.left)

    def catch_up(self) -> bool:
        """Whether there was anything to read. Of what is written after the last look somebody rings."""
        moved = False
        while not self._stopping and (pumped := self._run()):
            self._position, moved = max(self._position, pumped.position), True
            held = self._pump.held
            if pumped.games or held is None or held.whole:  # to name none is to say that any may have changed
                self._bell.announce(pumped.position, pumped.games)
            if not pumped.more:
                break
        return moved

    def _run(self) -> Pumped | None:
        liveness.promise(SIGN)
        if pause := self._gathering.pause(time.monotonic()):
            time.sleep(pause)
        began = time.monotonic()
        pumped = self._pump.run(self._crew.clock())
        self._gathering.took(began, pumped.records if pumped else 0)
        return pumped

    def _level(self) -> None:
        """Bring all views to the end of the log; raises StoreUnavailable where other pumps do not get there."""
        self.catch_up()
        held = self._pump.held
        if held and not held.whole and not self._shown() and not self._reader.wait(self._position, BEHIND):
            raise StoreUnavailable("the views of other pumps are behind")

    def _shown(self) -> bool:
        """Whether all views are as far as this pump has read: or at the end of a log that came back shorter."""
        shown = self._reader.position()
        if shown < self._position and not self._crew.ledger.log(shown, 1):
            self._position = shown
        return shown >= self._position
