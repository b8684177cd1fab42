"""Waiting letters and treaties, for notices to their receivers.

A person is told once for each table until something there is read. Nothing is told of read, muted or erased messages,
nor of messages by blocked people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from domain.accounts.account_tables import DAY, AccountTable
from domain.notifications.subscriptions import Subscription, parse_subscription
from domain.service.database import Database, placeholders
from domain.service.hidden_players import is_shown
from domain.service.keyring import Keyring
from domain.types import Seat

MESSAGE = "message.received"
"""Type of the notice."""

DELAY = 120_000
"""Time (ms) until an unread message is told: people at the page have read it by then."""

INTERVAL = 10_000
"""Time (ms) between two looks for such messages."""

OLDEST = DAY
"""Age (ms) of messages too old for a notice."""

_POSITION = "SELECT position FROM notice_position WHERE name = 'talk'"
_REACHED = """
INSERT INTO notice_position VALUES ('talk', ?) ON CONFLICT (name) DO UPDATE
SET position = CASE WHEN excluded.position > notice_position.position THEN excluded.position
  ELSE notice_position.position END"""
_OWN = "SELECT player FROM account_players WHERE account = p.account"
# The talk of a table is no letter; a treaty in it is told while the seat may answer it, even if that talk is muted.
_FROM = """
FROM talk_messages m JOIN talk_entries e ON e.game = m.game AND e.number = m.number AND e.mailbox >= 0
JOIN account_players p ON p.player = e.player
JOIN tokens t ON t.game = e.game AND t.player = e.player AND t.role = CAST(e.mailbox AS TEXT) AND t.revoked <> 1"""
_SUBSCRIBERS = "JOIN webhooks h ON h.account = p.account AND h.state = 'on' AND m.at >= h.made AND h.about IN ("
_WHERE = f"""
WHERE m.at > ? AND m.at <= ? AND m.erased = '' AND e.author NOT IN ({_OWN})
AND (e.conversation <> 'table' OR EXISTS (
  SELECT 1 FROM talk_treaties w WHERE w.game = e.game AND w.number = e.number AND w.ends > ? AND NOT EXISTS (
    SELECT 1 FROM talk_answers a WHERE a.game = w.game AND a.number = w.number AND a.seat = e.mailbox)))
AND NOT EXISTS (
  SELECT 1 FROM talk_marks s WHERE s.game = e.game AND s.mailbox = e.mailbox AND s.conversation = e.conversation
  AND s.player IN ({_OWN}) AND (s.seen >= e.entry OR s.muted = 1 AND s.conversation <> 'table'))
AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account = p.account AND (b.player = e.author OR EXISTS (
  SELECT 1 FROM account_players x JOIN account_players y ON y.account = x.account
  WHERE x.player = e.author AND y.player = b.player AND {is_shown("x.player")})))"""  # noqa: S608 - our own names
_READ = f"""
SELECT coalesce(sum(s.seen), 0) FROM talk_marks s
WHERE s.game = e.game AND s.mailbox = e.mailbox AND s.player IN ({_OWN})"""  # noqa: S608 - our own names
_GROUPS = "GROUP BY h.id, h.since, h.events, e.game, e.mailbox, p.account ORDER BY h.id, e.game, e.mailbox"


class UnreadMessages(NamedTuple):
    """Waiting messages of a subscriber at a table."""

    subscription: Subscription
    game: str
    seat: Seat
    read: int
    """Grows whenever the person reads something there: the same notice stands until then."""
    at: int
    """Time of the first of them, ms."""


class UnreadMessageFinder(AccountTable):
    """Finds waiting messages. `abouts` are enabled kinds of subscriptions. All methods may raise StoreUnavailable."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int], abouts: Sequence[str]) -> None:
        super().__init__(database, keys, clock)
        self._abouts = tuple(abouts)

    def find_span(self) -> tuple[int, int]:
        """Return begin and end (ms) of the next span to tell of; an empty span the first time."""
        upto = self._now() - DELAY
        rows = self._database.execute(_POSITION)
        return max(int(rows[0][0]), upto - OLDEST) if rows else upto, upto

    def mark_told(self, upto: int) -> None:
        """Store the end of the told span."""
        self._database.execute(_REACHED, (upto,))

    def list_waiting(self, after: int, upto: int) -> list[UnreadMessages]:
        """Return the messages between two times (ms) waiting for each subscriber."""
        if not self._abouts or after >= upto:
            return []
        chosen = f"{_FROM} {_SUBSCRIBERS}{placeholders(self._abouts)}) {_WHERE} {_GROUPS}"
        query = f"SELECT h.id, h.since, h.events, e.game, e.mailbox, ({_READ}), min(m.at) {chosen}"
        rows = self._database.execute(query, (*self._abouts, after, upto, self._now()))
        return [
            UnreadMessages(parse_subscription(*row[:3]), row[3], int(row[4]), int(row[5]), int(row[6])) for row in rows
        ]

    def has_waiting(self, account: str, game: str, seat: Seat) -> bool:
        """Return whether messages of a table wait for a person in that seat."""
        query = f"SELECT 1 {_FROM} {_WHERE} AND p.account = ? AND e.game = ? AND e.mailbox = ? LIMIT 1"
        now = self._now()
        return bool(self._database.execute(query, (0, now, now, account, game, seat)))
