"""Claimed deliveries and their results."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from domain.notifications.webhooks import Webhook
from domain.types import Doc

REFUSED, NO_MAILBOX = "mail_refused", "recipient_refused"
"""Errors of a mail that a server refuses for good; the latter for an unknown recipient."""

UNMADE, DAMAGED = "not_made", "damaged"
"""Errors of a mail that failed to render, and of one with altered contents."""


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery claimed by one worker."""

    webhook: Webhook
    id: str
    type: str
    body: bytes = field(repr=False)
    made: int
    until: int
    tries: int


@dataclass(frozen=True)
class DeliveryAttempt:
    """An attempt, as the log of its delivery has it."""

    status: int
    """Status of the response; 0 without one."""
    ms: int
    said: str = ""
    """Code of the error, if any."""


@dataclass(frozen=True)
class DeliveryResult(DeliveryAttempt):
    """The result of an attempt."""

    wait: int = 0
    """ms until the receiver wants another attempt; 0 if it names no time."""

    def to_log(self) -> Doc:
        """Return the attempt as the log of its delivery has it."""
        return {each.name: getattr(self, each.name) for each in fields(DeliveryAttempt)}

    @property
    def is_success(self) -> bool:
        """True if the receiver accepted the delivery."""
        return 200 <= self.status < 300 and not self.said

    @property
    def is_gone(self) -> bool:
        """True if the receiver wants no more deliveries."""
        return self.status == 410

    @property
    def is_final(self) -> bool:
        """True if another attempt is useless."""
        return self.is_gone or self.said in (REFUSED, NO_MAILBOX, UNMADE)
