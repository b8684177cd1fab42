"""The worker process: runs the jobs of one queue, one after the other, without forking."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, cast

from redis import Redis
from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.job import Job, JobStatus
from rq.utils import now
from rq.worker import WorkerStatus
from rq.worker_registration import WORKERS_BY_QUEUE_KEY, register

from workers import liveness
from workers.context import WorkerContext, set_context
from workers.log_throttle import LogThrottle
from workers.notifications.producer import NotificationProducer
from workers.projector_process import ProjectorLoop
from workers.queues import (
    PERIOD,
    QUEUES,
    SERIALIZER,
    WORKER_MARGIN,
    JobQueue,
    RowJob,
    check_game,
    host_id,
    list_worker_keys,
    start_time,
)
from workers.reconciler import Reconciler
from workers.signals import Signals, connect, ping

POLL_SECONDS = 2
"""Seconds between two self-checks of an idle worker."""

REDIS_SECONDS = POLL_SECONDS + 2.0
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
        if error is not None:
            message = f"{record.getMessage()} {type(error).__name__}: {error}"
            record.msg, record.args, record.exc_info = "%.300s", (message,), None
        return self._throttle(f"{record.msg} {type(error).__name__}")


class _TookTooLongError(BaseException):
    """The job's time limit has passed. A BaseException, so that job code cannot catch it as its own failure."""


class InProcessWorker(SimpleWorker):
    """Runs jobs without forking, so that games stay in memory between turns.

    The supervisor replaces the safety of RQ's forks: it restarts a dead worker, and a worker exits after a timed-out
    job. Rows replace RQ's bookkeeping in Redis: registries, results, callbacks and retries.
    """

    max_connection_wait_time = 2.0

    def __init__(self, url: str, queue: str, name: str | None = None) -> None:
        """`name` is this process' name before it lost Redis; no other process knows it."""
        self._quick = connect(url)  # for hints: no waiting
        self._current_job = ""
        """Id of the current job, or empty."""
        connection = connect(url, REDIS_SECONDS)
        super().__init__(
            [JobQueue(queue, connection=connection, serializer=SERIALIZER)],
            connection=connection,
            serializer=SERIALIZER,
            name=name,
            job_class=RowJob,
            queue_class=JobQueue,
            log_job_description=False,
            worker_ttl=POLL_SECONDS + 15,  # RQ waits 15 seconds less
        )

    @property
    def must_stop(self) -> bool:
        """True if the worker was asked to stop or has to."""
        return self._stop_requested or self._shutdown_requested_date is not None

    def bootstrap(self, *args: Any) -> None:
        """Start like RQ, but handle signals from the beginning and check that a Redis answers."""
        self._install_signal_handlers()  # type: ignore[no-untyped-call] # untyped in RQ
        ping(self.connection)
        self.connection.delete(self.key)  # else RQ refuses the name as taken
        super().bootstrap(*args)

    def teardown(self) -> None:
        """Stop like RQ, but do not wait for an absent Redis."""
        self.connection.close()
        self.connection = self._quick
        with suppress(Exception):
            super().teardown()  # type: ignore[no-untyped-call] # untyped in RQ
        self.connection.close()

    def subscribe(self) -> None:
        """Do nothing: this worker takes no commands through Redis."""

    def unsubscribe(self) -> None:
        """Do nothing: there is no subscription."""

    def check_for_suspension(self, burst: bool) -> None:
        """Do nothing: Redis cannot suspend this worker."""

    def set_shutdown_requested_date(self) -> None:
        """Do nothing: no writes to Redis inside a signal handler."""

    def _set_connection(self, connection: Redis) -> Redis:
        """Return the connection unchanged; it has its timeouts."""
        return connection

    def _set_ip_address(self, connection: Redis) -> None:
        """Set no address."""
        self.ip_address = "unknown"

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Beat like RQ, extend the liveness deadline, and register again in an emptied Redis."""
        if pipeline is None:
            with self.connection.pipeline() as own_pipeline:
                self.heartbeat(timeout, own_pipeline)
                own_pipeline.execute()
            return
        liveness.set_deadline(max(timeout - WORKER_MARGIN + OVERRUN_SECONDS if timeout else 0, IDLE_SECONDS))
        super().heartbeat(timeout, pipeline)
        register(self, pipeline)
        fields = {"place": host_id(), "pid": self.pid, "began": start_time(os.getpid()), "at": self._current_job}
        pipeline.hset(self.key, mapping=fields)

    def run_maintenance_tasks(self) -> None:
        """Remove dead workers, the only data in Redis that could grow."""
        for queue in self.queue_names():
            if dead := list_worker_keys(self.connection, queue)[1]:
                self.connection.srem(WORKERS_BY_QUEUE_KEY % queue, *dead)
                self.connection.srem(self.redis_workers_keys, *dead)
        self.last_cleaned_at = now()  # type: ignore[assignment] # untyped in RQ

    # --- jobs

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run a job. Its status in Redis is only a hint; rows say what is left to do."""
        row_job = cast("RowJob", job)
        if row_job.call.queue != queue.name:  # long work must not stand in the way of turns
            return
        self._state, self._current_job = WorkerStatus.BUSY, row_job.id
        self._report_status(row_job, JobStatus.STARTED, row_job.call.timeout)
        succeeded, self._current_job = self._run_job(row_job), ""
        if succeeded:
            self._report_status(row_job, JobStatus.FINISHED, row_job.call.period // 1000)
        else:  # it is not enqueued again before
            self._report_status(row_job, JobStatus.FAILED, PERIOD // 1000)
        self._state = WorkerStatus.IDLE

    def _run_job(self, job: RowJob) -> bool:
        try:
            with self.death_penalty_class(job.call.timeout, _TookTooLongError, job_id=job.id):
                job.perform()
        except _TookTooLongError:  # memory may be inconsistent
            log.exception("%s took too long", job.id)
            self._stop_requested = True
        except Exception:
            log.exception("%s has failed", job.id)
            check_game(job.call)
        else:
            return True
        return False

    def _report_status(self, job: RowJob, status: JobStatus, seconds: int) -> None:
        with suppress(Exception), self._quick.pipeline() as pipe:
            self.heartbeat(seconds + WORKER_MARGIN, pipe)
            pipe.hset(job.key, mapping={"status": status.value, "worker": self.key})
            pipe.expire(job.key, seconds)
            pipe.execute()


def serve_queue(context: WorkerContext, url: str, queue: str, *, burst: bool = False) -> bool:
    """Run the jobs of a queue until a signal (`burst`: until it is empty); return True if there were any."""
    if queue not in QUEUES:
        raise ValueError(f"there is no queue {queue}")
    set_context(context)
    worked, name, away = False, None, LogThrottle()
    with _throttled_library_log(), suppress(StopRequested):
        while True:
            worker = InProcessWorker(url, queue, name)
            name = worker.name
            try:
                worked |= worker.work(burst=burst)
            except StopRequested:
                raise
            except Exception as error:  # noqa: BLE001 - another program's reply can raise any error
                if away(type(error).__name__):  # the message may contain a time
                    log.warning("Redis does not answer: %.200s", error)
            finally:
                worker.connection.close()
            if burst or worker.must_stop:
                break
            liveness.set_deadline(IDLE_SECONDS)
            time.sleep(RETRY_SECONDS)
    if context.delivery_pool and not burst:
        context.delivery_pool.stop()
    return worked


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
    signals: Signals,
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
