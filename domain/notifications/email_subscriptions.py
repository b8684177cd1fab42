"""Mailboxes: what people want to be told by mail, and that an address is theirs before anything is told there.

Where mail goes is a row among those of webhooks, so that what is owed and how it is tried again is the same for both.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from domain.accounts.account_tables import DAY, Rows, digest, encoded, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.notifications.outbox import Notice, Outbox
from domain.notifications.webhooks import MAIL, Hooks, buried, gone
from domain.service.database import Execute, Row, Statement
from domain.types import Doc

_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-][A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{0,63}"
ADDRESS = re.compile(rf"{_NAME}@({_LABEL}\.)+{_LABEL}")
"""An address to which mail can be sent: a name without quotes at a host of several parts, in ASCII."""

LONGEST = 254
"""Characters of an address, of which 64 are before the `@`."""

TYPES = ("turn.due", "deadline.near", "game.over")
"""What can be told by mail at once."""

DIGESTS = ("none", "daily", "weekly")
"""How often what stands is told together; weekly on Mondays."""

STATES = ("waiting", "on", "off")
"""`waiting` for its code; `off` by a link in a mail, or since the address was refused several times on end."""

CONFIRM, DIGEST = "mail.confirm", "mail.digest"
"""Types of what is sent to mailboxes alone."""

CODES_A_DAY = 5
"""Codes that one account may have sent in a day."""

CODES_OF_ADDRESS = 3
"""Codes that are sent to one address in a day, whoever asks: further ones are asked for and not sent."""

CODE_LASTS = DAY
"""For how long a code is good, ms."""

TRIES = 5
"""Wrong codes after which the right one is no good any more."""

LATER = 3_600_000
"""ms after which a digest that could not be made is tried again."""

AGAIN = 60_000
"""ms before which the same request sends no second code: it was repeated."""

_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LENGTH = 10
_MAILTO = "mailto:"
_COLUMNS = "m.account, m.webhook, m.state, m.events, m.digest, m.hour, m.language, m.made, m.next, m.last, w.box"
_SELECT = f"SELECT {_COLUMNS} FROM mailboxes m JOIN webhooks w ON w.id = m.webhook WHERE "  # noqa: S608 - our own names
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
class MailWish:
    """What is wanted by mail."""

    address: str = field(repr=False)
    events: tuple[str, ...] = ()
    """Of TYPES."""
    digest: str = "none"
    """One of DIGESTS."""
    hour: int = 0
    """Of the digest, UTC."""
    language: str = "en"


@dataclass(frozen=True)
class Mailbox:
    """Where somebody wants mail, and whether it goes there."""

    account: str
    webhook: str
    """The row among those of webhooks."""
    state: str
    """One of STATES."""
    wish: MailWish
    made: int
    next: int
    """When a digest is due, ms; 0: never."""
    last: int
    """The position of the log after which a digest tells what has ended."""
    token: str = field(repr=False)
    """What ends it, by a link."""


class Mailboxes(Rows):
    """May raise StoreUnavailable."""

    @property
    def _hooks(self) -> Hooks:
        return Hooks(self._database, self._keys, self._now)

    # --- finding

    def of(self, account: str) -> Mailbox | None:
        """An account's."""
        return next(iter(self._read("m.account = ?", account)), None)

    def at(self, webhook: str) -> Mailbox | None:
        """That of a row among those of webhooks."""
        return next(iter(self._read("m.webhook = ?", webhook)), None)

    def by(self, token: str) -> Mailbox | None:
        """That which a link ends."""
        return next(iter(self._read("m.token = ?", digest(token))), None)

    def due(self, most: int) -> list[str]:
        """The rows among those of webhooks for which it is time for a digest, the oldest first."""
        return [str(webhook) for (webhook,) in self._database.execute(_DUE, (self._now(), most))]

    def seats(self, account: str, games: Sequence[str] | None = None) -> dict[str, list[str]]:
        """Game -> the account's roles there; of these games, or of all."""
        among = "" if games is None else f" AND t.game IN ({', '.join('?' * len(games))})"
        rows = self._database.execute(f"{_SEATS}{among} ORDER BY t.game, t.role", (account, *(games or ())))
        found: dict[str, list[str]] = {}
        for game, role in rows:
            found.setdefault(str(game), []).append(str(role))
        return found

    def _read(self, where: str, *params: object) -> list[Mailbox]:
        return [self._mailbox(row) for row in self._database.execute(_SELECT + where, params)]

    def _mailbox(self, row: Row) -> Mailbox:
        account, webhook, state, events, often, hour, language, made, due, last, box = row
        doc = self._hooks.opened(webhook, box)
        wish = MailWish(doc["url"].removeprefix(_MAILTO), tuple(events.split()), often, int(hour), language)
        return Mailbox(account, webhook, state, wish, int(made), int(due), int(last), str(doc["secrets"][0][0]))

    # --- changing

    def keep(self, account: str, wish: MailWish, since: int, logged: Sequence[Statement]) -> Mailbox:
        """What is wanted from now on. An address that is not confirmed is sent a code; nothing else goes there before.

        The same whether or not others have the address. Raises AccountError for too many codes, and for an address
        that mail programs read as another one.
        """
        if not sendable(wish.address):
            raise AccountError("webhook_refused", "Mail programs would read that address as another one.")

        def work(execute: Execute) -> None:
            rows = execute(_SELECT + "m.account = ?", (account,))
            found = self._mailbox(rows[0]) if rows else None
            same = found is not None and found.wish.address == wish.address
            if found is None or not same or found.state == "off" or self._stale(found):
                self._begin(execute, account, wish, since)
            else:
                self._change(execute, found, wish, since)
            write(execute, logged)

        self._on(account, work)
        kept = self.of(account)
        if kept is None:
            raise AccountError("unknown_account")
        return kept

    def _stale(self, found: Mailbox) -> bool:
        """Whether another code is to be sent: the last one was asked for some time ago."""
        return found.state == "waiting" and found.made + AGAIN <= self._now()

    def _change(self, execute: Execute, found: Mailbox, wish: MailWish, since: int) -> None:
        on = found.state == "on"
        due = next_digest(self._now(), wish) if on else 0
        execute(
            "UPDATE mailboxes SET events = ?, digest = ?, hour = ?, language = ?, next = ? WHERE webhook = ?",
            (" ".join(wish.events), wish.digest, wish.hour, wish.language, due, found.webhook),
        )
        if on:
            execute(
                "UPDATE webhooks SET since = CASE events WHEN '' THEN ? ELSE since END, events = ? WHERE id = ?",
                (since, " ".join(wish.events), found.webhook),
            )

    def _begin(self, execute: Execute, account: str, wish: MailWish, since: int) -> None:
        now = self._now()
        quiet = self._count(execute, account, wish.address, now)
        write(execute, self.forgotten(account))
        webhook, token = secrets.token_hex(8), encoded(secrets.token_bytes(32))
        code = "".join(secrets.choice(_SIGNS) for _ in range(_LENGTH))
        box = self._hooks.box(webhook, _MAILTO + wish.address, [[token, 0]])
        execute(_HOOK, (webhook, account, box, now, since))
        wanted = (" ".join(wish.events), wish.digest, wish.hour, wish.language)
        until = now + CODE_LASTS
        secret = (digest(token), self._mark("mail code", account, code), until)
        execute(_INSERT, (account, webhook, *wanted, *secret, now, since))
        if not quiet:
            notice = Notice(webhook, CONFIRM, (secrets.token_hex(16),), now, {"code": code}, until=until)
            Outbox(self._database, self._keys, self._now).write(execute, [notice])

    def _count(self, execute: Execute, account: str, address: str, now: int) -> bool:
        """Counts a code; whether so many went to that address that this one does not. Raises AccountError."""
        name, _, host = address.lower().partition("@")
        asked = (self._mark("mail of", account), self._mark("mail to", f"{name.partition('+')[0]}@{host}"))
        count = "SELECT count(*) FROM mail_asked WHERE mark = ? AND at > ?"
        own, others = (int(execute(count, (mark, now - DAY))[0][0]) for mark in asked)
        if own >= CODES_A_DAY:
            raise AccountError("too_many", Message("An account is sent {most} codes a day at most.", most=CODES_A_DAY))
        for mark in asked:
            execute("INSERT INTO mail_asked VALUES (?, ?)", (mark, now))
        return others >= CODES_OF_ADDRESS

    def confirm(self, account: str, code: str, since: int, logged: Sequence[Statement]) -> bool:
        """Whether that is the code: the mailbox is on from then. A repetition switches on nothing that was put off."""
        mark = self._mark("mail code", account, code.strip().upper())

        def work(execute: Execute) -> bool:
            for webhook, state, events, often, hour, kept, until, tries in execute(_CONFIRMING, (account,)):
                good = hmac.compare_digest(str(kept), mark) and int(tries) < TRIES
                if state != "waiting":
                    return good
                if not good or int(until) <= self._now():
                    execute("UPDATE mailboxes SET tries = tries + 1 WHERE webhook = ?", (webhook,))
                    return False
                due = next_digest(self._now(), MailWish("", (), often, int(hour)))
                execute(
                    "UPDATE mailboxes SET state = 'on', next = ?, last = ? WHERE webhook = ?",
                    (due, since, webhook),
                )
                execute("UPDATE webhooks SET events = ?, since = ? WHERE id = ?", (events, since, webhook))
                write(execute, logged)
                return True
            return False

        return self._on(account, work)

    def put_off(self, found: Mailbox, logged: Sequence[Statement]) -> bool:
        """Nothing more is sent there; whether that is new."""

        def work(execute: Execute) -> bool:
            if not execute("SELECT 1 FROM mailboxes WHERE webhook = ? AND state <> 'off'", (found.webhook,)):
                return False
            execute("UPDATE mailboxes SET state = 'off', next = 0 WHERE webhook = ?", (found.webhook,))
            execute("UPDATE webhooks SET state = 'off' WHERE id = ?", (found.webhook,))
            write(execute, [*buried(found.webhook), *logged])
            return True

        return self._together(work)

    def told(self, found: Mailbox, last: int) -> None:
        """The digest that was due is owed, or there was nothing to tell; the next one tells what ends after `last`."""
        after = next_digest(self._now(), found.wish)
        self._database.execute(
            "UPDATE mailboxes SET next = ?, last = ? WHERE webhook = ? AND next = ?",
            (after, last, found.webhook, found.next),
        )

    def postpone(self, webhook: str) -> None:
        """The digest that is due cannot be made; it is tried again later, and tells what it would have told."""
        now = self._now()
        self._database.execute(
            "UPDATE mailboxes SET next = ? WHERE webhook = ? AND next > 0 AND next <= ?", (now + LATER, webhook, now)
        )

    def remove(self, account: str) -> bool:
        """It is gone, with all that was sent there; whether it was there."""

        def work(execute: Execute) -> bool:
            there = bool(execute("SELECT 1 FROM mailboxes WHERE account = ?", (account,)))
            write(execute, self.forgotten(account))
            return there

        return self._together(work)

    def forgotten(self, account: str) -> list[Statement]:
        """To be written with what erases an account."""
        return [
            *gone(f"about = '{MAIL}' AND account = ?", account),
            ("DELETE FROM mailboxes WHERE account = ?", (account,)),
        ]


def sendable(address: str) -> bool:
    """Whether mail can be sent there: programs, our own library too, read `=?` as an encoded word (RFC 2047)."""
    return ADDRESS.fullmatch(address) is not None and "=?" not in address


def next_digest(now: int, wish: MailWish) -> int:
    """When the next digest is due after that, ms since 1970; 0: never."""
    if wish.digest == "none":
        return 0
    today = datetime.fromtimestamp(now / 1000, UTC).replace(hour=wish.hour, minute=0, second=0, microsecond=0)
    days = (today + timedelta(n) for n in range(9))
    found = (at for at in days if at.timestamp() * 1000 > now and (wish.digest == "daily" or at.weekday() == 0))
    return int(next(found).timestamp() * 1000)


def listed(found: Mailbox) -> Doc:
    """A mailbox as its owner sees it."""
    wish = vars(found.wish) | {"events": list(found.wish.events)}
    return wish | {"state": found.state, "made": found.made, "next": found.next or None}
