"""The tables of accounts, and what all that work on them share."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from domain.errors import AccountError
from domain.service.database import Database, Execute, Statement, create
from domain.service.keyring import Keyring

Found = TypeVar("Found")

DAY = 86_400_000
"""ms."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, player TEXT NOT NULL, state TEXT NOT NULL, until BIGINT NOT NULL,
  role TEXT NOT NULL, bot INTEGER NOT NULL, made BIGINT NOT NULL, request TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS account_players (
  player TEXT PRIMARY KEY, account TEXT NOT NULL, since BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS account_players_account ON account_players (account)",
    # Every name that an account has had; `until` is 0 for the one that it has.
    """CREATE TABLE IF NOT EXISTS account_names (
  key TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, since BIGINT NOT NULL, until BIGINT NOT NULL,
  PRIMARY KEY (key, account, since))""",
    "CREATE INDEX IF NOT EXISTS account_names_account ON account_names (account)",
    # What an account proves itself by, each kind any number of times: a password, codes that work once.
    """CREATE TABLE IF NOT EXISTS factors (
  account TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, secret TEXT NOT NULL, made BIGINT NOT NULL,
  PRIMARY KEY (account, kind, id))""",
    """CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL, account TEXT NOT NULL, label TEXT NOT NULL, factors TEXT NOT NULL,
  family TEXT NOT NULL, made BIGINT NOT NULL, proved BIGINT NOT NULL, used BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS sessions_account ON sessions (account)",
    """CREATE TABLE IF NOT EXISTS personal_tokens (
  id TEXT PRIMARY KEY, hash TEXT NOT NULL, account TEXT NOT NULL, label TEXT NOT NULL, scopes TEXT NOT NULL,
  made BIGINT NOT NULL, used BIGINT NOT NULL, until BIGINT NOT NULL, ended BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS personal_tokens_account ON personal_tokens (account)",
    """CREATE TABLE IF NOT EXISTS account_log (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, at BIGINT NOT NULL, what TEXT NOT NULL, address TEXT NOT NULL,
  detail TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS account_log_account ON account_log (account, id)",
    """CREATE TABLE IF NOT EXISTS reports (
  id TEXT PRIMARY KEY, account TEXT NOT NULL, at BIGINT NOT NULL, player TEXT NOT NULL, game TEXT NOT NULL,
  said TEXT NOT NULL, outcome TEXT NOT NULL, settled BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS reports_account ON reports (account)",
    # `called` is what was asked for, `player` who that is, or empty; a seat of -1 is any.
    """CREATE TABLE IF NOT EXISTS challenges (
  game TEXT NOT NULL, called TEXT NOT NULL, player TEXT NOT NULL, seat INTEGER NOT NULL, by TEXT NOT NULL,
  at BIGINT NOT NULL, until BIGINT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (game, called))""",
    "CREATE INDEX IF NOT EXISTS challenges_player ON challenges (player)",
    """CREATE TABLE IF NOT EXISTS blocks (
  account TEXT NOT NULL, player TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, player))""",
    """CREATE TABLE IF NOT EXISTS watching (
  account TEXT NOT NULL, game TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, game))""",
    """CREATE TABLE IF NOT EXISTS account_invitations (
  hash TEXT PRIMARY KEY, account TEXT NOT NULL, until BIGINT NOT NULL, uses BIGINT NOT NULL)""",
)


def now() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def migrate(database: Database) -> None:
    """Create the tables that are missing. May be run any number of times, also by several at once."""
    create(database, _TABLES)


def digest(text: str) -> str:
    """The hash of a secret that has enough chance for a fast one."""
    return hashlib.sha256(text.encode()).hexdigest()


def checksum(text: str) -> str:
    """By which scanners of leaked secrets tell a token from what looks like one."""
    return f"{zlib.crc32(text.encode()):08x}"


def encoded(chance: bytes) -> str:
    """Bytes as letters, digits, `-` and `_`."""
    return urlsafe_b64encode(chance).rstrip(b"=").decode()


def write(execute: Execute, statements: Iterable[Statement]) -> None:
    """All of them, in a transaction that is going on."""
    for statement, params in statements:
        execute(statement, params)


def recovery(account: str, codes: Sequence[str], at: int) -> list[Statement]:
    """To be written: these recovery codes, in one statement, since appends wait meanwhile."""
    if not codes:
        return []
    rows = ", ".join(["(?, 'recovery', ?, '', ?)"] * len(codes))
    return [(f"INSERT INTO factors VALUES {rows}", [v for code in codes for v in (account, code, at)])]  # noqa: S608 - question marks only


def delete_oauth_permissions(condition: str, value: str) -> list[Statement]:
    """Return statements that delete the grants, codes and device logins for which an SQL condition holds."""
    tables = ("oauth_grants", "oauth_codes", "oauth_devices")
    return [(f"DELETE FROM {table} WHERE {condition}", (value,)) for table in tables]  # noqa: S608 - our own words


def delete_oauth_rows(account: str) -> list[Statement]:
    """Return statements that delete an account's OAuth clients, and every permission given to or by them."""
    clients = "(SELECT id FROM oauth_clients WHERE account = ?)"
    return [
        *delete_oauth_permissions("account = ?", account),
        *delete_oauth_permissions(f"client IN {clients}", account),
        (f"DELETE FROM oauth_client_rights WHERE client IN {clients}", (account,)),  # noqa: S608 - our own words
        ("DELETE FROM oauth_clients WHERE account = ?", (account,)),
    ]


class Rows:
    """Tables, a key for what is derived, and a clock (ms since 1970)."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int] = now) -> None:
        self._database, self._keys, self._now = database, keys, clock

    @property
    def _key(self) -> bytes:
        return hmac.digest(self._keys.requests(), b"annals accounts", "sha256")

    def _together(self, work: Callable[[Execute], Found]) -> Found:
        """Statements in one transaction, one of its kind at a time: what it has looked at stays so."""
        self._keys.requests()  # what it may be asked for in there is read from the same database
        found: list[Found] = []
        self._database.among_appends(lambda execute: found.append(work(execute)))
        return found[-1]

    def _on(self, account: str, work: Callable[[Execute], Found], session: str = "") -> Found:
        """The same, on an account that is there: one that is erased while it asks is told so, and keeps nothing.

        With `session`, in which it was asked for: what outlasts a session is not made in one that ends meanwhile.
        """

        def living(execute: Execute) -> Found:
            if not execute("SELECT 1 FROM accounts WHERE id = ? AND state <> 'erased'", (account,)):
                raise AccountError("unknown_account")
            if session and not execute("SELECT 1 FROM sessions WHERE id = ? AND account = ?", (session, account)):
                raise AccountError("unauthenticated")
            return work(execute)

        return self._together(living)

    def _mark(self, *words: str) -> str:
        """What words are kept as, so that whoever has the tables alone cannot guess them."""
        return hmac.new(self._key, json.dumps(words).encode(), "sha256").hexdigest()

    def _chance(self, request: tuple[str, ...], use: str, size: int) -> bytes:
        """Bytes for a request: the same whenever it is repeated; without a request by chance. At most 64."""
        if not request:
            return secrets.token_bytes(size)
        asked = json.dumps([use, *request]).encode()
        return b"".join(hmac.digest(self._key, bytes([n]) + asked, "sha256") for n in range(2))[:size]
