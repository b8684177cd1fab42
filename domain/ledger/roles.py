"""The roles of a ledger on PostgreSQL: who owns the tables, the service, and who may repair the log.

The owner makes tables. The service appends to the log and reads it, and changes what stands beside it. Members of
`annals_repair` may change the log too, in a transaction that writes down why; beside it they read the ring of keys
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Composable, Identifier, Literal

from domain.errors import StoreUnavailable

REPAIR = "annals_repair"
"""The role for restoring and archiving; nobody can log in as it, people are made members."""

_LOG = ("records", "commands")

_READ = ("repairs", "archive")
"""What only a repair writes."""

Connection = psycopg.Connection[Any]


def grant(connection: Connection, address: str) -> None:
    """In the transaction that is going on; raises StoreUnavailable for an address that names no other role."""
    try:
        asked = conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # its message quotes the address, in which a password stands
        raise StoreUnavailable("the address of the database cannot be read") from None
    service = str(asked.get("user") or "")
    if service in ("", connection.info.user):
        raise StoreUnavailable("the role of the service must be named, and be another than the one that migrates")
    _make(connection, service, str(asked.get("password") or ""), login=True)
    _make(connection, REPAIR, "", login=False)
    for role in (service, REPAIR):
        _reach(connection, role)
    _allow(connection, service, "SELECT, INSERT", _LOG)
    _allow(connection, service, "SELECT", _READ)
    _allow(connection, service, "SELECT, INSERT, UPDATE, DELETE", _beside(connection))
    _allow(connection, REPAIR, "SELECT, INSERT, UPDATE, DELETE", [*_LOG, "archive"])
    _allow(connection, REPAIR, "SELECT", ["keyring"])
    # When, who and in which transaction the database says itself.
    _allow(connection, REPAIR, "SELECT, INSERT (what, why)", ["repairs"])


def _make(connection: Connection, role: str, password: str, *, login: bool) -> None:
    """A role that is there stays as it is, with its password. Of a new one's the server is told what proves it."""
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is not None:
        return
    options: list[Composable] = [SQL("LOGIN" if login else "NOLOGIN")]
    if password:
        proof = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
        options.append(SQL("PASSWORD {}").format(Literal(proof)))
    # Roles are the whole cluster's: whoever migrates another database of it may be faster.
    with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation), connection.transaction():
        connection.execute(SQL("CREATE ROLE {} {}").format(Identifier(role), SQL(" ").join(options)))


def _reach(connection: Connection, role: str) -> None:
    """What every role needs: the schema, what numbers rows, and of all tables nothing that is not given below."""
    for statement in (
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC, {}",
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {}",
        "GRANT USAGE ON SCHEMA public TO {}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}",
    ):
        connection.execute(SQL(statement).format(Identifier(role)))


def _beside(connection: Connection) -> list[str]:
    """All tables of the schema but the log, its archive and its repairs."""
    rows = connection.execute("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return sorted({str(row["name"]) for row in rows} - {*_LOG, *_READ})


def _allow(connection: Connection, role: str, rights: LiteralString, tables: Sequence[str]) -> None:
    names = SQL(", ").join(Identifier("public", table) for table in tables)
    connection.execute(SQL("GRANT {} ON {} TO {}").format(SQL(rights), names, Identifier(role)))
