"""A worker process: the jobs of one queue, one after the other, in the process itself."""

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
"""Seconds that a worker without work waits before it looks at itself."""

REDIS_SECONDS = POLL_SECONDS + 2.0
"""Seconds that Redis may let a worker wait."""

RETRY_SECONDS = 1.0
"""Seconds before a worker that has lost Redis begins again."""

IDLE_SECONDS = 60
"""Seconds within which a worker without work gives a sign of life."""

OVERRUN_SECONDS = 5.0
"""Seconds beyond those that a job may take: time to tell that it took too long."""

log = logging.getLogger("annals.worker")


class _ErrorFilter(logging.Filter):
    """Of what the library says of Redis, whatever answers in its place, one sentence now and then."""

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
    """Not for anybody but who does the job: whatever the job was at, it must not take this for a failure of its own."""


class InProcessWorker(SimpleWorker):
    """Does jobs without forking, so that the positions of games stay in memory from one turn to the next.

    What the library's forked process is good for, others do: the supervisor starts a worker anew that died, and a job
    that was cut off in the middle is the last one of its process. What the library keeps in Redis to follow jobs up
    (registries, results, callbacks, retries), the rows are good for.
    """

    max_connection_wait_time = 2.0

    def __init__(self, url: str, queue: str, name: str | None = None) -> None:
        """`name`: the one that this process had when it lost Redis; it is known by no other."""
        self._quick = connect(url)  # for what is worth no waiting
        self._current_job = ""
        """The job that is being done."""
        connection = connect(url, REDIS_SECONDS)
        super().__init__(
            [JobQueue(queue, connection=connection, serializer=SERIALIZER)],
            connection=connection,
            serializer=SERIALIZER,
            name=name,
            job_class=RowJob,
            queue_class=JobQueue,
            log_job_description=False,
            worker_ttl=POLL_SECONDS + 15,  # the library waits for as long, less 15 seconds
        )

    @property
    def must_stop(self) -> bool:
        """Whether it was asked to end, or has to."""
        return self._stop_requested or self._shutdown_requested_date is not None

    def bootstrap(self, *args: Any) -> None:
        """As in the library, which would not listen to signals yet, and would not ask who answers."""
        self._install_signal_handlers()  # type: ignore[no-untyped-call] # as the library has it
        ping(self.connection)
        self.connection.delete(self.key)  # the library would take us for another one of that name
        super().bootstrap(*args)

    def teardown(self) -> None:
        """As in the library, unless Redis is away: who was asked to end does not wait for it."""
        self.connection.close()
        self.connection = self._quick
        with suppress(Exception):
            super().teardown()  # type: ignore[no-untyped-call] # as the library has it
        self.connection.close()

    def subscribe(self) -> None:
        """Take no orders through Redis: signals are enough."""

    def unsubscribe(self) -> None:
        """Nothing was subscribed to."""

    def check_for_suspension(self, burst: bool) -> None:
        """Nor can it be halted there."""

    def set_shutdown_requested_date(self) -> None:
        """Write nothing to Redis while a signal is handled, in the middle of a job."""

    def _set_connection(self, connection: Redis) -> Redis:
        """It has its time limits."""
        return connection

    def _set_ip_address(self, connection: Redis) -> None:
        """Not asked for."""
        self.ip_address = "unknown"

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """As in the library; who supervises this process is told too, and a Redis that was emptied who it is."""
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
        """Forget workers that have died: nothing else that is kept in Redis can grow."""
        for queue in self.queue_names():
            if dead := list_worker_keys(self.connection, queue)[1]:
                self.connection.srem(WORKERS_BY_QUEUE_KEY % queue, *dead)
                self.connection.srem(self.redis_workers_keys, *dead)
        self.last_cleaned_at = now()  # type: ignore[assignment] # as the library has it

    # --- jobs

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Do it. What came of it is told as a hint for who asks; the rows tell what is still to be done."""
        row_job = cast("RowJob", job)
        if row_job.call.queue != queue.name:  # long work must not stand in the way of turns
            return
        self._state, self._current_job = WorkerStatus.BUSY, row_job.id
        self._report_status(row_job, JobStatus.STARTED, row_job.call.timeout)
        succeeded, self._current_job = self._run_job(row_job), ""
        if succeeded:
            self._report_status(row_job, JobStatus.FINISHED, row_job.call.period // 1000)
        else:  # until then it is not handed out again
            self._report_status(row_job, JobStatus.FAILED, PERIOD // 1000)
        self._state = WorkerStatus.IDLE

    def _run_job(self, job: RowJob) -> bool:
        try:
            with self.death_penalty_class(job.call.timeout, _TookTooLongError, job_id=job.id):
                job.perform()
        except _TookTooLongError:  # anything may be half done in memory
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
    """Do the jobs of that queue until a signal comes (with `burst`: until it is empty); whether there were any."""
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
            except Exception as error:  # noqa: BLE001 - what is no Redis can answer so that the library raises anything
                if away(type(error).__name__):  # what it says may hold a time
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
    """Pump until a signal comes. `owner` names the pump where a node has several."""
    set_context(context)
    pumping = ProjectorLoop(context, signals, reconciler, owner, notifications)

    def stop(_: int, __: FrameType | None) -> None:
        pumping.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    pumping.run()
    if context.delivery_pool:
        context.delivery_pool.stop()
