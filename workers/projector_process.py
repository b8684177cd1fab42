"""The projector process: updates the views after each signal.

The process that builds the tree also enqueues due work and runs jobs that the queue leaves undone.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress

from domain.errors import StoreUnavailable
from projections.leases import LeaseLostError
from projections.partitions import PartitionLease
from projections.projector import ProjectedSlice, Projector
from projections.reader import Reader
from workers import liveness
from workers.batching_delay import SLICE_INTERVAL, BatchingDelay
from workers.context import WorkerContext
from workers.log_throttle import LogThrottle
from workers.maintenance.checkpoint_publisher import CheckpointPublisher
from workers.maintenance.clock_jumps import ClockJumpRecovery
from workers.maintenance.corruption_handler import CorruptionHandler
from workers.maintenance.hidden_names import HiddenNames
from workers.maintenance.outage_recovery import OutageRecovery
from workers.maintenance.treaty_answers import TreatyAnswers
from workers.notifications.producer import NotificationProducer
from workers.reconciler import Reconciler
from workers.redis_fallback import RedisFallback
from workers.signal_channel import SignalChannel

MAX_WAIT = 0.5
"""Longest wait for a signal, seconds: the longest delay of the views without Redis."""

CHECK_INTERVAL = 1.0
"""Seconds between two checks for due work without new records: the longest delay of a deadline."""

MIN_INTERVAL = 0.02
"""Shortest interval between two checks in a busy service, seconds. One check serves several moves."""

MAX_LAG = 5.0
"""Longest wait for other projectors' partitions before work that needs all views, seconds."""

LIVENESS_SECONDS = 30.0
"""Liveness deadline of the loop, seconds."""

log = logging.getLogger("annals.pump")


class ProjectorLoop:
    """The loop of a projector process. Signal handlers may call `stop`."""

    def __init__(
        self,
        context: WorkerContext,
        signals: SignalChannel,
        reconciler: Reconciler,
        owner: str = "",
        notifications: NotificationProducer | None = None,
    ) -> None:
        """`owner` names the projector if a node has several."""
        self._context, self._signals, self._reconciler = context, signals, reconciler
        self._projector = Projector(context.history, owner or context.node)
        self._reader = Reader(context.views)
        self._outage_recovery = OutageRecovery(context, self._reader, self._catch_up_all)
        self._clock_jumps = ClockJumpRecovery(context, self._reader, self._catch_up_all)
        self._corruption_handler = CorruptionHandler(context, self._projector)
        self._checkpoints = CheckpointPublisher(context, self._reader)
        self._fallback = RedisFallback(context.clock)
        self._notifications = notifications
        self._treaty_answers = TreatyAnswers(context, signals.notify_changed)
        self._hidden_names = HiddenNames(context, self._reader, signals.notify_changed)
        self._delay = BatchingDelay(SLICE_INTERVAL)
        self._position = 0
        self._checked_at = 0.0
        self._log_throttle = LogThrottle()
        self._check_pending = self._stopping = False

    def stop(self) -> None:
        """Leave the loop after the current slice."""
        self._stopping = True

    def run(self) -> None:
        """Run until `stop`."""
        while not self._stopping:
            liveness.set_deadline(LIVENESS_SECONDS)
            try:
                self.run_once()
            except LeaseLostError as holder:
                log.info("standing by: %s holds the lease", holder)
                time.sleep(MAX_WAIT)
            except StoreUnavailable as error:
                if self._log_throttle(str(error)):
                    log.warning("the store does not answer: %s", error)
                time.sleep(0.1)
            if self._fallback.is_stuck():  # only a new process gets rid of the thread
                log.error("%s takes too long: the pump ends, and is to be started anew", self._fallback.current_job)
                self.stop()
        self._fallback.stop()
        with suppress(StoreUnavailable):  # other projectors then wait for the lease to end
            self._projector.release()

    def run_once(self) -> None:
        """Read to the end of the log, do the upkeep, then wait for a signal."""
        moved = self.catch_up()
        if self._stopping:  # deadlines in the views are outdated in the middle of the log
            return
        elapsed = time.monotonic() - self._checked_at
        check_pending = moved or self._check_pending or elapsed > CHECK_INTERVAL
        if check_pending and elapsed > MIN_INTERVAL:
            self._run_upkeep()
            self._checked_at = time.monotonic()
            check_pending = False
        self._check_pending = self._signals.wait_appended(MIN_INTERVAL if check_pending else MAX_WAIT) or check_pending

    def _run_upkeep(self) -> None:
        """Do the work that needs current views; the owner of the tree does most of it."""
        try:
            self._corruption_handler.update_views()
            if (lease := self._projector.lease) and lease.has_tree:
                self._run_tree_upkeep(lease)
        except StoreUnavailable:
            if (lease := self._projector.lease) and lease.has_tree:
                self._reconciler.enqueue_long_jobs()
            raise

    def _run_tree_upkeep(self, lease: PartitionLease) -> None:
        if lease.has_all or self._are_views_current():
            self._outage_recovery.recover()
            self._clock_jumps.recover()
        self._checkpoints.publish()
        if self._notifications:
            self._notifications.produce()
        self._reconciler.pass_once()
        self._fallback.start(self._reconciler.unclaimed)
        self._treaty_answers.step()
        self._hidden_names.step()

    def catch_up(self) -> bool:
        """Read to the end of the log; return True if there was anything. Later records bring a signal."""
        moved = False
        while not self._stopping and (slice_ := self._project_slice()):
            self._position = max(self._position, slice_.position)
            moved = True
            lease = self._projector.lease
            if slice_.games or lease is None or lease.has_all:  # an empty list would mean any game
                self._signals.notify_projected(slice_.position, slice_.games)
            if not slice_.has_more:
                break
        return moved

    def _project_slice(self) -> ProjectedSlice | None:
        liveness.set_deadline(LIVENESS_SECONDS)
        if pause := self._delay.pause(time.monotonic()):
            time.sleep(pause)
        began = time.monotonic()
        slice_ = self._projector.run(self._context.clock())
        self._delay.record_batch(began, slice_.records if slice_ else 0)
        return slice_

    def _catch_up_all(self) -> None:
        """Bring all views to the end of the log; raises StoreUnavailable if other projectors stay behind."""
        self.catch_up()
        lease = self._projector.lease
        if (
            lease
            and not lease.has_all
            and not self._are_views_current()
            and not self._reader.wait_for_position(self._position, MAX_LAG)
        ):
            raise StoreUnavailable("the views of other pumps are behind")

    def _are_views_current(self) -> bool:
        """Return True if all views have reached this projector's position, or the end of a restored, shorter log."""
        position = self._reader.read_position()
        if position < self._position and not self._context.ledger.log(position, 1):
            self._position = position
        return position >= self._position
