"""What the API is made from: passed in once, found through the application, never global."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from flask import current_app

from domain.accounts.account_store import People
from domain.command_handler import Commands
from domain.ledger import Ledger
from domain.notifications.notification_store import Notices
from domain.ruleset_registry import Catalogue
from domain.service.corruption import Damages
from domain.service.heartbeat import Outages
from domain.service.job_requests import Errands
from domain.service.seat_tokens import Access
from domain.service.service_clock import Clocks
from domain.types import Json
from projections.reader import Reader

EXTENSION = "annals"

Found = TypeVar("Found")


def _silent(_: int) -> None:
    """Nobody waits for the doorbell."""


def _nothing(_: str) -> None:
    """Nobody follows the game."""


def _sound(_: str) -> int | None:
    return None


def _unknown(_: str) -> str:
    return ""


def _no_streams() -> int | None:
    return 0


def _yes() -> bool:
    return True


def _deaf(_: Callable[[frozenset[str]], None]) -> None:
    """Nothing is heard: who follows a game looks with each sign of life."""


@dataclass(frozen=True)
class Settings:
    """What an operator may decide about the API."""

    max_body: int = 256 * 1024
    """Bytes of a request's body."""
    patience: float = 2.0
    """Seconds that a read waits for the views to reach a position."""
    keep_alive: float = 5.0
    """Seconds between signs of life in a stream; the place of a client that has gone is free after two."""
    stream_seconds: float = 900.0
    """How long a stream lasts before the client is asked to come again."""
    max_streams: int = 2000
    """Streams of one process."""
    streams_each: int = 20
    """Streams of one token, or of one address without a token."""
    streams_address: int = 40
    """Streams of one address, whatever its tokens."""
    max_lag: int = 500
    """Records that the views may be behind while the service calls itself ready."""
    rate: float = 50.0
    """Writes and other costly requests a second for each caller; 0 for no limit."""
    burst: int = 200
    """How many may come at once."""
    tables: int = 120
    """Tables that one address, or one account, may open in an hour, and so many at once; ten times as many seats."""
    accounts: int = 30
    """Names that one address may ask for in an hour, whether or not they were free."""
    registration: str = "open"
    """Who may open an account: `open`, with an `invitation`, or nobody (`closed`)."""
    public_url: str = ""
    """Scheme, host and port by which people find the service; empty: of this machine alone, as they ask for it."""
    second_factor: str = "none"
    """Who must have a second factor to use a role: nobody (`none`), administrators (`admin`), or `moderator`s too."""
    webhooks: str = "https"
    """Where webhooks may lead: `https`, `loopback` (for trials also this machine, in plain form) or `none`."""
    mail: bool = False
    """Whether mail is sent."""
    origins: tuple[str, ...] = ()
    """Foreign origins whose pages may use the API with tokens, never with cookies; `*` for all."""
    hsts: str = "host"
    """For which hosts browsers remember TLS: this one (`host`), or its `subdomains` too."""
    metrics_token: str = field(default="", repr=False)
    """What a scraper sends as bearer token; without it the figures are for this machine only."""
    docs: Path | None = None
    """The folder with `rules/<game>.md`."""


@dataclass(frozen=True)
class Services:
    """The parts that the API speaks to."""

    commands: Commands
    ledger: Ledger
    catalogue: Catalogue
    reader: Reader
    access: Access
    errands: Errands
    people: People
    notices: Notices
    clock: Callable[[], int]
    """ms since 1970 UTC."""
    notify: Callable[[int], None] = _silent
    """The doorbell: called with the position of each write."""
    stir: Callable[[str], None] = _nothing
    """Called when something about a game is new that is not in the log: an errand, a consent."""
    inspect: Callable[[str], int | None] = _sound
    """Judges a game: the first version that is damaged, 0 for its seed; None if it is sound."""
    listen: Callable[[Callable[[frozenset[str]], None]], None] = _deaf
    """From now on it is told, in another thread, which games may have changed; no name: any may have."""
    job_state: Callable[[str], str] = _unknown
    """What the queue says of a job: `running`, `failed` (to be tried again), or nothing."""
    streams: Callable[[], int | None] = _no_streams
    """How many streams the process for them has open; None if it does not answer."""
    redis_up: Callable[[], bool] = _yes
    """Whether Redis answers; asked at once, or not at all."""
    settings: Settings = field(default_factory=Settings)

    @property
    def clocks(self) -> Clocks:
        """What is known of the time."""
        return Clocks(self.ledger)

    @property
    def outages(self) -> Outages:
        """When players could answer, and when not."""
        return Outages(self.ledger)

    @property
    def damages(self) -> Damages:
        """Which records are damaged."""
        return Damages(self.ledger)


def itself(proxy: Found) -> Found:
    """What one of Flask's proxies stands for now, for whoever asks it more than once: it is looked for each time."""
    found: Found = proxy._get_current_object()  # type: ignore[attr-defined] # noqa: SLF001 - public, as Flask says
    return found


def services() -> Services:
    """The services of the application that handles this request."""
    found: Services = current_app.extensions[EXTENSION]
    return found


Doc = dict[str, Json]
