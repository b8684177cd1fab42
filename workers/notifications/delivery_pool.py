"""Threads of a worker that deliver notifications until none is due.

A job only wakes them. A thread claims each delivery in its row for one minute.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from domain.accounts.audit_log import AuditLog
from domain.errors import AccountError, StoreUnavailable, WrongKey
from domain.notifications.deliveries import UNMADE, ClaimedDelivery, DeliveryResult
from domain.notifications.notification_store import NotificationStore
from domain.notifications.webhook_urls import WebhookUrl, parse_webhook_url
from domain.notifications.webhooks import CHAT, MAIL, PUSH
from workers.notifications import chat_renderer
from workers.notifications.chat_renderer import ChatRenderer
from workers.notifications.order_hold import OrderHold
from workers.notifications.push_renderer import PushRenderer
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
    push_renderer: PushRenderer | None = None
    order_hold: OrderHold | None = None
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
        hook, now = delivery.webhook, self.clock()
        wait = self.order_hold.find_end(delivery, now) if self.order_hold else 0
        if wait:
            self.notifications.outbox.postpone(delivery, wait)
            return True
        result = None if 0 < delivery.until <= now or wait is None else self._attempt(delivery)
        if result is None:
            self.notifications.outbox.mark_expired(delivery)
            return True
        ended = {MAIL: ("mail_off", ""), PUSH: ("push_off", hook.id)}
        what, detail = ended.get(hook.about, ("webhook_off", hook.id))
        entry = self.audit_log.make_entry(hook.account, what, "", detail)
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
        try:
            url = parse_webhook_url(delivery.webhook.url, self.mode)
        except AccountError:  # allowed at creation, forbidden now
            return DeliveryResult(0, 0, "address_refused")
        made = self._make_request(delivery, url, now)
        if made is None:
            return None
        result = self.webhook_client.post(url, *made)
        is_unknown = delivery.webhook.about == PUSH and result.status == HTTPStatus.NOT_FOUND
        return replace(result, status=HTTPStatus.GONE) if is_unknown else result  # RFC 8030 has both for an end

    def _make_request(
        self, delivery: ClaimedDelivery, url: WebhookUrl, now: int
    ) -> tuple[bytes, Mapping[str, str]] | None:
        """Return body and headers of a request, or None if it is obsolete."""
        if delivery.webhook.about == PUSH:
            return self.push_renderer.render(delivery, url, now) if self.push_renderer else None
        if delivery.webhook.about == CHAT:
            body = self.chat_renderer.render(delivery) if self.chat_renderer else None
            return (body, chat_renderer.HEADERS) if body is not None else None
        secrets = [secret for secret, until in delivery.webhook.secrets if not until or until > now]
        return delivery.body, signed_headers(delivery.id, now, delivery.body, secrets)
