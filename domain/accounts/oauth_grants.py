"""Grants: what a person has allowed a client, and the codes and tokens by which the client makes use of it.

A grant is one row, however long it is used: its access token and its refresh token are the newest ones. An older
refresh token is known by its seal, which nobody else can make; who shows one has stolen it, or was robbed.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from domain.accounts.account_tables import DAY, Rows, checksum, digest, encoded, write
from domain.accounts.credentials import Holder, settled
from domain.errors import StoreUnavailable
from domain.service.database import Execute, Row, Statement

CODE_MS = 60_000
"""How long a code may be exchanged, ms."""

ACCESS_SECONDS = 3600
"""How long an access token lasts."""

REFRESH, LONGEST = 30 * DAY, 365 * DAY
"""How long a grant lasts that nobody uses, and at most, ms."""

MOST_GRANTS = 100

_KEPT = DAY
"""For how long a code that was exchanged is known again, ms."""

_SEEN = 600_000

TABLES = (
    # `access` and `refresh` are hashes; `allowed` is for what the access token is, which may be less than the grant.
    """CREATE TABLE IF NOT EXISTS oauth_grants (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, client TEXT NOT NULL, scopes TEXT NOT NULL, made BIGINT NOT NULL,
  used BIGINT NOT NULL, access TEXT NOT NULL, allowed TEXT NOT NULL, access_until BIGINT NOT NULL,
  refresh TEXT NOT NULL, until BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS oauth_grants_account ON oauth_grants (account)",
    "CREATE INDEX IF NOT EXISTS oauth_grants_client ON oauth_grants (client)",
    """CREATE TABLE IF NOT EXISTS oauth_codes (
  hash TEXT PRIMARY KEY, account TEXT NOT NULL, client TEXT NOT NULL, scopes TEXT NOT NULL, redirect TEXT NOT NULL,
  challenge TEXT NOT NULL, until BIGINT NOT NULL, given TEXT NOT NULL)""",
)

_ACCESS = re.compile(r"(ano_([0-9a-f]{16})_[A-Za-z0-9_-]{43})([0-9a-f]{8})")
_REFRESH = re.compile(r"(anr_([0-9a-f]{16})_([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{22}))([0-9a-f]{8})")

_HOLDER = """
SELECT g.access, g.allowed, g.access_until, g.used, a.id, a.role, a.state, a.until FROM oauth_grants g
JOIN accounts a ON a.id = g.account JOIN oauth_clients c ON c.id = g.client AND c.ended = 0 WHERE g.id = ?"""
_LIST = """
SELECT g.id, c.id, c.name, g.scopes, g.made, g.used, g.until FROM oauth_grants g
JOIN oauth_clients c ON c.id = g.client AND c.ended = 0 WHERE g.account = ? AND g.until > ? ORDER BY g.made, g.id"""
_BEGIN = "INSERT INTO oauth_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SURPLUS = """
DELETE FROM oauth_grants WHERE account = ? AND id NOT IN (
  SELECT id FROM oauth_grants WHERE account = ? AND until > ? ORDER BY used DESC, id LIMIT ?)"""
_SPEND = "UPDATE oauth_codes SET given = ? WHERE hash = ? AND given = '' AND until > ? RETURNING hash"
_TURN = """
UPDATE oauth_grants SET access = ?, allowed = ?, access_until = ?, refresh = ?, until = ?, used = ?
WHERE id = ? AND refresh = ? AND until > ? RETURNING id"""


@dataclass(frozen=True)
class Grant:
    """What a person has allowed a client."""

    id: str
    client: str
    name: str
    """The client's."""
    scopes: tuple[str, ...]
    made: int
    used: int
    """To within ten minutes, ms."""
    until: int
    """When it ends unless it is used, ms."""


@dataclass(frozen=True)
class Offer:
    """What a code stands for."""

    hash: str
    account: str
    client: str
    scopes: tuple[str, ...]
    redirect: str
    challenge: str


@dataclass(frozen=True)
class Tokens:
    """The two tokens of a grant; shown in one answer alone."""

    grant: str
    access: str = field(repr=False)
    refresh: str = field(repr=False)


@dataclass(frozen=True)
class Turn:
    """A refresh token that may be exchanged."""

    grant: str
    hash: str
    account: str
    client: str
    scopes: tuple[str, ...]
    made: int


@dataclass(frozen=True)
class Reused:
    """A code or refresh token that was exchanged before: the grant that it gave must end."""

    account: str
    grant: str


class Grants(Rows):
    """May raise StoreUnavailable."""

    # --- who asks

    def holder(self, text: str) -> Holder | None:
        """Who shows this access token; None for one that opens nothing, or nothing any more."""
        found = _ACCESS.fullmatch(text)
        return self._holding(found[2], text) if found and checksum(found[1]) == found[3] else None

    def alive(self, grant: str) -> bool:
        """Whether the newest access token of a grant lets anybody in; long streams ask now and then."""
        found = self._holding(grant)
        return found is not None and found.state != "banned"

    def _holding(self, grant: str, text: str | None = None) -> Holder | None:
        now = self._now()
        for access, allowed, until, used, account, role, state, ends in self._database.execute(_HOLDER, (grant,)):
            if until > now and (text is None or hmac.compare_digest(access, digest(text))) and state != "erased":
                self._seen(grant, used, now)
                return Holder(account, role, settled(state, ends, now), grant, tuple(allowed.split()), session=False)
        return None

    def _seen(self, grant: str, used: int, now: int) -> None:
        if now - used >= _SEEN:
            with suppress(StoreUnavailable):  # where nothing can be written, as on a full disk, reading goes on
                self._database.execute("UPDATE oauth_grants SET used = ? WHERE id = ?", (now, grant))

    # --- codes

    def code(self) -> str:
        """A code that stands for nothing before it is offered."""
        return f"anq_{encoded(secrets.token_bytes(32))}"

    def offer(
        self,
        code: str,
        account: str,
        client: str,
        scopes: Sequence[str],
        redirect: str,
        challenge: str,
        beside: Sequence[Statement] = (),
        session: str = "",
    ) -> None:
        """From now on the code stands for what the person has just allowed."""
        now = self._now()
        row = (digest(code), account, client, " ".join(scopes), redirect, challenge, now + CODE_MS, "")
        gone = "DELETE FROM oauth_codes WHERE (given = '' AND until < ?) OR until < ?"
        old: Statement = (gone, (now, now - _KEPT))
        made: Statement = ("INSERT INTO oauth_codes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._on(account, lambda execute: write(execute, [old, made, *beside]), session)

    def offered(self, code: str, client: str) -> Offer | Reused | None:
        """What a client's code stands for."""
        statement = (
            "SELECT account, scopes, redirect, challenge, until, given FROM oauth_codes WHERE hash = ? AND client = ?"
        )
        for account, scopes, redirect, challenge, until, given in self._database.execute(
            statement, (digest(code), client)
        ):
            if given:
                return Reused(account, given)
            if until > self._now():
                return Offer(digest(code), account, client, tuple(scopes.split()), redirect, challenge)
        return None

    # --- tokens

    def tokens(self, grant: str = "") -> Tokens:
        """Two tokens that open nothing before they are given; of a new grant unless one is named."""
        grant = grant or secrets.token_hex(8)
        access = f"ano_{grant}_{encoded(secrets.token_bytes(32))}"
        chance = encoded(secrets.token_bytes(16))
        refresh = f"anr_{grant}_{chance}{self._seal(grant, chance)}"
        return Tokens(grant, access + checksum(access), refresh + checksum(refresh))

    def _seal(self, grant: str, chance: str) -> str:
        return encoded(bytes.fromhex(self._mark("refresh", grant, chance))[:16])

    def exchange(self, offer: Offer, made: Tokens, beside: Sequence[Statement]) -> bool:
        """The tokens for a code; False for one that was exchanged meanwhile, and then what it gave has ended."""

        def work(execute: Execute) -> bool:
            if execute(_SPEND, (made.grant, offer.hash, self._now())):
                self.begin(execute, made, offer.account, offer.client, offer.scopes)
                write(execute, beside)
                return True
            for (given,) in execute("SELECT given FROM oauth_codes WHERE hash = ?", (offer.hash,)):
                execute("DELETE FROM oauth_grants WHERE id = ?", (given,))
            return False

        return self._together(work)

    def begin(self, execute: Execute, made: Tokens, account: str, client: str, scopes: Sequence[str]) -> None:
        """In a transaction that is going on: a grant with these tokens. Of too many the one used longest ago ends."""
        now, said = self._now(), " ".join(scopes)
        row = (made.grant, account, client, said, now, now, digest(made.access), said, now + ACCESS_SECONDS * 1000)
        execute(_BEGIN, (*row, digest(made.refresh), now + REFRESH))
        execute(_SURPLUS, (account, account, now, MOST_GRANTS))

    def turn(self, refresh: str) -> Turn | Reused | None:
        """What may be exchanged for a refresh token."""
        found = _REFRESH.fullmatch(refresh)
        if found is None or checksum(found[1]) != found[5]:
            return None
        statement = "SELECT refresh, account, client, scopes, made, until FROM oauth_grants WHERE id = ?"
        for kept, account, client, scopes, made, until in self._database.execute(statement, (found[2],)):
            if hmac.compare_digest(kept, digest(refresh)):
                return (
                    Turn(found[2], kept, account, client, tuple(scopes.split()), made) if until > self._now() else None
                )
            if hmac.compare_digest(found[4], self._seal(found[2], found[3])):
                return Reused(account, found[2])
        return None

    def exchange_turn(self, turn: Turn, made: Tokens, scopes: Sequence[str]) -> bool:
        """The next tokens of a grant; False, and the grant has ended, if somebody was faster with the same one."""
        now = self._now()
        until = min(now + REFRESH, turn.made + LONGEST)
        last = min(now + ACCESS_SECONDS * 1000, until)
        row = (
            digest(made.access),
            " ".join(scopes),
            last,
            digest(made.refresh),
            until,
            now,
            turn.grant,
            turn.hash,
            now,
        )

        def work(execute: Execute) -> bool:
            if execute(_TURN, row):
                return True
            execute("DELETE FROM oauth_grants WHERE id = ?", (turn.grant,))
            return False

        return self._together(work)

    # --- what was allowed

    def of(self, account: str) -> list[Grant]:
        """All that a person has allowed, the oldest first."""
        rows = self._database.execute(_LIST, (account, self._now()))
        return [_grant(row) for row in rows]

    def end(self, account: str, grant: str) -> bool:
        """It is allowed no more; whether it was."""
        statement = "DELETE FROM oauth_grants WHERE account = ? AND id = ? RETURNING id"
        return bool(self._database.execute(statement, (account, grant)))

    def revoke(self, text: str, client: str) -> None:
        """What a client gives back: with its refresh token the grant, with an access token that token."""
        if found := _ACCESS.fullmatch(text):
            statement = "UPDATE oauth_grants SET access_until = 0 WHERE id = ? AND access = ? AND client = ?"
            self._database.execute(statement, (found[2], digest(text), client))
        elif isinstance(turn := self.turn(text), Turn) and turn.client == client:
            self.end(turn.account, turn.grant)


def ended(account: str) -> list[Statement]:
    """To be written with what ends all that a person has allowed."""
    return [
        ("DELETE FROM oauth_grants WHERE account = ?", (account,)),
        ("DELETE FROM oauth_codes WHERE account = ?", (account,)),
        ("DELETE FROM oauth_devices WHERE account = ?", (account,)),
    ]


def _grant(row: Row) -> Grant:
    id_, client, name, scopes, made, used, until = row
    return Grant(id_, client, name, tuple(scopes.split()), made, used, until)
