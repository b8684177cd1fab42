"""Logins of devices without a browser: a person types the device's code elsewhere (RFC 8628)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.accounts.account_tables import AccountTable, write
from domain.accounts.oauth_grants import OAuthGrants, TokenPair
from domain.service.database import Execute, Row, Statement
from domain.service.token_text import encode_bytes, hash_secret

SECONDS = 900
"""Time to type a code and to fetch its tokens."""

PACE = 5
"""Seconds between two polls of a device, and the increase for each early poll."""

_SIGNS = "BCDFGHJKLMNPQRSTVWXZ"
"""Unambiguous letters that form no words: eight of them have 34 bits."""

TABLES = (
    # `code` is a keyed hash of the user code; `asked` the time of the last poll, ms.
    """CREATE TABLE IF NOT EXISTS oauth_devices (
  hash TEXT PRIMARY KEY, code TEXT NOT NULL UNIQUE, client TEXT NOT NULL, scopes TEXT NOT NULL, until BIGINT NOT NULL,
  asked BIGINT NOT NULL, pace BIGINT NOT NULL, state TEXT NOT NULL, account TEXT NOT NULL)""",
)

_SELECT = "SELECT hash, client, scopes, until, asked, pace, state, account FROM oauth_devices WHERE "
_ANSWER = """
UPDATE oauth_devices SET state = ?, account = ?, scopes = ?
WHERE hash = ? AND state = 'open' AND until > ? RETURNING hash"""
_SPEND = "UPDATE oauth_devices SET state = 'spent' WHERE hash = ? AND state = 'allowed' AND until > ? RETURNING hash"


@dataclass(frozen=True)
class DeviceLogin:
    """A device's request for permission."""

    hash: str
    client: str
    scopes: tuple[str, ...]
    until: int
    asked: int
    pace: int
    """Minimum seconds between two polls."""
    state: str
    """`open`, `allowed`, `refused` or `spent`."""
    account: str
    """The account that answered."""
    hasty: bool = False
    """True if the last poll came too early."""


class DeviceLogins(AccountTable):
    """The table of device logins. Every method may raise StoreUnavailable."""

    def start(self, client: str, scopes: Sequence[str]) -> tuple[str, str]:
        """Store a request; return the device code and the user code."""
        text, now = f"ank_{encode_bytes(secrets.token_bytes(32))}", self._now()
        signs = "".join(secrets.choice(_SIGNS) for _ in range(8))
        row = (
            hash_secret(text),
            self._hash_code(signs),
            client,
            " ".join(scopes),
            now + SECONDS * 1000,
            0,
            PACE,
            "open",
            "",
        )
        old: Statement = ("DELETE FROM oauth_devices WHERE until < ?", (now - SECONDS * 1000,))
        new: Statement = ("INSERT INTO oauth_devices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._in_transaction(lambda execute: write(execute, [old, new]))
        return text, f"{signs[:4]}-{signs[4:]}"

    def find_by_code(self, code: str) -> DeviceLogin | None:
        """Return the open request with that user code."""
        rows = self._database.execute(
            f"{_SELECT}code = ? AND state = 'open' AND until > ?", (self._hash_code(code), self._now())
        )
        return next(map(_parse_login, rows), None)

    def _hash_code(self, code: str) -> str:
        return self._keyed_hash("device code", "".join(c for c in code.upper() if c in _SIGNS))

    def answer(
        self,
        device: DeviceLogin,
        account: str,
        scopes: Sequence[str],
        extra_statements: Sequence[Statement],
        *,
        allowed: bool,
        session: str = "",
    ) -> bool:
        """Store a person's answer; return False if the request has one already, or has expired."""
        state = "allowed" if allowed else "refused"

        def work(execute: Execute) -> bool:
            if not execute(_ANSWER, (state, account, " ".join(scopes), device.hash, self._now())):
                return False
            write(execute, extra_statements)
            return True

        return self._for_account(account, work, session)

    def poll(self, text: str) -> DeviceLogin | None:
        """Return a device's request, slowed down after an early poll; None for an unknown code."""
        now = self._now()

        def work(execute: Execute) -> DeviceLogin | None:
            for row in execute(f"{_SELECT}hash = ?", (hash_secret(text),)):
                login = _parse_login(row)
                hasty = now - login.asked < login.pace * 1000
                pace = login.pace + PACE if hasty else login.pace
                execute("UPDATE oauth_devices SET asked = ?, pace = ? WHERE hash = ?", (now, pace, login.hash))
                return replace(login, hasty=hasty, pace=pace)
            return None

        return self._in_transaction(work)

    def is_expired(self, device: DeviceLogin) -> bool:
        """Return whether a request has expired."""
        return device.until <= self._now()

    def exchange(
        self, device: DeviceLogin, tokens: TokenPair, grants: OAuthGrants, extra_statements: Sequence[Statement]
    ) -> bool:
        """Store the tokens of an allowed request; return False if it is spent or expired."""

        def work(execute: Execute) -> bool:
            if not execute(_SPEND, (device.hash, self._now())):
                return False
            grants.insert(execute, tokens, device.account, device.client, device.scopes)
            write(execute, extra_statements)
            return True

        return self._in_transaction(work)


def _parse_login(row: Row) -> DeviceLogin:
    hash_, client, scopes, until, asked, pace, state, account = row
    return DeviceLogin(hash_, client, tuple(scopes.split()), until, asked, pace, state, account)
