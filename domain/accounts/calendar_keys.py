"""Keys of calendars: each opens the deadlines of one account, and nothing else."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence

from domain.accounts.account_tables import AccountTable, write
from domain.service.database import Execute, Statement
from domain.service.token_text import format_token, hash_secret

KEY = re.compile(r"ank_([0-9a-f]{16})_[A-Za-z0-9_-]{43}")

_SAVE = """
INSERT INTO calendar_keys VALUES (?, ?, ?, ?)
ON CONFLICT (account) DO UPDATE SET id = excluded.id, hash = excluded.hash, made = excluded.made"""
_OWNER = """
SELECT k.account, k.hash FROM calendar_keys k JOIN accounts a ON a.id = k.account
WHERE k.id = ? AND a.state <> 'banned' AND a.state <> 'erased'"""


class CalendarKeys(AccountTable):
    """The table of calendar keys, one for each account. Every method may raise StoreUnavailable."""

    def find_account(self, key: str) -> str | None:
        """Return the account of a key, or None for an invalid one."""
        match = KEY.fullmatch(key)
        rows = self._database.execute(_OWNER, (match[1],)) if match else []
        return next((str(account) for account, kept in rows if hmac.compare_digest(kept, hash_secret(key))), None)

    def find_time(self, account: str) -> int | None:
        """Return the creation time (ms) of an account's key, or None without one."""
        rows = self._database.execute("SELECT made FROM calendar_keys WHERE account = ?", (account,))
        return int(rows[0][0]) if rows else None

    def issue(self, account: str, extra_statements: Sequence[Statement]) -> str:
        """Store a random key in place of the account's previous one; return it.

        A repeated request makes another one: a derived one could come back after its revocation.
        """
        id_, key = format_token("ank", secrets.token_bytes(40))
        row = (account, id_, hash_secret(key), self._now())
        self._for_account(account, lambda execute: write(execute, [(_SAVE, row), *extra_statements]))
        return key

    def revoke(self, account: str, extra_statements: Sequence[Statement]) -> bool:
        """Delete the account's key; return whether there was one."""

        def work(execute: Execute) -> bool:
            if not execute("SELECT 1 FROM calendar_keys WHERE account = ?", (account,)):
                return False
            write(execute, [("DELETE FROM calendar_keys WHERE account = ?", (account,)), *extra_statements])
            return True

        return self._in_transaction(work)
