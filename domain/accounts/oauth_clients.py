"""Clients: programs of others that people may let act for them, and where each may be answered."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from domain.accounts.account_tables import DAY, Rows, checksum, delete_oauth_permissions, digest, encoded, write
from domain.accounts.credentials import SCOPES
from domain.errors import AccountError, CommandReused
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Row, Statement

MOST_CLIENTS, MOST_REDIRECTS, LONGEST_REDIRECT = 20, 10, 300

KEPT = 90 * DAY
"""For how long the id of a client that was removed is remembered, ms: the request that made it may be repeated."""

GRANT_TYPES = ("authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code")
"""What a client may show for tokens, as RFC 7591 names it."""

USUAL = GRANT_TYPES[:2]

TABLES = (
    """CREATE TABLE IF NOT EXISTS oauth_clients (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL, redirects TEXT NOT NULL, secret TEXT NOT NULL,
  made BIGINT NOT NULL, ended BIGINT NOT NULL, request TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS oauth_clients_account ON oauth_clients (account)",
    # What a client may ask for; one that was registered before there was this table may all.
    """CREATE TABLE IF NOT EXISTS oauth_client_rights (
  client TEXT PRIMARY KEY, grant_types TEXT NOT NULL, scopes TEXT NOT NULL)""",
)

_SELECT = f"""
SELECT id, account, name, redirects, secret, made,
  coalesce(r.grant_types, '{" ".join(GRANT_TYPES)}'), coalesce(r.scopes, '{" ".join(SCOPES)}')
FROM oauth_clients LEFT JOIN oauth_client_rights r ON r.client = id WHERE ended = 0 AND """  # noqa: S608 - our own names
_RIGHTS = """
INSERT INTO oauth_client_rights VALUES (?, ?, ?)
ON CONFLICT (client) DO UPDATE SET grant_types = excluded.grant_types, scopes = excluded.scopes"""
_INSERT = "INSERT INTO oauth_clients VALUES (?, ?, ?, ?, ?, ?, 0, ?)"
_END = "UPDATE oauth_clients SET ended = ?, name = '', redirects = '[]', secret = '' WHERE "
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*")
_GRAPHIC = re.compile(r"[!#-\[\]-~]+")


@dataclass(frozen=True, kw_only=True)
class Registration:
    """What somebody says of a program."""

    name: str
    redirects: Sequence[str]
    grant_types: Sequence[str] = USUAL
    scopes: Sequence[str] = ("read",)


@dataclass(frozen=True, kw_only=True)
class Client(Registration):
    """A registered program, which may ask for what it was registered for and no more."""

    id: str
    account: str
    """Whose it is."""
    secret: str = field(repr=False)
    """The hash of what it proves itself by; empty for one that keeps no secrets."""
    made: int

    @property
    def confidential(self) -> bool:
        """Whether it proves itself by a secret."""
        return bool(self.secret)

    def proves(self, secret: str) -> bool:
        """Whether that is its secret."""
        return self.confidential and hmac.compare_digest(self.secret, digest(secret))

    def answers_at(self, redirect: str) -> bool:
        """Whether answers may be sent there: exactly as registered, but for the port of this very machine."""
        return any(redirect == known or _same_but_port(known, redirect) for known in self.redirects)


def fault_of(redirect: str) -> Message | None:
    """Why answers cannot be sent there; None if they can."""
    if not _GRAPHIC.fullmatch(redirect) or len(redirect) > LONGEST_REDIRECT:
        return Message("An address of at most {most} plain characters is expected.", most=LONGEST_REDIRECT)
    parts = _split(redirect)
    if parts is None or "#" in redirect or "@" in parts.netloc or "*" in parts.netloc:
        return Message("An address with a host is expected, without a user and without a fragment.")
    if parts.scheme == "https" and _HOST.fullmatch(parts.hostname or ""):
        return None
    if parts.scheme == "http" and _loopback(parts):
        return None
    return Message("https is expected, or http with a loopback address, 127.0.0.1 or ::1.")


def _split(redirect: str) -> SplitResult | None:
    try:
        parts = urlsplit(redirect)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _loopback(parts: SplitResult) -> bool:
    try:
        found = ipaddress.ip_address(parts.hostname or "")
    except ValueError:
        return False
    return str(found) in ("127.0.0.1", "::1")


def _same_but_port(known: str, redirect: str) -> bool:
    """Whether both are one place of this machine: a program there takes whatever port is free."""
    parts, asked = urlsplit(known), _split(redirect)
    if asked is None or fault_of(redirect) or parts.scheme != "http":
        return False
    port = f":{asked.port}" if asked.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return parts._replace(netloc=f"{host}{port}").geturl() == redirect


class Clients(Rows):
    """May raise StoreUnavailable."""

    def find(self, id_: str) -> Client | None:
        """One that may be used."""
        return next((_client(row) for row in self._database.execute(f"{_SELECT}id = ?", (id_,))), None)

    def of(self, account: str) -> list[Client]:
        """All that an account has registered, the oldest first."""
        rows = self._database.execute(f"{_SELECT}account = ? ORDER BY made, id", (account,))
        return [_client(row) for row in rows]

    def register(
        self,
        account: str,
        asked: Registration,
        beside: Sequence[Statement],
        *request: str,
        confidential: bool,
    ) -> tuple[str, str]:
        """Id and secret, the same for the same request; no secret for one that is not confidential.

        Raises AccountError when there are too many, and CommandReused.
        """
        id_, now = self._chance(request[:2], "client", 8).hex(), self._now()
        secret = self._proof(id_, request) if confidential else ""
        mark = self._mark("request", *request) if request else ""

        def work(execute: Execute) -> None:
            for (before,) in execute("SELECT request FROM oauth_clients WHERE id = ?", (id_,)):
                if not mark or before != mark:
                    raise CommandReused(id_)
                return
            if len(execute(f"{_SELECT}account = ?", (account,))) >= MOST_CLIENTS:
                raise AccountError("too_many", Message("An account has {most} clients at most.", most=MOST_CLIENTS))
            execute("DELETE FROM oauth_clients WHERE ended > 0 AND ended < ?", (now - KEPT,))
            kept = digest(secret) if secret else ""
            execute(_INSERT, (id_, account, asked.name, json.dumps(list(asked.redirects)), kept, now, mark))
            write(execute, [_rights(id_, asked), *beside])

        self._on(account, work)
        return id_, secret

    def change(self, id_: str, asked: Registration, beside: Sequence[Statement]) -> None:
        """Another name, other redirects, other rights; nothing of one that is gone."""
        statement = "UPDATE oauth_clients SET name = ?, redirects = ? WHERE id = ? AND ended = 0 RETURNING id"

        def work(execute: Execute) -> None:
            if execute(statement, (asked.name, json.dumps(list(asked.redirects)), id_)):
                write(execute, [_rights(id_, asked), *beside])

        self._together(work)

    def renew(self, client: Client, beside: Sequence[Statement]) -> str:
        """Another secret of a confidential one; that before proves nothing any more."""
        secret = self._proof(client.id, ())
        statement = "UPDATE oauth_clients SET secret = ? WHERE id = ? AND ended = 0"
        self._together(lambda execute: write(execute, [(statement, (digest(secret), client.id)), *beside]))
        return secret

    def remove(self, client: Client, beside: Sequence[Statement]) -> None:
        """It is no client any more, and what people have allowed it ends."""
        rights: Statement = ("DELETE FROM oauth_client_rights WHERE client = ?", (client.id,))
        gone = [(f"{_END}id = ?", (self._now(), client.id)), rights, *delete_oauth_permissions("client = ?", client.id)]
        self._together(lambda execute: write(execute, [*gone, *beside]))

    def _proof(self, id_: str, request: tuple[str, ...]) -> str:
        text = f"anx_{id_}_{encoded(self._chance(request, 'client secret', 32))}"
        return text + checksum(text)


def _rights(id_: str, asked: Registration) -> Statement:
    return _RIGHTS, (id_, " ".join(asked.grant_types), " ".join(asked.scopes))


def _client(row: Row) -> Client:
    id_, account, name, redirects, secret, made, grant_types, scopes = row
    return Client(
        id=id_,
        account=account,
        name=name,
        redirects=tuple(json.loads(redirects)),
        grant_types=tuple(grant_types.split()),
        scopes=tuple(scopes.split()),
        secret=secret,
        made=made,
    )
