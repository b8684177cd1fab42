"""The job queues. Redis carries only names of games and decisions, and only jobs listed here run.

Redis is never the record: due work is a row and is enqueued again as long as the row exists. Redis is not trusted
either: a writer to it can name jobs, and workers read nothing else.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from redis import Redis
from redis.exceptions import RedisError, ResponseError
from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

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
"""Time limit and period of a job in BATCH, seconds. A job still running in the next period is not started again."""

REDIS_SECONDS = 1.0
"""Redis timeout for enqueuing, seconds."""

RETRY_SECONDS = 5.0
"""Seconds without an attempt to enqueue after a failure."""

MAX_QUEUED = 10_000
"""Jobs kept in a queue; the oldest are dropped if no worker takes them."""

CLAIM_SECONDS = 5.0
"""Seconds after which a long job is enqueued again if it left the queue but did not start."""


class Reattempt(NamedTuple):
    """Retry state of an abandoned long job, which may itself kill its workers."""

    pause: float = CLAIM_SECONDS
    """Seconds until the next retry; doubles each time."""
    next_at: float = 0.0
    """Time of the next retry on the monotonic clock."""

    def after_retry(self, now: float) -> Reattempt:
        """Return the state after one more retry."""
        return Reattempt(2 * self.pause, now + self.pause)


_DUE_JOBS: Mapping[str, Callable[[str, str], Json]] = MappingProxyType(
    {
        "resolve": turns.resolve,
        "lapse": deadlines.lapse,
        "vacant": turns.play_vacant_seats,
        "bot": bot_moves.play_bots,
        "sweep": turns.close_unstarted,
        "ruling": turns.close_ruled,
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

WORKER_MARGIN = 60
"""Seconds that a worker's key in Redis outlives its heartbeat interval."""

WORKER_PREFIX = b"rq:worker:"
"""Prefix of worker keys."""

_STATES = {b"started": "running", b"failed": "failed"}


def _period(name: str) -> int:
    work = name.partition("-")[0]
    return (
        BATCH_SECONDS * 1000
        if work in ("audit", "rebuild")
        else SHORT_PERIOD
        if work in ("bot", "report", "queue", _DELIVERY)
        else PERIOD
    )


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
        """Return the job's id at `now` (ms)."""
        return f"{self.name}-{now // self.period}"


def due_call(row: DueWork) -> JobCall:
    """Return the job for a row of due work."""
    return JobCall(f"{row.work}-{row.game}-{row.decision}", _DUE_JOBS[row.work], (row.game, row.decision))


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
        return JobCall(name, _DUE_JOBS[due[1]], (due[2], due[3]))
    if request := _REQUEST_NAME.fullmatch(name):
        work, queue = _REQUEST_JOBS[request[1]]
        return JobCall(name, work, (name,), queue)
    return None


class RowJob(Job):
    """A job made from its id alone.

    All other data that Redis holds of it is ignored: function, arguments, callbacks, dependents.
    """

    call: JobCall

    @classmethod
    def fetch(cls, id: str, connection: Redis | None = None, serializer: object = None) -> RowJob:  # noqa: A002 - RQ's name
        """Return the job like RQ does; raises NoSuchJobError for foreign ids, which RQ skips."""
        call = parse_id(id)
        if call is None:
            raise NoSuchJobError(id[:100])
        job = cls(id, connection=connection, serializer=serializer)
        job.call, job.origin, job.timeout = call, call.queue, call.timeout
        return job

    def perform(self) -> object:
        """Run the job's function."""
        return self.call.function(*self.call.args)


class JobQueue(Queue):
    """A queue that hands each job out for good; the job's row exists until its work is done."""

    job_class = RowJob

    @classmethod
    def lmove(cls, connection: Redis, queue_key: str, timeout: int | None) -> tuple[str, str] | None:
        """Pop an id. RQ would keep it in a second list and take any bytes for text."""
        popped = cls.lpop([queue_key], timeout, connection)
        return popped and (queue_key, bytes(popped[1]).decode(errors="replace"))


class Queues:
    """Enqueues jobs. Raises StoreUnavailable without Redis; due work then waits as a row."""

    def __init__(self, url: str) -> None:
        self._redis, self._quick = connect(url, REDIS_SECONDS), connect(url)
        self._enqueuing, self._querying = CircuitBreaker(RETRY_SECONDS), CircuitBreaker()
        self._queues = {name: JobQueue(name, connection=self._redis, serializer=SERIALIZER) for name in QUEUES}
        self._reattempts: dict[str, Reattempt] = {}
        self._idle: dict[str, float] = {}
        """Long jobs neither queued nor started -> time of discovery on the monotonic clock."""

    def enqueue(self, calls: Sequence[JobCall], now: int) -> int:
        """Enqueue these jobs; return the number of new and of abandoned ones."""
        if not calls:
            return 0
        ids = {call.id(now): call for call in calls}
        with _redis_errors(self._enqueuing):
            unknown = self._list_new(list(ids))
            new = [id_ for id_ in unknown if not self._continues(ids[id_], now)]
            abandoned = self._list_abandoned(
                [id_ for id_, call in ids.items() if call.queue == BATCH and id_ not in unknown]
            )
            return sum(self._enqueue(id_, ids[id_]) for id_ in (*new, *abandoned))

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

    def _continues(self, call: JobCall, now: int) -> bool:
        """Return True if a worker still runs this long job from the period before."""
        return call.queue == BATCH and self._is_running(call.id(now - call.period)) is True

    def _is_running(self, id_: str) -> bool | None:
        """Return True if the worker that started the job still runs it; None if no worker started it."""
        status, worker = (self._redis.hget(RowJob.key_for(id_), name) for name in ("status", "worker"))
        if not (isinstance(worker, bytes) and worker.startswith(WORKER_PREFIX) and status == b"started"):
            return None
        current = self._redis.hget(worker, "at")  # jobs that end while Redis is away are not reported
        return current in (None, id_.encode()) and _is_alive(self._redis, worker)

    def _list_abandoned(self, ids: Sequence[str]) -> list[str]:
        """Return the abandoned long jobs. Other jobs get a new id soon enough."""
        now = time.monotonic()
        self._reattempts = {id_: self._reattempts.get(id_, Reattempt()) for id_ in ids}
        abandoned = [id_ for id_ in ids if now >= self._reattempts[id_].next_at and self._is_abandoned(id_)]
        self._idle = {id_: since for id_, since in self._idle.items() if id_ in ids and id_ not in abandoned}
        self._reattempts |= {id_: self._reattempts[id_].after_retry(now) for id_ in abandoned}
        return abandoned

    def _is_abandoned(self, id_: str) -> bool:
        """Return True if the job's worker died or left it, or no worker took it, or its row is open again."""
        if (alive := self._is_running(id_)) is not None:
            return not alive
        key = RowJob.key_for(id_)
        if self._is_queued(id_) or self._redis.hget(key, "status") == b"failed":  # failed jobs expire soon
            self._idle.pop(id_, None)
            return False
        return time.monotonic() - self._idle.setdefault(id_, time.monotonic()) > CLAIM_SECONDS

    def _is_queued(self, id_: str) -> bool:
        """Return True if the job is in the queue of long work, or if Redis cannot tell."""
        try:
            return self._redis.lpos(self._queues[BATCH].key, id_) is not None
        except ResponseError:  # missing rights, or a Redis without LPOS
            return True

    def _enqueue(self, id_: str, call: JobCall) -> bool:
        """Enqueue a job. Two processes may enqueue it twice; running it twice changes nothing."""
        self._queues[call.queue].enqueue_call(
            call.kind,
            args=call.args,
            job_id=id_,
            timeout=call.timeout,
            ttl=2 * call.period // 1000,
            description=call.kind,
        )
        return True

    def job_state(self, name: str, now: int) -> str:
        """Return the state of a job: `running`, `failed` (will be retried) or an empty string."""
        period = _period(name)
        try:
            with _redis_errors(self._querying), self._quick.pipeline(transaction=False) as ask:
                for back in (0, 1):
                    ask.hget(RowJob.key_for(f"{name}-{now // period - back}"), "status")
                statuses = set(ask.execute())
        except StoreUnavailable:
            return ""  # only a hint
        return next((status for word, status in _STATES.items() if word in statuses), "")

    def count_workers(self) -> dict[str, int]:
        """Return queue -> number of living workers, as far as this process can tell."""
        with _redis_errors(CircuitBreaker()):
            return {
                name: sum(_is_alive(self._redis, key) for key in list_worker_keys(self._redis, name)[0])
                for name in QUEUES
            }

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


def _is_alive(redis: Redis, key: bytes) -> bool:
    """Return True if the worker kept its heartbeat: its key outlives the interval by WORKER_MARGIN.

    For a worker on this host, its process is checked as well.
    """
    if redis.pttl(key) < WORKER_MARGIN * 1000:
        return False
    host, pid, began = (redis.hget(key, name) for name in ("place", "pid", "began"))
    return not (host == host_id().encode() and isinstance(pid, bytes) and _is_dead(pid, began))


def _is_dead(pid: bytes, then: object) -> bool:
    if not re.fullmatch(rb"[1-9][0-9]{0,8}", pid):
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's process
        return False
    return bool(then and (now := start_time(int(pid))) and now.encode() != then)


def host_id() -> str:
    """Return an id of the machine or container within which process ids are unique."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())  # the initial namespace has the same number on all machines
        start = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        space = start = ""
    return f"{socket.gethostname()} {start} {space}"


def start_time(pid: int) -> str:
    """Return the start time of a process, to tell it from a later one with the same id; empty if unknown.

    Process ids repeat after a restart of the machine or container.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # clock ticks since boot: proc(5)


def list_worker_keys(redis: Redis, queue: str) -> tuple[list[bytes], list[bytes]]:
    """Return the keys of a queue's living workers, and those of dead or invalid ones."""
    members = redis.smembers(WORKERS_BY_QUEUE_KEY % queue)
    keys = [key for key in members if isinstance(key, bytes)]
    if len(keys) < len(members):
        raise RedisError(NO_REDIS)
    ours = [key for key in keys if key.startswith(WORKER_PREFIX)]
    alive = [key for key in ours if redis.exists(key)]
    return alive, [key for key in keys if key not in alive]
