"""OAuth clients: third-party applications, with their redirect URIs, grant types and scopes."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from domain.accounts.account_tables import DAY, AccountTable, checksum, delete_oauth_permissions, write
from domain.accounts.credential_tables import SCOPES
from domain.errors import AccountError, CommandReused
from domain.kernel.text.message_catalog import Message
from domain.service.database import Execute, Row, Statement
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.service.token_text import encode_bytes, hash_secret

MOST_CLIENTS, MOST_REDIRECTS, LONGEST_REDIRECT = 20, 10, 300

KEPT = 90 * DAY
"""Time (ms) for which the id of a removed client is kept, since its registration may be repeated."""

ITSELF = ""
"""Owner of a client without an account (RFC 7591): it registered itself."""

MOST_ITSELF, UNUSED = 10_000, 7 * DAY
"""Number of clients without an owner, and time (ms) after which one without a grant is removed."""

GRANT_TYPES = ("authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code")
"""Grant types in the words of RFC 7591."""

DEFAULT_GRANT_TYPES = GRANT_TYPES[:2]

TABLES = (
    """CREATE TABLE IF NOT EXISTS oauth_clients (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL, redirects TEXT NOT NULL, secret TEXT NOT NULL,
  made BIGINT NOT NULL, ended BIGINT NOT NULL, request TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS oauth_clients_account ON oauth_clients (account)",
    # Rights of a client; clients older than this table have all.
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
class ClientRegistration:
    """Metadata of a client, as registered by its owner."""

    name: str
    redirects: Sequence[str]
    grant_types: Sequence[str] = DEFAULT_GRANT_TYPES
    scopes: Sequence[str] = ("read",)


@dataclass(frozen=True, kw_only=True)
class OAuthClient(ClientRegistration):
    """A registered client; its registration limits its rights."""

    id: str
    account: str
    """The owner's account."""
    secret: str = field(repr=False)
    """Hash of the client secret; empty for a public client."""
    made: int

    @property
    def is_confidential(self) -> bool:
        """True for a client with a secret."""
        return bool(self.secret)

    def has_secret(self, secret: str) -> bool:
        """Return whether that is the client's secret."""
        return self.is_confidential and hmac.compare_digest(self.secret, hash_secret(secret))

    def allows_redirect(self, redirect: str) -> bool:
        """Return whether a redirect URI is registered; for loopback addresses the port may differ."""
        return any(
            redirect == registered or _differs_only_in_port(registered, redirect) for registered in self.redirects
        )


def redirect_error(redirect: str, *, localhost: bool = False) -> Message | None:
    """Return the reason against a redirect URI, or None for a valid one. `localhost`: this name is allowed too."""
    if not _GRAPHIC.fullmatch(redirect) or len(redirect) > LONGEST_REDIRECT:
        return Message("An address of at most {most} plain characters is expected.", most=LONGEST_REDIRECT)
    parts = _parse_redirect(redirect)
    if parts is None or "#" in redirect or "@" in parts.netloc or "*" in parts.netloc:
        return Message("An address with a host is expected, without a user and without a fragment.")
    if parts.scheme == "https" and _HOST.fullmatch(parts.hostname or ""):
        return None
    if parts.scheme == "http" and (_is_loopback(parts) or (localhost and parts.hostname == "localhost")):
        return None
    return Message("https is expected, or http with a loopback address, 127.0.0.1 or ::1.")


def _parse_redirect(redirect: str) -> SplitResult | None:
    try:
        parts = urlsplit(redirect)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _is_loopback(parts: SplitResult) -> bool:
    try:
        address = ipaddress.ip_address(parts.hostname or "")
    except ValueError:
        return False
    return str(address) in ("127.0.0.1", "::1")


def _differs_only_in_port(registered: str, redirect: str) -> bool:
    """Return whether both are the same loopback address: programs there use any free port."""
    parts, requested = urlsplit(registered), _parse_redirect(redirect)
    if requested is None or redirect_error(redirect) or parts.scheme != "http":
        return False
    port = f":{requested.port}" if requested.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return parts._replace(netloc=f"{host}{port}").geturl() == redirect


class OAuthClients(AccountTable):
    """The tables of clients. Every method may raise StoreUnavailable."""

    def find(self, id_: str) -> OAuthClient | None:
        """Return the active client with that id, or None."""
        return next((_parse_client(row) for row in self._database.execute(f"{_SELECT}id = ?", (id_,))), None)

    def list_by_account(self, account: str) -> list[OAuthClient]:
        """Return all clients of an account, oldest first."""
        rows = self._database.execute(f"{_SELECT}account = ? ORDER BY made, id", (account,))
        return [_parse_client(row) for row in rows]

    def register(
        self,
        account: str,
        registration: ClientRegistration,
        extra_statements: Sequence[Statement],
        *request: str,
        confidential: bool,
        key: IdempotencyKey | None = None,
    ) -> tuple[str, str]:
        """Store a client; return its id and its secret, the same for the same request.

        The secret of a public client is empty. Raises AccountError for too many clients, and CommandReused.
        """
        id_, now = self._derive_bytes(request[:2], "client", 8).hex(), self._now()
        secret = self._make_secret(id_, request) if confidential else ""
        mark = self._keyed_hash("request", *request) if request else ""

        def work(execute: Execute) -> None:
            is_new = bind_key(execute, key)
            for (before,) in execute("SELECT request FROM oauth_clients WHERE id = ?", (id_,)):
                if not mark or before != mark:
                    raise CommandReused(id_)
                return
            if not is_new:  # removed since, and deleted
                return
            if len(execute(f"{_SELECT}account = ?", (account,))) >= MOST_CLIENTS:
                raise AccountError("too_many", Message("An account has {most} clients at most.", most=MOST_CLIENTS))
            execute("DELETE FROM oauth_clients WHERE ended > 0 AND ended < ?", (now - KEPT,))
            kept = hash_secret(secret) if secret else ""
            execute(
                _INSERT, (id_, account, registration.name, json.dumps(list(registration.redirects)), kept, now, mark)
            )
            write(execute, [_rights_statement(id_, registration), *extra_statements])

        self._for_account(account, work)
        return id_, secret

    def register_itself(self, registration: ClientRegistration) -> str:
        """Store a public client without an owner; return its id.

        Those without a grant after a week are removed first. Raises AccountError for too many.
        """
        id_, now = secrets.token_hex(8), self._now()
        unused = "account = ? AND made < ? AND id NOT IN (SELECT client FROM oauth_grants)"
        selected = f"(SELECT id FROM oauth_clients WHERE {unused})"  # noqa: S608 - our own words

        def work(execute: Execute) -> None:
            execute(f"DELETE FROM oauth_client_rights WHERE client IN {selected}", (ITSELF, now - UNUSED))  # noqa: S608
            execute(f"DELETE FROM oauth_clients WHERE {unused}", (ITSELF, now - UNUSED))  # noqa: S608 - our own words
            if execute("SELECT count(*) FROM oauth_clients WHERE account = ?", (ITSELF,))[0][0] >= MOST_ITSELF:
                raise AccountError("too_many")
            execute(_INSERT, (id_, ITSELF, registration.name, json.dumps(list(registration.redirects)), "", now, ""))
            write(execute, [_rights_statement(id_, registration)])

        self._in_transaction(work)
        return id_

    def update(self, id_: str, registration: ClientRegistration, extra_statements: Sequence[Statement]) -> None:
        """Replace the metadata of a client, unless it is removed."""
        statement = "UPDATE oauth_clients SET name = ?, redirects = ? WHERE id = ? AND ended = 0 RETURNING id"

        def work(execute: Execute) -> None:
            if execute(statement, (registration.name, json.dumps(list(registration.redirects)), id_)):
                write(execute, [_rights_statement(id_, registration), *extra_statements])

        self._in_transaction(work)

    def rotate_secret(self, client: OAuthClient, extra_statements: Sequence[Statement]) -> str:
        """Replace the secret of a confidential client; return the new one."""
        secret = self._make_secret(client.id, ())
        statement = "UPDATE oauth_clients SET secret = ? WHERE id = ? AND ended = 0"
        self._in_transaction(
            lambda execute: write(execute, [(statement, (hash_secret(secret), client.id)), *extra_statements])
        )
        return secret

    def remove(self, client: OAuthClient, extra_statements: Sequence[Statement]) -> None:
        """Remove a client and all permissions given to it."""
        rights: Statement = ("DELETE FROM oauth_client_rights WHERE client = ?", (client.id,))
        statements = [
            (f"{_END}id = ?", (self._now(), client.id)),
            rights,
            *delete_oauth_permissions("client = ?", client.id),
        ]
        self._in_transaction(lambda execute: write(execute, [*statements, *extra_statements]))

    def _make_secret(self, id_: str, request: tuple[str, ...]) -> str:
        text = f"anx_{id_}_{encode_bytes(self._derive_bytes(request, 'client secret', 32))}"
        return text + checksum(text)


def _rights_statement(id_: str, registration: ClientRegistration) -> Statement:
    return _RIGHTS, (id_, " ".join(registration.grant_types), " ".join(registration.scopes))


def _parse_client(row: Row) -> OAuthClient:
    id_, account, name, redirects, secret, made, grant_types, scopes = row
    return OAuthClient(
        id=id_,
        account=account,
        name=name,
        redirects=tuple(json.loads(redirects)),
        grant_types=tuple(grant_types.split()),
        scopes=tuple(scopes.split()),
        secret=secret,
        made=made,
    )
