"""Dependencies of the jobs in a worker process. Redis carries names of games and decisions only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from domain.accounts.account_store import AccountStore
from domain.compat import cached_property
from domain.service.seat_tokens import SeatTokens
from domain.tournament_tables import TournamentTables
from domain.transparency.checkpoint_store import CheckpointStore
from domain.transparency.policy_file import KnownWitness
from projections.service_base import ServiceBase


class Deliverer(Protocol):
    """Deliver notifications in threads of its own (`workers.notifications.delivery_pool`)."""

    def wake(self) -> int:
        """Start the idle threads and return at once with their number."""

    def stop(self) -> None:
        """Begin nothing new and wait a few seconds for deliveries under way."""


@dataclass(frozen=True, kw_only=True)
class WorkerContext(ServiceBase):
    """Dependencies of all jobs."""

    node: str = "worker"
    delivery_pool: Deliverer | None = None
    """Threads that deliver notifications; None without notifications."""
    log_origin: str = ""
    """Name of the log in its checkpoints; empty: the store makes one."""
    signing_secret: bytes = field(default=b"", repr=False)
    """Secret of the key that signs checkpoints; empty: the ring holds it."""
    sign_unconfirmed: bool = False
    """Sign checkpoints also with asynchronous standbys alone."""
    witnesses: tuple[KnownWitness, ...] = ()
    """Witnesses that are asked to cosign checkpoints."""

    @cached_property
    def tournament_tables(self) -> TournamentTables:
        """Tables of tournaments."""
        ledger, keys = self.ledger, self.ledger.keys
        list_inactive = AccountStore(ledger, keys).accounts.list_inactive
        return TournamentTables(ledger, self.tournaments, self.commands, SeatTokens(ledger, keys), list_inactive)

    @property
    def checkpoints(self) -> CheckpointStore:
        """Signed checkpoints of the log."""
        return CheckpointStore(
            self.ledger,
            self.ledger.keys,
            self.log_origin,
            self.signing_secret,
            sign_unconfirmed=self.sign_unconfirmed,
        )


_current: list[WorkerContext] = []


def set_context(context: WorkerContext) -> None:
    """Set the context for all jobs of this process."""
    _current[:] = [context]


def current_context() -> WorkerContext:
    """Return the context of this process; raises RuntimeError outside worker processes."""
    if not _current:
        raise RuntimeError("jobs are done by worker processes, which sign on first")
    return _current[0]
