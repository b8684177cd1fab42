"""OAuth grants: permissions that people give to clients, with their codes and tokens.

A grant is one row for its whole life, with its newest access and refresh tokens. The tokens of a refresh are derived
from the refresh token, so its repetition within `REPEAT_MS` gets them again. An older refresh token is recognised by
its seal, which only the service can make; its later use means theft, by the user or of it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from domain.accounts.account_tables import DAY, AccountTable, checksum, write
from domain.accounts.credential_tables import CredentialOwner, effective_state
from domain.errors import StoreUnavailable
from domain.service.database import Execute, Row, Statement
from domain.service.token_text import encode_bytes, hash_secret

CODE_MS = 60_000
"""Lifetime of an authorization code, ms."""

ACCESS_SECONDS = 3600
"""Lifetime of an access token."""

REFRESH, LONGEST = 30 * DAY, 365 * DAY
"""Lifetime of an unused grant, and of any grant, ms."""

REPEAT_MS = 30_000
"""Time (ms) after the first use of a refresh token in which its client may repeat it."""

MOST_GRANTS = 100

_KEPT = DAY
"""Time (ms) for which an exchanged code is recognised."""

_SEEN = 600_000

TABLES = (
    # `access` and `refresh` are hashes; `allowed` are the access token's scopes, at most the grant's.
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
_REPEATED = "SELECT allowed, access_until FROM oauth_grants WHERE id = ? AND refresh = ? AND until > ?"
_TURN = """
UPDATE oauth_grants SET access = ?, allowed = ?, access_until = ?, refresh = ?, until = ?, used = ?
WHERE id = ? AND refresh = ? AND until > ? RETURNING id"""


@dataclass(frozen=True)
class OAuthGrant:
    """A permission that a person gave to a client."""

    id: str
    client: str
    name: str
    """The client's name."""
    scopes: tuple[str, ...]
    made: int
    used: int
    """Time of last use, to within ten minutes, ms."""
    until: int
    """End of the grant unless it is used, ms."""


@dataclass(frozen=True)
class AuthorizationCode:
    """The permission behind an authorization code."""

    hash: str
    account: str
    client: str
    scopes: tuple[str, ...]
    redirect: str
    challenge: str


@dataclass(frozen=True)
class TokenPair:
    """The two tokens of a grant; only one response shows them."""

    grant: str
    access: str = field(repr=False)
    refresh: str = field(repr=False)


@dataclass(frozen=True)
class RefreshToken:
    """A refresh token that may be exchanged."""

    grant: str
    text: str = field(repr=False)
    account: str
    client: str
    scopes: tuple[str, ...]
    made: int


@dataclass(frozen=True)
class RenewedTokens:
    """The tokens that a refresh gives, the same for its repetition."""

    tokens: TokenPair
    scopes: tuple[str, ...]
    """Scopes of the access token."""
    seconds: int
    """Remaining lifetime of the access token."""


@dataclass(frozen=True)
class ReusedCredential:
    """A code or refresh token that was exchanged before: its grant must end."""

    account: str
    grant: str


class OAuthGrants(AccountTable):
    """The tables of grants and codes. Every method may raise StoreUnavailable."""

    # --- who asks

    def find_owner(self, text: str) -> CredentialOwner | None:
        """Return the owner of an access token, or None for an invalid one."""
        match = _ACCESS.fullmatch(text)
        return self._find_owner(match[2], text) if match and checksum(match[1]) == match[3] else None

    def is_alive(self, grant: str) -> bool:
        """Return whether the newest access token of a grant is valid; long streams check it now and then."""
        owner = self._find_owner(grant)
        return owner is not None and owner.state != "banned"

    def _find_owner(self, grant: str, text: str | None = None) -> CredentialOwner | None:
        now = self._now()
        for access, allowed, until, used, account, role, state, ends in self._database.execute(_HOLDER, (grant,)):
            if until > now and (text is None or hmac.compare_digest(access, hash_secret(text))) and state != "erased":
                self._record_use(grant, used, now)
                return CredentialOwner(
                    account, role, effective_state(state, ends, now), grant, tuple(allowed.split()), session=False
                )
        return None

    def _record_use(self, grant: str, last_use: int, now: int) -> None:
        if now - last_use >= _SEEN:
            with suppress(StoreUnavailable):  # reading goes on where nothing can be written, as on a full disk
                self._database.execute("UPDATE oauth_grants SET used = ? WHERE id = ?", (now, grant))

    # --- codes

    def make_code(self) -> str:
        """Return a random authorization code, not stored yet."""
        return f"anq_{encode_bytes(secrets.token_bytes(32))}"

    def store_code(
        self,
        code: str,
        account: str,
        client: str,
        scopes: Sequence[str],
        redirect: str,
        challenge: str,
        extra_statements: Sequence[Statement] = (),
        session: str = "",
    ) -> None:
        """Store a code for the permission just given."""
        now = self._now()
        row = (hash_secret(code), account, client, " ".join(scopes), redirect, challenge, now + CODE_MS, "")
        statement = "DELETE FROM oauth_codes WHERE (given = '' AND until < ?) OR until < ?"
        old: Statement = (statement, (now, now - _KEPT))
        new: Statement = ("INSERT INTO oauth_codes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._for_account(account, lambda execute: write(execute, [old, new, *extra_statements]), session)

    def find_code(self, code: str, client: str) -> AuthorizationCode | ReusedCredential | None:
        """Return the permission behind a client's code, or its earlier exchange."""
        statement = (
            "SELECT account, scopes, redirect, challenge, until, given FROM oauth_codes WHERE hash = ? AND client = ?"
        )
        for account, scopes, redirect, challenge, until, given in self._database.execute(
            statement, (hash_secret(code), client)
        ):
            if given:
                return ReusedCredential(account, given)
            if until > self._now():
                return AuthorizationCode(hash_secret(code), account, client, tuple(scopes.split()), redirect, challenge)
        return None

    # --- tokens

    def make_tokens(self) -> TokenPair:
        """Return two random tokens of a new grant, not stored yet."""
        return self._format_tokens(secrets.token_hex(8), secrets.token_bytes(48))

    def _derive_tokens(self, refresh: RefreshToken) -> TokenPair:
        """Return the tokens that a refresh token gives. Neither it nor the key alone is enough to derive them."""
        return self._format_tokens(refresh.grant, self._derive_bytes((refresh.text,), "refreshed tokens", 48))

    def _format_tokens(self, grant: str, secret: bytes) -> TokenPair:
        """Return the two tokens of a grant from 48 secret bytes."""
        access, chance = f"ano_{grant}_{encode_bytes(secret[:32])}", encode_bytes(secret[32:])
        refresh = f"anr_{grant}_{chance}{self._seal(grant, chance)}"
        return TokenPair(grant, access + checksum(access), refresh + checksum(refresh))

    def _seal(self, grant: str, chance: str) -> str:
        return encode_bytes(bytes.fromhex(self._keyed_hash("refresh", grant, chance))[:16])

    def exchange_code(self, offer: AuthorizationCode, tokens: TokenPair, extra_statements: Sequence[Statement]) -> bool:
        """Store the tokens for a code; return False, and end its grant, if it was exchanged meanwhile."""

        def work(execute: Execute) -> bool:
            if execute(_SPEND, (tokens.grant, offer.hash, self._now())):
                self.insert(execute, tokens, offer.account, offer.client, offer.scopes)
                write(execute, extra_statements)
                return True
            for (grant,) in execute("SELECT given FROM oauth_codes WHERE hash = ?", (offer.hash,)):
                execute("DELETE FROM oauth_grants WHERE id = ?", (grant,))
            return False

        return self._in_transaction(work)

    def insert(self, execute: Execute, tokens: TokenPair, account: str, client: str, scopes: Sequence[str]) -> None:
        """Store a grant with these tokens in an open transaction; of too many grants the least recently used ends."""
        now, scope_text = self._now(), " ".join(scopes)
        row = (
            tokens.grant,
            account,
            client,
            scope_text,
            now,
            now,
            hash_secret(tokens.access),
            scope_text,
            now + ACCESS_SECONDS * 1000,
        )
        execute(_BEGIN, (*row, hash_secret(tokens.refresh), now + REFRESH))
        execute(_SURPLUS, (account, account, now, MOST_GRANTS))

    def find_refresh_token(self, text: str, client: str) -> RefreshToken | ReusedCredential | None:
        """Return a refresh token to exchange, or its earlier exchange.

        A used token may be exchanged again by its client within `REPEAT_MS`, while its successor is unused.
        """
        match = _REFRESH.fullmatch(text)
        if match is None or checksum(match[1]) != match[5]:
            return None
        statement = "SELECT refresh, account, client, scopes, made, until, access_until FROM oauth_grants WHERE id = ?"
        for hashed, account, owner, scopes, made, until, access_until in self._database.execute(statement, (match[2],)):
            found = RefreshToken(match[2], text, account, owner, tuple(scopes.split()), made)
            if hmac.compare_digest(hashed, hash_secret(text)):
                return found if until > self._now() else None
            if hmac.compare_digest(match[4], self._seal(match[2], match[3])):
                is_newest = hmac.compare_digest(hashed, hash_secret(self._derive_tokens(found).refresh))
                if is_newest and owner == client and self._is_repeatable(access_until, self._now()):
                    return found if until > self._now() else None
                return ReusedCredential(account, match[2])
        return None

    @staticmethod
    def _is_repeatable(access_until: int, now: int) -> bool:
        """Return whether the exchange that made an access token was less than `REPEAT_MS` ago.

        The end of the access token (ms) tells when. After its revocation, and in a grant's last hour, it is too early.
        """
        return now - (access_until - ACCESS_SECONDS * 1000) < REPEAT_MS

    def exchange_refresh_token(self, refresh: RefreshToken, scopes: Sequence[str]) -> RenewedTokens | None:
        """Store and return the next tokens of a grant, for a repetition with the scopes of the first exchange.

        Return None, and end the grant, if the token was exchanged meanwhile and is no longer repeatable.
        """
        now, tokens = self._now(), self._derive_tokens(refresh)
        until = min(now + REFRESH, refresh.made + LONGEST)
        last = min(now + ACCESS_SECONDS * 1000, until)
        row = (
            hash_secret(tokens.access),
            " ".join(scopes),
            last,
            hash_secret(tokens.refresh),
            until,
            now,
            refresh.grant,
            hash_secret(refresh.text),
            now,
        )

        def work(execute: Execute) -> RenewedTokens | None:
            if execute(_TURN, row):
                return RenewedTokens(tokens, tuple(scopes), (last - now) // 1000)
            for allowed, access_until in execute(_REPEATED, (refresh.grant, hash_secret(tokens.refresh), now)):
                if self._is_repeatable(access_until, now):
                    return RenewedTokens(tokens, tuple(allowed.split()), (access_until - now) // 1000)
            execute("DELETE FROM oauth_grants WHERE id = ?", (refresh.grant,))
            return None

        return self._in_transaction(work)

    # --- what was allowed

    def list_by_account(self, account: str) -> list[OAuthGrant]:
        """Return all grants of an account, oldest first."""
        rows = self._database.execute(_LIST, (account, self._now()))
        return [_parse_grant(row) for row in rows]

    def revoke_grant(self, account: str, grant: str) -> bool:
        """Delete a grant; return whether it existed."""
        statement = "DELETE FROM oauth_grants WHERE account = ? AND id = ? RETURNING id"
        return bool(self._database.execute(statement, (account, grant)))

    def revoke_token(self, text: str, client: str) -> None:
        """Revoke a client's token: an access token alone, a refresh token with its grant."""
        if match := _ACCESS.fullmatch(text):
            statement = "UPDATE oauth_grants SET access_until = 0 WHERE id = ? AND access = ? AND client = ?"
            self._database.execute(statement, (match[2], hash_secret(text), client))
        elif isinstance(turn := self.find_refresh_token(text, client), RefreshToken) and turn.client == client:
            self.revoke_grant(turn.account, turn.grant)


def revoke_all(account: str) -> list[Statement]:
    """Return statements that delete all grants, codes and device logins of an account."""
    return [
        ("DELETE FROM oauth_grants WHERE account = ?", (account,)),
        ("DELETE FROM oauth_codes WHERE account = ?", (account,)),
        ("DELETE FROM oauth_devices WHERE account = ?", (account,)),
    ]


def _parse_grant(row: Row) -> OAuthGrant:
    id_, client, name, scopes, made, used, until = row
    return OAuthGrant(id_, client, name, tuple(scopes.split()), made, used, until)
