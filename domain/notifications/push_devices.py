"""Browsers told by web push (RFC 8030) of the affairs of their person.

A browser is stored as a row of `webhooks`, so that it shares deliveries and retries. Its address belongs to one
account: the last one to register it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from domain.accounts.account_tables import AccountTable, write
from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.notifications.outbox import Notice, Outbox
from domain.notifications.webhook_urls import parse_webhook_url
from domain.notifications.webhooks import EVENTS, PUSH, TEST, Webhooks, delete_webhooks
from domain.service.database import Execute, Row, Statement

MOST = 10
"""Browsers of one account."""

POINT, AUTH = 65, 16
"""Bytes of a browser's public key, an uncompressed point of P-256, and of its secret."""

_SEALED = "notices"
_COLUMNS = "d.webhook, d.name, d.language, h.host, h.made, h.failing"
_FROM = "FROM push_devices d JOIN webhooks h ON h.id = d.webhook AND h.state = 'on'"
_ENDED = """
SELECT d.webhook FROM push_devices d JOIN webhooks h ON h.id = d.webhook WHERE d.account = ? AND h.state <> 'on'"""
_HOOK = f"INSERT INTO webhooks VALUES (?, ?, '{PUSH}', '', ?, ?, ?, 'on', ?, ?, 0, 0, 0, 0, 0, 0)"  # noqa: S608 - ours


@dataclass(frozen=True)
class PushDevice:
    """A browser, without its address and keys."""

    id: str
    name: str
    """Name given by its person."""
    language: str
    host: str
    """Host of its push service."""
    made: int
    failing: int
    """Start of continuous failure, ms; 0 if the last delivery succeeded."""


@dataclass(frozen=True)
class PushRequest:
    """A browser's subscription, in the browser's own words."""

    url: str = field(repr=False)
    public_key: bytes = field(repr=False)
    auth: bytes = field(repr=False)
    name: str
    language: str

    def check(self) -> None:
        """Raise AccountError for keys of another form."""
        try:
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), self.public_key)
            is_valid = len(self.public_key) == POINT and len(self.auth) == AUTH
        except ValueError:
            is_valid = False
        if not is_valid:
            raise AccountError("push_refused", Message("The keys are not those of a browser."))


@dataclass(frozen=True)
class PushTarget:
    """Keys and language of messages to a browser."""

    account: str
    language: str
    public_key: bytes = field(repr=False)
    auth: bytes = field(repr=False)
    signing_key: ec.EllipticCurvePrivateKey = field(repr=False)
    """The service's key, as the browser knows it."""


class PushDevices(AccountTable):
    """The tables of browsers and of the service's keys. Every method may raise StoreUnavailable."""

    def list_by_account(self, account: str) -> list[PushDevice]:
        """Return the browsers of an account, oldest first, without those ended by their push service."""
        query = f"SELECT {_COLUMNS} {_FROM} WHERE d.account = ? ORDER BY h.made, d.webhook"
        rows = self._database.execute(query, (account,))
        return [_parse_device(row) for row in rows]

    def find_target(self, webhook: str) -> PushTarget | None:
        """Return language and keys of the browser with that row of `webhooks`, or None without it."""
        query = f"SELECT d.account, d.language, d.key, d.box {_FROM} WHERE d.webhook = ?"
        for account, language, key, box in self._database.execute(query, (webhook,)):
            plain = self._keys.open(_SEALED, f"push device|{webhook}", bytes.fromhex(box))
            return PushTarget(account, language, plain[:POINT], plain[POINT:], self._load_keys()[key])
        return None

    # --- changing

    def save(
        self, account: str, push: PushRequest, mode: str, since: int, extra_statements: Sequence[Statement]
    ) -> PushDevice:
        """Store a browser in place of an earlier state of it, for events after log position `since`; return it.

        Raises AccountError for a forbidden address, for other keys than those of a browser, and for too many browsers.
        """
        aim, now = parse_webhook_url(push.url, mode), self._now()
        push.check()
        mark = self._keyed_hash("push", aim.origin + aim.path)
        id_, key = mark[:16], self.load_newest_key()[0]
        box = Webhooks(self._database, self._keys, self._now).seal_box(id_, push.url, [])
        keys = self._keys.seal(_SEALED, f"push device|{id_}", push.public_key + push.auth).hex()

        def work(execute: Execute) -> None:
            others = f"SELECT 1 {_FROM} WHERE d.account = ? AND d.webhook <> ?"
            if len(execute(others, (account, id_))) >= MOST:
                raise AccountError("too_many", Message("An account has {most} browsers at most.", most=MOST))
            for gone in [id_, *(str(ended) for (ended,) in execute(_ENDED, (account,)))]:
                write(execute, _delete_devices("webhook = ?", gone))
            execute(_HOOK, (id_, account, " ".join(EVENTS["mine"]), aim.host, box, now, since))
            row = (id_, account, mark, push.name, push.language, key, keys)
            execute("INSERT INTO push_devices VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            write(execute, extra_statements)

        self._for_account(account, work)
        return PushDevice(id_, push.name, push.language, aim.host, now, 0)

    def send_test(self, account: str, webhook: str) -> bool:
        """Store a trial message to a browser; return whether the account has it."""
        if webhook not in [each.id for each in self.list_by_account(account)]:
            return False
        notice = Notice(webhook, TEST, (secrets.token_hex(16),), self._now(), {"webhook": webhook})
        Outbox(self._database, self._keys, self._now).enqueue([notice])
        return True

    def remove(self, account: str, webhook: str, extra_statements: Sequence[Statement]) -> bool:
        """Delete a browser with its deliveries; return whether the account had it."""

        def work(execute: Execute) -> bool:
            if not execute("SELECT 1 FROM push_devices WHERE webhook = ? AND account = ?", (webhook, account)):
                return False
            write(execute, [*_delete_devices("webhook = ?", webhook), *extra_statements])
            return True

        return self._in_transaction(work)

    def erase(self, account: str) -> list[Statement]:
        """Return statements that delete the browsers of an account."""
        return _delete_devices("account = ?", account)

    # --- keys of the service

    def load_newest_key(self) -> tuple[str, bytes]:
        """Return id and public point of the key for new browsers. The first call makes one."""
        keys = self._load_keys() or self._make_key()
        id_, private = next(iter(keys.items()))
        return id_, encode_point(private.public_key())

    def rotate_key(self) -> str:
        """Make another key for new browsers and return its id. Others are told with their older one."""
        return next(iter(self._make_key(is_other=True)))

    def _load_keys(self) -> dict[str, ec.EllipticCurvePrivateKey]:
        rows = self._database.execute("SELECT id, box FROM push_keys ORDER BY made DESC, id")
        return {str(id_): self._open_key(str(id_), str(box)) for id_, box in rows}

    def _open_key(self, id_: str, box: str) -> ec.EllipticCurvePrivateKey:
        plain = self._keys.open(_SEALED, f"push key|{id_}", bytes.fromhex(box))
        return ec.derive_private_key(int.from_bytes(plain, "big"), ec.SECP256R1())

    def _make_key(self, *, is_other: bool = False) -> dict[str, ec.EllipticCurvePrivateKey]:
        """Store a key unless another process was faster, and return all."""
        id_, private = secrets.token_hex(8), ec.generate_private_key(ec.SECP256R1())
        plain = private.private_numbers().private_value.to_bytes(32, "big")
        box = self._keys.seal(_SEALED, f"push key|{id_}", plain).hex()

        def work(execute: Execute) -> None:
            rows = execute("SELECT max(made) FROM push_keys", ())
            newest = int(rows[0][0] or 0)
            if is_other or not newest:
                execute("INSERT INTO push_keys VALUES (?, ?, ?)", (id_, box, max(self._now(), newest + 1)))

        self._in_transaction(work)
        return self._load_keys()


def encode_point(key: ec.EllipticCurvePublicKey) -> bytes:
    """Return a public key as an uncompressed point of 65 bytes."""
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def _parse_device(row: Row) -> PushDevice:
    id_, name, language, host, made, failing = row
    return PushDevice(id_, name, language, host, int(made), int(failing))


def _delete_devices(where: str, value: str) -> list[Statement]:
    return [
        *delete_webhooks(f"id IN (SELECT webhook FROM push_devices WHERE {where})", value),  # noqa: S608 - ours
        (f"DELETE FROM push_devices WHERE {where}", (value,)),  # noqa: S608 - our own names
    ]
