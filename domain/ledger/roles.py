"""Database roles of a ledger on PostgreSQL: the owner of the tables, the service, and `annals_repair`.

The owner creates tables. The service appends to the log, reads it, and changes the other tables. Members of
`annals_repair` may also change the log, in a transaction with a noted reason; of the other tables they can only read
the key ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Composable, Identifier, Literal

from domain.errors import StoreUnavailable
from domain.ledger.store import VIEWS_PREFIX

REPAIR = "annals_repair"
"""The role for restoring and archiving: it has no login, only members."""

_LOG = ("records", "commands")

_READ = ("repairs", "archive")
"""Tables that only repairs write."""

_ALL_VIEWS = f"^{VIEWS_PREFIX}[0-9a-f]{{12}}$"

Connection = psycopg.Connection[Any]


def grant(connection: Connection, address: str) -> None:
    """Grant rights within the open transaction; raise StoreUnavailable unless the address names another role."""
    try:
        parameters = conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # its message quotes the address with its password
        raise StoreUnavailable("the address of the database cannot be read") from None
    service = str(parameters.get("user") or "")
    if service in ("", connection.info.user):
        raise StoreUnavailable("the role of the service must be named, and be another than the one that migrates")
    _create_role(connection, service, str(parameters.get("password") or ""), login=True)
    _create_role(connection, REPAIR, "", login=False)
    for role in (service, REPAIR):
        _grant_basics(connection, role)
    _grant_tables(connection, service, "SELECT, INSERT", _LOG)
    _grant_tables(connection, service, "SELECT", _READ)
    _grant_tables(connection, service, "SELECT, INSERT, UPDATE, DELETE", _list_other_tables(connection))
    _grant_views(connection, service)
    _grant_tables(connection, REPAIR, "SELECT, INSERT, UPDATE, DELETE", [*_LOG, "archive"])
    _grant_tables(connection, REPAIR, "SELECT", ["keyring"])
    # The database fills in time, role and transaction itself.
    _grant_tables(connection, REPAIR, "SELECT, INSERT (what, why)", ["repairs"])


def _create_role(connection: Connection, role: str, password: str, *, login: bool) -> None:
    """Create a missing role; the server receives a verifier instead of the password. An existing role stays."""
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is not None:
        return
    options: list[Composable] = [SQL("LOGIN" if login else "NOLOGIN")]
    if password:
        proof = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
        options.append(SQL("PASSWORD {}").format(Literal(proof)))
    # Roles belong to the whole cluster: a migration of another database may create it first.
    with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation), connection.transaction():
        connection.execute(SQL("CREATE ROLE {} {}").format(Identifier(role), SQL(" ").join(options)))


def _grant_basics(connection: Connection, role: str) -> None:
    """Grant a role's basic rights: schema and sequences, and no table."""
    for statement in (
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC, {}",
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {}",
        "GRANT USAGE ON SCHEMA public TO {}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}",
    ):
        connection.execute(SQL(statement).format(Identifier(role)))


def _list_other_tables(connection: Connection) -> list[str]:
    """Return all tables of the schema except the log, its archive and its repairs."""
    rows = connection.execute("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return sorted({str(row["name"]) for row in rows} - {*_LOG, *_READ})


def list_view_schemas(connection: Connection) -> list[str]:
    """Return the schemas with views, one for each version."""
    rows = connection.execute("SELECT nspname AS name FROM pg_namespace WHERE nspname ~ %s", (_ALL_VIEWS,)).fetchall()
    return sorted(str(row["name"]) for row in rows)


def _grant_views(connection: Connection, role: str) -> None:
    """Grant a role the use of all views."""
    for schema in list_view_schemas(connection):
        for statement in (
            "GRANT USAGE ON SCHEMA {} TO {}",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {} TO {}",
        ):
            connection.execute(SQL(statement).format(Identifier(schema), Identifier(role)))


def _grant_tables(connection: Connection, role: str, rights: LiteralString, tables: Sequence[str]) -> None:
    names = SQL(", ").join(Identifier("public", table) for table in tables)
    connection.execute(SQL("GRANT {} ON {} TO {}").format(SQL(rights), names, Identifier(role)))
