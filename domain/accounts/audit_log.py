"""What has happened to an account, for its owner and for administrators to read."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from domain.accounts.account_tables import DAY, Rows
from domain.service.database import Statement

KEPT = 180 * DAY
"""For how long an entry is kept, ms."""

REFUSED, WITHIN = 100, DAY
"""Guesses at an account that may fail within so many ms, wherever they come from, through all processes."""

# An account that was erased meanwhile keeps nothing; without an account stands what was said to a name that is none.
_LOG = """
INSERT INTO account_log (id, account, at, what, address, detail)
SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE id = ? AND state = 'erased')"""
_GUESSED = """
SELECT at FROM account_log WHERE account = ? AND id > ? AND what IN ('login_refused', 'factor_refused')
ORDER BY id DESC LIMIT 1 OFFSET ?"""
_SELECT = "SELECT id, account, at, what, address, detail FROM account_log WHERE id < ?"


@dataclass(frozen=True)
class Entry:
    """One thing that has happened."""

    id: str
    """Rises with time."""
    account: str
    at: int
    what: str
    address: str
    """A network, never a single address; empty for what nobody has asked for over HTTP."""
    detail: str


class Journal(Rows):
    """The audit log of accounts. May raise StoreUnavailable."""

    def entry(self, account: str, what: str, address: str = "", detail: str = "") -> list[Statement]:
        """To be written with what has happened; what is too old goes with it, whosever it is."""
        at = self._now()
        id_ = f"{at:013x}{secrets.token_hex(6)}"
        old = ("DELETE FROM account_log WHERE id < ?", (f"{at - KEPT:013x}",))
        return [old, (_LOG, (id_, account, at, what, address, detail, account))]

    def write(self, account: str, what: str, address: str = "", detail: str = "") -> None:
        """What has changed nothing else, such as a refused login."""
        self.keep(self.entry(account, what, address, detail))

    def keep(self, entry: Sequence[Statement]) -> None:
        """Write an entry by itself."""
        for statement, params in entry:
            self._database.execute(statement, params)

    def wait(self, account: str) -> float:
        """Seconds until a stranger may guess at that account again; 0 for now."""
        since = self._now() - WITHIN
        rows = self._database.execute(_GUESSED, (account, f"{since:013x}", REFUSED - 1))
        return next((max((at - since) / 1000, 0.001) for (at,) in rows), 0.0)

    def read(self, account: str = "", before: str = "", limit: int = 50) -> list[Entry]:
        """The newest entries first, of one account or of all; `before` continues a page."""
        where, params = ("", ()) if not account else (" AND account = ?", (account,))
        rows = self._database.execute(
            f"{_SELECT}{where} ORDER BY id DESC LIMIT ?",
            (before or "g", *params, limit),  # ids are hex
        )
        return [Entry(*row) for row in rows]
