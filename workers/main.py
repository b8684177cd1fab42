"""A worker process: the jobs of one queue, one after the other, in the process itself."""

from __future__ import annotations

import logging
import signal
from types import FrameType
from typing import Any

from redis import Redis
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.timeouts import JobTimeoutException

from workers import pulse
from workers.bell import Bell
from workers.crew import Crew, sign_on
from workers.pumping import Pumping
from workers.queues import QUEUES, SERIALIZER, Work
from workers.reconcile import Reconciler

LOOK = 5
"""Seconds that a worker without work waits before it looks at itself."""

IDLE = 60
"""Seconds within which a worker without work gives a sign of life."""

log = logging.getLogger("annals.worker")


class InProcess(SimpleWorker):
    """Does jobs without forking, so that the positions of games stay in memory from one turn to the next.

    What the library's forked process is good for, others do: the supervisor starts a worker anew that died, and a job
    that was cut off in the middle is the last one of its process.
    """

    max_connection_wait_time = 2.0
    log_result_lifespan = False

    def subscribe(self) -> None:
        """Take no orders through Redis: signals are enough."""

    def unsubscribe(self) -> None:
        """Nothing was subscribed to."""

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """As in the library, which tells how long a job may take; whoever supervises this process is told as well."""
        pulse.promise(timeout or IDLE)
        super().heartbeat(timeout, pipeline)

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """As in the library; a job that took too long may have left anything half done in memory."""
        super().handle_exception(job, *exc_info)
        if isinstance(exc_info[1], JobTimeoutException):
            self._stop_requested = True


def work(crew: Crew, url: str, queue: str, *, burst: bool = False) -> bool:
    """Do the jobs of that queue until a signal comes (with `burst`: until it is empty); whether there were any."""
    if queue not in QUEUES:
        raise ValueError(f"there is no queue {queue}")
    sign_on(crew)
    connection = Redis.from_url(url)
    jobs = Queue(queue, connection=connection, serializer=SERIALIZER, job_class=Work)
    worker = InProcess(
        [jobs],
        connection=connection,
        serializer=SERIALIZER,
        job_class=Work,
        log_job_description=False,
        worker_ttl=LOOK + 15,  # the library waits for as long, less 15 seconds
    )
    worked = worker.work(burst=burst)
    connection.close()
    return worked


def pump(crew: Crew, bell: Bell, reconciler: Reconciler) -> None:
    """Pump until a signal comes."""
    pumping = Pumping(crew, bell, reconciler)

    def stop(_: int, __: FrameType | None) -> None:
        pumping.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    pumping.run()
