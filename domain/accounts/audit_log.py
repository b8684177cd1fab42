"""The audit log of accounts, for their owners and for administrators."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from domain.accounts.account_tables import DAY, AccountTable
from domain.service.database import Statement

KEPT = 180 * DAY
"""Lifetime of an entry, ms."""

MOST_REFUSED, WITHIN = 100, DAY
"""Failed guesses at one account within so many ms, from any address and in all processes."""

# An account erased meanwhile keeps no entry; entries without an account concern unknown names.
_LOG = """
INSERT INTO account_log (id, account, at, what, address, detail)
SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE id = ? AND state = 'erased')"""
_GUESSED = """
SELECT at FROM account_log WHERE account = ? AND id > ? AND what IN ('login_refused', 'factor_refused')
ORDER BY id DESC LIMIT 1 OFFSET ?"""
_SELECT = "SELECT id, account, at, what, address, detail FROM account_log WHERE id < ?"


@dataclass(frozen=True)
class AuditEntry:
    """One event of an account."""

    id: str
    """Rises with time."""
    account: str
    at: int
    what: str
    address: str
    """A network, never a single address; empty for events without an HTTP request."""
    detail: str


class AuditLog(AccountTable):
    """The audit log of accounts. Every method may raise StoreUnavailable."""

    def make_entry(self, account: str, what: str, address: str = "", detail: str = "") -> list[Statement]:
        """Return statements that store an entry, and delete expired entries of all accounts."""
        at = self._now()
        id_ = f"{at:013x}{secrets.token_hex(6)}"
        old = ("DELETE FROM account_log WHERE id < ?", (f"{at - KEPT:013x}",))
        return [old, (_LOG, (id_, account, at, what, address, detail, account))]

    def record(self, account: str, what: str, address: str = "", detail: str = "") -> None:
        """Store an entry for an event without other writes, such as a refused login."""
        self.store(self.make_entry(account, what, address, detail))

    def store(self, entry: Sequence[Statement]) -> None:
        """Run the statements of an entry."""
        for statement, params in entry:
            self._database.execute(statement, params)

    def guess_delay(self, account: str) -> float:
        """Return the seconds until strangers may guess at an account again, 0 for now."""
        since = self._now() - WITHIN
        rows = self._database.execute(_GUESSED, (account, f"{since:013x}", MOST_REFUSED - 1))
        return next((max((at - since) / 1000, 0.001) for (at,) in rows), 0.0)

    def list_entries(self, account: str = "", before: str = "", limit: int = 50) -> list[AuditEntry]:
        """Return entries of one account or of all, newest first; `before` continues a page."""
        where, params = ("", ()) if not account else (" AND account = ?", (account,))
        rows = self._database.execute(
            f"{_SELECT}{where} ORDER BY id DESC LIMIT ?",
            (before or "g", *params, limit),  # ids are hex
        )
        return [AuditEntry(*row) for row in rows]
