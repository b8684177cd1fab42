"""The worker process: runs the jobs of one queue, one after the other, without forking."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from redis.client import Pipeline
from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.timeouts import UnixSignalDeathPenalty
from rq.worker_registration import register

from workers import liveness
from workers.context import WorkerContext, set_context
from workers.job_calls import QUEUES, check_game
from workers.log_throttle import LogThrottle
from workers.notifications.producer import NotificationProducer
from workers.projector_process import ProjectorLoop
from workers.queues import JOB_CLASSES, SERIALIZER, RowJob
from workers.reconciler import Reconciler
from workers.signal_channel import SignalChannel
from workers.signals import connect, ping

POLL_SECONDS = 2
"""Seconds between two self-checks of an idle worker."""

REDIS_SECONDS = POLL_SECONDS + 2
"""Redis timeout of a worker, seconds."""

RETRY_SECONDS = 1.0
"""Seconds before a worker without Redis connects again."""

IDLE_SECONDS = 60
"""Liveness deadline of an idle worker, seconds."""

OVERRUN_SECONDS = 5.0
"""Seconds beyond a job's time limit, for reporting the timeout."""

log = logging.getLogger("annals.worker")


class _ErrorFilter(logging.Filter):
    """Shortens RQ's messages about Redis errors to one line and throttles them."""

    def __init__(self) -> None:
        super().__init__()
        self._throttle = LogThrottle()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        first, _, trace = record.getMessage().partition("\n")
        if error is None and (last := trace.strip().rpartition("\n")[2]).startswith("redis."):
            record.msg, record.args = "%.300s", (f"{first} {last}",)
        if error is not None:
            message = f"{record.getMessage()} {type(error).__name__}: {error}"
            record.msg, record.args, record.exc_info = "%.300s", (message,), None
        return self._throttle(f"{record.msg} {type(error).__name__}")


class _TookTooLongError(BaseException):
    """The job's time limit has passed. A BaseException, so that job code cannot catch it as its own failure."""


class _TimeLimit(UnixSignalDeathPenalty):
    """RQ's time limit of a job, with an error that no job catches."""

    def handle_death_penalty(self, signum: int, frame: FrameType | None) -> None:
        raise _TookTooLongError


class RowWorker(SimpleWorker):
    """RQ's worker that runs jobs without forking, so that games stay in memory between turns.

    The supervisor replaces the safety of forks: it restarts a dead worker, and a worker ends after a timed-out job. No
    writer to Redis can stop or suspend it.
    """

    death_penalty_class = _TimeLimit
    max_connection_wait_time = 2.0
    connection_timeout = REDIS_SECONDS
    must_stop = False
    """True once the worker was asked to stop."""

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop after the current job."""
        self.must_stop = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call] # untyped in RQ

    def set_shutdown_requested_date(self) -> None:
        """Write nothing to Redis in a signal handler: a halted one would break off the job at hand."""

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Beat like RQ, and extend the liveness deadline: by the time limit of a job, plus RQ's minute."""
        liveness.set_deadline(max(timeout - 60 + OVERRUN_SECONDS if timeout else 0, IDLE_SECONDS))
        super().heartbeat(timeout, pipeline)
        register(self, pipeline)  # again in an emptied Redis

    def subscribe(self) -> None:
        """Take no commands through Redis."""

    def unsubscribe(self) -> None:
        """End no subscription: there is none."""

    def check_for_suspension(self, burst: bool) -> None:
        """Look for no suspension: Redis cannot suspend this worker."""


def _handle_failure(job: RowJob, _: type[BaseException], error: BaseException, __: object) -> None:
    """Look for the cause of a failure, and end the process after a timeout: its memory may be inconsistent."""
    if isinstance(error, _TookTooLongError):
        log.error("%s took too long", job.id)
        os.kill(os.getpid(), signal.SIGTERM)
    else:
        check_game(job.call)


def serve_queue(context: WorkerContext, url: str, queue: str, *, burst: bool = False) -> bool:
    """Run the jobs of a queue until a signal (`burst`: until it is empty); return True if there were any."""
    if queue not in QUEUES:
        raise ValueError(f"there is no queue {queue}")
    set_context(context)
    worked, away = False, LogThrottle()
    with _throttled_library_log(), suppress(StopRequested):
        while True:
            worker = None
            for number in (signal.SIGINT, signal.SIGTERM):  # until the worker has its own handlers
                signal.signal(number, _stop)
            try:
                worker = make_worker(url, queue)
                worked |= worker.work(burst=burst, logging_level="WARNING")
            except StopRequested:
                raise
            except Exception as error:  # noqa: BLE001 - another program's reply can raise any error
                if away(type(error).__name__):  # the message may contain a time
                    log.warning("Redis does not answer: %.200s", error)
            if burst or (worker is not None and worker.must_stop):
                break
            liveness.set_deadline(IDLE_SECONDS)
            time.sleep(RETRY_SECONDS)
    if context.delivery_pool and not burst:
        context.delivery_pool.stop()
    return worked


def _stop(_: int, __: FrameType | None) -> None:
    raise StopRequested


def make_worker(url: str, queue: str) -> RowWorker:
    """Return a worker of a queue. Raise an error unless a Redis answers."""
    connection = connect(url, REDIS_SECONDS)
    ping(connection)
    worker = RowWorker(
        [Queue(queue, connection=connection, serializer=SERIALIZER, job_class=JOB_CLASSES[queue])],
        connection=connection,
        serializer=SERIALIZER,
        job_class=JOB_CLASSES[queue],
        exception_handlers=[_handle_failure],
        log_job_description=False,
        worker_ttl=POLL_SECONDS + 15,  # RQ waits 15 seconds less
        # RQ would ask for its own address. The runbook's rights do not include that, and redis-py reads no list of
        # clients where the path of the socket has a line break.
        prepare_for_work=False,
    )
    worker.hostname = socket.gethostname()
    worker.pid = os.getpid()
    return worker


@contextmanager
def _throttled_library_log() -> Iterator[None]:
    library, brief = logging.getLogger("rq.worker"), _ErrorFilter()
    library.addFilter(brief)
    try:
        yield
    finally:
        library.removeFilter(brief)


def run_projector(
    context: WorkerContext,
    signals: SignalChannel,
    reconciler: Reconciler,
    owner: str = "",
    notifications: NotificationProducer | None = None,
) -> None:
    """Run a projector until a signal. `owner` names it if a node has several."""
    set_context(context)
    pumping = ProjectorLoop(context, signals, reconciler, owner, notifications)

    def stop(_: int, __: FrameType | None) -> None:
        pumping.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    pumping.run()
    if context.delivery_pool:
        context.delivery_pool.stop()
