"""Threads of a worker that deliver notifications until none is due.

A job only wakes them. A thread claims each delivery in its row for one minute.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from domain.accounts.audit_log import AuditLog
from domain.errors import AccountError, StoreUnavailable, WrongKey
from domain.notifications.deliveries import UNMADE, ClaimedDelivery, DeliveryResult
from domain.notifications.notification_store import NotificationStore
from domain.notifications.webhook_urls import parse_webhook_url
from domain.notifications.webhooks import CHAT, MAIL
from workers.notifications import chat_renderer
from workers.notifications.chat_renderer import ChatRenderer
from workers.notifications.signatures import signed_headers
from workers.notifications.smtp_client import Mailer
from workers.notifications.webhook_client import WebhookClient

THREADS = 8
"""Threads per process."""

SLOW_THREADS = 4
"""Threads that serve slow receivers too; the others serve fast ones only."""

GRACE_SECONDS = 3.0
"""Time limit for deliveries under way at shutdown, seconds."""

log = logging.getLogger("annals.notices")


@dataclass
class DeliveryPool:
    """Delivery threads. `mode` is one of `webhook_urls.MODES`; `clock` gives ms. Thread-safe."""

    notifications: NotificationStore
    audit_log: AuditLog
    clock: Callable[[], int]
    mode: str = "https"
    webhook_client: WebhookClient = field(default_factory=WebhookClient)
    mailer: Mailer | None = None
    chat_renderer: ChatRenderer | None = None
    count: int = THREADS

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._stopping = False
        self._threads: dict[int, threading.Thread] = {}

    def wake(self) -> int:
        """Start all idle threads and return their number at once."""
        with self._lock:
            idle = [n for n in range(self.count) if n not in self._threads or not self._threads[n].is_alive()]
            for n in idle:
                self._threads[n] = threading.Thread(target=self._run, args=(n,), name=f"courier-{n}", daemon=True)
                self._threads[n].start()
            return len(idle)

    def stop(self, seconds: float = GRACE_SECONDS) -> None:
        """Start no more deliveries and wait for those under way; the rest is delivered again later."""
        self._stopping = True
        until = time.monotonic() + seconds
        for thread in list(self._threads.values()):
            thread.join(max(until - time.monotonic(), 0))

    def _run(self, n: int) -> None:
        try:
            while not self._stopping and self.deliver_next(quick=n >= SLOW_THREADS):
                pass
        except StoreUnavailable as error:  # the rows stay
            log.warning("the store does not answer: %s", error)
        except Exception:
            log.exception("a courier has failed")

    def deliver_next(self, *, quick: bool = False) -> bool:
        """Deliver the next notification; return False if none is due."""
        if not self.notifications.outbox.has_due():
            return False
        delivery = self.notifications.outbox.claim(quick=quick)
        if delivery is None:
            return False
        hook = delivery.webhook
        result = None if 0 < delivery.until <= self.clock() else self._attempt(delivery)
        if result is None:
            self.notifications.outbox.mark_expired(delivery)
            return True
        mail = hook.about == MAIL
        entry = self.audit_log.make_entry(
            hook.account, "mail_off" if mail else "webhook_off", "", "" if mail else hook.id
        )
        self.notifications.outbox.record_result(delivery, result, random.random(), entry)  # noqa: S311 - not used for secrets
        log.info("%s to %s: %s %s in %s ms", delivery.id, hook.id, result.status, result.said, result.ms)
        return True

    def _attempt(self, delivery: ClaimedDelivery) -> DeliveryResult | None:
        """Attempt a delivery; return None if it is obsolete.

        An internal error would repeat with each attempt, so it ends the delivery.
        """
        try:
            return self._send(delivery)
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - the message may contain private data
            *_, (frame, line) = traceback.walk_tb(error.__traceback__)
            place = f"{frame.f_globals['__name__']}, line {line}"
            log.error("%s cannot be made: %s in %s", delivery.id, type(error).__name__, place)  # noqa: TRY400
            return DeliveryResult(0, 0, UNMADE)

    def _send(self, delivery: ClaimedDelivery) -> DeliveryResult | None:
        now = self.clock()
        if delivery.webhook.about == MAIL:
            return self.mailer.send(delivery, now) if self.mailer else DeliveryResult(0, 0, "no_server")
        body, headers = delivery.body, chat_renderer.HEADERS
        if delivery.webhook.about == CHAT:
            rendered = self.chat_renderer.render(delivery) if self.chat_renderer else None
            if rendered is None:
                return None
            body = rendered
        else:
            secrets = [secret for secret, until in delivery.webhook.secrets if not until or until > now]
            headers = signed_headers(delivery.id, now, body, secrets)
        try:
            url = parse_webhook_url(delivery.webhook.url, self.mode)
        except AccountError:  # allowed at creation, forbidden now
            return DeliveryResult(0, 0, "address_refused")
        return self.webhook_client.post(url, body, headers)
