"""Requests of devices that have no browser: a code that a person types elsewhere, to allow what is asked (RFC 8628)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.accounts.account_tables import Rows, digest, encoded, write
from domain.accounts.oauth_grants import Grants, Tokens
from domain.service.database import Execute, Row, Statement

SECONDS = 900
"""For how long a code may be typed, and its answer fetched."""

PACE = 5
"""Seconds between two questions of a device; and by how much it is slowed for each that comes too soon."""

_SIGNS = "BCDFGHJKLMNPQRSTVWXZ"
"""Letters that make no words and are not mistaken for each other: eight of them are 34 bits."""

TABLES = (
    # `code` is a keyed hash of what people type; `asked` when the device asked last, ms.
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
class Device:
    """What a device asks for."""

    hash: str
    client: str
    scopes: tuple[str, ...]
    until: int
    asked: int
    pace: int
    """Seconds that it has to leave between two questions."""
    state: str
    """`open`, `allowed`, `refused`, or `spent`."""
    account: str
    """Who has answered."""
    hasty: bool = False
    """Whether its last question came too soon."""


class Devices(Rows):
    """May raise StoreUnavailable."""

    def ask(self, client: str, scopes: Sequence[str]) -> tuple[str, str]:
        """The device's code, and the one that a person types."""
        text, now = f"ank_{encoded(secrets.token_bytes(32))}", self._now()
        signs = "".join(secrets.choice(_SIGNS) for _ in range(8))
        row = (digest(text), self._code(signs), client, " ".join(scopes), now + SECONDS * 1000, 0, PACE, "open", "")
        old: Statement = ("DELETE FROM oauth_devices WHERE until < ?", (now - SECONDS * 1000,))
        made: Statement = ("INSERT INTO oauth_devices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._together(lambda execute: write(execute, [old, made]))
        return text, f"{signs[:4]}-{signs[4:]}"

    def typed(self, code: str) -> Device | None:
        """What is asked for by that code, and not answered yet."""
        rows = self._database.execute(
            f"{_SELECT}code = ? AND state = 'open' AND until > ?", (self._code(code), self._now())
        )
        return next(map(_device, rows), None)

    def _code(self, code: str) -> str:
        return self._mark("device code", "".join(c for c in code.upper() if c in _SIGNS))

    def answer(
        self,
        device: Device,
        account: str,
        scopes: Sequence[str],
        beside: Sequence[Statement],
        *,
        allowed: bool,
        session: str = "",
    ) -> bool:
        """What a person says to it; False if it was answered, or too late."""
        state = "allowed" if allowed else "refused"

        def work(execute: Execute) -> bool:
            if not execute(_ANSWER, (state, account, " ".join(scopes), device.hash, self._now())):
                return False
            write(execute, beside)
            return True

        return self._on(account, work, session)

    def poll(self, text: str) -> Device | None:
        """What has become of a device's request; one that asks too soon is slowed down."""
        now = self._now()

        def work(execute: Execute) -> Device | None:
            for row in execute(f"{_SELECT}hash = ?", (digest(text),)):
                found = _device(row)
                hasty = now - found.asked < found.pace * 1000
                pace = found.pace + PACE if hasty else found.pace
                execute("UPDATE oauth_devices SET asked = ?, pace = ? WHERE hash = ?", (now, pace, found.hash))
                return replace(found, hasty=hasty, pace=pace)
            return None

        return self._together(work)

    def expired(self, device: Device) -> bool:
        """Whether it is too late."""
        return device.until <= self._now()

    def exchange(self, device: Device, made: Tokens, grants: Grants, beside: Sequence[Statement]) -> bool:
        """The tokens for what was allowed, once."""

        def work(execute: Execute) -> bool:
            if not execute(_SPEND, (device.hash, self._now())):
                return False
            grants.begin(execute, made, device.account, device.client, device.scopes)
            write(execute, beside)
            return True

        return self._together(work)


def _device(row: Row) -> Device:
    hash_, client, scopes, until, asked, pace, state, account = row
    return Device(hash_, client, tuple(scopes.split()), until, asked, pace, state, account)
