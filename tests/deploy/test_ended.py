"""What is left of a ledger's files once nobody has it open."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from domain.ledger.sqlite_files import checkpoint_closed_file


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A file whose last write stands in the log beside it, as two leave it that close at once."""
    live, path = tmp_path / "live.sqlite", tmp_path / "left.sqlite"
    db = sqlite3.connect(live, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("CREATE TABLE a (b)")
    db.execute("INSERT INTO a VALUES (1)")
    for end in ("", "-wal"):
        shutil.copyfile(f"{live}{end}", f"{path}{end}")
    db.close()
    return path


def test_last_writes_are_in_file_for_whoever_copies_it_alone(left: Path, tmp_path: Path) -> None:
    checkpoint_closed_file(left)
    assert not left.with_name("left.sqlite-wal").exists()
    shutil.copyfile(left, tmp_path / "copy.sqlite")
    with sqlite3.connect(tmp_path / "copy.sqlite") as db:
        assert db.execute("SELECT b FROM a").fetchall() == [(1,)]
    db.close()


def test_while_somebody_reads_they_stay_where_they_are(left: Path) -> None:
    reader = sqlite3.connect(left, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT b FROM a").fetchall() == [(1,)]
    checkpoint_closed_file(left)
    assert left.with_name("left.sqlite-wal").exists()
    reader.close()


def test_a_file_that_is_gone_is_not_made_anew(left: Path) -> None:
    left.unlink()
    checkpoint_closed_file(left)
    assert not left.exists()
    assert left.with_name("left.sqlite-wal").exists()


def test_files_that_are_damaged_keep_no_service_from_ending(left: Path) -> None:
    for end in ("", "-wal"):
        left.with_name(f"left.sqlite{end}").write_bytes(b"no database" * 1000)
    checkpoint_closed_file(left)
    assert left.read_bytes() == b"no database" * 1000


def test_nothing_is_done_where_there_was_no_service(tmp_path: Path) -> None:
    checkpoint_closed_file(tmp_path / "ledger.sqlite")
    assert list(tmp_path.iterdir()) == []
