"""News of standing orders for their owners: each move of an order, and each end with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from domain.accounts.account_tables import DAY, AccountTable
from domain.notifications.subscriptions import Subscription, parse_subscription
from domain.service.database import Database, placeholders
from domain.service.keyring import Keyring
from domain.types import Seat

ACTED, ENDED = "order.acted", "order.ended"
"""Types of the notices."""

ORDER_TYPES = (ACTED, ENDED)

LAG = 10_000
"""Time (ms) until a change is told: by then its transaction is over."""

OLDEST = DAY
"""Age (ms) of changes too old for a notice."""

_POSITION = "SELECT position FROM notice_position WHERE name = 'orders'"
_REACHED = """
INSERT INTO notice_position VALUES ('orders', ?) ON CONFLICT (name) DO UPDATE
SET position = CASE WHEN excluded.position > notice_position.position THEN excluded.position
  ELSE notice_position.position END"""
_CHANGED = """
SELECT h.id, h.since, h.events, o.game, o.seat, o.id, o.acted, o.acted_at, o.reason, o.ended
FROM standing_orders o JOIN account_players p ON p.player = o.player
JOIN webhooks h ON h.account = p.account AND h.state = 'on' AND o.at >= h.made AND h.about IN ("""
_SPAN = """
WHERE o.acted_at > ? AND o.acted_at <= ? OR o.ended > ? AND o.ended <= ? ORDER BY h.id, o.id"""


class OrderChange(NamedTuple):
    """A move or the end of an order, for a subscriber."""

    subscription: Subscription
    type: str
    game: str
    seat: Seat
    order: str
    number: int
    """Moves that it has made."""
    reason: str
    """Why it has ended; empty while it stands."""
    at: int
    """ms."""


class OrderNewsFinder(AccountTable):
    """Finds news of orders. `abouts` are enabled kinds of subscriptions. All methods may raise StoreUnavailable."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int], abouts: Sequence[str]) -> None:
        super().__init__(database, keys, clock)
        self._abouts = tuple(abouts)

    def find_span(self) -> tuple[int, int]:
        """Return begin and end (ms) of the next span to tell of; an empty span the first time."""
        upto = self._now() - LAG
        rows = self._database.execute(_POSITION)
        return max(int(rows[0][0]), upto - OLDEST) if rows else upto, upto

    def mark_told(self, upto: int) -> None:
        """Store the end of the told span."""
        self._database.execute(_REACHED, (upto,))

    def list_changes(self, after: int, upto: int) -> list[OrderChange]:
        """Return the changes between two times (ms). An end by its owner is none."""
        if not self._abouts or after >= upto:
            return []
        query = f"{_CHANGED}{placeholders(self._abouts)}) {_SPAN}"
        found = []
        for row in self._database.execute(query, (*self._abouts, after, upto, after, upto)):
            hook, since, events, game, seat, order, acted, acted_at, reason, ended = row
            subscription, number = parse_subscription(hook, since, events), int(acted)
            if after < int(acted_at) <= upto:
                found.append(OrderChange(subscription, ACTED, game, int(seat), order, number, "", int(acted_at)))
            if after < int(ended) <= upto and reason != "revoked":
                found.append(OrderChange(subscription, ENDED, game, int(seat), order, number, reason, int(ended)))
        return found
