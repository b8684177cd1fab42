"""DDL of the tables of accounts, and their base class."""

from __future__ import annotations

import hmac
import json
import secrets
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from domain.errors import AccountError
from domain.service import hidden_players
from domain.service.database import Database, Execute, Statement, create_tables
from domain.service.keyring import Keyring

Result = TypeVar("Result")

DAY = 86_400_000
"""A day in ms."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, player TEXT NOT NULL, state TEXT NOT NULL, until BIGINT NOT NULL,
  role TEXT NOT NULL, bot INTEGER NOT NULL, made BIGINT NOT NULL, request TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS account_players (
  player TEXT PRIMARY KEY, account TEXT NOT NULL, since BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS account_players_account ON account_players (account)",
    # Every name of an account, past and present; `until` is 0 for the present one.
    """CREATE TABLE IF NOT EXISTS account_names (
  key TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL, since BIGINT NOT NULL, until BIGINT NOT NULL,
  PRIMARY KEY (key, account, since))""",
    "CREATE INDEX IF NOT EXISTS account_names_account ON account_names (account)",
    # Factors of accounts, any number of each kind: passwords, recovery codes, second factors.
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
    # `called` is the name or id as typed, `player` its player or empty; a seat of -1 is any.
    """CREATE TABLE IF NOT EXISTS challenges (
  game TEXT NOT NULL, called TEXT NOT NULL, player TEXT NOT NULL, seat INTEGER NOT NULL, by TEXT NOT NULL,
  at BIGINT NOT NULL, until BIGINT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (game, called))""",
    "CREATE INDEX IF NOT EXISTS challenges_player ON challenges (player)",
    """CREATE TABLE IF NOT EXISTS blocks (
  account TEXT NOT NULL, player TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, player))""",
    """CREATE TABLE IF NOT EXISTS watching (
  account TEXT NOT NULL, game TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, game))""",
    """CREATE TABLE IF NOT EXISTS relations (
  account TEXT NOT NULL, player TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (account, player))""",
    "CREATE TABLE IF NOT EXISTS account_settings (account TEXT PRIMARY KEY, zone TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS page_settings (account TEXT PRIMARY KEY, settings TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS page_visits (
  account TEXT NOT NULL, game TEXT NOT NULL, seen BIGINT NOT NULL, since BIGINT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (account, game))""",
    """CREATE TABLE IF NOT EXISTS calendar_keys (
  account TEXT PRIMARY KEY, id TEXT NOT NULL, hash TEXT NOT NULL, made BIGINT NOT NULL)""",
    "CREATE UNIQUE INDEX IF NOT EXISTS calendar_keys_id ON calendar_keys (id)",
    """CREATE TABLE IF NOT EXISTS account_invitations (
  hash TEXT PRIMARY KEY, account TEXT NOT NULL, until BIGINT NOT NULL, uses BIGINT NOT NULL)""",
)


def now() -> int:
    """Return milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def migrate(database: Database) -> None:
    """Create missing tables. Safe to repeat, and to run in several processes at once."""
    create_tables(database, (*_TABLES, *hidden_players.TABLES))


def checksum(text: str) -> str:
    """Return the checksum by which scanners for leaked secrets recognise a token."""
    return f"{zlib.crc32(text.encode()):08x}"


def write(execute: Execute, statements: Iterable[Statement]) -> None:
    """Run the statements in an open transaction."""
    for statement, params in statements:
        execute(statement, params)


def insert_recovery_codes(account: str, codes: Sequence[str], at: int) -> list[Statement]:
    """Return one statement that stores these hashes of recovery codes: appends wait meanwhile."""
    if not codes:
        return []
    rows = ", ".join(["(?, 'recovery', ?, '', ?)"] * len(codes))
    return [(f"INSERT INTO factors VALUES {rows}", [v for code in codes for v in (account, code, at)])]  # noqa: S608 - question marks only


def delete_oauth_permissions(condition: str, value: str) -> list[Statement]:
    """Return statements that delete the grants, codes and device logins selected by an SQL condition."""
    tables = ("oauth_grants", "oauth_codes", "oauth_devices")
    return [(f"DELETE FROM {table} WHERE {condition}", (value,)) for table in tables]  # noqa: S608 - our own words


def delete_oauth_rows(account: str) -> list[Statement]:
    """Return statements that delete an account's OAuth clients, and all permissions given to or by them."""
    clients = "(SELECT id FROM oauth_clients WHERE account = ?)"
    return [
        *delete_oauth_permissions("account = ?", account),
        *delete_oauth_permissions(f"client IN {clients}", account),
        (f"DELETE FROM oauth_client_rights WHERE client IN {clients}", (account,)),  # noqa: S608 - our own words
        ("DELETE FROM oauth_clients WHERE account = ?", (account,)),
    ]


class AccountTable:
    """Base class of the tables: database, key for derived values, clock (ms since 1970)."""

    def __init__(self, database: Database, keys: Keyring, clock: Callable[[], int] = now) -> None:
        self._database, self._keys, self._now = database, keys, clock

    @property
    def _key(self) -> bytes:
        return hmac.digest(self._keys.request_key(), b"annals accounts", "sha256")

    def _in_transaction(self, work: Callable[[Execute], Result]) -> Result:
        """Return the result of `work` in a transaction with the append lock, so nothing it read changes meanwhile."""
        self._keys.request_key()  # the ring is read from the same database: load it before the transaction
        results: list[Result] = []
        self._database.run_in_append_order(lambda execute: results.append(work(execute)))
        return results[-1]

    def _for_account(self, account: str, work: Callable[[Execute], Result], session: str = "") -> Result:
        """Run `work` like `_in_transaction`; raise AccountError if the account is missing or erased.

        With `session` also raise it if that session has ended, since its results could outlive it.
        """

        def living(execute: Execute) -> Result:
            if not execute("SELECT 1 FROM accounts WHERE id = ? AND state <> 'erased'", (account,)):
                raise AccountError("unknown_account")
            if session and not execute("SELECT 1 FROM sessions WHERE id = ? AND account = ?", (session, account)):
                raise AccountError("unauthenticated")
            return work(execute)

        return self._in_transaction(living)

    def _keyed_hash(self, *words: str) -> str:
        """Return a keyed hash of words: the tables alone do not reveal them."""
        return hmac.new(self._key, json.dumps(words).encode(), "sha256").hexdigest()

    def _derive_bytes(self, request: tuple[str, ...], use: str, size: int) -> bytes:
        """Return at most 64 bytes, the same for the same request; random ones without a request."""
        if not request:
            return secrets.token_bytes(size)
        message = json.dumps([use, *request]).encode()
        return b"".join(hmac.digest(self._key, bytes([n]) + message, "sha256") for n in range(2))[:size]
