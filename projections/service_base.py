"""Base of the services of a process: the log, its writers and its views, as requests and jobs both need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from domain.command_handler import CommandHandler
from domain.compat import cached_property
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.corruption import CorruptRecords
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequests
from domain.service.seed_store import SeedStore
from domain.service.service_clock import ClockRows
from domain.standing_orders.order_store import OrderStore
from domain.talk.disclosures import Disclosures
from domain.talk.message_reports import MessageReports
from domain.talk.promises import PromiseFollower
from domain.talk.silences import Silences
from domain.talk.talk_store import TalkStore
from domain.tournament_handler import TournamentHandler
from projections.integrity import Inspector
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory


def _no_notification(_: int) -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class ServiceBase:
    """Services of every process. Each connects at its first use."""

    ledger: Ledger
    registry: RulesetRegistry
    seed_store: SeedStore
    commands: CommandHandler
    views: ViewStore
    history: ViewerHistory
    """The versions of games, shared by all work of this process."""
    clock: Callable[[], int]
    """ms since 1970 UTC."""
    notify_appended: Callable[[int], None] = _no_notification
    """Called with the log position of each write."""

    def list_shared(self) -> dict[str, Any]:
        """Return the members of the base by name: other services of the process are made with them."""
        return {field.name: getattr(self, field.name) for field in fields(ServiceBase)}

    @cached_property
    def tournaments(self) -> TournamentHandler:
        """Commands of tournaments."""
        return TournamentHandler(self.ledger, self.registry, self.seed_store, self.clock)

    @cached_property
    def talk(self) -> TalkStore:
        """Messages between players."""
        return TalkStore(self.ledger, lambda: self.ledger.keys, self.commands.anchors, self.clock)

    @cached_property
    def orders(self) -> OrderStore:
        """Standing orders of seats."""
        return OrderStore(self.ledger, lambda: self.ledger.keys, self.clock)

    @cached_property
    def disclosures(self) -> Disclosures:
        """Messages shown by their participants to others."""
        return Disclosures(self.ledger, self.clock)

    @cached_property
    def message_reports(self) -> MessageReports:
        """Reported messages."""
        return MessageReports(self.ledger, self.clock)

    @cached_property
    def silences(self) -> Silences:
        """People who write no words for a time."""
        return Silences(self.ledger, self.clock)

    @cached_property
    def promises(self) -> PromiseFollower:
        """Treaties followed by public facts."""
        return PromiseFollower(self.ledger)

    @property
    def job_requests(self) -> JobRequests:
        """Requested jobs."""
        return JobRequests(self.ledger)

    @property
    def clock_rows(self) -> ClockRows:
        """Clock offsets and jumps of the service's machines."""
        return ClockRows(self.ledger)

    @property
    def heartbeat(self) -> Heartbeat:
        """Heartbeat and outages of the service."""
        return Heartbeat(self.ledger)

    @property
    def corrupt_records(self) -> CorruptRecords:
        """The known damaged records."""
        return CorruptRecords(self.ledger)

    @property
    def inspector(self) -> Inspector:
        """Checks games for corrupt records."""
        return Inspector(self.ledger, self.views, self.seed_store, self.clock)
