"""The outbox: deliveries kept until they succeed or are given up, and then for a month."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from domain.accounts.account_tables import DAY, AccountTable, write
from domain.kernel.game.proposals import SILENCE_MS
from domain.notifications.deliveries import DAMAGED, NO_MAILBOX, ClaimedDelivery, DeliveryResult
from domain.notifications.order_news import OrderNewsFinder
from domain.notifications.personal_news import PersonalNewsTable
from domain.notifications.subscriptions import (
    FeedSubscription,
    MemberSubscription,
    PersonSubscription,
    Subscription,
    parse_subscription,
)
from domain.notifications.unread_mail import ONCE_TYPES, mark_unread
from domain.notifications.unread_messages import UnreadMessageFinder
from domain.notifications.webhooks import CHAT, EVENTS, MAIL, OPENED, PUSH, TEST, Webhook, Webhooks, bury_deliveries
from domain.service.database import Database, Execute, Row, Statement, placeholders
from domain.service.keyring import Keyring
from domain.types import Doc, Seat

KINDS = (*EVENTS, MAIL, CHAT, PUSH)
"""Kinds of subscriptions; the operator chooses the enabled ones."""

MOST_BOUNCES = 3
"""Final refusals in a row after which a mail subscription is switched off."""

KEPT_STATE, TOLD_STATE = "kept", "told"
"""States of the notices of tournaments for a digest, before and after it. No webhook has such ones."""

STATES = ("waiting", "delivered", "dead", "expired")
"""`dead`: given up, can be replayed; `expired`: due too late to be of use."""

BACKOFF = (5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 86_400_000)
"""ms from the n-th failure of a delivery to its next attempt; after the last it is dead."""

BREAK = (0, 5_000, 30_000, 120_000, 600_000)
"""ms of pause for a webhook after n failures in a row."""

GIVEN_UP = 3 * DAY
"""Time (ms) without a success after which a webhook is switched off."""

KEPT = 30 * DAY
"""Time (ms) for which a delivery is listed."""

CLAIM_TIME = 60_000
"""Time (ms) for a claimed delivery; then another worker may claim it."""

SLOW = 2_000
"""ms after which a receiver counts as slow: it gets fewer slots, after the others."""

EACH_HOST = 2
"""Concurrent deliveries to one host: of different owners, and one of them to a slow receiver."""

MOST_WAITING = 1_000
"""Waiting deliveries of one webhook; further ones are dead at once."""

MOST_LOGGED = 10
"""Last attempts in the log of a delivery."""

_POSITION = "SELECT position FROM notice_position WHERE name = 'log'"
_READ = """
INSERT INTO notice_position VALUES ('log', ?) ON CONFLICT (name) DO UPDATE SET position = excluded.position"""
_OWE = """
INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '[]') ON CONFLICT DO NOTHING"""
_HOOK = "h.id, h.account, h.about, h.game, h.events, h.box, h.state, h.made, h.failing, h.ms"
_CARRIED = f"({', '.join('?' * len(KINDS))})"
_FREE = f"""
WHERE h.state = 'on' AND h.about IN {_CARRIED} AND h.next <= ? AND h.held <= ? AND h.ms <= ?
AND a.state <> 'banned' AND a.state <> 'erased'
AND EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = h.id AND d.state = 'waiting' AND d.due <= ?)
AND h.host NOT IN (SELECT host FROM webhooks WHERE held > ? GROUP BY host HAVING count(*) >= ?)
AND (h.account, h.host) NOT IN (SELECT account, host FROM webhooks WHERE held > ?)
AND (h.ms <= ? OR h.host NOT IN (SELECT host FROM webhooks WHERE held > ? AND ms > ?))"""  # noqa: S608 - our own names
# Digests come last. Otherwise the owner that this host has served least recently comes first, slow receivers last.
_NEXT = f"""
SELECT h.id FROM webhooks h JOIN accounts a ON a.id = h.account
JOIN (SELECT account, host, max(used) AS used FROM webhooks GROUP BY account, host) o
  ON o.account = h.account AND o.host = h.host {_FREE}
ORDER BY CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = h.id AND d.state = 'waiting' AND d.due <= ?
  AND d.type <> 'mail.digest') THEN 0 ELSE 1 END, CASE WHEN h.ms > ? THEN 1 ELSE 0 END, o.used, h.used, h.id LIMIT 1"""  # noqa: S608
_THAT = f"SELECT {_HOOK} FROM webhooks h JOIN accounts a ON a.id = h.account {_FREE} AND h.id = ?"  # noqa: S608
_READY = f"""
SELECT d.id FROM deliveries d JOIN webhooks h ON h.id = d.webhook JOIN accounts a ON a.id = h.account
WHERE h.about IN {_CARRIED} AND d.state = 'waiting' AND d.due <= ? AND h.state = 'on' AND h.next <= ? AND h.held <= ?
AND a.state <> 'banned' AND a.state <> 'erased'"""  # noqa: S608 - our own names
_FIRST = """
SELECT id, type, box, made, until, tries FROM deliveries
WHERE webhook = ? AND state = 'waiting' AND due <= ? ORDER BY due, made, id LIMIT 1"""
_COLUMNS = "id, webhook, type, game, state, made, due, tries, log"
_PAGE = f"SELECT {_COLUMNS} FROM deliveries WHERE webhook = ? AND (made < ? OR (made = ? AND id < ?))"  # noqa: S608
_LISTENS = f"h.state = 'on' AND h.events <> '' AND h.about IN {_CARRIED}"
_HAS_DIGEST = "SELECT 1 FROM mailboxes m WHERE m.webhook = h.id AND m.state = 'on' AND m.digest <> 'none'"
_SINCE = f"""
SELECT min(h.since) FROM webhooks h
WHERE h.state = 'on' AND h.about IN {_CARRIED} AND (h.events <> '' OR EXISTS ({_HAS_DIGEST}))"""  # noqa: S608 - ours
_LOBBY = f"SELECT h.id, h.since, h.events FROM webhooks h WHERE {_LISTENS} AND h.about = 'lobby'"  # noqa: S608 - ours
# Tables about which an account may be notified: it has a seat there or directs.
_COMPANY = f"""
SELECT t.game, t.role, t.player, h.about, h.id, h.since, h.events
FROM tokens t JOIN account_players p ON p.player = t.player JOIN webhooks h ON h.account = p.account
WHERE t.revoked <> 1 AND {_LISTENS} AND h.about NOT IN ('lobby', 'chat', 'event')
AND (h.about <> 'table' OR h.game = t.game)
AND t.game IN ("""  # noqa: S608 - our own names
# Chats of tables, while the person who named them has a role there.
_CHATS = f"""
SELECT h.game, h.id, h.since, h.events FROM webhooks h WHERE {_LISTENS} AND h.about = 'chat' AND EXISTS (
  SELECT 1 FROM tokens t JOIN account_players p ON p.player = t.player
  WHERE p.account = h.account AND t.game = h.game AND t.revoked <> 1)
AND h.game IN ("""  # noqa: S608 - our own names
# What people may be told of tournaments, by any of their ids.
_PERSONS = f"""
SELECT p.player, h.about, h.id, h.since, h.events
FROM account_players p JOIN webhooks h ON h.account = p.account
WHERE {_LISTENS} AND h.about IN ('mine', '{MAIL}', '{PUSH}') AND p.player IN ("""  # noqa: S608 - our own names
# Mailboxes with a digest, for what it says of tournaments.
_DIGESTS = f"""
SELECT p.player, h.id, h.since FROM account_players p JOIN webhooks h ON h.account = p.account
WHERE h.state = 'on' AND h.about IN {_CARRIED} AND EXISTS ({_HAS_DIGEST}) AND p.player IN ("""  # noqa: S608 - our own
_FOLLOWERS = """
SELECT p.player FROM followed_series f JOIN account_players p ON p.account = f.account
WHERE f.tournament = ? AND f.since < ? ORDER BY p.player"""
_FEEDS = f"""
SELECT h.game, p.player, h.about, h.id, h.since, h.events
FROM webhooks h JOIN account_players p ON p.account = h.account
WHERE {_LISTENS} AND h.about IN ('event', '{CHAT}') AND h.game IN ("""  # noqa: S608 - our own names
# Challenges of blocked players are ignored, by any of their ids.
_CHALLENGED = f"""
SELECT h.id, h.since, h.events, c.game, c.seat, c.at, c.until
FROM challenges c JOIN account_players p ON p.player = c.player JOIN webhooks h ON h.account = p.account
WHERE {_LISTENS} AND h.about IN ('mine', '{PUSH}') AND c.answer = '' AND c.until > ? AND c.at >= h.made
AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account = p.account AND (b.player = c.by OR EXISTS (
  SELECT 1 FROM account_players x JOIN account_players y ON y.account = x.account
  WHERE x.player = c.by AND y.player = b.player)))"""  # noqa: S608 - our own names

# Who leaves an event may follow its series.
_FORGET = f"""
DELETE FROM deliveries WHERE game = ? AND webhook = ? AND state IN ('waiting', 'kept')
AND type <> '{OPENED}'"""  # noqa: S608 - our own names
_KEPT = "SELECT id, box FROM deliveries WHERE webhook = ? AND state = ? ORDER BY made, id"
_LATER = "SELECT id FROM deliveries WHERE game = ? AND type = 'deadline.near' AND state = 'waiting' AND tries = 0"

_PROPOSED = f"""
SELECT h.id, h.since, h.events, t.role, t.player, e.id, e.game, e.version, e.args, e.asked, e.at
FROM errands e JOIN tokens t ON t.game = e.game AND t.revoked <> 1 AND t.role <> 'director'
JOIN account_players p ON p.player = t.player JOIN webhooks h ON h.account = p.account
WHERE {_LISTENS} AND h.about IN ('{MAIL}', '{PUSH}', 'mine')
AND e.work = 'proposal' AND e.outcome = '' AND e.at > ? AND e.at >= h.made"""  # noqa: S608 - our own names


class OpenProposal(NamedTuple):
    """A proposal with a vote of a subscriber's seat."""

    subscription: Subscription
    seat: Seat
    id: str
    game: str
    version: int
    act: str
    at: int
    """Time of the proposal, ms."""


@dataclass(frozen=True)
class Notice:
    """An event for one webhook."""

    webhook: str
    type: str
    about: tuple[str, ...]
    """Identity of the event: the same one is delivered once."""
    at: int
    """Time of the event, ms."""
    data: Mapping[str, object]
    game: str = ""
    due: int = 0
    """Time of delivery, ms."""
    until: int = 0
    """End of its usefulness, ms; 0 for never."""
    is_kept: bool = False
    """Whether it waits for a digest, and is no delivery of its own."""

    @property
    def id(self) -> str:
        """An id derived from the event, the same for the same records."""
        kept = [KEPT_STATE] if self.is_kept else []
        marked = json.dumps([self.webhook, self.type, *self.about, *kept]).encode()
        return f"msg_{hashlib.sha256(marked).hexdigest()[:32]}"

    def body(self) -> bytes:
        """Return the JSON to send."""
        at = datetime.fromtimestamp(self.at / 1000, UTC).isoformat(timespec="milliseconds")
        doc = {"type": self.type, "timestamp": at.replace("+00:00", "Z"), "data": self.data}
        return json.dumps(doc, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Delivery:
    """A delivery as its owner sees it."""

    id: str
    webhook: str
    type: str
    game: str
    state: str
    made: int
    due: int
    tries: int
    log: list[Doc]
    """The last attempts: `at`, `ms`, `status` (0 without a response), `said`."""


class Outbox(AccountTable):
    """The table of deliveries; `enabled` are some of KINDS. Every method may raise StoreUnavailable."""

    def __init__(
        self, database: Database, keys: Keyring, clock: Callable[[], int], enabled: Sequence[str] = KINDS
    ) -> None:
        super().__init__(database, keys, clock)
        self._enabled = tuple(about if about in enabled else "" for about in KINDS)
        abouts = [about for about in ("mine", MAIL, PUSH) if about in enabled]
        self.unread_messages = UnreadMessageFinder(database, keys, clock, abouts)
        self.personal_news = PersonalNewsTable(database, clock)
        self.order_news = OrderNewsFinder(database, keys, clock, abouts)

    # --- what is owed

    def log_position(self) -> int:
        """Return the log position up to which notices were produced."""
        rows = self._database.execute(_POSITION)
        return int(rows[0][0]) if rows else 0

    def first_position(self) -> int | None:
        """Return the lowest starting position of all subscriptions; None without any."""
        ((position,),) = self._database.execute(_SINCE, self._enabled)
        return None if position is None else int(position)

    def list_lobby_subscriptions(self) -> list[Subscription]:
        """Return the subscriptions to the lobby."""
        return [parse_subscription(*row) for row in self._database.execute(_LOBBY, self._enabled)]

    def list_member_subscriptions(self, games: Sequence[str]) -> list[MemberSubscription]:
        """Return the subscriptions of people with a role at these tables."""
        if not games:
            return []
        marks = ", ".join("?" * len(games))
        rows = self._database.execute(f"{_COMPANY}{marks})", (*self._enabled, *games))
        return [
            MemberSubscription(game, role, player, parse_subscription(*hook), is_read=about in (MAIL, PUSH))
            for game, role, player, about, *hook in rows
        ]

    def list_chat_subscriptions(self, games: Sequence[str]) -> dict[str, Subscription]:
        """Return the subscriptions of the group chats of these tables, by game."""
        if not games:
            return {}
        rows = self._database.execute(f"{_CHATS}{placeholders(games)})", (*self._enabled, *games))
        return {game: parse_subscription(*hook) for game, *hook in rows}

    def list_person_subscriptions(self, players: Sequence[str]) -> list[PersonSubscription]:
        """Return the subscriptions of the people with these player ids to their own affairs."""
        if not players:
            return []
        rows = self._database.execute(f"{_PERSONS}{placeholders(players)})", (*self._enabled, *players))
        return [
            PersonSubscription(player, parse_subscription(*hook), is_read=about in (MAIL, PUSH))
            for player, about, *hook in rows
        ]

    def list_feed_subscriptions(self, tournaments: Sequence[str]) -> list[FeedSubscription]:
        """Return the subscriptions to these tournaments, once for each player id of the owner."""
        if not tournaments:
            return []
        rows = self._database.execute(f"{_FEEDS}{placeholders(tournaments)})", (*self._enabled, *tournaments))
        return [
            FeedSubscription(tournament, player, parse_subscription(*hook), is_chat=about == CHAT)
            for tournament, player, about, *hook in rows
        ]

    def list_digest_subscriptions(self, players: Sequence[str]) -> list[tuple[str, Subscription]]:
        """Return player and subscription of those with these player ids and a digest by mail."""
        if not players:
            return []
        rows = self._database.execute(f"{_DIGESTS}{placeholders(players)})", (*self._enabled, *players))
        return [(player, parse_subscription(webhook, since, "")) for player, webhook, since in rows]

    def list_followers(self, tournament: str, before: int) -> list[str]:
        """Return all player ids of the people who follow the series of a tournament since a time (ms) or longer."""
        return [str(player) for (player,) in self._database.execute(_FOLLOWERS, (tournament, before))]

    def list_open_challenges(self) -> list[tuple[Subscription, str, int, int, int]]:
        """Return subscriptions with an open challenge: game, seat (-1: any), its time, its end."""
        rows = self._database.execute(_CHALLENGED, (*self._enabled, self._now()))
        return [(parse_subscription(*row[:3]), row[3], int(row[4]), int(row[5]), int(row[6])) for row in rows]

    def list_open_proposals(self) -> list[OpenProposal]:
        """Return the open proposals with a vote of a subscriber's seat, if its player is still the same."""
        found = []
        for row in self._database.execute(_PROPOSED, (*self._enabled, self._now() - SILENCE_MS)):
            role, player, id_, game, version, args, asked, at = row[3:]
            request = json.loads(args)
            if int(role) in json.loads(asked) and request["players"].get(role) == player:
                act = request["act"]["act"]
                subscription = parse_subscription(*row[:3])
                found.append(OpenProposal(subscription, int(role), id_, game, int(version), act, int(at)))
        return found

    def find_existing(self, ids: Sequence[str]) -> set[str]:
        """Return the ids among these that have a delivery."""
        marks = ", ".join("?" * len(ids))
        rows = self._database.execute(f"SELECT id FROM deliveries WHERE id IN ({marks})", ids) if ids else []  # noqa: S608
        return {str(id_) for (id_,) in rows}

    def enqueue(
        self,
        notices: Iterable[Notice],
        positions: tuple[int, int] | None = None,
        games: Iterable[str] = (),
        left: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Store deliveries, unless they exist already.

        `positions` are the old and the new log position: nothing is written if another process has moved it meanwhile.
        Waiting warnings of deadlines at these `games` are deleted unless they are among the notices. `left` are
        tournaments with webhooks of leavers: their waiting deliveries are deleted first.
        """
        new = list(notices)
        stay = {notice.id for notice in new}

        def work(execute: Execute) -> None:
            if positions and positions[0] != next((int(at) for (at,) in execute(_POSITION, ())), 0):
                return
            for game in games:
                for (id_,) in execute(_LATER, (game,)):
                    if id_ not in stay:
                        execute("DELETE FROM deliveries WHERE id = ?", (id_,))
            for gone in left:
                execute(_FORGET, gone)
            self.insert(execute, new)
            if positions:
                execute(_READ, (positions[1],))

        self._in_transaction(work)

    def insert(self, execute: Execute, notices: Iterable[Notice]) -> None:
        """Store deliveries in an open transaction."""
        counted: dict[object, int] = {}
        for notice in notices:
            row = self._build_row(notice)
            if row[1] not in counted:
                counted[row[1]] = _count_waiting(execute, row[1])
            if counted[row[1]] < 0:
                continue
            if notice.is_kept:
                execute(_OWE, (*row[:5], KEPT_STATE, *row[5:]))
                continue
            counted[row[1]] += 1
            full = counted[row[1]] > MOST_WAITING
            execute(_OWE, (*row[:5], "dead" if full else "waiting", *row[5:]))

    def _build_row(self, n: Notice) -> tuple[object, ...]:
        box = self._keys.seal("notices", f"delivery|{n.id}", n.body()).hex()
        return (n.id, n.webhook, n.type, n.game, box, self._now(), n.due or self._now(), n.until)

    def list_kept(self, webhook: str) -> list[tuple[str, Doc]]:
        """Return ids and bodies of the notices for the next digest of a mailbox, oldest first, without damaged ones."""
        found = []
        for id_, box in self._database.execute(_KEPT, (webhook, KEPT_STATE)):
            with suppress(ValueError):  # altered in the database
                found.append((str(id_), json.loads(self._keys.open("notices", f"delivery|{id_}", bytes.fromhex(box)))))
        return found

    def mark_told(self, ids: Iterable[str]) -> None:
        """Mark notices as told by a digest. They are kept for a while, so that no digest tells them again."""
        statements: list[Statement] = [
            ("UPDATE deliveries SET state = ? WHERE id = ? AND state = ?", (TOLD_STATE, id_, KEPT_STATE)) for id_ in ids
        ]
        self._in_transaction(lambda execute: write(execute, statements))

    def prune(self) -> None:
        """Delete old deliveries, also waiting ones that were due long ago, and old requests for codes."""
        old = self._now() - KEPT
        self._database.execute("DELETE FROM deliveries WHERE made < ? AND (state <> 'waiting' OR due < ?)", (old, old))
        self._database.execute("DELETE FROM mail_asked WHERE at < ?", (self._now() - DAY,))

    # --- delivering

    def has_due(self) -> bool:
        """Return whether a delivery could be made now."""
        now = self._now()
        return bool(self._database.execute(f"{_READY} LIMIT 1", (*self._enabled, now, now, now)))

    def count_due(self, type_: str, most: int) -> int:
        """Return the number of deliveries of a type that could be made now, at most `most`."""
        now = self._now()
        return len(
            self._database.execute(f"{_READY} AND d.type = ? LIMIT ?", (*self._enabled, now, now, now, type_, most))
        )

    def claim(self, *, quick: bool = False) -> ClaimedDelivery | None:
        """Claim the next delivery, or return None; `quick` leaves out slow receivers."""
        while rows := self._claim_rows(SLOW if quick else 2**62):
            row, first = rows
            try:
                return self._open_delivery(row, first)
            except ValueError:  # altered in the database: nobody can send it
                self._mark_damaged(str(row[0]), str(first[0]))
        return None

    def _claim_rows(self, most: int) -> tuple[Row, Row] | None:
        """Return rows of a webhook and its first delivery, searched for without the append lock."""
        while True:
            now = self._now()
            free = (*self._enabled, now, now, most, now, now, EACH_HOST, now, SLOW, now, SLOW)
            webhooks = self._database.execute(_NEXT, (*free, now, SLOW))
            if not webhooks:
                return None
            rows = self._in_transaction(partial(self._mark_claimed, (*free, webhooks[0][0]), now))
            if rows:
                return rows

    def _mark_claimed(self, params: Sequence[object], now: int, execute: Execute) -> tuple[Row, Row] | None:
        """Return the claimed rows, or None if another worker was faster."""
        for row in execute(_THAT, params):
            execute("UPDATE webhooks SET held = ?, used = ? WHERE id = ?", (now + CLAIM_TIME, now, row[0]))
            return row, execute(_FIRST, (row[0], now))[0]
        return None

    def _open_delivery(self, row: Row, first: Row) -> ClaimedDelivery:
        webhook = Webhooks(self._database, self._keys, self._now).parse_row(row)
        id_, type_, box, made, until, tries = first
        body = self._keys.open("notices", f"delivery|{id_}", bytes.fromhex(box))
        return ClaimedDelivery(webhook, id_, type_, body, int(made), int(until), int(tries))

    def _mark_damaged(self, webhook: str, delivery: str) -> None:
        log = json.dumps([{"at": self._now(), **DeliveryResult(0, 0, DAMAGED).to_log()}])
        dead = "UPDATE deliveries SET state = 'dead', log = ? WHERE id = ? AND state = 'waiting'"
        free = ("UPDATE webhooks SET held = 0 WHERE id = ?", (webhook,))
        self._in_transaction(lambda execute: write(execute, [(dead, (log, delivery)), free]))

    def record_result(
        self,
        delivery: ClaimedDelivery,
        result: DeliveryResult,
        jitter: float,
        extra_statements: Sequence[Statement] = (),
    ) -> bool:
        """Store the result of an attempt; return whether it switches the webhook off.

        `extra_statements` run only then. `jitter`, from 0 to 1, delays the next attempt.
        """
        now = self._now()

        def work(execute: Execute) -> bool:
            webhooks = execute("SELECT failed, failing, state FROM webhooks WHERE id = ?", (delivery.webhook.id,))
            logs = execute("SELECT log FROM deliveries WHERE id = ? AND state = 'waiting'", (delivery.id,))
            if not webhooks or not logs:  # removed, or recorded by a later claimant
                execute("UPDATE webhooks SET held = 0 WHERE id = ?", (delivery.webhook.id,))
                return False
            attempts = [*json.loads(str(logs[0][0])), {"at": now, **result.to_log()}][-MOST_LOGGED:]
            state, due = _schedule_next(delivery, result, now, jitter)
            execute(
                "UPDATE deliveries SET state = ?, due = ?, tries = tries + 1, log = ? WHERE id = ?",
                (state, due, json.dumps(attempts), delivery.id),
            )
            failed, failing = (0, 0) if result.is_success else (int(webhooks[0][0]) + 1, int(webhooks[0][1]) or now)
            rest = max(BREAK[min(failed, len(BREAK)) - 1] if failed else 0, _limit_wait(result))
            if delivery.webhook.about == MAIL:
                off = _record_bounce(execute, delivery.webhook.id, result)
                if result.is_success and delivery.type in ONCE_TYPES:
                    write(execute, mark_unread(delivery.id, now))
            else:
                off = result.is_gone or (failing > 0 and now - failing >= GIVEN_UP)
            execute(
                "UPDATE webhooks SET held = 0, failed = ?, failing = ?, ms = ?, next = ?, state = ? WHERE id = ?",
                (failed, failing, result.ms, now + rest, "off" if off else webhooks[0][2], delivery.webhook.id),
            )
            if off:
                write(execute, [*bury_deliveries(delivery.webhook.id), *extra_statements])
            return off

        return self._in_transaction(work)

    def postpone(self, delivery: ClaimedDelivery, due: int) -> None:
        """Give a claimed delivery back, to be claimed at a later time (ms)."""
        later: Statement = ("UPDATE deliveries SET due = ? WHERE id = ? AND state = 'waiting'", (due, delivery.id))
        free: Statement = ("UPDATE webhooks SET held = 0 WHERE id = ?", (delivery.webhook.id,))
        self._in_transaction(lambda execute: write(execute, [later, free]))

    def mark_expired(self, delivery: ClaimedDelivery) -> None:
        """Give up a delivery that is of no use any more."""
        self._in_transaction(
            lambda execute: write(
                execute,
                [
                    ("UPDATE deliveries SET state = 'expired' WHERE id = ? AND state = 'waiting'", (delivery.id,)),
                    ("UPDATE webhooks SET held = 0 WHERE id = ?", (delivery.webhook.id,)),
                ],
            )
        )

    # --- what its owner sees and asks for

    def list_deliveries(self, webhook: str, state: str = "", before: str = "", limit: int = 50) -> list[Delivery]:
        """Return a webhook's deliveries, newest first; `before` continues a page: a creation time and an id."""
        made, _, last = before.partition(".")
        at = int(made) if made else 2**62
        chosen, params = (" AND state = ?", (state,)) if state else ("", ())
        rows = self._database.execute(
            f"{_PAGE}{chosen} ORDER BY made DESC, id DESC LIMIT ?", (webhook, at, at, last, *params, limit)
        )
        return [_parse_delivery(row) for row in rows]

    def find(self, webhook: str, delivery: str) -> Delivery | None:
        """Return one delivery of a webhook, or None."""
        select = f"SELECT {_COLUMNS} FROM deliveries WHERE webhook = ? AND id = ?"  # noqa: S608 - our own names
        rows = self._database.execute(select, (webhook, delivery))
        return _parse_delivery(rows[0]) if rows else None

    def replay(self, webhook: str, delivery: str) -> Delivery | None:
        """Make a delivery due now, like a new one; return it, or None if there is none."""

        def work(execute: Execute) -> None:
            execute(
                "UPDATE deliveries SET state = 'waiting', due = ?, until = 0, tries = 0"
                " WHERE webhook = ? AND id = ? AND state <> 'waiting'",
                (self._now(), webhook, delivery),
            )
            execute("UPDATE webhooks SET next = 0 WHERE id = ?", (webhook,))

        self._in_transaction(work)
        return self.find(webhook, delivery)

    def send_test(self, webhook: Webhook) -> Delivery | None:
        """Store a test delivery and return it."""
        notice = Notice(webhook.id, TEST, (secrets.token_hex(16),), self._now(), {"webhook": webhook.id})
        self.enqueue([notice])
        return self.find(webhook.id, notice.id)


def _parse_delivery(row: Row) -> Delivery:
    id_, webhook, type_, game, state, made, due, tries, log = row
    return Delivery(id_, webhook, type_, game, state, int(made), int(due), int(tries), json.loads(log))


def _count_waiting(execute: Execute, webhook: object) -> int:
    """Return the number of waiting deliveries of a webhook; -1 if it was removed meanwhile."""
    if not execute("SELECT 1 FROM webhooks WHERE id = ?", (webhook,)):
        return -1
    ((count,),) = execute("SELECT count(*) FROM deliveries WHERE webhook = ? AND state = 'waiting'", (webhook,))
    return int(count)


def _record_bounce(execute: Execute, webhook: str, result: DeliveryResult) -> bool:
    """Count a final refusal; return whether it switches the mail subscription off.

    A mail server that is down for days says nothing of its addresses.
    """
    if result.is_success:
        execute("UPDATE mailboxes SET bounces = 0 WHERE webhook = ?", (webhook,))
    if result.said != NO_MAILBOX:
        return False
    execute("UPDATE mailboxes SET bounces = bounces + 1 WHERE webhook = ?", (webhook,))
    most = (webhook, MOST_BOUNCES)
    off = bool(execute("SELECT 1 FROM mailboxes WHERE webhook = ? AND bounces >= ?", most))
    if off:
        execute("UPDATE mailboxes SET state = 'off', next = 0 WHERE webhook = ?", (webhook,))
    return off


def _schedule_next(delivery: ClaimedDelivery, result: DeliveryResult, now: int, jitter: float) -> tuple[str, int]:
    """Return the state of a delivery after an attempt, and its next due time."""
    if result.is_success:
        return "delivered", now
    if delivery.tries >= len(BACKOFF) or result.is_final:
        return "dead", now
    wait = max(BACKOFF[delivery.tries], _limit_wait(result))
    return "waiting", now + int(wait * (1 + jitter / 5))


def _limit_wait(result: DeliveryResult) -> int:
    """Return the receiver's Retry-After (ms), at most the longest pause of the service's own."""
    return 0 if result.is_success else min(result.wait, BACKOFF[-1])
