"""The job queues. Redis carries only names of games and decisions, and only jobs listed here run.

Redis is never the record: due work is a row and is enqueued again as long as the row exists. Redis is not trusted
either: a writer to it can name jobs, and workers read nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import NoSuchJobError
from rq.job import Job

from domain.errors import StoreUnavailable
from domain.service.job_requests import JobRequest
from domain.types import Json
from projections.reader import DueWork
from workers.context import current_context
from workers.jobs import (
    audits,
    bot_moves,
    deadlines,
    proposals,
    rebuilds,
    rewinds,
    tournament_openings,
    tournament_queues,
    tournament_reports,
    turns,
)
from workers.maintenance.corruption_handler import check_suspect
from workers.signals import NO_REDIS, CircuitBreaker, connect

TURNS, BATCH = "annals-turns", "annals-batch"
"""The queue of short jobs that players wait for, and the queue of long jobs."""

QUEUES = (TURNS, BATCH)
SERIALIZER = "json"

PERIOD = 10_000
"""ms after which due work gets a new job id, whatever became of the previous job.

A killed worker or an emptied Redis can leave an id without a job.
"""

SHORT_PERIOD = 1_000
"""The same period for bot moves, reports, queues and deliveries, ms.

A bot's seat may owe the same decision again after another seat's answer, and a round has many results. All waiting
notifications are one job.
"""

TURN_SECONDS = 60
"""Time limit of a job in TURNS, seconds."""

BATCH_SECONDS = 3600
"""Time limit of a job in BATCH, seconds."""

BATCH_PERIOD = 60_000
"""The same period for long jobs, ms. One that goes on holds a lease, and another attempt leaves it alone."""

REDIS_SECONDS = 1.0
"""Redis timeout for enqueuing, seconds."""

RETRY_SECONDS = 5.0
"""Seconds without an attempt to enqueue after a failure."""

MAX_QUEUED = 10_000
"""Jobs kept in a queue; the oldest are dropped if no worker takes them."""


_DUE_JOBS: Mapping[str, Callable[[str, str], Json]] = MappingProxyType(
    {
        "resolve": turns.resolve,
        "lapse": deadlines.lapse,
        "vacant": turns.play_vacant_seats,
        "bot": bot_moves.play_bots,
        "think": bot_moves.think,
        "sweep": turns.close_unstarted,
        "ruling": turns.close_ruled,
        "limit": turns.adjourn_at_limit,
        "report": tournament_reports.report_table,
        "queue": tournament_queues.serve_queue,
        "series": tournament_openings.open_next,
    }
)
_REQUEST_JOBS: Mapping[str, tuple[Callable[[str], Json], str]] = MappingProxyType(
    {
        "rewind": (rewinds.run_rewind, TURNS),
        "proposal": (proposals.run_proposal, TURNS),
        "audit": (audits.run_audit, BATCH),
        "rebuild": (rebuilds.run_rebuild, BATCH),
    }
)
_DELIVERY = "notices"
_GAME_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_DUE_NAME = re.compile(rf"({'|'.join(_DUE_JOBS)})-({_GAME_ID})-([0-9]{{1,9}}-[0-9]{{1,9}})")
_REQUEST_NAME = re.compile(rf"({'|'.join(_REQUEST_JOBS)})-[0-9a-f]{{24}}")
_ID = re.compile(r"(.{1,80})-[0-9]{1,15}")

_STATES = {b"started": "running", b"failed": "failed"}


def _period(name: str) -> int:
    work = name.partition("-")[0]
    if work in ("audit", "rebuild"):
        return BATCH_PERIOD
    return SHORT_PERIOD if work in ("bot", "report", "queue", _DELIVERY) else PERIOD


@dataclass(frozen=True)
class JobCall:
    """A job to enqueue; the same work always has the same `name`."""

    name: str
    function: Callable[..., Json]
    args: tuple[str, ...]
    queue: str = TURNS

    @property
    def kind(self) -> str:
        """Kind of work. Redis stores it in place of a function's path, and no worker reads it."""
        return self.name.partition("-")[0]

    @property
    def period(self) -> int:
        """Time until the work gets a new job id, ms."""
        return _period(self.name)

    @property
    def timeout(self) -> int:
        """Time limit in seconds."""
        return TURN_SECONDS if self.queue == TURNS else BATCH_SECONDS

    def id(self, now: int) -> str:
        """Return the id of the attempt at `now` (ms)."""
        return f"{self.name}-{now // self.period}"

    def run(self) -> Json:
        """Do the work; return the result of the function, and raise as it does."""
        return self.function(*self.args)


def due_call(row: DueWork) -> JobCall:
    """Return the job for a row of due work."""
    return _due_call(row.work, row.game, row.decision)


def _due_call(work: str, game: str, decision: str) -> JobCall:
    return JobCall(f"{work}-{game}-{decision}", _DUE_JOBS[work], (game, decision), BATCH if work == "think" else TURNS)


def check_game(call: JobCall) -> None:
    """Inspect the game of a failed job, because corruption may be the cause. Requested jobs do that themselves."""
    if len(call.args) > 1:
        check_suspect(current_context(), call.args[0])


def request_call(request: JobRequest) -> JobCall:
    """Return the job for a request."""
    work, queue = _REQUEST_JOBS[request.work]
    return JobCall(request.id, work, (request.id,), queue)


def delivery_call() -> JobCall:
    """Return the job that wakes the delivery threads."""
    return JobCall(_DELIVERY, _deliver, ())


def _deliver() -> str:
    pool = current_context().delivery_pool
    return f"{pool.wake()} sent out" if pool else "nobody delivers"


def parse_id(id_: str) -> JobCall | None:
    """Return the job with this id, or None for a foreign id."""
    match_ = _ID.fullmatch(id_)
    name = match_[1] if match_ else ""
    if name == _DELIVERY:
        return delivery_call()
    if due := _DUE_NAME.fullmatch(name):
        return _due_call(*due.groups())
    if request := _REQUEST_NAME.fullmatch(name):
        work, queue = _REQUEST_JOBS[request[1]]
        return JobCall(name, work, (name,), queue)
    return None


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
        period = _period(name)
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
