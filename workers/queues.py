"""The job queues of Redis. It carries only names of games and decisions.

Redis is never the record: due work is a row and is enqueued again as long as the row exists. Redis is not trusted
either: a writer to it can name jobs, and workers read nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import ClassVar

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import NoSuchJobError
from rq.job import Job

from domain.errors import StoreUnavailable
from domain.types import Json
from workers.job_calls import (
    BATCH,
    BATCH_PERIOD,
    BATCH_SECONDS,
    PERIOD,
    QUEUES,
    TURN_SECONDS,
    TURNS,
    JobCall,
    parse_id,
    period_of,
)
from workers.signals import NO_REDIS, CircuitBreaker, connect

SERIALIZER = "json"

REDIS_SECONDS = 1.0
"""Redis timeout for enqueuing, seconds."""

RETRY_SECONDS = 5.0
"""Seconds without an attempt to enqueue after a failure."""

MAX_QUEUED = 10_000
"""Jobs kept in a queue; the oldest are dropped if no worker takes them."""


_STATES = {b"started": "running", b"failed": "failed"}


class RowJob(Job):
    """A job of a queue, made from its id alone.

    All other data that Redis holds of it is ignored: function, arguments, callbacks, dependents. Otherwise a writer to
    Redis could have any function run.
    """

    queue: ClassVar[str]
    call: JobCall

    @classmethod
    def fetch(cls, id: str, connection: Redis | None = None, serializer: object = None) -> RowJob:  # noqa: A002 - RQ's name
        """Return the job like RQ does; raises NoSuchJobError for foreign ids, which RQ skips."""
        call = parse_id(id)
        if call is None or call.queue != cls.queue:  # long work must not stand in the way of turns
            raise NoSuchJobError(id[:100])
        job = cls(id, connection=connection, serializer=serializer)
        job.call, job.origin, job.timeout = call, call.queue, call.timeout
        job.func_name, job.args, job.kwargs = call.kind, call.args, {}
        job.result_ttl = call.period // 1000
        job.failure_ttl = min(call.period, PERIOD) // 1000
        return job

    def perform(self) -> Json:
        """Do the work that the id names."""
        return self.call.run()


class TurnJob(RowJob):
    """A short job, which players wait for."""

    queue = TURNS


class BatchJob(RowJob):
    """A long job."""

    queue = BATCH


JOB_CLASSES: Mapping[str, type[RowJob]] = MappingProxyType({cls.queue: cls for cls in (TurnJob, BatchJob)})


class Queues:
    """Enqueues jobs. Raises StoreUnavailable without Redis; due work then waits as a row."""

    def __init__(self, url: str) -> None:
        self._redis = connect(url, REDIS_SECONDS)
        self._quick = connect(url)
        self._enqueuing = CircuitBreaker(RETRY_SECONDS)
        self._querying = CircuitBreaker()
        self._queues = {name: Queue(name, connection=self._redis, serializer=SERIALIZER) for name in QUEUES}

    def enqueue(self, calls: Sequence[JobCall], now: int) -> int:
        """Enqueue these jobs, each once in its period; return the number of new ones.

        Two processes may enqueue a job twice; running it twice changes nothing.
        """
        if not calls:
            return 0
        ids = {call.id(now): call for call in calls}
        with _redis_errors(self._enqueuing):
            new = self._list_new(list(ids))
            for id_ in new:
                self._enqueue(id_, ids[id_])
            return len(new)

    def _list_new(self, ids: Sequence[str]) -> list[str]:
        """Return the ids without a job, by one request, because most jobs exist already."""
        with self._redis.pipeline(transaction=False) as ask:
            for id_ in ids:
                ask.exists(RowJob.key_for(id_))
            for queue in self._queues.values():
                ask.ltrim(queue.key, -MAX_QUEUED, -1)
            exists = dict(zip(ids, ask.execute(), strict=False))
        if set(exists.values()) - {0, 1}:
            raise RedisError(NO_REDIS)
        return [id_ for id_ in ids if not exists[id_]]

    def _enqueue(self, id_: str, call: JobCall) -> None:
        self._queues[call.queue].enqueue_call(
            call.kind,
            args=call.args,
            job_id=id_,
            timeout=call.timeout,
            ttl=2 * call.period // 1000,
            description=call.kind,
        )

    def job_state(self, name: str, now: int) -> str:
        """Return the state of a job: `running`, `failed` (will be retried) or an empty string."""
        period = period_of(name)
        attempts = 1 + (BATCH_SECONDS if period == BATCH_PERIOD else TURN_SECONDS) * 1000 // period
        try:
            with _redis_errors(self._querying), self._quick.pipeline(transaction=False) as ask:
                for back in range(attempts + 1):
                    ask.hget(RowJob.key_for(f"{name}-{now // period - back}"), "status")
                statuses = set(ask.execute())
        except StoreUnavailable:
            return ""  # only a hint
        return next((status for word, status in _STATES.items() if word in statuses), "")

    def count_workers(self) -> dict[str, int]:
        """Return queue -> number of workers. One that was killed is counted for a minute."""
        with _redis_errors(CircuitBreaker()):
            return {name: len(SimpleWorker.all(queue=queue)) for name, queue in self._queues.items()}

    def close(self) -> None:
        """Close the connections; later use opens new ones."""
        self._redis.close()
        self._quick.close()


@contextmanager
def _redis_errors(breaker: CircuitBreaker) -> Iterator[None]:
    if not breaker.may_try():
        raise StoreUnavailable("the queue does not answer")
    try:
        yield
    except Exception as error:  # another program's reply can raise any error
        breaker.report(failed=True)
        raise StoreUnavailable("the queue does not answer") from error
    breaker.report(failed=False)
