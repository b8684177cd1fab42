"""Tickets and cookies that open event streams, for clients without an Authorization header."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import replace

from domain.service.database import Database
from domain.service.principals import Principal
from domain.service.token_text import format_token, hash_secret

TICKET_SECONDS = 60
"""Lifetime of a ticket."""

COOKIE_SECONDS = 900
"""Lifetime of a cookie."""

TABLES = (
    "CREATE TABLE IF NOT EXISTS tickets (id TEXT PRIMARY KEY, hash TEXT NOT NULL, token TEXT NOT NULL, until BIGINT)",
    """CREATE TABLE IF NOT EXISTS streams (
  hash TEXT PRIMARY KEY, token TEXT NOT NULL, browser TEXT NOT NULL, until BIGINT)""",
)
_COOKIE = re.compile(r"anc_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_TICKET = re.compile(r"ant_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_REDEEM = "DELETE FROM tickets WHERE id = ? RETURNING hash, token, until"
_OPENED = "INSERT INTO streams (hash, token, browser, until) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
_AGAIN = "SELECT token, browser, until FROM streams WHERE hash = ?"


class StreamTickets:
    """Tables of tickets, cookies and opened streams. Every method may raise StoreUnavailable.

    `find_principal` returns the principal of a token's id, `now` returns seconds since 1970.
    """

    def __init__(
        self, database: Database, find_principal: Callable[[str], Principal | None], now: Callable[[], int]
    ) -> None:
        self._database, self._find_principal, self._now = database, find_principal, now

    def issue_ticket(self, principal: Principal) -> str:
        """Return a ticket that opens one stream within a minute."""
        return self._issue("ant", principal, TICKET_SECONDS)

    def issue_cookie(self, principal: Principal) -> str:
        """Return a cookie that opens any number of streams for 15 minutes, for the service's own pages."""
        return self._issue("anc", principal, COOKIE_SECONDS)

    def _issue(self, prefix: str, principal: Principal, seconds: int) -> str:
        id_, text = format_token(prefix, secrets.token_bytes(40))
        now = self._now()
        self._database.execute("DELETE FROM tickets WHERE until < ?", (now,))
        row = (id_, hash_secret(text), _owner_entry(principal), now + seconds)
        self._database.execute("INSERT INTO tickets VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
        return text

    def find_cookie_owner(self, cookie: str) -> Principal | None:
        """Return the principal that asked for a cookie; None if it has expired or was revoked, or its token was."""
        match = _COOKIE.fullmatch(cookie)
        rows = "SELECT hash, token, until FROM tickets WHERE id = ?"
        for kept, entry, until in self._database.execute(rows, (match[1],)) if match else ():
            if hmac.compare_digest(kept, hash_secret(cookie)) and self._now() <= until:
                return self._find_owner(entry)
        return None

    def revoke(self, principal: Principal) -> None:
        """Revoke all tickets and cookies of the principal's token."""
        for table in ("tickets", "streams"):
            self._database.execute(f"DELETE FROM {table} WHERE token = ?", (_owner_entry(principal),))  # noqa: S608 - our names

    def redeem(self, ticket: str, browser: str = "", *, again: bool = False) -> Principal | None:
        """Return the principal that asked for a ticket; None if it is used or expired, or its token was revoked.

        With `again` a stream that broke is opened once more, by the same browser (its address and kind).
        """
        match, now = _TICKET.fullmatch(ticket), self._now()
        hashed, browser_hash = hash_secret(ticket), hash_secret(browser)
        for kept, entry, until in self._database.execute(_REDEEM, (match[1],)) if match else ():
            if hmac.compare_digest(kept, hashed) and now <= until:
                self._database.execute("DELETE FROM streams WHERE until < ?", (now,))
                self._database.execute(_OPENED, (kept, entry, browser_hash, now + COOKIE_SECONDS))
                return self._find_owner(entry)
        for entry, opener, until in self._database.execute(_AGAIN, (hashed,)) if again else ():
            if hmac.compare_digest(opener, browser_hash) and now <= until:
                return self._find_owner(entry)
        return None

    def _find_owner(self, entry: str) -> Principal | None:
        """Return the principal of a stored entry while its token is valid; the session of an account may have ended."""
        token, account, credential = (*entry.split(" "), "", "")[:3]
        principal = self._find_principal(token)
        if principal is None or (principal.claimed and not account):
            return None
        return replace(principal, account=account, credential=credential)


def _owner_entry(principal: Principal) -> str:
    """Return the stored form of a ticket's owner: token, account and credential."""
    return " ".join(filter(None, (principal.token, principal.account, principal.credential)))
