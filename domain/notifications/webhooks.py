"""Webhooks: where a person wants to be told what, and how it has gone there lately."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field

from domain.accounts.account_tables import DAY, Rows, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.notifications.webhook_urls import target
from domain.service.database import Execute, Row, Statement
from domain.types import Doc

EVENTS = {
    "mine": ("turn.due", "deadline.near", "game.over", "challenge.made"),
    "table": ("table.changed",),
    "lobby": ("table.opened", "table.started", "table.closed"),
}
"""What a webhook is about -> the types of what it can be told."""

MAIL = "mail"
"""What a row is about that leads to a mailbox: no webhook, and never shown as one."""

TEST = "webhook.test"
"""What is sent only when its owner asks for it."""

MOST = 10
"""Webhooks of one account."""

OVERLAP = DAY
"""For how long the secret before a rotation signs as well, ms."""

MOST_SECRETS = 4
"""Secrets that sign at once, the newest ones."""

_SEALED = "notices"
"""In whose name the ring of keys seals."""

_COLUMNS = "id, account, about, game, events, box, state, made, failing, ms"
_SELECT = f"SELECT {_COLUMNS} FROM webhooks WHERE "  # noqa: S608 - our own names
_INSERT = """
INSERT INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?, 'on', ?, ?, 0, 0, 0, 0, 0, 0)"""


@dataclass(frozen=True)
class Hook:
    """A webhook."""

    id: str
    account: str
    about: str
    """One of EVENTS."""
    game: str
    """Of `table`: which one; else empty."""
    events: tuple[str, ...]
    url: str = field(repr=False)
    secrets: tuple[tuple[str, int], ...] = field(repr=False)
    """The newest first, each with until when it signs, ms; 0 for the newest."""
    state: str
    """`on`, or `off`: by its owner, or since nothing has come through for days."""
    made: int
    failing: int
    """Since when nothing comes through, ms; 0 if the last delivery did."""
    ms: int
    """How long the last delivery took."""


@dataclass(frozen=True)
class Wanted:
    """What a webhook is to be."""

    url: str = field(repr=False)
    about: str
    game: str = ""
    events: tuple[str, ...] = ()
    """None: all that there are."""

    def of(self) -> tuple[str, ...]:
        """The types of what it is told. Raises AccountError."""
        known = EVENTS[self.about]
        if not set(self.events) <= set(known):
            raise AccountError("webhook_refused", Message("Of that it is told: {types}.", types=", ".join(known)))
        return tuple(event for event in known if event in (self.events or known))


class Hooks(Rows):
    """May raise StoreUnavailable."""

    # --- finding

    def of(self, account: str) -> list[Hook]:
        """All of an account, the oldest first."""
        return self._read("account = ? AND about <> 'mail' ORDER BY made, id", account)

    def find(self, account: str, hook: str) -> Hook | None:
        """One of an account's."""
        return next(iter(self._read("id = ? AND account = ? AND about <> 'mail'", hook, account)), None)

    def _read(self, where: str, *params: object) -> list[Hook]:
        return [self.hook(row) for row in self._database.execute(_SELECT + where, params)]

    def hook(self, row: Row) -> Hook:
        """Of its columns."""
        id_, account, about, game, events, box, state, made, failing, ms = row
        doc = self.opened(id_, box)
        secrets = tuple((str(secret), int(until)) for secret, until in doc["secrets"])
        return Hook(
            id_, account, about, game, tuple(events.split()), doc["url"], secrets, state, made, int(failing), int(ms)
        )

    def opened(self, hook: str, box: str) -> Doc:
        """`url` and `secrets` of what rests sealed."""
        doc: Doc = json.loads(self._keys.open(_SEALED, f"webhook|{hook}", bytes.fromhex(box)))
        return doc

    def box(self, hook: str, url: str, secrets: Sequence[Sequence[object]]) -> str:
        """They as they rest."""
        doc = json.dumps({"url": url, "secrets": secrets}).encode()
        return self._keys.seal(_SEALED, f"webhook|{hook}", doc).hex()

    # --- changing

    def make(
        self, account: str, wanted: Wanted, mode: str, since: int, logged: Sequence[Statement], *request: str
    ) -> tuple[Hook, str]:
        """A webhook and its secret, the same for the same request. It is told of what is in the log after `since`.

        Raises AccountError for an address that will not do, and for too many.
        """
        aim, events = target(wanted.url, mode), wanted.of()
        chance = self._chance(request, "webhook", 40)
        id_, secret = chance[:8].hex(), _secret(chance[8:])

        def work(execute: Execute) -> None:
            rows = execute("SELECT id FROM webhooks WHERE account = ? AND about <> 'mail'", (account,))
            if (id_,) in rows:
                return
            if len(rows) >= MOST:
                raise AccountError("too_many", Message("An account has {most} webhooks at most.", most=MOST))
            box = self.box(id_, wanted.url, [[secret, 0]])
            about = (wanted.about, wanted.game, " ".join(events), aim.host)
            execute(_INSERT, (id_, account, *about, box, self._now(), since))
            write(execute, logged)

        self._on(account, work)
        made = self.find(account, id_)
        if made is None:
            raise AccountError("unknown_account")
        return made, secret

    def change(self, account: str, hook: str, wanted: Wanted, mode: str, since: int, *, on: bool) -> bool:
        """Another address, other events, on or off; whether there is that webhook. What went wrong is forgotten.

        One that was off is told of what is in the log after `since`.
        """
        aim, events = target(wanted.url, mode), " ".join(wanted.of())
        state = "on" if on else "off"

        def work(execute: Execute) -> bool:
            found = self._boxed(execute, account, hook)
            if found is None:
                return False
            box = self.box(hook, wanted.url, found["secrets"])
            execute(
                "UPDATE webhooks SET since = CASE state WHEN 'on' THEN since ELSE ? END, events = ?, host = ?, box = ?,"
                " state = ?, failed = 0, failing = 0, next = 0 WHERE id = ?",
                (since, events, aim.host, box, state, hook),
            )
            if not on:
                write(execute, buried(hook))
            return True

        return self._on(account, work)

    def rotate(self, account: str, hook: str, *request: str) -> str | None:
        """A new secret, the same for the same request; those before sign as well for a while. None: no such webhook."""
        secret, now = _secret(self._chance(request, "webhook secret", 32)), self._now()

        def work(execute: Execute) -> str | None:
            found = self._boxed(execute, account, hook)
            if found is None:
                return None
            (newest, _), *others = found["secrets"]
            if secret not in (newest, *(kept for kept, _ in others)):
                signing = [[kept, until] for kept, until in others if until > now]
                kept = [[secret, 0], [newest, now + OVERLAP], *signing][:MOST_SECRETS]
                box = self.box(hook, found["url"], kept)
                execute("UPDATE webhooks SET box = ? WHERE id = ?", (box, hook))
            return secret

        return self._on(account, work)

    def _boxed(self, execute: Execute, account: str, hook: str) -> Doc | None:
        rows = execute("SELECT box FROM webhooks WHERE id = ? AND account = ? AND about <> 'mail'", (hook, account))
        return self.opened(hook, str(rows[0][0])) if rows else None

    def remove(self, account: str, hook: str) -> bool:
        """It is gone, with all that was sent and is to be sent there; whether it was there."""

        def work(execute: Execute) -> bool:
            if not execute("SELECT 1 FROM webhooks WHERE id = ? AND account = ? AND about <> 'mail'", (hook, account)):
                return False
            write(execute, gone("id = ?", hook))
            return True

        return self._together(work)

    def forgotten(self, account: str) -> list[Statement]:
        """To be written with what erases an account."""
        return gone("account = ?", account)


def buried(hook: str) -> list[Statement]:
    """To be written with what switches a webhook off: what was still to be sent is dead, and can be replayed."""
    return [
        ("DELETE FROM deliveries WHERE webhook = ? AND state = 'waiting' AND tries = 0 AND until > 0", (hook,)),
        ("UPDATE deliveries SET state = 'dead' WHERE webhook = ? AND state = 'waiting'", (hook,)),
    ]


def gone(where: str, value: str) -> list[Statement]:
    """To be written with what removes webhooks: they, and all that was sent there."""
    return [
        (f"DELETE FROM deliveries WHERE webhook IN (SELECT id FROM webhooks WHERE {where})", (value,)),  # noqa: S608 - our own names
        (f"DELETE FROM webhooks WHERE {where}", (value,)),  # noqa: S608 - our own names
    ]


def _secret(chance: bytes) -> str:
    """As Standard Webhooks writes it."""
    return f"whsec_{b64encode(chance).decode()}"
