"""The queues. Only names of games and decisions travel through Redis, as JSON; only the jobs listed here are done.

Redis is never the record. What is due stands in a table, and is enqueued again as long as it stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from redis.exceptions import RedisError
from rq import Queue, Retry, Worker
from rq.exceptions import DuplicateJobError
from rq.job import Job

from domain.errands import Errand
from domain.errors import StoreUnavailable
from domain.ids import Json
from projections.reader import Due
from workers import audits, deadlines, rebuilds, rewinds, turns
from workers.bell import connect

TURNS, BATCH = "annals-turns", "annals-batch"
"""Short work that players wait for; long work that must not stand in its way."""

QUEUES = (TURNS, BATCH)
SERIALIZER = "json"

PERIOD = 10_000
"""ms after which due work is enqueued under a new id, whatever has become of the job before.

A killed worker, or a Redis that was emptied in mid-job, can leave an id behind that belongs to no job any more.
"""

TURN_SECONDS = 60
"""How long a job of TURNS may take."""

BATCH_SECONDS = 3600
"""How long a job of BATCH may take, and its PERIOD in seconds: it must not be begun again while it is done."""

_DUE: Mapping[str, Callable[[str, str], Json]] = MappingProxyType(
    {"resolve": turns.resolve, "lapse": deadlines.lapse, "vacant": turns.vacant}
)
_ERRANDS: Mapping[str, tuple[Callable[[str], Json], str]] = MappingProxyType(
    {"rewind": (rewinds.rewind, TURNS), "audit": (audits.audit, BATCH), "rebuild": (rebuilds.rebuild, BATCH)}
)
ALLOWED = frozenset(f"{f.__module__}.{f.__name__}" for f in (*_DUE.values(), *(f for f, _ in _ERRANDS.values())))


_STATES = {b"started": "running", b"failed": "failed"}


@dataclass(frozen=True)
class Call:
    """A job to be enqueued; `name` is the same for the same work, however often it is handed out."""

    name: str
    work: Callable[..., Json]
    args: tuple[str, ...]
    queue: str = TURNS

    @property
    def period(self) -> int:
        """Ms after which it is handed out again."""
        return PERIOD if self.queue == TURNS else BATCH_SECONDS * 1000

    def id(self, now: int) -> str:
        """The id of the job that does it now."""
        return f"{self.name}-{now // self.period}"


def of_due(row: Due) -> Call:
    """The job for a row of due work."""
    return Call(f"{row.work}-{row.game}-{row.decision}", _DUE[row.work], (row.game, row.decision))


def of_errand(errand: Errand) -> Call:
    """The job for an errand."""
    work, queue = _ERRANDS[errand.work]
    return Call(errand.id, work, (errand.id,), queue)


class Work(Job):
    """A job that runs nothing but our own functions: who can write to Redis cannot name any other."""

    def perform(self) -> Any:
        """As in the library."""
        if self.func_name not in ALLOWED:
            raise PermissionError(f"{self.func_name} is no job of this service")
        return super().perform()


class Queues:
    """Hands work to the workers. Raises StoreUnavailable when Redis is away; due work then waits, as a row."""

    def __init__(self, url: str) -> None:
        self._redis = connect(url, timeout=2)
        self._queues = {
            name: Queue(name, connection=self._redis, serializer=SERIALIZER, job_class=Work) for name in QUEUES
        }

    def hand_out(self, calls: Sequence[Call], now: int) -> int:
        """Enqueue these; how many of them were not enqueued yet."""
        ids = {call.id(now): call for call in calls}
        try:
            return sum(self._enqueue(id_, ids[id_]) for id_ in self._unknown(list(ids)))
        except (RedisError, OSError) as error:
            raise StoreUnavailable("the queue does not answer") from error

    def _unknown(self, ids: Sequence[str]) -> list[str]:
        """Those that no job has: one question for all, since most rows wait for a job that is there."""
        if not ids:
            return []
        with self._redis.pipeline(transaction=False) as ask:
            for id_ in ids:
                ask.exists(Work.key_for(id_))
            return [id_ for id_, known in zip(ids, ask.execute(), strict=True) if not known]

    def _enqueue(self, id_: str, call: Call) -> bool:
        try:
            self._queues[call.queue].enqueue_call(
                call.work,
                args=call.args,
                job_id=id_,
                unique=True,
                timeout=TURN_SECONDS if call.queue == TURNS else BATCH_SECONDS,
                ttl=2 * call.period // 1000,
                result_ttl=call.period // 1000,
                failure_ttl=call.period // 1000,
                retry=Retry(max=2),
                description=call.work.__name__,
            )
        except DuplicateJobError:  # somebody else was faster
            return False
        return True

    def state(self, name: str, now: int) -> str:
        """What the queue says of the work of that name: `running`, `failed` (to be tried again), or nothing."""
        period = BATCH_SECONDS * 1000 if name.partition("-")[0] in ("audit", "rebuild") else PERIOD
        try:
            ids = [f"{name}-{now // period - back}" for back in (0, 1)]
            found = {self._redis.hget(Work.key_for(id_), "status") for id_ in ids}
        except (RedisError, OSError):
            return ""  # it is only a hint: the rows and the log tell what is to be done
        return next((status for word, status in _STATES.items() if word in found), "")

    def workers(self) -> dict[str, int]:
        """How many workers are at each queue."""
        try:
            return {name: Worker.count(queue=queue) for name, queue in self._queues.items()}
        except (RedisError, OSError) as error:
            raise StoreUnavailable("the queue does not answer") from error

    def close(self) -> None:
        """Close the connections; a later use makes new ones."""
        self._redis.close()
