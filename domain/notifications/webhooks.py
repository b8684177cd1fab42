"""Webhooks: URLs with the events to send there, and their recent success."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field

from domain.accounts.account_tables import DAY, AccountTable, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.notifications.order_news import ORDER_TYPES
from domain.notifications.webhook_urls import parse_webhook_url
from domain.service.database import Execute, Row, Statement
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.types import Doc

OWN_EVENT_TYPES = (
    *("event.due", "event.changed", "event.round", "event.left", "event.voided", "event.ruled", "event.ranked"),
    "event.over",
)
"""Types about tournaments for their entrants and officers."""

OPENED = "event.opened"
"""Type about the next tournament of a series, for those who follow it."""

FEED_TYPES = (
    *("event.drawn", "event.changed", "event.left", "event.voided", "event.reported", "event.ranked", "event.over"),
)
"""Types about a tournament for everybody."""

EVENTS = {
    "mine": (
        "turn.due",
        "deadline.near",
        "game.over",
        "seat.left",
        "challenge.made",
        "appeal.made",
        "appeal.answered",
        "proposal.made",
        "message.received",
        "message.reported",
        "message.silenced",
        "event.announced",
        *ORDER_TYPES,
        *OWN_EVENT_TYPES,
        OPENED,
    ),
    "table": ("table.changed",),
    "lobby": ("table.opened", "table.started", "table.closed", OPENED),
    "event": (OPENED, *FEED_TYPES),
}
"""Event types by kind of webhook."""

MAIL, CHAT, PUSH = "mail", "chat", "push"
"""Kinds of a row with a mail address, with the address of a table's group chat, and with that of a browser.

None of them is shown as a webhook.
"""

TEST = "webhook.test"
"""Event type of a test, sent on request only."""

MOST = 10
"""Webhooks of one account."""

OVERLAP = DAY
"""Time (ms) for which the old secret signs too after a rotation."""

MOST_SECRETS = 4
"""Newest secrets that sign at once."""

_SEALED = "notices"
"""Name under which the key ring seals."""

_COLUMNS = "id, account, about, game, events, box, state, made, failing, ms"
_OWN = "about NOT IN ('mail', 'chat', 'push')"
_OF_ACCOUNT = f"id = ? AND account = ? AND {_OWN}"
_SELECT = f"SELECT {_COLUMNS} FROM webhooks WHERE "  # noqa: S608 - our own names
_INSERT = """
INSERT INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?, 'on', ?, ?, 0, 0, 0, 0, 0, 0)"""


@dataclass(frozen=True)
class Webhook:
    """A webhook."""

    id: str
    account: str
    about: str
    """One of EVENTS."""
    game: str
    """The table of a webhook about `table`, the tournament of one about `event`; else empty."""
    events: tuple[str, ...]
    url: str = field(repr=False)
    secrets: tuple[tuple[str, int], ...] = field(repr=False)
    """Newest first, each with the end of its use, ms; 0 for the newest."""
    state: str
    """`on`, or `off`: by its owner, or after days without a success."""
    made: int
    failing: int
    """Start of continuous failure, ms; 0 if the last delivery succeeded."""
    ms: int
    """Duration of the last delivery."""


@dataclass(frozen=True)
class WebhookRequest:
    """The requested properties of a webhook."""

    url: str = field(repr=False)
    about: str
    game: str = ""
    events: tuple[str, ...] = ()
    """Empty for all types."""

    def event_types(self) -> tuple[str, ...]:
        """Return the event types; raise AccountError for an unknown one."""
        types = EVENTS[self.about]
        if not set(self.events) <= set(types):
            raise AccountError("webhook_refused", Message("Possible event types: {types}.", types=", ".join(types)))
        return tuple(event for event in types if event in (self.events or types))


class Webhooks(AccountTable):
    """The table of webhooks. Every method may raise StoreUnavailable."""

    # --- finding

    def list_by_account(self, account: str) -> list[Webhook]:
        """Return all webhooks of an account, oldest first."""
        return self._select(f"account = ? AND {_OWN} ORDER BY made, id", account)

    def find(self, account: str, webhook: str) -> Webhook | None:
        """Return one webhook of an account, or None."""
        return next(iter(self._select(_OF_ACCOUNT, webhook, account)), None)

    def _select(self, where: str, *params: object) -> list[Webhook]:
        return [self.parse_row(row) for row in self._database.execute(_SELECT + where, params)]

    def parse_row(self, row: Row) -> Webhook:
        """Return the webhook of a row."""
        id_, account, about, game, events, box, state, made, failing, ms = row
        doc = self.open_box(id_, box)
        secrets = tuple((str(secret), int(until)) for secret, until in doc["secrets"])
        return Webhook(
            id_, account, about, game, tuple(events.split()), doc["url"], secrets, state, made, int(failing), int(ms)
        )

    def open_box(self, webhook: str, box: str) -> Doc:
        """Return `url` and `secrets` of a sealed box."""
        doc: Doc = json.loads(self._keys.open(_SEALED, f"webhook|{webhook}", bytes.fromhex(box)))
        return doc

    def seal_box(self, webhook: str, url: str, secrets: Sequence[Sequence[object]]) -> str:
        """Return URL and secrets as a sealed box."""
        doc = json.dumps({"url": url, "secrets": secrets}).encode()
        return self._keys.seal(_SEALED, f"webhook|{webhook}", doc).hex()

    # --- changing

    def create(
        self,
        account: str,
        properties: WebhookRequest,
        mode: str,
        since: int,
        extra_statements: Sequence[Statement],
        *request: str,
        key: IdempotencyKey | None = None,
    ) -> tuple[Webhook, str]:
        """Store a webhook for events after log position `since`; return it as it was created, and its secret.

        The same request returns the same ones and stores nothing, even if they were changed or removed since. Raises
        AccountError for a forbidden URL, and for too many webhooks.
        """
        aim, events = parse_webhook_url(properties.url, mode), properties.event_types()
        chance = self._derive_bytes(request, "webhook", 40)
        id_, secret = chance[:8].hex(), _format_secret(chance[8:])

        def work(execute: Execute) -> int:
            is_new, now = bind_key(execute, key), key.at if key else self._now()
            rows = execute(f"SELECT id, made FROM webhooks WHERE account = ? AND {_OWN}", (account,))  # noqa: S608 - our own names
            for stored, made in rows:
                if stored == id_:
                    return int(made)
            if key and not is_new:
                return key.first or 0
            if len(rows) >= MOST:
                raise AccountError("too_many", Message("An account has {most} webhooks at most.", most=MOST))
            box = self.seal_box(id_, properties.url, [[secret, 0]])
            about = (properties.about, properties.game, " ".join(events), aim.host)
            execute(_INSERT, (id_, account, *about, box, now, since))
            write(execute, extra_statements)
            return now

        made = self._for_account(account, work)
        shown = (properties.about, properties.game, events, properties.url, ((secret, 0),))
        return Webhook(id_, account, *shown, "on", made, failing=0, ms=0), secret

    def update(
        self, account: str, webhook: str, properties: WebhookRequest, mode: str, since: int, *, on: bool
    ) -> bool:
        """Replace URL, events and state of a webhook and reset its failures; return whether it exists.

        A webhook that was off gets events after log position `since`.
        """
        aim, events = parse_webhook_url(properties.url, mode), " ".join(properties.event_types())
        state = "on" if on else "off"

        def work(execute: Execute) -> bool:
            stored = self._read_box(execute, account, webhook)
            if stored is None:
                return False
            box = self.seal_box(webhook, properties.url, stored["secrets"])
            execute(
                "UPDATE webhooks SET since = CASE state WHEN 'on' THEN since ELSE ? END, events = ?, host = ?, box = ?,"
                " state = ?, failed = 0, failing = 0, next = 0 WHERE id = ?",
                (since, events, aim.host, box, state, webhook),
            )
            if not on:
                write(execute, bury_deliveries(webhook))
            return True

        return self._for_account(account, work)

    def rotate_secret(self, account: str, webhook: str, *request: str, key: IdempotencyKey | None = None) -> str | None:
        """Return a new secret, the same for the same request, or None without such a webhook.

        Older secrets sign too for a while. A repetition stores nothing, however old its secret is.
        """
        secret, now = _format_secret(self._derive_bytes(request, "webhook secret", 32)), self._now()

        def work(execute: Execute) -> str | None:
            stored = self._read_box(execute, account, webhook)
            if key:
                key.check(execute)
                if key.first is not None:
                    return secret
            if stored is None:
                return None
            bind_key(execute, key)
            (newest, _), *others = stored["secrets"]
            if secret not in (newest, *(kept for kept, _ in others)):
                signing = [[kept, until] for kept, until in others if until > now]
                kept = [[secret, 0], [newest, now + OVERLAP], *signing][:MOST_SECRETS]
                box = self.seal_box(webhook, stored["url"], kept)
                execute("UPDATE webhooks SET box = ? WHERE id = ?", (box, webhook))
            return secret

        return self._for_account(account, work)

    def _read_box(self, execute: Execute, account: str, webhook: str) -> Doc | None:
        rows = execute(
            f"SELECT box FROM webhooks WHERE {_OF_ACCOUNT}",  # noqa: S608 - our own names
            (webhook, account),
        )
        return self.open_box(webhook, str(rows[0][0])) if rows else None

    def remove(self, account: str, webhook: str) -> bool:
        """Delete a webhook with all its deliveries; return whether it existed."""

        def work(execute: Execute) -> bool:
            if not execute(
                f"SELECT 1 FROM webhooks WHERE {_OF_ACCOUNT}",  # noqa: S608 - our own names
                (webhook, account),
            ):
                return False
            write(execute, delete_webhooks("id = ?", webhook))
            return True

        return self._in_transaction(work)

    def erase(self, account: str) -> list[Statement]:
        """Return statements that delete an account's webhooks."""
        return delete_webhooks("account = ?", account)


def bury_deliveries(webhook: str) -> list[Statement]:
    """Return statements that mark waiting deliveries of a webhook as dead; they can be replayed."""
    return [
        ("DELETE FROM deliveries WHERE webhook = ? AND state = 'waiting' AND tries = 0 AND until > 0", (webhook,)),
        ("UPDATE deliveries SET state = 'dead' WHERE webhook = ? AND state = 'waiting'", (webhook,)),
    ]


def delete_webhooks(where: str, value: str) -> list[Statement]:
    """Return statements that delete webhooks with all their deliveries."""
    return [
        (f"DELETE FROM deliveries WHERE webhook IN (SELECT id FROM webhooks WHERE {where})", (value,)),  # noqa: S608 - our own names
        (f"DELETE FROM webhooks WHERE {where}", (value,)),  # noqa: S608 - our own names
    ]


def _format_secret(chance: bytes) -> str:
    """Return a secret in the form of Standard Webhooks."""
    return f"whsec_{b64encode(chance).decode()}"
