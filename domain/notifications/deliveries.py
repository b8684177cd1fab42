"""What is delivered now, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.notifications.webhooks import Hook

REFUSED, NO_MAILBOX = "mail_refused", "recipient_refused"
"""What is said of a mail that a server refuses for good; the latter: since it knows no such recipient."""

UNMADE, DAMAGED = "not_made", "damaged"
"""What is said of one that could not be made, by a fault of ours, and of one that does not open any more."""


@dataclass(frozen=True)
class Parcel:
    """One that is to be delivered now, by whoever has this."""

    hook: Hook
    id: str
    type: str
    body: bytes = field(repr=False)
    made: int
    until: int
    tries: int


@dataclass(frozen=True)
class Outcome:
    """What came of a try."""

    status: int
    """Of the answer; 0 without one."""
    ms: int
    said: str = ""
    """Why there was none, or why it counts for nothing, as a word."""

    @property
    def well(self) -> bool:
        """Whether it came through."""
        return 200 <= self.status < 300 and not self.said

    @property
    def gone(self) -> bool:
        """Whether the receiver wants no more, ever."""
        return self.status == 410

    @property
    def final(self) -> bool:
        """Whether to try again is no use."""
        return self.gone or self.said in (REFUSED, NO_MAILBOX, UNMADE)
