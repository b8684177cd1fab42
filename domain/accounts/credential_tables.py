"""Common parts of sessions, personal access tokens and recovery codes.

Generated secrets have at least 130 random bits and are stored as fast hashes; passwords are stored as slow ones.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from domain.accounts.account_tables import AccountTable
from domain.errors import AccountError, StoreUnavailable
from domain.service.database import Execute, Row
from domain.service.token_text import encode_bytes, hash_secret

SCOPES = ("read", "play", "direct", "admin", "talk:read", "talk:write")
"""Scopes of a personal token; a session has all rights of its account."""

STATE = "a.id, a.role, a.state, a.until"
"""Columns of an account that `CredentialTable` expects."""

PASSWORD = "SELECT secret FROM factors WHERE account = ? AND kind = 'password'"  # noqa: S105 - a statement

_SEEN = 600_000
"""Precision (ms) of the time of last use: a write for each request would cost too much."""


@dataclass(frozen=True)
class CredentialOwner:
    """The account behind a session, personal token or grant, and the rights of that credential."""

    account: str
    role: str
    state: str
    """The current state: an expired suspension has ended."""
    credential: str
    """The id of the session or token; alone it grants no access."""
    scopes: tuple[str, ...]
    session: bool
    proved: int = 0
    """Time of the session's last password check, ms."""


class CredentialTable(AccountTable):
    """Base class of the tables of credentials."""

    def _owner(
        self, account_row: Sequence[Row], id_: str, scopes: tuple[str, ...], proved: int | None
    ) -> CredentialOwner | None:
        account, role, state, until = map(str, account_row)
        if state == "erased":
            return None
        state = effective_state(state, int(until), self._now())
        return CredentialOwner(account, role, state, id_, scopes, proved is not None, proved or 0)

    def _record_use(self, table: str, id_: str, last_use: int, now: int) -> None:
        if now - last_use >= _SEEN:
            with suppress(StoreUnavailable):  # reading goes on where nothing can be written, as on a full disk
                self._database.execute(f"UPDATE {table} SET used = ? WHERE id = ?", (now, id_))  # noqa: S608 - our names

    def _make_secret(self, prefix: str, request: tuple[str, ...]) -> tuple[str, str]:
        """Return an id, the same for the same key, and a text, the same for the same request."""
        chance = self._derive_bytes(request[:2], "credential id", 8)
        id_ = chance.hex()
        return id_, f"{prefix}_{id_}_{encode_bytes(self._derive_bytes(request, 'credential', 32))}"


def effective_state(state: str, until: int, now: int) -> str:
    """Return the current state of an account: an expired suspension counts as active."""
    return "active" if state == "suspended" and until <= now else state


def matches_hash(hashed: str, text: str) -> bool:
    """Return whether `hashed` is the hash of a secret."""
    return hmac.compare_digest(hashed, hash_secret(text))


def check_password_unchanged(execute: Execute, account: str, proof: str) -> None:
    """Raise AccountError if the stored hash is no longer the one that the password was checked against."""
    if [proof] != [secret for (secret,) in execute(PASSWORD, (account,))]:
        raise AccountError("wrong_credentials")


def reset_password(execute: Execute, account: str, after: str) -> None:
    """Store the hash of another password, and end all sessions and issued recovery codes."""
    execute("DELETE FROM factors WHERE account = ? AND kind IN ('reset', 'release')", (account,))
    execute("UPDATE factors SET secret = ? WHERE account = ? AND kind = 'password'", (after, account))
    execute("DELETE FROM sessions WHERE account = ?", (account,))


def end_tokens(execute: Execute, account: str, now: int) -> None:
    """Revoke all personal tokens of an account."""
    execute("UPDATE personal_tokens SET ended = ? WHERE account = ? AND ended = 0", (now, account))
