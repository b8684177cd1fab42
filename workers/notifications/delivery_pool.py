"""Couriers: threads of a worker that deliver what waits, each one delivery after the other until there is none.

A job only wakes them. Which delivery is whose stands in the rows: whoever takes one has it for a minute.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from domain.accounts.audit_log import Journal
from domain.errors import AccountError, StoreUnavailable, WrongKey
from domain.notifications.deliveries import UNMADE, Outcome, Parcel
from domain.notifications.notification_store import Notices
from domain.notifications.webhook_urls import target
from domain.notifications.webhooks import MAIL
from workers.notifications.signatures import headers
from workers.notifications.smtp_client import Mailer
from workers.notifications.webhook_client import Sender

COURIERS = 8
"""Threads of a process."""

PATIENT = 4
"""How many of them go to slow receivers too: the others are kept free of them."""

GRACE = 3.0
"""Seconds that deliveries under way have when the process ends."""

log = logging.getLogger("annals.notices")


@dataclass
class Couriers:
    """`mode` is one of `targets.MODES`, `clock` in ms. Safe with threads."""

    notices: Notices
    journal: Journal
    clock: Callable[[], int]
    mode: str = "https"
    sender: Sender = field(default_factory=Sender)
    mailer: Mailer | None = None
    count: int = COURIERS

    def __post_init__(self) -> None:
        self._lock, self._stopping = threading.Lock(), False
        self._busy: dict[int, threading.Thread] = {}

    def wake(self) -> int:
        """Send out those who are at home; how many. Returns at once."""
        with self._lock:
            home = [n for n in range(self.count) if n not in self._busy or not self._busy[n].is_alive()]
            for n in home:
                self._busy[n] = threading.Thread(target=self._go, args=(n,), name=f"courier-{n}", daemon=True)
                self._busy[n].start()
            return len(home)

    def stop(self, seconds: float = GRACE) -> None:
        """Begin nothing new, and wait for what is under way; what is cut off then is delivered again."""
        self._stopping = True
        until = time.monotonic() + seconds
        for thread in list(self._busy.values()):
            thread.join(max(until - time.monotonic(), 0))

    def _go(self, n: int) -> None:
        try:
            while not self._stopping and self.deliver(quick=n >= PATIENT):
                pass
        except StoreUnavailable as error:  # the rows wait
            log.warning("the store does not answer: %s", error)
        except Exception:
            log.exception("a courier has failed")

    def deliver(self, *, quick: bool = False) -> bool:
        """Deliver the next one; whether there was one."""
        if not self.notices.outbox.waiting():
            return False
        parcel = self.notices.outbox.take(quick=quick)
        if parcel is None:
            return False
        hook = parcel.hook
        outcome = None if 0 < parcel.until <= self.clock() else self._sent(parcel)
        if outcome is None:
            self.notices.outbox.expire(parcel)
            return True
        mail = hook.about == MAIL
        told = self.journal.entry(hook.account, "mail_off" if mail else "webhook_off", "", "" if mail else hook.id)
        self.notices.outbox.settle(parcel, outcome, random.random(), told)  # noqa: S311 - no secret hangs on it
        log.info("%s to %s: %s %s in %s ms", parcel.id, hook.id, outcome.status, outcome.said, outcome.ms)
        return True

    def _sent(self, parcel: Parcel) -> Outcome | None:
        """None for what is of no use any more. What is a fault of ours would be so with each try: it ends there."""
        try:
            return self._tried(parcel)
        except (StoreUnavailable, WrongKey):
            raise
        except Exception as error:  # noqa: BLE001 - it may say what was to be sent
            *_, (frame, line) = traceback.walk_tb(error.__traceback__)
            where = f"{frame.f_globals['__name__']}, line {line}"
            log.error("%s cannot be made: %s in %s", parcel.id, type(error).__name__, where)  # noqa: TRY400
            return Outcome(0, 0, UNMADE)

    def _tried(self, parcel: Parcel) -> Outcome | None:
        now = self.clock()
        if parcel.hook.about == MAIL:
            return self.mailer.send(parcel, now) if self.mailer else Outcome(0, 0, "no_server")
        try:
            to = target(parcel.hook.url, self.mode)
        except AccountError:  # what was allowed when it was made, and is not now
            return Outcome(0, 0, "address_refused")
        secrets = [secret for secret, until in parcel.hook.secrets if not until or until > now]
        return self.sender.post(to, parcel.body, headers(parcel.id, now, parcel.body, secrets))
