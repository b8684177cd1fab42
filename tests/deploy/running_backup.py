"""A ledger with a running backup: the fixtures and helpers of its tests."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deploy.backup.point_in_time import restore_ledger
from deploy.backup.wal_archive import WalArchiver
from deploy.config.settings import Settings, load_settings
from deploy.runtime.wiring import migrate


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A folder with its tables."""
    found = load_settings({"data": str(tmp_path / "data"), "backup": str(tmp_path / "copies")}, {})
    migrate(found)
    (tmp_path / "copies").mkdir()
    return found


@pytest.fixture
def db(settings: Settings) -> Iterator[sqlite3.Connection]:
    """Somebody who writes, as fast as it goes."""
    with closing(sqlite3.connect(settings.ledger_file, isolation_level=None, timeout=10)) as made:
        made.execute("PRAGMA synchronous=OFF")
        yield made


NOW = [1_000_000_000_000]


@pytest.fixture
def copier(settings: Settings) -> Iterator[WalArchiver]:
    """Archives the ledger of `settings`, at the time NOW."""
    NOW[0] = 1_000_000_000_000
    made = WalArchiver(settings, copies(settings), lambda: NOW[0])
    yield made
    made.release()


def copies(settings: Settings) -> Path:
    assert settings.backup
    return settings.backup


def named(db: sqlite3.Connection, *names: str) -> None:
    """A commit each."""
    for name in names:
        db.execute("INSERT INTO people VALUES (?, ?)", (name, "x" * 100))


def people(settings: Settings, tmp_path: Path, at: int | None = None) -> list[str]:
    """Who is in the ledger that is made of the backup."""
    target = tmp_path / "made.sqlite"
    restore_ledger(copies(settings), at, target)
    with closing(sqlite3.connect(target)) as made:
        return [name for (name,) in made.execute("SELECT player FROM people ORDER BY player")]
