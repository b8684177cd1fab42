"""Dependencies of the API: passed to the application once and read from it, without globals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from flask import current_app

from domain.accounts.account_store import AccountStore
from domain.notifications.notification_store import NotificationStore
from domain.service.seat_tokens import SeatTokens
from domain.tournament_tables import TournamentTables
from domain.transparency.checkpoint_store import CheckpointStore
from domain.transparency.policy_file import KnownWitness, LogKeys
from domain.transparency.witness_store import WitnessStore
from projections.digest_renderer import DigestRenderer
from projections.reader import Reader
from projections.service_base import ServiceBase
from projections.stored_outlines import StoredOutlines

EXTENSION = "annals"

Found = TypeVar("Found")


def _no_change(_: str) -> None:
    """Do nothing."""


def _no_job_state(_: str) -> str:
    return ""


def _no_streams() -> int | None:
    return 0


def _redis_up() -> bool:
    return True


def _no_listener(_: Callable[[frozenset[str]], None]) -> None:
    """Do nothing: streams then check for changes at each keep-alive."""


@dataclass(frozen=True)
class ApiSettings:
    """Settings of the API."""

    max_body: int = 256 * 1024
    """Largest request body, bytes."""
    max_import: int = 6 * 2**20
    """Largest file of an import, bytes."""
    max_import_body: int = 2 * 6 * 2**20 + 4096
    """Largest request body of an import, bytes: as JSON, each quotation mark of the file takes two."""
    patience: float = 2.0
    """Longest wait of a read for the views, seconds."""
    keep_alive: float = 5.0
    """Seconds between keep-alives in a stream. A disconnected client's slot is free after two."""
    stream_seconds: float = 900.0
    """Longest duration of a stream, seconds. Clients then reconnect."""
    max_streams: int = 2000
    """Streams per process."""
    streams_each: int = 20
    """Streams per token, or per address without a token."""
    streams_address: int = 40
    """Streams per address, over all of its tokens, without those of seats at running games."""
    max_lag: int = 500
    """Records that the views may lag behind before the service reports itself as not ready."""
    rate: float = 50.0
    """Writes and other costly requests per second and caller. 0: no limit."""
    burst: int = 200
    """Largest burst of such requests."""
    tables: int = 120
    """Tables per address or account, an hour and at once. Seats: ten times as many."""
    accounts: int = 30
    """Account names that one address may try in an hour, taken names included."""
    shared_networks: tuple[str, ...] = ()
    """Networks of many people, without limits per address."""
    registration: str = "open"
    """Registration of accounts: `open`, by `invitation`, or `closed`."""
    witnesses: tuple[KnownWitness, ...] = ()
    """Witnesses that cosign the log's checkpoints."""
    witnessed_logs: LogKeys = field(default_factory=dict)
    """Logs of others whose checkpoints this service cosigns."""
    witness_name: str = ""
    """Name of this service as a witness; empty: the store makes one."""
    public_url: str = ""
    """Public scheme, host and port of the service. Empty: reachable on this machine only."""
    second_factor: str = "none"
    """Roles with a required second factor: `none`, `admin`, or `moderator` (administrators too)."""
    webhooks: str = "https"
    """Allowed webhook URLs: `https`, `loopback` (also plain HTTP to this machine, for trials) or `none`."""
    mail: bool = False
    """Mail is enabled."""
    worker: bool = True
    """Browsers keep pages by a service worker."""
    origins: tuple[str, ...] = ()
    """Other origins whose pages may call the API with tokens, never with cookies. `*`: all."""
    hsts: str = "host"
    """Hosts covered by Strict-Transport-Security: this `host`, or its `subdomains` too."""
    metrics_token: str = field(default="", repr=False)
    """Bearer token for scrapers. Without it, only this machine may read the metrics."""
    docs: Path | None = None
    """The folder with `rules/<game>.md`."""


@dataclass(frozen=True, kw_only=True)
class ApiServices(ServiceBase):
    """Dependencies of the API."""

    reader: Reader
    seat_tokens: SeatTokens
    account_store: AccountStore
    notifications: NotificationStore
    notify_changed: Callable[[str], None] = _no_change
    """Called with a game id after a change outside the log, such as a job request or a consent."""
    listen: Callable[[Callable[[frozenset[str]], None]], None] = _no_listener
    """Register a callback for changed games. It runs in another thread; an empty set means any game."""
    job_state: Callable[[str], str] = _no_job_state
    """Return the queue's state of a job: `running`, `failed` (will be retried) or nothing."""
    streams: Callable[[], int | None] = _no_streams
    """Return the number of open streams, or None if the stream process does not answer."""
    redis_up: Callable[[], bool] = _redis_up
    """Return True if Redis answers. No retries."""
    settings: ApiSettings = field(default_factory=ApiSettings)

    @cached_property
    def outlines(self) -> StoredOutlines:
        """Outlines of games for digests."""
        return StoredOutlines(self.history)

    @cached_property
    def digest_renderer(self) -> DigestRenderer:
        """Digests in a language."""
        return DigestRenderer()

    @property
    def tournament_tables(self) -> TournamentTables:
        """Games of tournaments."""
        list_inactive = self.account_store.accounts.list_inactive
        return TournamentTables(self.ledger, self.tournaments, self.commands, self.seat_tokens, list_inactive)

    @property
    def checkpoints(self) -> CheckpointStore:
        """Signed checkpoints of the log, for readers: they are signed elsewhere."""
        return CheckpointStore(self.ledger, self.ledger.keys)

    @property
    def witness(self) -> WitnessStore:
        """The witness for the logs of others."""
        return WitnessStore(self.ledger, self.ledger.keys, self.settings.witness_name, self.settings.witnessed_logs)


def unwrap_proxy(proxy: Found) -> Found:
    """Return the object behind a Flask proxy. This saves the lookup on repeated access."""
    found: Found = proxy._get_current_object()  # type: ignore[attr-defined] # noqa: SLF001 - public, as Flask says
    return found


def services() -> ApiServices:
    """Return the services of the current application."""
    found: ApiServices = current_app.extensions[EXTENSION]
    return found
