"""The composition root: what a process of the service is made of."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.config.settings import Settings, SettingsError
from deploy.runtime import nginx, unix_http
from domain.accounts.account_store import People
from domain.command_handler import Commands
from domain.errors import StoreUnavailable, ViewsDamaged
from domain.ledger import Ledger
from domain.notifications.ip_ranges import public, public_or_own
from domain.notifications.notification_store import Notices
from domain.notifications.webhooks import EVENTS, MAIL
from domain.ruleset_registry import Catalogue, shipped
from domain.service.heartbeat import Outages
from domain.service.job_requests import Errands
from domain.service.seat_tokens import Access
from domain.service.seed_store import Vault
from domain.service.service_clock import Clock
from projections import log_identity
from projections.archived_views import Retold
from projections.reader import Reader
from projections.view_store import Views, damage_mark, in_use
from workers.change_listener import Changes
from workers.context import Crew
from workers.notifications.delivery_pool import Couriers
from workers.notifications.digests import Digests
from workers.notifications.email_renderer import Letters
from workers.notifications.producer import Owing
from workers.notifications.smtp_client import Mailer, Post
from workers.notifications.smtp_settings import relay
from workers.notifications.webhook_client import Sender
from workers.queues import Queues
from workers.signals import Bell, Ringer

if TYPE_CHECKING:
    from api.services import Services as ApiServices

PATIENCE = 10.0
"""Seconds that a start may look for damaged pages of the views: those that are found later need another start."""

LEAVING = 5.0
"""Seconds within which whoever has damaged views open must leave them: processes of a service that was killed do."""

log = logging.getLogger("annals.views")

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


@dataclass(frozen=True)
class Services:
    """Everything that a process may use; nothing is connected before it is used."""

    settings: Settings
    catalogue: Catalogue
    ledger: Ledger
    vault: Vault
    commands: Commands
    access: Access
    errands: Errands
    people: People
    notices: Notices
    views: Views
    reader: Reader
    bell: Bell
    changes: Changes
    queues: Queues
    clock: Clock
    """The time of the service, ms since 1970 UTC."""

    def notify(self, position: int) -> None:
        """There is something new in the log, up to that position."""
        self.bell.ring(position)

    def crew(self) -> Crew:
        """What jobs use."""
        return Crew(
            self.commands,
            self.ledger,
            self.catalogue,
            self.vault,
            self.views,
            self.clock,
            self.notify,
            self.settings.node(),
            self._couriers(),
        )

    def _couriers(self) -> Couriers | None:
        mode, mailer = self.settings.webhooks, self._mailer()
        if mode == "none" and not mailer:
            return None
        sender = Sender(public_or_own if mode == "loopback" else public)
        return Couriers(self.notices, self.people.journal, self.clock, mode, sender, mailer)

    def _mailer(self) -> Mailer | None:
        s = self.settings
        if not s.smtp:
            return None
        letters = Letters(self.catalogue, self.access.cards, s.public_url, s.mail_from)
        return Mailer(self.notices.mailboxes, letters, Post(relay(s.smtp)), self.reader)

    def owing(self) -> Owing:
        """Who writes down what webhooks and mailboxes are owed."""
        outbox = self.notices.outbox
        digests = Digests(outbox, self.notices.mailboxes, self.reader) if self.settings.smtp else None
        return Owing(self.crew(), outbox, digests)

    def api(self) -> ApiServices:
        """What the API is made from."""
        from api.services import Services as ApiServices  # noqa: PLC0415 - workers need none of Flask
        from api.services import Settings as ApiSettings  # noqa: PLC0415

        s = self.settings
        settings = ApiSettings(
            rate=s.rate,
            tables=s.tables,
            registration=s.registration,
            public_url=s.public_url,
            second_factor=s.second_factor,
            origins=s.origins,
            metrics_token=s.metrics_token,
            webhooks=s.webhooks,
            hsts=s.hsts,
            mail=bool(s.smtp),
            docs=DOCS,
        )
        return ApiServices(
            self.commands,
            self.ledger,
            self.catalogue,
            self.reader,
            self.access,
            self.errands,
            self.people,
            self.notices,
            self.clock,
            Ringer(self.bell).ring,
            self.bell.stir,
            self.crew().inspector.inspect,
            self.changes.listen,
            lambda job: self.queues.state(job, self.clock()),
            self._streams,
            self.bell.up,
            settings,
        )

    def _streams(self) -> int | None:
        """How many streams are open at this server."""
        found = unix_http.health(nginx.stream_socket(self.settings))
        return None if found is None else int(found.get("streams", 0))

    def close(self) -> None:
        """Close this process' connections."""
        for each in (self.clock, self.queues, self.bell, self.views, self.ledger):
            each.close()


def create_services(settings: Settings, catalogue: Catalogue | None = None) -> Services:
    """Without a catalogue, of the rulesets that are shipped. Needs the address of a Redis; raises SettingsError."""
    if not settings.redis_url:
        raise SettingsError("ANNALS_REDIS_URL is not set; only `serve` starts a server of its own")
    rules = shipped() if catalogue is None else catalogue
    ledger = Ledger.open(settings.ledger_url, settings.key())
    views = Views(settings.views_url, ledger.keys, settings.parts)
    vault, reader = Vault(ledger, ledger.keys), Reader(views, Retold(ledger, rules))
    url, clock = settings.redis_url, Clock(ledger, alone=settings.sqlite)
    return Services(
        settings,
        rules,
        ledger,
        vault,
        Commands(ledger, rules, vault, clock),
        Access(ledger, ledger.keys, lambda: clock() // 1000),
        Errands(ledger),
        People(ledger, ledger.keys, clock),
        Notices(ledger, ledger.keys, clock, _carried(settings)),
        views,
        reader,
        Bell(url),
        Changes(lambda: Bell(url)),
        Queues(url),
        clock,
    )


def _carried(settings: Settings) -> tuple[str, ...]:
    """For what anything may be sent."""
    return (*(EVENTS if settings.webhooks != "none" else ()), *((MAIL,) if settings.smtp else ()))


def migrate(settings: Settings) -> None:
    """Make what is missing of folder, key and tables, and see that the key fits.

    Views that are damaged, or of another log, are made anew. Raises SettingsError, WrongKey, StoreUnavailable.
    """
    settings.prepare()
    ledger = Ledger.open(settings.owner_url, settings.key())
    views = Views(settings.migrate_url or settings.views_url, ledger.keys, settings.parts)
    try:
        with _named(settings, settings.ledger_file):
            ledger.migrate()
            Access(ledger, ledger.keys).migrate()
            Errands(ledger).migrate()
            People(ledger, ledger.keys).migrate()
            Notices(ledger, ledger.keys).migrate()
            Outages(ledger).migrate()
            ledger.keys.check()
        with _named(settings, settings.views_file):
            last = _migrate(views, settings)
        with _named(settings, settings.ledger_file):
            fits = log_identity.holds(ledger, last)
        with _named(settings, settings.views_file):
            if not fits:
                log.warning("the views are not those of this log, and are made anew")
                views.clear()
                views.migrate()
        if settings.migrate_url:
            ledger.grant(settings.ledger_url)
    finally:
        views.close()
        ledger.close()


@contextmanager
def people_of(settings: Settings) -> Iterator[People]:
    """The accounts alone, for commands that need no more of the service; raises StoreUnavailable."""
    ledger = Ledger.open(settings.ledger_url, settings.key())
    try:
        people = People(ledger, ledger.keys)
        people.migrate()
        yield people
    finally:
        ledger.close()


@contextmanager
def _named(settings: Settings, file: Path) -> Iterator[None]:
    """What is wrong with a store is said with the name of its file."""
    try:
        yield
    except StoreUnavailable as error:
        if "permission denied" in str(error) or "must be owner" in str(error):
            raise SettingsError(f"{error}: ANNALS_MIGRATE_URL must name the role that owns the tables") from error
        raise StoreUnavailable(f"{file}: {error}" if settings.sqlite else str(error)) from error


def _migrate(views: Views, settings: Settings) -> set[log_identity.Newest]:
    """Where the views are. A damaged file is begun anew: all that is in it is made from the log."""
    if settings.sqlite:
        _make_views_file(settings.views_file)
    try:
        views.look_at_pages(PATIENCE)
        views.migrate()
        return log_identity.newest(views)
    except ViewsDamaged as error:
        views.close()
        _wait_until_unused(settings.views_file)
        log.warning("%s is damaged, and is made anew: %s", settings.views_file, error)
        for end in ("", "-wal", "-shm"):
            settings.views_file.with_name(settings.views_file.name + end).unlink(missing_ok=True)
        _make_views_file(settings.views_file)
        damage_mark(settings.views_file).unlink(missing_ok=True)  # last: who is killed here begins again
        views.migrate()
        return log_identity.newest(views)


def _wait_until_unused(views: Path) -> None:
    """Whoever has the file open would go on with one that is gone, beside those who open the new one."""
    end = time.monotonic() + LEAVING
    while in_use(views):
        if time.monotonic() > end:
            raise SettingsError(f"{views} is damaged, and in use: it is made anew once the service has been stopped")
        time.sleep(0.1)


def _make_views_file(path: Path) -> None:
    """For its owner alone: boards show what players keep secret from each other."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
