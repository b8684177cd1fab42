"""Jobs: what a row of due work or a request has done, and by which function. Only jobs listed here run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from domain.service.job_requests import JobRequest
from domain.types import Json
from projections.reader import DueWork
from workers.context import current_context
from workers.jobs import (
    audits,
    bot_moves,
    deadlines,
    order_acts,
    proposals,
    rebuilds,
    rewinds,
    tournament_clocks,
    tournament_openings,
    tournament_queues,
    tournament_reports,
    turns,
)
from workers.maintenance.corruption_handler import check_suspect

TURNS, BATCH = "annals-turns", "annals-batch"
"""The queue of short jobs that players wait for, and the queue of long jobs."""

QUEUES = (TURNS, BATCH)
PERIOD = 10_000
"""ms after which due work gets a new job id, whatever became of the previous job.

A killed worker or an emptied Redis can leave an id without a job.
"""

SHORT_PERIOD = 1_000
"""The same period for bot moves, standing orders, reports, queues, timetables and deliveries, ms.

A bot's seat may owe the same decision again after another seat's answer, and a round has many results. All waiting
notifications are one job.
"""

TURN_SECONDS = 60
"""Time limit of a job in TURNS, seconds."""

BATCH_SECONDS = 3600
"""Time limit of a job in BATCH, seconds."""

BATCH_PERIOD = 60_000
"""The same period for long jobs, ms. One that goes on holds a lease, and another attempt leaves it alone."""

_DUE_JOBS: Mapping[str, Callable[[str, str], Json]] = MappingProxyType(
    {
        "resolve": turns.resolve,
        "lapse": deadlines.lapse,
        "vacant": turns.play_vacant_seats,
        "bot": bot_moves.play_bots,
        "think": bot_moves.think,
        "order": order_acts.act_on_orders,
        "sweep": turns.close_unstarted,
        "ruling": turns.close_ruled,
        "limit": turns.adjourn_at_limit,
        "report": tournament_reports.report_table,
        "queue": tournament_queues.serve_queue,
        "clock": tournament_clocks.serve_clock,
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


def period_of(name: str) -> int:
    work = name.partition("-")[0]
    if work in ("audit", "rebuild"):
        return BATCH_PERIOD
    return SHORT_PERIOD if work in ("bot", "order", "report", "queue", "clock", _DELIVERY) else PERIOD


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
        return period_of(self.name)

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


class JobQueues(Protocol):
    """Queues of jobs: those of Redis, or those of this process."""

    def enqueue(self, calls: Sequence[JobCall], now: int) -> int:
        """Enqueue these jobs, each once in its period; return the number of new ones."""

    def job_state(self, name: str, now: int) -> str:
        """Return the state of a job: `running`, `failed` (will be retried) or an empty string."""

    def count_workers(self) -> dict[str, int]:
        """Return queue -> number of workers."""

    def close(self) -> None:
        """Close all connections."""
