"""Subscriptions by mail, each with a confirmed address.

The address is stored as a row of `webhooks`, so mails and webhooks share deliveries and retries.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from domain.accounts.account_settings import UTC_NAME
from domain.accounts.account_tables import DAY, AccountTable, write
from domain.accounts.recovery_codes import ISSUED_LASTS
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.notifications.order_news import ORDER_TYPES
from domain.notifications.outbox import KEPT_STATE, Notice, Outbox
from domain.notifications.unread_mail import erase_unread
from domain.notifications.webhooks import MAIL, OWN_EVENT_TYPES, Webhooks, bury_deliveries, delete_webhooks
from domain.service.database import Execute, Row, Statement
from domain.service.token_text import encode_bytes, hash_secret

_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-][A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{0,63}"
ADDRESS = re.compile(rf"{_NAME}@({_LABEL}\.)+{_LABEL}")
"""A valid mail address: a name without quotes at a host of several parts, in ASCII."""

LONGEST = 254
"""Characters of an address, 64 of them before the `@`."""

TYPES = (
    *("turn.due", "deadline.near", "game.over", "seat.left", "appeal.made", "appeal.answered", "proposal.made"),
    *("message.received", "message.reported", "message.silenced", "event.announced"),
    *ORDER_TYPES,
    *OWN_EVENT_TYPES,
)
"""Events with a mail at once."""

DIGESTS = ("none", "daily", "weekly")
"""Frequencies of digests; weekly ones come on Mondays."""

STATES = ("waiting", "on", "off")
"""`waiting` for its code; `off` after a link in a mail, or several refusals of the address in a row."""

CONFIRM, RECOVERY, DIGEST = "mail.confirm", "mail.recovery", "mail.digest"
"""Types of deliveries by mail only."""

GAME_PARTS, EVENT_PART = ("near", "turns", "ended"), "events"
"""Parts of a digest about games, and the one about tournaments."""

DIGEST_PARTS = (*GAME_PARTS, EVENT_PART)
"""Parts of a digest."""

CODES_A_DAY = 5
"""Codes for one account in a day."""

CODES_OF_ADDRESS = 3
"""Codes sent to one address in a day, for any account; further requests send none."""

CODE_LASTS = ISSUED_LASTS
"""Lifetime of a code, ms."""

TRIES = 5
"""Wrong codes after which the right one is invalid."""

DIGEST_RETRY = 3_600_000
"""ms until the retry of a failed digest."""

CODE_INTERVAL = 60_000
"""ms in which a repeated request sends no second code."""

_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LENGTH = 10
_MAILTO = "mailto:"
_COLUMNS = (
    "m.account, m.webhook, m.state, m.events, m.digest, m.hour, m.language, m.made, m.next, m.last, w.box, s.zone"
)
_FROM = "mailboxes m JOIN webhooks w ON w.id = m.webhook LEFT JOIN account_settings s ON s.account = m.account"
_SELECT = f"SELECT {_COLUMNS} FROM {_FROM} WHERE "  # noqa: S608 - our own names
_HOOK = "INSERT INTO webhooks VALUES (?, ?, 'mail', '', '', 'mail', ?, 'on', ?, ?, 0, 0, 0, 0, 0, 0)"
_INSERT = "INSERT INTO mailboxes VALUES (?, ?, 'waiting', ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?, 0)"
_SEATS = """
SELECT t.game, t.role FROM tokens t JOIN account_players p ON p.player = t.player
WHERE p.account = ? AND t.revoked <> 1"""
_DUE = """
SELECT m.webhook FROM mailboxes m JOIN accounts a ON a.id = m.account
WHERE m.state = 'on' AND m.next > 0 AND m.next <= ? AND a.state <> 'banned' ORDER BY m.next, m.webhook LIMIT ?"""
_CONFIRMING = "SELECT webhook, state, events, digest, hour, code, until, tries FROM mailboxes WHERE account = ?"


@dataclass(frozen=True)
class EmailPreferences:
    """Contents and frequency of mails."""

    address: str = field(repr=False)
    events: tuple[str, ...] = ()
    """Some of TYPES."""
    digest: str = "none"
    """One of DIGESTS."""
    hour: int = 0
    """Hour of the digest, UTC."""
    language: str = "en"


@dataclass(frozen=True)
class EmailSubscription:
    """An account's subscription by mail."""

    account: str
    webhook: str
    """Id of its row of `webhooks`."""
    state: str
    """One of STATES."""
    preferences: EmailPreferences
    made: int
    next: int
    """Time of the next digest, ms; 0 for never."""
    last: int
    """Log position after which the next digest reports."""
    token: str = field(repr=False)
    """Secret of the link that ends the subscription."""
    zone: str = UTC_NAME
    """The person's time zone."""


class EmailSubscriptions(AccountTable):
    """The table of mail subscriptions. Every method may raise StoreUnavailable."""

    @property
    def _webhooks(self) -> Webhooks:
        return Webhooks(self._database, self._keys, self._now)

    # --- finding

    def find_by_account(self, account: str) -> EmailSubscription | None:
        """Return an account's subscription, or None."""
        return next(iter(self._select("m.account = ?", account)), None)

    def find_by_webhook(self, webhook: str) -> EmailSubscription | None:
        """Return the subscription with that row of `webhooks`, or None."""
        return next(iter(self._select("m.webhook = ?", webhook)), None)

    def find_by_token(self, token: str) -> EmailSubscription | None:
        """Return the subscription with that secret, or None."""
        return next(iter(self._select("m.token = ?", hash_secret(token))), None)

    def list_due(self, most: int) -> list[str]:
        """Return the row ids of subscriptions with a digest due, oldest first."""
        return [str(webhook) for (webhook,) in self._database.execute(_DUE, (self._now(), most))]

    def list_seats(self, account: str, games: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Return the account's roles by game, in these games or in all."""
        if games is not None and not games:
            return {}
        among = "" if games is None else f" AND t.game IN ({', '.join('?' * len(games))})"
        rows = self._database.execute(f"{_SEATS}{among} ORDER BY t.game, t.role", (account, *(games or ())))
        roles: dict[str, list[str]] = {}
        for game, role in rows:
            roles.setdefault(str(game), []).append(str(role))
        return roles

    def _select(self, where: str, *params: object) -> list[EmailSubscription]:
        return [self._parse_row(row) for row in self._database.execute(_SELECT + where, params)]

    def _parse_row(self, row: Row) -> EmailSubscription:
        account, webhook, state, events, often, hour, language, made, due, last, box, zone = row
        doc = self._webhooks.open_box(webhook, box)
        wish = EmailPreferences(doc["url"].removeprefix(_MAILTO), tuple(events.split()), often, int(hour), language)
        return EmailSubscription(
            account, webhook, state, wish, int(made), int(due), int(last), str(doc["secrets"][0][0]), zone or UTC_NAME
        )

    # --- changing

    def save(
        self, account: str, preferences: EmailPreferences, since: int, extra_statements: Sequence[Statement]
    ) -> EmailSubscription:
        """Store preferences; an unconfirmed address gets a code, and no other mail before it is confirmed.

        Other accounts with the address make no difference. Raises AccountError for too many codes, and for an address
        that mail programs read as another one.
        """
        if not is_deliverable(preferences.address):
            raise AccountError("webhook_refused", "Mail programs could read this address as a different one.")

        def work(execute: Execute) -> None:
            rows = execute(_SELECT + "m.account = ?", (account,))
            subscription = self._parse_row(rows[0]) if rows else None
            same = subscription is not None and subscription.preferences.address == preferences.address
            if subscription is None or not same or subscription.state == "off" or self._needs_new_code(subscription):
                self._start(execute, account, preferences, since)
            else:
                self._update(execute, subscription, preferences, since)
            write(execute, extra_statements)

        self._for_account(account, work)
        subscription = self.find_by_account(account)
        if subscription is None:
            raise AccountError("unknown_account")
        return subscription

    def _needs_new_code(self, subscription: EmailSubscription) -> bool:
        """Return whether another code is to be sent: the last request is older than CODE_INTERVAL."""
        return subscription.state == "waiting" and subscription.made + CODE_INTERVAL <= self._now()

    def _update(
        self, execute: Execute, subscription: EmailSubscription, preferences: EmailPreferences, since: int
    ) -> None:
        on = subscription.state == "on"
        due = next_digest_time(self._now(), preferences) if on else 0
        execute(
            "UPDATE mailboxes SET events = ?, digest = ?, hour = ?, language = ?, next = ? WHERE webhook = ?",
            (
                " ".join(preferences.events),
                preferences.digest,
                preferences.hour,
                preferences.language,
                due,
                subscription.webhook,
            ),
        )
        if on:
            execute(
                "UPDATE webhooks SET since = CASE events WHEN '' THEN ? ELSE since END, events = ? WHERE id = ?",
                (since, " ".join(preferences.events), subscription.webhook),
            )
        if preferences.digest == "none":
            execute("DELETE FROM deliveries WHERE webhook = ? AND state = ?", (subscription.webhook, KEPT_STATE))

    def _start(self, execute: Execute, account: str, preferences: EmailPreferences, since: int) -> None:
        now = self._now()
        quiet = self._count_code(execute, account, preferences.address, now)
        write(execute, self.erase(account))
        webhook, token = secrets.token_hex(8), encode_bytes(secrets.token_bytes(32))
        code = "".join(secrets.choice(_SIGNS) for _ in range(_LENGTH))
        box = self._webhooks.seal_box(webhook, _MAILTO + preferences.address, [[token, 0]])
        execute(_HOOK, (webhook, account, box, now, since))
        row = (" ".join(preferences.events), preferences.digest, preferences.hour, preferences.language)
        until = now + CODE_LASTS
        secret = (hash_secret(token), self._keyed_hash("mail code", account, code), until)
        execute(_INSERT, (account, webhook, *row, *secret, now, since))
        if not quiet:
            notice = Notice(webhook, CONFIRM, (secrets.token_hex(16),), now, {"code": code}, until=until)
            Outbox(self._database, self._keys, self._now).insert(execute, [notice])

    def _count_code(self, execute: Execute, account: str, address: str, now: int) -> bool:
        """Count a code; return whether its address has had too many to send it. Raises AccountError."""
        name, _, host = address.lower().partition("@")
        marks = (self._keyed_hash("mail of", account), self._keyed_hash("mail to", f"{name.partition('+')[0]}@{host}"))
        count = "SELECT count(*) FROM mail_asked WHERE mark = ? AND at > ?"
        by_account, by_address = (int(execute(count, (mark, now - DAY))[0][0]) for mark in marks)
        if by_account >= CODES_A_DAY:
            raise AccountError("too_many", Message("An account gets at most {most} codes a day.", most=CODES_A_DAY))
        for mark in marks:
            execute("INSERT INTO mail_asked VALUES (?, ?)", (mark, now))
        return by_address >= CODES_OF_ADDRESS

    def send_recovery_code(self, account: str, name_key: str, code: str, statements: Sequence[Statement]) -> bool:
        """Store a code for a new password, and send it to the confirmed address; return whether it is sent.

        `account` is empty for an unknown name: then the same steps are taken, so that their time shows nothing.
        """
        now, mark = self._now(), self._keyed_hash("recovery of", name_key)

        def work(execute: Execute) -> bool:
            rows = execute("SELECT at FROM mail_asked WHERE mark = ? AND at > ?", (mark, now - DAY))
            is_early = any(int(at) + CODE_INTERVAL > now for (at,) in rows)
            if is_early or len(rows) >= CODES_A_DAY:
                return False
            execute("INSERT INTO mail_asked VALUES (?, ?)", (mark, now))
            for (webhook,) in execute("SELECT webhook FROM mailboxes WHERE account = ? AND state = 'on'", (account,)):
                until, unique = now + ISSUED_LASTS, (secrets.token_hex(16),)
                notice = Notice(webhook, RECOVERY, unique, now, {"code": code}, until=until)
                Outbox(self._database, self._keys, self._now).insert(execute, [notice])
                write(execute, statements)
                return True
            return False

        return self._in_transaction(work)

    def confirm(self, account: str, code: str, since: int, extra_statements: Sequence[Statement]) -> bool:
        """Return whether the code is right, and switch the subscription on unless it was switched off since."""
        mark = self._keyed_hash("mail code", account, code.strip().upper())

        def work(execute: Execute) -> bool:
            for webhook, state, events, often, hour, stored_mark, until, tries in execute(_CONFIRMING, (account,)):
                good = hmac.compare_digest(str(stored_mark), mark) and int(tries) < TRIES
                if state != "waiting":
                    return good
                if not good or int(until) <= self._now():
                    execute("UPDATE mailboxes SET tries = tries + 1 WHERE webhook = ?", (webhook,))
                    return False
                due = next_digest_time(self._now(), EmailPreferences("", (), often, int(hour)))
                execute(
                    "UPDATE mailboxes SET state = 'on', next = ?, last = ? WHERE webhook = ?",
                    (due, since, webhook),
                )
                execute("UPDATE webhooks SET events = ?, since = ? WHERE id = ?", (events, since, webhook))
                write(execute, extra_statements)
                return True
            return False

        return self._for_account(account, work)

    def switch_off(self, subscription: EmailSubscription, extra_statements: Sequence[Statement]) -> bool:
        """Switch off a subscription; return whether it was on."""

        def work(execute: Execute) -> bool:
            if not execute("SELECT 1 FROM mailboxes WHERE webhook = ? AND state <> 'off'", (subscription.webhook,)):
                return False
            execute("UPDATE mailboxes SET state = 'off', next = 0 WHERE webhook = ?", (subscription.webhook,))
            execute("UPDATE webhooks SET state = 'off' WHERE id = ?", (subscription.webhook,))
            write(execute, [*bury_deliveries(subscription.webhook), *extra_statements])
            return True

        return self._in_transaction(work)

    def record_digest(self, subscription: EmailSubscription, last: int) -> None:
        """Record a due digest as enqueued or empty; the next one reports from position `last`."""
        after = next_digest_time(self._now(), subscription.preferences)
        self._database.execute(
            "UPDATE mailboxes SET next = ?, last = ? WHERE webhook = ? AND next = ?",
            (after, last, subscription.webhook, subscription.next),
        )

    def postpone_digest(self, webhook: str) -> None:
        """Retry a failed digest later, with the same contents."""
        now = self._now()
        self._database.execute(
            "UPDATE mailboxes SET next = ? WHERE webhook = ? AND next > 0 AND next <= ?",
            (now + DIGEST_RETRY, webhook, now),
        )

    def remove(self, account: str) -> bool:
        """Delete a subscription with all its deliveries; return whether it existed."""

        def work(execute: Execute) -> bool:
            there = bool(execute("SELECT 1 FROM mailboxes WHERE account = ?", (account,)))
            write(execute, self.erase(account))
            return there

        return self._in_transaction(work)

    def erase(self, account: str) -> list[Statement]:
        """Return statements that delete an account's subscription."""
        return [
            *delete_webhooks(f"about = '{MAIL}' AND account = ?", account),
            *erase_unread(account),
            ("DELETE FROM mailboxes WHERE account = ?", (account,)),
        ]


def is_deliverable(address: str) -> bool:
    """Return whether an address is valid and without `=?`, an encoded word to mail programs (RFC 2047)."""
    return ADDRESS.fullmatch(address) is not None and "=?" not in address


def next_digest_time(now: int, preferences: EmailPreferences) -> int:
    """Return the time of the next digest, ms since 1970; 0 for never."""
    if preferences.digest == "none":
        return 0
    today = datetime.fromtimestamp(now / 1000, UTC).replace(hour=preferences.hour, minute=0, second=0, microsecond=0)
    days = (today + timedelta(n) for n in range(9))
    times = (at for at in days if at.timestamp() * 1000 > now and (preferences.digest == "daily" or at.weekday() == 0))
    return int(next(times).timestamp() * 1000)
