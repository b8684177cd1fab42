"""The queues. Only names of games and decisions travel through Redis; only the jobs listed here are done.

Redis is never the record. What is due stands in a table, and is enqueued again as long as it stands there. Neither is
it trusted: who can write to it can name work, and nothing else that a worker would read.
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
from workers.jobs import audits, bot_moves, deadlines, rebuilds, rewinds, turns
from workers.maintenance.corruption_handler import check_suspect
from workers.signals import NO_REDIS, CircuitBreaker, connect

TURNS, BATCH = "annals-turns", "annals-batch"
"""Short work that players wait for; long work that must not stand in its way."""

QUEUES = (TURNS, BATCH)
SERIALIZER = "json"

PERIOD = 10_000
"""ms after which due work is enqueued under a new id, whatever has become of the job before.

A killed worker, or a Redis that was emptied in mid-job, can leave an id behind that belongs to no job any more.
"""

SHORT_PERIOD = 1_000
"""The same for moves of bots, since a seat may owe the same decision again as soon as another one has answered; and for
notices, of which all that wait are one job."""

TURN_SECONDS = 60
"""How long a job of TURNS may take."""

BATCH_SECONDS = 3600
"""How long a job of BATCH may take, and its PERIOD in seconds; what goes on into the next is not begun again then."""

REDIS_SECONDS = 1.0
"""Seconds that handing out may wait for Redis."""

RETRY_SECONDS = 5.0
"""Seconds without handing out after it has failed."""

MAX_QUEUED = 10_000
"""Jobs kept in a queue; the oldest are dropped where no worker takes them."""

CLAIM_SECONDS = 5.0
"""Seconds after which long work is enqueued again that was taken from its queue, and is not said to have begun."""


class Reattempt(NamedTuple):
    """Long work that was enqueued again since nobody was at it. It may be what its workers die of."""

    pause: float = CLAIM_SECONDS
    """Seconds until it may be so once more, if it has to; twice as long each time."""
    next_at: float = 0.0
    """When that is over, by the monotonic clock."""

    def after_retry(self, now: float) -> Reattempt:
        """After one more time."""
        return Reattempt(2 * self.pause, now + self.pause)


_DUE_JOBS: Mapping[str, Callable[[str, str], Json]] = MappingProxyType(
    {
        "resolve": turns.resolve,
        "lapse": deadlines.lapse,
        "vacant": turns.play_vacant_seats,
        "bot": bot_moves.play_bots,
        "sweep": turns.close_unstarted,
    }
)
_REQUEST_JOBS: Mapping[str, tuple[Callable[[str], Json], str]] = MappingProxyType(
    {
        "rewind": (rewinds.run_rewind, TURNS),
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
"""Seconds for which Redis knows a worker after the time within which it was to be heard of."""

WORKER_PREFIX = b"rq:worker:"
"""What the key of a worker begins with."""

_STATES = {b"started": "running", b"failed": "failed"}


def _period(name: str) -> int:
    work = name.partition("-")[0]
    return (
        BATCH_SECONDS * 1000 if work in ("audit", "rebuild") else SHORT_PERIOD if work in ("bot", _DELIVERY) else PERIOD
    )


@dataclass(frozen=True)
class JobCall:
    """A job to be enqueued; `name` is the same for the same work, however often it is handed out."""

    name: str
    function: Callable[..., Json]
    args: tuple[str, ...]
    queue: str = TURNS

    @property
    def kind(self) -> str:
        """The kind of work; stored in Redis in place of the path of a function, which no worker reads."""
        return self.name.partition("-")[0]

    @property
    def period(self) -> int:
        """Ms after which it is handed out again."""
        return _period(self.name)

    @property
    def timeout(self) -> int:
        """How long it may take."""
        return TURN_SECONDS if self.queue == TURNS else BATCH_SECONDS

    def id(self, now: int) -> str:
        """The id of the job that does it now."""
        return f"{self.name}-{now // self.period}"


def due_call(row: DueWork) -> JobCall:
    """The job for a row of due work."""
    return JobCall(f"{row.work}-{row.game}-{row.decision}", _DUE_JOBS[row.work], (row.game, row.decision))


def check_game(call: JobCall) -> None:
    """What has failed may have failed because its game is damaged; errands see to that themselves."""
    if len(call.args) > 1:
        check_suspect(current_context(), call.args[0])


def request_call(request: JobRequest) -> JobCall:
    """The job for an errand."""
    work, queue = _REQUEST_JOBS[request.work]
    return JobCall(request.id, work, (request.id,), queue)


def delivery_call() -> JobCall:
    """The job that sends out who delivers notices."""
    return JobCall(_DELIVERY, _deliver, ())


def _deliver() -> str:
    pool = current_context().delivery_pool
    return f"{pool.wake()} sent out" if pool else "nobody delivers"


def parse_id(id_: str) -> JobCall | None:
    """What a job of that id does; None if it is the id of no job of ours."""
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
    """A job that is made from its id alone.

    Of what else Redis holds of it nothing is read: no function, argument, callback, address to tell, job that follows.
    """

    call: JobCall

    @classmethod
    def fetch(cls, id: str, connection: Redis | None = None, serializer: object = None) -> RowJob:  # noqa: A002 - its name
        """As in the library, which passes over jobs that there are not."""
        call = parse_id(id)
        if call is None:
            raise NoSuchJobError(id[:100])
        job = cls(id, connection=connection, serializer=serializer)
        job.call, job.origin, job.timeout = call, call.queue, call.timeout
        return job

    def perform(self) -> object:
        """The work itself."""
        return self.call.function(*self.call.args)


class JobQueue(Queue):
    """A queue from which a job is taken for good: its row stands until it is done."""

    job_class = RowJob

    @classmethod
    def lmove(cls, connection: Redis, queue_key: str, timeout: int | None) -> tuple[str, str] | None:
        """In place of the library's, which keeps what was taken in a second list, and takes ids for text."""
        popped = cls.lpop([queue_key], timeout, connection)
        return popped and (queue_key, bytes(popped[1]).decode(errors="replace"))


class Queues:
    """Hands work to the workers. Raises StoreUnavailable when Redis is away; due work then waits, as a row."""

    def __init__(self, url: str) -> None:
        self._redis, self._quick = connect(url, REDIS_SECONDS), connect(url)
        self._enqueuing, self._querying = CircuitBreaker(RETRY_SECONDS), CircuitBreaker()
        self._queues = {name: JobQueue(name, connection=self._redis, serializer=SERIALIZER) for name in QUEUES}
        self._reattempts: dict[str, Reattempt] = {}
        self._idle: dict[str, float] = {}
        """Long work that waits in no list and is not begun: since when, by the monotonic clock."""

    def enqueue(self, calls: Sequence[JobCall], now: int) -> int:
        """Enqueue these; how many of them were not enqueued yet, or were left lying."""
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
        """Those that no job has: one question for all, since most rows wait for a job that is there."""
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
        """Whether somebody is at long work that was begun in the period before."""
        return call.queue == BATCH and self._is_running(call.id(now - call.period)) is True

    def _is_running(self, id_: str) -> bool | None:
        """Whether the worker is still at it that has begun it, as far as can be told from here; None where none has."""
        status, worker = (self._redis.hget(RowJob.key_for(id_), name) for name in ("status", "worker"))
        if not (isinstance(worker, bytes) and worker.startswith(WORKER_PREFIX) and status == b"started"):
            return None
        current = self._redis.hget(worker, "at")  # what it ends while Redis is away nobody is told
        return current in (None, id_.encode()) and _is_alive(self._redis, worker)

    def _list_abandoned(self, ids: Sequence[str]) -> list[str]:
        """Those at which nobody is; other work has so short a period that nobody needs to ask."""
        now = time.monotonic()
        self._reattempts = {id_: self._reattempts.get(id_, Reattempt()) for id_ in ids}
        abandoned = [id_ for id_ in ids if now >= self._reattempts[id_].next_at and self._is_abandoned(id_)]
        self._idle = {id_: since for id_, since in self._idle.items() if id_ in ids and id_ not in abandoned}
        self._reattempts |= {id_: self._reattempts[id_].after_retry(now) for id_ in abandoned}
        return abandoned

    def _is_abandoned(self, id_: str) -> bool:
        """Whether its worker has died or left it, or never began, or it is done and its row stands again."""
        if (alive := self._is_running(id_)) is not None:
            return not alive
        if (
            self._is_queued(id_) or self._redis.hget(RowJob.key_for(id_), "status") == b"failed"
        ):  # which is soon forgotten
            self._idle.pop(id_, None)
            return False
        return time.monotonic() - self._idle.setdefault(id_, time.monotonic()) > CLAIM_SECONDS

    def _is_queued(self, id_: str) -> bool:
        """Whether it is in the queue of long work; so it is taken to be where Redis does not say."""
        try:
            return self._redis.lpos(self._queues[BATCH].key, id_) is not None
        except ResponseError:  # rights of before, or a Redis that does not know the question
            return True

    def _enqueue(self, id_: str, call: JobCall) -> bool:
        """Two that hand out the same at the same time do it twice; so the work is done twice, which changes nothing."""
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
        """What the queue says of the work of that name: `running`, `failed` (to be tried again), or nothing."""
        period = _period(name)
        try:
            with _redis_errors(self._querying), self._quick.pipeline(transaction=False) as ask:
                for back in (0, 1):
                    ask.hget(RowJob.key_for(f"{name}-{now // period - back}"), "status")
                statuses = set(ask.execute())
        except StoreUnavailable:
            return ""  # it is only a hint: the rows and the log tell what is to be done
        return next((status for word, status in _STATES.items() if word in statuses), "")

    def count_workers(self) -> dict[str, int]:
        """How many workers are at each queue that have not died, as far as can be told from here."""
        with _redis_errors(CircuitBreaker()):
            return {
                name: sum(_is_alive(self._redis, key) for key in list_worker_keys(self._redis, name)[0])
                for name in QUEUES
            }

    def close(self) -> None:
        """Close the connections; a later use makes new ones."""
        self._redis.close()
        self._quick.close()


@contextmanager
def _redis_errors(breaker: CircuitBreaker) -> Iterator[None]:
    if not breaker.may_try():
        raise StoreUnavailable("the queue does not answer")
    try:
        yield
    except Exception as error:  # what is no Redis can answer so that the library raises anything
        breaker.report(failed=True)
        raise StoreUnavailable("the queue does not answer") from error
    breaker.report(failed=False)


def _is_alive(redis: Redis, key: bytes) -> bool:
    """Whether a worker has kept its word: its key is to live for MARGIN longer than it may be silent.

    Of one of this place its process tells at once.
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
    except OSError:  # somebody else's
        return False
    return bool(then and (now := start_time(int(pid))) and now.encode() != then)


def host_id() -> str:
    """Where the number of a process means the same process: a machine, or a container of it that counts its own."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())  # the first one has the same number on every machine
        start = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        space = start = ""
    return f"{socket.gethostname()} {start} {space}"


def start_time(pid: int) -> str:
    """What tells a process from another one that is given its number later: when it began. Empty if nobody tells.

    Numbers are given anew wherever they begin anew: after a start of the machine, or of a container.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # clock ticks since the machine was started: proc(5)


def list_worker_keys(redis: Redis, queue: str) -> tuple[list[bytes], list[bytes]]:
    """The keys under which workers of that queue are known: of those that live, and those that died or never were."""
    members = redis.smembers(WORKERS_BY_QUEUE_KEY % queue)
    known = [key for key in members if isinstance(key, bytes)]
    if len(known) < len(members):
        raise RedisError(NO_REDIS)
    ours = [key for key in known if key.startswith(WORKER_PREFIX)]
    alive = [key for key in ours if redis.exists(key)]
    return alive, [key for key in known if key not in alive]
