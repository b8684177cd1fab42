"""The composition root: builds the services of a process."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deploy.config.settings import Settings, SettingsError
from deploy.runtime import nginx, unix_http
from domain.accounts.account_store import AccountStore
from domain.command_handler import CommandHandler
from domain.errors import StoreUnavailable, ViewsDamaged
from domain.ledger import Ledger
from domain.notifications.ip_ranges import is_public_ip, is_public_or_loopback_ip
from domain.notifications.notification_store import NotificationStore
from domain.notifications.webhooks import CHAT, EVENTS, MAIL, PUSH
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.service.heartbeat import Heartbeat
from domain.service.job_requests import JobRequests
from domain.service.seat_tokens import SeatTokens
from domain.service.seed_store import SeedStore
from domain.service.service_clock import ServiceClock
from domain.standing_orders.order_store import OrderStore
from domain.talk.anchors import MailboxAnchors
from domain.talk.talk_store import TalkStore
from domain.transparency.checkpoint_store import CheckpointStore
from domain.transparency.witness_reports import WitnessReports
from domain.transparency.witness_store import WitnessStore
from projections import log_identity
from projections.archived_views import ArchivedViewLoader
from projections.reader import Reader
from projections.service_base import ServiceBase
from projections.table_describer import TableDescriber
from projections.view_store import ViewStore, damage_marker, is_in_use
from projections.viewer_history import ViewerHistory
from workers.context import WorkerContext
from workers.job_calls import JobQueues
from workers.notifications.chat_renderer import ChatRenderer
from workers.notifications.delivery_pool import DeliveryPool
from workers.notifications.digests import DigestProducer
from workers.notifications.email_renderer import EmailRenderer
from workers.notifications.notice_relevance import NoticeRelevance
from workers.notifications.order_hold import OrderHold
from workers.notifications.producer import NotificationProducer
from workers.notifications.push_renderer import PushRenderer
from workers.notifications.smtp_client import Mailer, SmtpClient
from workers.notifications.smtp_settings import parse_smtp_url
from workers.notifications.webhook_client import WebhookClient
from workers.signal_channel import OnChange, SignalChannel

if TYPE_CHECKING:
    from api.services import ApiServices

PAGE_CHECK_SECONDS = 10.0
"""Seconds that a start may check the pages of the view store. Later pages are checked by a later start."""

RELEASE_SECONDS = 5.0
"""Seconds to wait for other processes to close damaged views, such as processes of a killed service."""

log = logging.getLogger("annals.views")


@dataclass(frozen=True, kw_only=True)
class ServiceContainer(ServiceBase):
    """All services of a process. Each connects at its first use."""

    settings: Settings
    seat_tokens: SeatTokens
    account_store: AccountStore
    notifications: NotificationStore
    reader: Reader
    signals: SignalChannel
    notify_writer: Callable[[int], None]
    """Called by the API after each write: it does not wait."""
    listen: Callable[[OnChange], None]
    """Register a callback for changed games."""
    queues: JobQueues
    clock: ServiceClock
    """Time of the service, ms since 1970 UTC."""

    def check_key(self) -> None:
        """Raise WrongKey if the key does not fit. Ignore a store that is unavailable or has no tables yet."""
        with suppress(StoreUnavailable):
            self.seed_store.check()

    def build_worker_context(self) -> WorkerContext:
        """Return the context of jobs."""
        settings = self.settings
        return WorkerContext(
            **self.list_shared(),
            node=settings.load_node_name(),
            delivery_pool=self._build_delivery_pool(),
            log_origin=settings.origin_of_log,
            signing_secret=bytes.fromhex(settings.signing_key),
            sign_unconfirmed=settings.signing == "always",
            witnesses=settings.witnesses,
        )

    def _build_delivery_pool(self) -> DeliveryPool | None:
        mode, mailer = self.settings.webhooks, self._build_mailer()
        if mode == "none" and not mailer:
            return None
        sender = WebhookClient(is_public_or_loopback_ip if mode == "loopback" else is_public_ip)
        chats = ChatRenderer(self.notifications.chats, self._build_describer(), self.settings.public_url)
        log = self.account_store.audit_log
        return DeliveryPool(
            self.notifications,
            log,
            self.clock,
            mode,
            sender,
            mailer,
            chat_renderer=chats,
            push_renderer=self._build_push_renderer(),
            order_hold=OrderHold(self.orders, self.reader),
        )

    def _build_push_renderer(self) -> PushRenderer:
        stores, s = self.notifications, self.settings
        relevance = NoticeRelevance(self.reader, stores.outbox.unread_messages)
        contact = f"mailto:{s.mail_from}" if s.mail_from else s.public_url
        return PushRenderer(
            stores.push_devices, stores.email_subscriptions, self._build_describer(), relevance, contact
        )

    def _build_mailer(self) -> Mailer | None:
        s = self.settings
        if not s.smtp:
            return None
        letters = EmailRenderer(self._build_describer(), s.public_url, s.mail_from)
        stores, post = self.notifications, SmtpClient(parse_smtp_url(s.smtp))
        unread_messages = stores.outbox.unread_messages
        return Mailer(stores.email_subscriptions, letters, post, self.reader, stores.unread_mail, unread_messages)

    def _build_describer(self) -> TableDescriber:
        return TableDescriber(self.registry, self.seat_tokens.texts, self.reader)

    def build_notification_producer(self) -> NotificationProducer:
        """Return the producer of outbox rows for webhooks and mail."""
        outbox = self.notifications.outbox
        digests = (
            DigestProducer(outbox, self.notifications.email_subscriptions, self.reader) if self.settings.smtp else None
        )
        return NotificationProducer(self.build_worker_context(), outbox, digests)

    def build_api_services(self) -> ApiServices:
        """Return the services of the API."""
        from api.services import ApiServices, ApiSettings  # noqa: PLC0415 - workers do not import Flask
        from api.shipped_files import DOCS  # noqa: PLC0415 - likewise

        s = self.settings
        settings = ApiSettings(
            rate=s.rate,
            max_streams=min(ApiSettings.max_streams, nginx.limit_to_open_files(nginx.Limits()).connections // 2),
            streams_address=s.streams,
            tables=s.tables,
            accounts=s.accounts,
            shared_networks=s.shared_networks,
            registration=s.registration,
            witnesses=s.witnesses,
            witnessed_logs=s.witnessed_logs,
            witness_name=s.name_of_witness,
            public_url=s.public_url,
            second_factor=s.second_factor,
            origins=s.origins,
            metrics_token=s.metrics_token,
            webhooks=s.webhooks,
            hsts=s.hsts,
            mail=bool(s.smtp),
            worker=s.worker,
            docs=DOCS,
        )
        shared = self.list_shared() | {"notify_appended": self.notify_writer}
        return ApiServices(
            **shared,
            reader=self.reader,
            seat_tokens=self.seat_tokens,
            account_store=self.account_store,
            notifications=self.notifications,
            notify_changed=self.signals.notify_changed,
            listen=self.listen,
            job_state=lambda job: self.queues.job_state(job, self.clock()),
            streams=self._count_streams,
            redis_up=self.signals.is_up,
            settings=settings,
        )

    def _count_streams(self) -> int | None:
        """Return the number of open streams of this server; None if it does not answer."""
        health = unix_http.fetch_health(nginx.stream_socket(self.settings))
        return None if health is None else int(health.get("streams", 0))

    def close(self) -> None:
        """Close all connections of this process."""
        for each in (self.clock, self.queues, self.signals, self.views, self.ledger):
            each.close()


def create_services(settings: Settings, registry: RulesetRegistry | None = None) -> ServiceContainer:
    """Return the services of a process; without a registry, with the shipped rulesets.

    Raises SettingsError if no Redis is configured.
    """
    from workers.change_listener import ChangeListener  # noqa: PLC0415 - a service in one process has no Redis
    from workers.queues import Queues  # noqa: PLC0415
    from workers.signals import Signals, SignalThread  # noqa: PLC0415

    if not settings.redis_url:
        raise SettingsError("ANNALS_REDIS_URL is not set; only `serve` starts a server of its own")
    signals = Signals(settings.redis_url)
    listener = ChangeListener(lambda: Signals(settings.redis_url))
    channel = _Channel(signals, SignalThread(signals).notify_appended, listener.listen, Queues(settings.redis_url))
    return _create_services(settings, registry, channel)


def create_lone_services(settings: Settings, queues: JobQueues, registry: RulesetRegistry) -> ServiceContainer:
    """Return the services of a service in one process, with queues of its own."""
    from workers.local_queues import LocalSignals  # noqa: PLC0415 - other processes have Redis

    signals = LocalSignals()
    return _create_services(settings, registry, _Channel(signals, signals.notify_appended, signals.listen, queues))


@dataclass(frozen=True)
class _Channel:
    """Signals and queues between the parts of a service."""

    signals: SignalChannel
    notify_writer: Callable[[int], None]
    listen: Callable[[OnChange], None]
    queues: JobQueues


def _create_services(settings: Settings, registry: RulesetRegistry | None, channel: _Channel) -> ServiceContainer:
    rules = load_shipped() if registry is None else registry
    ledger = Ledger.open(settings.ledger_url, settings.load_key())
    views = ViewStore(settings.views_url, ledger.keys, settings.parts)
    seed_store, clock = SeedStore(ledger, ledger.keys), ServiceClock(ledger, alone=settings.sqlite)
    history = ViewerHistory(ledger, rules, views)
    commands = CommandHandler(ledger, rules, seed_store, clock, history=history)
    commands.anchors.follow()
    return ServiceContainer(
        ledger=ledger,
        registry=rules,
        seed_store=seed_store,
        commands=commands,
        views=views,
        history=history,
        clock=clock,
        notify_appended=channel.signals.notify_appended,
        settings=settings,
        seat_tokens=SeatTokens(ledger, ledger.keys, lambda: clock() // 1000),
        account_store=AccountStore(ledger, ledger.keys, clock),
        notifications=NotificationStore(ledger, ledger.keys, clock, _list_topics(settings)),
        reader=Reader(views, ArchivedViewLoader(history)),
        signals=channel.signals,
        notify_writer=channel.notify_writer,
        listen=channel.listen,
        queues=channel.queues,
    )


def _list_topics(settings: Settings) -> tuple[str, ...]:
    """Return the topics that the settings allow notifications for."""
    return (*((*EVENTS, CHAT, PUSH) if settings.webhooks != "none" else ()), *((MAIL,) if settings.smtp else ()))


def migrate(settings: Settings) -> None:
    """Create missing folders, keys and tables, and check the key.

    Rebuild views that are damaged or belong to another log. Raises SettingsError, WrongKey, StoreUnavailable.
    """
    settings.make_data_folder()
    ledger = Ledger.open(settings.owner_url, settings.load_key())
    views = ViewStore(settings.migrate_url or settings.views_url, ledger.keys, settings.parts)
    try:
        with _name_store_in_errors(settings, settings.ledger_file):
            migrate_ledger(ledger)
            if settings.witnessed_logs:
                WitnessStore(ledger, ledger.keys, settings.name_of_witness).ensure_key(int(time.time() * 1000))
        with _name_store_in_errors(settings, settings.views_file):
            last = _migrate_views(views, settings)
        with _name_store_in_errors(settings, settings.ledger_file):
            fits = log_identity.contains_all(ledger, last)
        with _name_store_in_errors(settings, settings.views_file):
            if not fits:
                log.warning("the views are not those of this log, and are made anew")
                views.clear()
                views.migrate()
        if settings.migrate_url:
            ledger.admin.grant_service_role(settings.ledger_url)
    finally:
        views.close()
        ledger.close()


def migrate_ledger(ledger: Ledger) -> None:
    """Create missing tables of the ledger's database, and check the key."""
    ledger.migrate()
    SeatTokens(ledger, ledger.keys).migrate()
    JobRequests(ledger).migrate()
    AccountStore(ledger, ledger.keys).migrate()
    NotificationStore(ledger, ledger.keys).migrate()
    Heartbeat(ledger).migrate()
    CheckpointStore(ledger, ledger.keys).migrate()
    WitnessStore(ledger, ledger.keys).migrate()
    WitnessReports(ledger).migrate()
    OrderStore(ledger, lambda: ledger.keys, lambda: 0).migrate()
    TalkStore(ledger, lambda: ledger.keys, MailboxAnchors(ledger, lambda: ledger.keys), lambda: 0).migrate()
    ledger.keys.check()


@contextmanager
def open_account_store(settings: Settings) -> Iterator[AccountStore]:
    """Open the account store alone. Raises StoreUnavailable."""
    ledger = Ledger.open(settings.ledger_url, settings.load_key())
    try:
        account_store = AccountStore(ledger, ledger.keys)
        account_store.migrate()
        yield account_store
    finally:
        ledger.close()


@contextmanager
def _name_store_in_errors(settings: Settings, file: Path) -> Iterator[None]:
    """Add the name of the store's file to errors of the block."""
    try:
        yield
    except StoreUnavailable as error:
        if "permission denied for database" in str(error):
            raise SettingsError(f"{error}: the role that migrates needs `GRANT CREATE ON DATABASE`") from error
        if "permission denied" in str(error) or "must be owner" in str(error):
            raise SettingsError(f"{error}: ANNALS_MIGRATE_URL must name the role that owns the tables") from error
        raise StoreUnavailable(f"{file}: {error}" if settings.sqlite else str(error)) from error


def _migrate_views(views: ViewStore, settings: Settings) -> set[log_identity.LastRecord]:
    """Create the tables of the views and return their last records. Recreate a damaged file."""
    if settings.sqlite:
        _make_views_file(settings.views_file)
    try:
        views.check_pages(PAGE_CHECK_SECONDS)
        views.migrate()
        return log_identity.list_last_records(views)
    except ViewsDamaged as error:
        views.close()
        _wait_until_unused(settings.views_file)
        log.warning("%s is damaged, and is made anew: %s", settings.views_file, error)
        for end in ("", "-wal", "-shm"):
            settings.views_file.with_name(settings.views_file.name + end).unlink(missing_ok=True)
        _make_views_file(settings.views_file)
        # Last: after a kill before this line, the next start does all again.
        damage_marker(settings.views_file).unlink(missing_ok=True)
        views.migrate()
        return log_identity.list_last_records(views)


def _wait_until_unused(views: Path) -> None:
    """Wait until no process has the view file open: it would continue with a deleted file. Raises SettingsError."""
    end = time.monotonic() + RELEASE_SECONDS
    while is_in_use(views):
        if time.monotonic() > end:
            raise SettingsError(f"{views} is damaged, and in use: it is made anew once the service has been stopped")
        time.sleep(0.1)


def _make_views_file(path: Path) -> None:
    """Create the file, readable by its owner only: boards hold secrets of players."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
