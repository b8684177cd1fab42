"""Points of time and durations on pages."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from api.http import i18n
from api.pages.common.preferences import current_preferences
from domain.accounts.account_settings import load_zone
from domain.kernel.text.grammar import GRAMMARS
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

_UTC = ZoneInfo("UTC")


@dataclass(frozen=True)
class TableEnd:
    """The next effect of a table's time limit, in words that a time follows."""

    words: str
    at: int


@dataclass(frozen=True)
class Times:
    """Words for times in a zone. `now` is the service's time, ms since 1970 UTC, or 0 if it does not matter."""

    lang: str
    now: int
    zone: ZoneInfo = _UTC

    @classmethod
    def of_visitor(cls, now: int = 0) -> Times:
        """Return the words in the visitor's language and zone."""
        return cls(i18n.request_language(), now, load_zone(current_preferences().zone))

    def iso(self, ms: int) -> str:
        """Return a point of time for the attribute `datetime`."""
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def point(self, ms: int) -> str:
        """Return a point of time in the language of the visitor, with the name of its zone."""
        at = datetime.fromtimestamp(ms / 1000, self.zone)
        return f"{GRAMMARS[self.lang].date_time(at)} {at.tzname()}"

    def local(self, ms: int) -> str:
        """Return a point of time for a field of a form, in the visitor's zone."""
        return datetime.fromtimestamp(ms / 1000, self.zone).strftime("%Y-%m-%dT%H:%M")

    def read_local(self, text: str) -> int | None:
        """Return the point of time in a field of a form, ms since 1970 UTC, or None for another text."""
        with suppress(ValueError, OverflowError):
            return int(datetime.strptime(text, "%Y-%m-%dT%H:%M").replace(tzinfo=self.zone).timestamp() * 1000)
        return None

    def time_left(self, ms: int) -> str:
        """Return the time left until a point of time."""
        seconds = (ms - self.now) // 1000
        return self.duration(seconds) if seconds > 0 else i18n.translate(Message("no time left"), self.lang)

    def find_table_end(self, summary: Doc) -> TableEnd | None:
        """Return the end of a table by its time limit, or its last turn; None without one, or while no clock runs."""
        end, more = summary.get("limit_end"), 1000 * summary.get("last_turn", 0)
        if end is None or (self.now >= end and not more):
            return None
        if self.now >= end:
            return TableEnd(i18n.translate(Message("last turn, until"), self.lang), end + more)
        said = Message("last turn from") if more else Message("the table ends on")
        return TableEnd(i18n.translate(said, self.lang), end)

    def whole(self, ms: int) -> int:
        """Return a duration in seconds, from two minutes on in whole minutes."""
        seconds = max(ms // 1000, 1)
        return seconds if seconds < 120 else seconds - seconds % 60

    def duration(self, seconds: int) -> str:
        """Return a number of seconds in its two greatest units."""
        return GRAMMARS[self.lang].duration(self.whole(seconds * 1000))


def seat_due(decision: Doc | None, seat: int | None) -> int | None:
    """Return the time at which a seat's default is played, or the decision's deadline, or None without a clock."""
    if decision is None:
        return None
    due = (decision.get("due") or {}).get(str(seat))
    return due if due is not None else decision.get("deadline")
