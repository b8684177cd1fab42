"""What the jobs of a worker process use. Redis carries names of games and decisions only, so it is set up here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from domain.command_handler import CommandHandler
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequests
from domain.service.seed_store import SeedStore
from domain.service.service_clock import ClockRows
from projections.integrity import Inspector
from projections.view_store import ViewStore


class Deliverer(Protocol):
    """Deliver notifications in threads of its own (`workers.notifications.delivery_pool`)."""

    def wake(self) -> int:
        """Start the idle threads and return at once with their number."""

    def stop(self) -> None:
        """Begin nothing new and wait a few seconds for deliveries under way."""


@dataclass(frozen=True)
class WorkerContext:
    """Everything that jobs read and write."""

    commands: CommandHandler
    ledger: Ledger
    registry: RulesetRegistry
    seed_store: SeedStore
    views: ViewStore
    clock: Callable[[], int]
    """ms since 1970 UTC."""
    notify_appended: Callable[[int], None]
    """There is something new in the log, up to that position."""
    node: str = "worker"
    delivery_pool: Deliverer | None = None
    """Threads that deliver notifications; None where none are sent."""

    @property
    def job_requests(self) -> JobRequests:
        """Work that was asked for."""
        return JobRequests(self.ledger)

    @property
    def clock_rows(self) -> ClockRows:
        """What is known of the time."""
        return ClockRows(self.ledger)

    @property
    def inspector(self) -> Inspector:
        """Who judges whether games are damaged."""
        return Inspector(self.ledger, self.views, self.seed_store, self.clock)

    @property
    def heartbeat(self) -> Heartbeat:
        """When players could answer, and when not."""
        return Heartbeat(self.ledger)


_current: list[WorkerContext] = []


def set_context(context: WorkerContext) -> None:
    """From now on the jobs of this process use these."""
    _current[:] = [context]


def current_context() -> WorkerContext:
    """The crew of this process; raises RuntimeError in a process that is no worker."""
    if not _current:
        raise RuntimeError("jobs are done by worker processes, which sign on first")
    return _current[0]
