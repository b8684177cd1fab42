"""What the jobs of a worker process use. Redis carries names of games and decisions only, so it is set up here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from domain.command_handler import Commands
from domain.ledger import Ledger
from domain.ruleset_registry import Catalogue
from domain.service.heartbeat import Outages
from domain.service.job_requests import Errands
from domain.service.seed_store import Vault
from domain.service.service_clock import Clocks
from projections.integrity import Inspector
from projections.view_store import Views


class Deliverer(Protocol):
    """Deliver notifications in threads of its own (`workers.notifications.delivery_pool`)."""

    def wake(self) -> int:
        """Start the idle threads and return at once with their number."""

    def stop(self) -> None:
        """Begin nothing new and wait a few seconds for deliveries under way."""


@dataclass(frozen=True)
class Crew:
    """Everything that jobs read and write."""

    commands: Commands
    ledger: Ledger
    catalogue: Catalogue
    vault: Vault
    views: Views
    clock: Callable[[], int]
    """ms since 1970 UTC."""
    notify: Callable[[int], None]
    """There is something new in the log, up to that position."""
    node: str = "worker"
    couriers: Deliverer | None = None
    """Threads that deliver notifications; None where none are sent."""

    @property
    def errands(self) -> Errands:
        """Work that was asked for."""
        return Errands(self.ledger)

    @property
    def clocks(self) -> Clocks:
        """What is known of the time."""
        return Clocks(self.ledger)

    @property
    def inspector(self) -> Inspector:
        """Who judges whether games are damaged."""
        return Inspector(self.ledger, self.views, self.vault, self.clock)

    @property
    def outages(self) -> Outages:
        """When players could answer, and when not."""
        return Outages(self.ledger)


_at_work: list[Crew] = []


def sign_on(crew: Crew) -> None:
    """From now on the jobs of this process use these."""
    _at_work[:] = [crew]


def crew() -> Crew:
    """The crew of this process; raises RuntimeError in a process that is no worker."""
    if not _at_work:
        raise RuntimeError("jobs are done by worker processes, which sign on first")
    return _at_work[0]
