"""Sessions of logged-in devices, and tokens by which an account recognises its devices."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from domain.accounts.account_tables import DAY, write
from domain.accounts.credential_tables import (
    SCOPES,
    STATE,
    CredentialOwner,
    CredentialTable,
    check_password_unchanged,
    matches_hash,
)
from domain.errors import AccountError
from domain.service.database import Execute, Statement
from domain.service.token_text import encode_bytes, hash_secret

IDLE, ABSOLUTE = 14 * DAY, 90 * DAY
"""Lifetime (ms) of an unused session, and of any session."""

FRESH = 600_000
"""Time (ms) after a password check in which a session may do dangerous operations."""

MOST_SESSIONS = 50

_SESSION = re.compile(r"ans_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_DEVICE = re.compile(r"and_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")

_BY_SESSION = f"""
SELECT s.hash, s.made, s.proved, s.used, {STATE} FROM sessions s JOIN accounts a ON a.id = s.account
WHERE s.id = ?"""  # noqa: S608 - our own names
_SECOND = "SELECT 1 FROM factors WHERE account = ? AND kind IN ('totp', 'passkey')"
_ALONE = (("password",), ("recovery",))
"""Factors that are insufficient for an account with a second factor, which may have been added a moment ago."""

_START = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SURPLUS = """
DELETE FROM sessions WHERE account = ? AND id NOT IN (
  SELECT id FROM sessions WHERE account = ? AND used > ? AND made > ? ORDER BY used DESC LIMIT ?)"""


@dataclass(frozen=True)
class Session:
    """A device that is logged in."""

    id: str
    label: str
    factors: tuple[str, ...]
    family: str
    """Family of the address that started the session: `ipv4` or `ipv6`."""
    made: int
    used: int
    """Time of last use, to within ten minutes, ms."""


@dataclass(frozen=True)
class SessionRequest:
    """A request for a session."""

    account: str
    label: str = ""
    factors: tuple[str, ...] = ("password",)
    family: str = ""
    request: tuple[str, ...] = field(default=(), repr=False)
    """Key and contents of a repeatable request; empty for any other."""
    is_proved: bool = True
    """The password has been checked just now."""


class Sessions(CredentialTable):
    """The table of sessions. Every method may raise StoreUnavailable."""

    def find_owner(self, text: str) -> CredentialOwner | None:
        """Return the owner of a session's token, or None for an invalid one."""
        match = _SESSION.fullmatch(text)
        return self.find_owner_by_id(match[1], text) if match else None

    def find_owner_by_id(self, id_: str, text: str | None = None) -> CredentialOwner | None:
        """Return the owner of an open session with that id and, if given, that token."""
        now = self._now()
        for kept, made, proved, used, *account_row in self._database.execute(_BY_SESSION, (id_,)):
            if (text is None or matches_hash(kept, text)) and made + ABSOLUTE > now and used + IDLE > now:
                self._record_use("sessions", id_, used, now)
                return self._owner(account_row, id_, SCOPES, proved)
        return None

    def start(self, session: SessionRequest, proof: str, extra_statements: Sequence[Statement]) -> str:
        """Start a session after a password check against the hash `proof`; return its token.

        Raises AccountError if the password has changed meanwhile, or if a required second factor is missing.
        """
        text, row = self.make_first(session)
        now = self._now()

        def work(execute: Execute) -> None:
            check_password_unchanged(execute, session.account, proof)
            if session.factors in _ALONE and execute(_SECOND, (session.account,)):
                raise AccountError("second_factor_required")
            write(execute, row)
            execute(_SURPLUS, (session.account, session.account, now - IDLE, now - ABSOLUTE, MOST_SESSIONS))
            write(execute, extra_statements)

        self._in_transaction(work)
        return text

    def make_first(self, session: SessionRequest) -> tuple[str, list[Statement]]:
        """Return the token of a new account's first session, and statements that store it."""
        id_, text = self._make_secret("ans", session.request)
        now = self._now()
        row = (
            id_,
            hash_secret(text),
            session.account,
            session.label,
            json.dumps(session.factors),
            session.family,
            now,
            now if session.is_proved else 0,
            now,
        )
        return text, [(_START, row)]

    def renew(self, session: str) -> str:
        """Record a password check of this moment; return the session's new token, which replaces the old one.

        Returns an empty text for a session that has ended meanwhile.
        """
        text = f"ans_{session}_{encode_bytes(self._derive_bytes((), 'ans', 32))}"
        renewed = "UPDATE sessions SET hash = ?, proved = ? WHERE id = ? RETURNING id"
        return text if self._database.execute(renewed, (hash_secret(text), self._now(), session)) else ""

    def list_sessions(self, account: str) -> list[Session]:
        """Return the open sessions of an account, last used first."""
        now = self._now()
        rows = self._database.execute(
            "SELECT id, label, factors, family, made, used FROM sessions"
            " WHERE account = ? AND used > ? AND made > ? ORDER BY used DESC, id",
            (account, now - IDLE, now - ABSOLUTE),
        )
        return [
            Session(i, label, tuple(json.loads(fs)), family, made, used) for i, label, fs, family, made, used in rows
        ]

    def end(self, account: str, session: str = "") -> bool:
        """End one session of an account, or all; return whether there was any."""
        where, params = (" AND id = ?", (account, session)) if session else ("", (account,))
        return bool(self._database.execute(f"DELETE FROM sessions WHERE account = ?{where} RETURNING id", params))  # noqa: S608 - our own words

    # --- devices

    def make_device_token(self, account: str, *request: str) -> str:
        """Return a token that a device stores to be recognised: failed logins of strangers do not slow it down.

        It grants no access.
        """
        nonce = self._derive_bytes(request, "device", 8).hex()
        return f"and_{nonce}_{self._seal(account, nonce)}"

    def find_device(self, account: str, device: str) -> str:
        """Return the id of a device token of this account, or an empty text."""
        match = _DEVICE.fullmatch(device)
        return match[1] if match and hmac.compare_digest(match[2], self._seal(account, match[1])) else ""

    def _seal(self, account: str, nonce: str) -> str:
        return encode_bytes(bytes.fromhex(self._keyed_hash("device", account, nonce)))
