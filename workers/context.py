"""Dependencies of the jobs in a worker process. Redis carries names of games and decisions only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from domain.command_handler import CommandHandler
from domain.compat import cached_property
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequests
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from domain.service.service_clock import ClockRows
from domain.tournament_handler import TournamentHandler
from domain.tournament_tables import TournamentTables
from domain.transparency.checkpoint_store import CheckpointStore
from domain.transparency.policy_file import KnownWitness
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
    """Dependencies of all jobs."""

    commands: CommandHandler
    ledger: Ledger
    registry: RulesetRegistry
    seed_store: SeedStore
    views: ViewStore
    clock: Callable[[], int]
    """ms since 1970 UTC."""
    notify_appended: Callable[[int], None]
    """Signals new records up to a log position."""
    node: str = "worker"
    delivery_pool: Deliverer | None = None
    """Threads that deliver notifications; None without notifications."""
    log_origin: str = ""
    """Name of the log in its checkpoints; empty: the store makes one."""
    signing_secret: bytes = field(default=b"", repr=False)
    """Secret of the key that signs checkpoints; empty: the ring holds it."""
    witnesses: tuple[KnownWitness, ...] = ()
    """Witnesses that are asked to cosign checkpoints."""

    @cached_property
    def tournaments(self) -> TournamentHandler:
        """Commands of tournaments."""
        return TournamentHandler(self.ledger, self.registry, self.seed_store, self.clock)

    @cached_property
    def tournament_tables(self) -> TournamentTables:
        """Tables of tournaments."""
        return TournamentTables(self.ledger, self.tournaments, self.commands, SeatTokens(self.ledger, self.ledger.keys))

    @property
    def job_requests(self) -> JobRequests:
        """Requested jobs."""
        return JobRequests(self.ledger)

    @property
    def clock_rows(self) -> ClockRows:
        """Clock offsets and jumps of the service's machines."""
        return ClockRows(self.ledger)

    @property
    def inspector(self) -> Inspector:
        """Checks games for corrupt records."""
        return Inspector(self.ledger, self.views, self.seed_store, self.clock)

    @property
    def checkpoints(self) -> CheckpointStore:
        """Signed checkpoints of the log."""
        return CheckpointStore(self.ledger, self.ledger.keys, self.log_origin, self.signing_secret)

    @property
    def heartbeat(self) -> Heartbeat:
        """Heartbeat and outages."""
        return Heartbeat(self.ledger)


_current: list[WorkerContext] = []


def set_context(context: WorkerContext) -> None:
    """Set the context for all jobs of this process."""
    _current[:] = [context]


def current_context() -> WorkerContext:
    """Return the context of this process; raises RuntimeError outside worker processes."""
    if not _current:
        raise RuntimeError("jobs are done by worker processes, which sign on first")
    return _current[0]
