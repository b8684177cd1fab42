"""The service on PostgreSQL under a role of its own, which cannot change the log."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.deploy.house import Table, call, serving
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]


@pytest.fixture
def owned(postgres_url: str) -> tuple[str, str]:
    """The addresses of who owns the database, and of the service, whose role is not there yet."""
    name = postgres_url.split("/")[3].partition("?")[0]
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute(f"CREATE ROLE owner_{name} LOGIN CREATEROLE")
        db.execute(f"ALTER DATABASE {name} OWNER TO owner_{name}")
        db.execute(f"ALTER SCHEMA public OWNER TO owner_{name}")
    owner, service = (postgres_url.replace("user=postgres", f"user={role}_{name}") for role in ("owner", "service"))
    return owner, service


def test_a_game_is_played_under_the_role_of_the_service(tmp_path: Path, owned: tuple[str, str], redis_url: str) -> None:
    """Also the views are pumped, rebuilt and thrown away, all without owning a table."""
    owner, service = owned
    env = {"ANNALS_DATABASE_URL": service, "ANNALS_REDIS_URL": redis_url}
    assert call("migrate", "--data", str(tmp_path), **env, ANNALS_MIGRATE_URL=owner).returncode == 0
    with serving(tmp_path, **env, ANNALS_MIGRATE_URL=owner) as running:
        table = Table(running).open()
        table.turn()
        assert call("rebuild", "--data", str(tmp_path), **env).returncode == 0
        found = call("doctor", "--data", str(tmp_path), **env)
        assert "ok    log: append-only, 0 repairs" in found.stdout
        with psycopg.connect(service) as db, pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("DELETE FROM records")


def test_who_may_not_make_tables_is_told_what_is_missing(tmp_path: Path, owned: tuple[str, str]) -> None:
    owner, service = owned
    env = {"ANNALS_DATABASE_URL": service, "ANNALS_KEY": "00" * 32}
    assert call("migrate", "--data", str(tmp_path), **env, ANNALS_MIGRATE_URL=owner).returncode == 0
    done = call("migrate", "--data", str(tmp_path), **env)
    assert done.returncode == 2
    assert "ANNALS_MIGRATE_URL must name the role that owns the tables" in done.stderr
