"""The queues. Only names of games and decisions travel through Redis, as JSON; only the jobs listed here are done.

Redis is never the record. What is due stands in a table, and is enqueued again as long as it stands there.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from redis.exceptions import RedisError
from rq import Queue, Retry, Worker
from rq.exceptions import DuplicateJobError, NoSuchJobError
from rq.job import Job, JobStatus

from domain.errors import StoreUnavailable
from domain.ids import Json
from projections.reader import Due
from workers import audits, deadlines, rebuilds, turns
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
KEEP_RESULT = 3600
"""Seconds that the result of a job of BATCH is kept."""

_DUE: Mapping[str, Callable[[str, str], Json]] = MappingProxyType(
    {"resolve": turns.resolve, "lapse": deadlines.lapse, "vacant": turns.vacant}
)
_BATCH: tuple[Callable[..., Json], ...] = (audits.audit, rebuilds.rebuild)
ALLOWED = frozenset(f"{f.__module__}.{f.__name__}" for f in (*_DUE.values(), *_BATCH))


class Work(Job):
    """A job that runs nothing but our own functions: who can write to Redis cannot name any other."""

    def perform(self) -> Any:
        """As in the library."""
        if self.func_name not in ALLOWED:
            raise PermissionError(f"{self.func_name} is no job of this service")
        return super().perform()


@dataclass(frozen=True)
class Status:
    """What has become of a job: `queued`, `started`, `finished` or `failed`."""

    id: str
    work: str
    status: str
    game: str = ""
    result: Json = None


class Queues:
    """Hands work to the workers. Raises StoreUnavailable when Redis is away; due work then waits, as a row."""

    def __init__(self, url: str) -> None:
        self._redis = connect(url, timeout=2)
        self._queues = {
            name: Queue(name, connection=self._redis, serializer=SERIALIZER, job_class=Work) for name in QUEUES
        }

    # --- due work

    def due(self, rows: Sequence[Due], now: int) -> int:
        """Rows of due work; how many of them were not enqueued yet."""
        ids = {f"{row.work}-{row.game}-{row.decision}-{now // PERIOD}": row for row in rows}
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

    def _enqueue(self, id_: str, row: Due) -> bool:
        try:
            self._queues[TURNS].enqueue_call(
                _DUE[row.work],
                args=(row.game, row.decision),
                job_id=id_,
                unique=True,
                timeout=TURN_SECONDS,
                ttl=2 * PERIOD // 1000,
                result_ttl=PERIOD // 1000,
                failure_ttl=PERIOD // 1000,
                retry=Retry(max=2),
                description=row.work,
            )
        except DuplicateJobError:  # somebody else was faster
            return False
        return True

    # --- work that is asked for

    def audit(self, game: str) -> str:
        """Proves a game; the id of the job."""
        return self._ask(audits.audit, game, game=game)

    def rebuild(self) -> str:
        """Makes all views anew; the id of the job."""
        return self._ask(rebuilds.rebuild)

    def _ask(self, work: Callable[..., Json], *args: Json, game: str = "") -> str:
        try:
            self._queues[BATCH].enqueue_call(
                work,
                args=args,
                job_id=(id_ := f"{work.__name__}-{secrets.token_hex(12)}"),
                timeout=BATCH_SECONDS,
                ttl=BATCH_SECONDS,
                result_ttl=KEEP_RESULT,
                failure_ttl=KEEP_RESULT,
                retry=Retry(max=2),
                meta={"game": game},
                description=work.__name__,
            )
        except (RedisError, OSError) as error:
            raise StoreUnavailable("the queue does not answer") from error
        return id_

    def status(self, job: str) -> Status | None:
        """What has become of a job that was asked for; None for one that is unknown, or was forgotten."""
        try:
            found = Work.fetch(job, connection=self._redis, serializer=SERIALIZER)
            status = found.get_status(refresh=False)
            result = found.return_value() if status == JobStatus.FINISHED else None
        except NoSuchJobError:
            return None
        except (RedisError, OSError) as error:
            raise StoreUnavailable("the queue does not answer") from error
        word = {JobStatus.FINISHED: "finished", JobStatus.STARTED: "started", JobStatus.QUEUED: "queued"}
        return Status(job, found.description or "", word.get(status, "failed"), found.meta.get("game", ""), result)

    def workers(self) -> dict[str, int]:
        """How many workers are at each queue."""
        try:
            return {name: Worker.count(queue=queue) for name, queue in self._queues.items()}
        except (RedisError, OSError) as error:
            raise StoreUnavailable("the queue does not answer") from error

    def close(self) -> None:
        """Close the connections; a later use makes new ones."""
        self._redis.close()
