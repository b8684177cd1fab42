"""The service on PostgreSQL under a role of its own, which cannot change the log."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from tests.deploy.harness import Table, call, serving, until
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


def test_games_are_archived_and_repaired_by_the_repair_role(
    tmp_path: Path, owned: tuple[str, str], postgres_url: str, redis_url: str
) -> None:
    """And by nobody who has the address of the service alone."""
    owner, service = owned
    env = {"ANNALS_DATABASE_URL": service, "ANNALS_REDIS_URL": redis_url}
    data, export = ("--data", str(tmp_path / "data")), tmp_path / "game.annals"
    assert call("migrate", *data, **env, ANNALS_MIGRATE_URL=owner).returncode == 0
    archivist = service.replace("user=service", "user=archivist")
    with psycopg.connect(postgres_url) as db:  # roles are the whole server's: another owner may have made that one
        role = str(conninfo_to_dict(archivist)["user"])
        db.execute(f"CREATE ROLE {role} LOGIN IN ROLE annals_repair")
    with serving(tmp_path / "data", **env, ANNALS_MIGRATE_URL=owner) as running:
        table = Table(running).open()
        while table.get()["status"] != "closed":
            table.turn()
        export.write_bytes(running.http.get(f"/games/{table.game}/export").content)
        refused = call("archive", "0", *data, **env)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "denied" in refused.stderr
        done = call("archive", "0", *data, **env, ANNALS_MIGRATE_URL=archivist)
        assert (done.returncode, json.loads(done.stdout)["games"]) == (0, 1), done.stderr
        assert running.http.get(f"/games/{table.game}/export").content == export.read_bytes()
        with psycopg.connect(archivist) as db:
            db.execute("INSERT INTO repairs (what, why) VALUES ('a piece rots', 'to see what notices it')")
            db.execute("UPDATE archive SET piece = 'rotten'")
        put = ("restore", str(export), "--game", table.game, *data)
        until(lambda: running.http.get(f"/games/{table.game}/export").status_code == 503)
        assert "denied" in call(*put, **env).stderr
        assert call(*put, **env, ANNALS_MIGRATE_URL=archivist).returncode == 0
        until(lambda: running.http.get(f"/games/{table.game}/export").content == export.read_bytes())


def test_who_may_not_make_tables_is_told_what_is_missing(tmp_path: Path, owned: tuple[str, str]) -> None:
    owner, service = owned
    env = {"ANNALS_DATABASE_URL": service, "ANNALS_KEY": "00" * 32}
    assert call("migrate", "--data", str(tmp_path), **env, ANNALS_MIGRATE_URL=owner).returncode == 0
    done = call("migrate", "--data", str(tmp_path), **env)
    assert done.returncode == 2
    assert "ANNALS_MIGRATE_URL must name the role that owns the tables" in done.stderr


def test_who_may_not_make_a_schema_is_told_what_is_missing(
    tmp_path: Path, owned: tuple[str, str], postgres_url: str
) -> None:
    """Each version has its views in one of its own."""
    owner, service = owned
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute(SQL("ALTER DATABASE {} OWNER TO postgres").format(Identifier(db.info.dbname)))
    env = {"ANNALS_DATABASE_URL": service, "ANNALS_KEY": "00" * 32, "ANNALS_MIGRATE_URL": owner}
    done = call("migrate", "--data", str(tmp_path), **env)
    assert done.returncode == 2
    assert "GRANT CREATE ON DATABASE" in done.stderr
