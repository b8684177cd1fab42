"""Hostile and damaged backups: each is refused in one line that names the fault, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from deploy.backup import wal_files
from deploy.backup.game_repair import read_source
from deploy.backup.schema_check import make_schema
from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.backup.wal_archive import WalArchiver
from deploy.backup.wal_files import BASE, BaseBackup
from deploy.config.settings import Settings, SettingsError, load_settings
from tests.deploy.harness import call, run
from tests.deploy.running_backup import NOW, copier, copies, db, named, settings

__all__ = ["copier", "db", "settings"]

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture
def copy(settings: Settings, tmp_path: Path) -> Path:
    """A backup of one moment."""
    take_snapshot(settings, tmp_path / "copy")
    return tmp_path / "copy"


def sign(copy: Path) -> None:
    """Write the hash that fits the changed ledger, as somebody does who may write the backup."""
    about = json.loads((copy / "backup.json").read_text())
    about["sha256"] = hashlib.sha256((copy / "ledger.sqlite").read_bytes()).hexdigest()
    (copy / "backup.json").write_text(json.dumps(about))


def assert_refused(source: Path, target: Path, told: str) -> None:
    """Restore by the command, as an operator does: one line, no traceback, and nothing left."""
    refused = call("restore", str(source), "--data", str(target))
    assert refused.returncode == 2, refused
    assert refused.stdout == ""
    assert refused.stderr.startswith("annals: ")
    assert refused.stderr.count("\n") == 1
    assert told in refused.stderr
    assert not target.exists()


# --- the schema ------------------------------------------------------------------------------------------------

SCHEMAS = {
    "a foreign trigger": (
        "CREATE TRIGGER later AFTER INSERT ON records BEGIN DELETE FROM accounts; END",
        "the trigger later is foreign",
    ),
    "a trigger that replaces ours": (
        """DROP TRIGGER records_not_updated;
        CREATE TRIGGER records_not_updated BEFORE UPDATE ON records WHEN 0 BEGIN SELECT 1; END""",
        "the trigger records_not_updated is not the one that the service makes",
    ),
    "a foreign view": ("CREATE VIEW more AS SELECT * FROM tokens", "the view more is foreign"),
    "a view in place of a table": (
        f"DROP TABLE keyring; CREATE VIEW keyring AS {ENDLESS} SELECT i number, 'x' mark FROM n",  # noqa: S608
        "the view keyring is foreign",
    ),
    "a view without an end": (
        f"CREATE VIEW endless AS {ENDLESS} SELECT i FROM n",  # noqa: S608 - our own text
        "the view endless is foreign",
    ),
    "an index without an end": (
        "CREATE INDEX slow ON people (length(hex(zeroblob(1000000))))",
        "the index slow is foreign",
    ),
    "a missing table": ("DROP TABLE seeds", "the table seeds is missing"),
    "a missing log": ("DROP TABLE records", "the table records is missing"),
    "an extra column": ("ALTER TABLE people ADD COLUMN more TEXT", "the table people is not the one"),
    "a column with a check": (
        "DROP TABLE people; CREATE TABLE people (player TEXT PRIMARY KEY, name TEXT, CHECK (length(name) < 5))",
        "the table people is not the one",
    ),
    "a foreign table": ("CREATE TABLE more (x)", "the table more is foreign"),
    "many foreign tables": (
        f"BEGIN; {''.join(f'CREATE TABLE more{n} (x);' for n in range(2000))} COMMIT",
        "is foreign",
    ),
    "a name of many lines": ('CREATE TABLE "a\nb\r\x1b[31m" (x)', "is foreign"),
    "pages of another size": ("PRAGMA page_size=512; VACUUM", "pages of 512 bytes"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_the_service_does_not_make_is_refused_by_name(copy: Path, tmp_path: Path, name: str) -> None:
    statements, told = SCHEMAS[name]
    with closing(sqlite3.connect(copy / "ledger.sqlite", isolation_level=None)) as ledger:
        ledger.executescript(statements)
    sign(copy)
    assert_refused(copy, tmp_path / "new", told)


@pytest.mark.parametrize("name", ["a foreign trigger", "a view in place of a table", "a foreign view"])
def test_nor_does_it_come_with_a_continuous_backup(
    settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path, name: str
) -> None:
    """Neither in its full copy nor in a later piece."""
    statements, told = SCHEMAS[name]
    copier.begin()
    db.executescript(statements)
    copier.step()
    assert_refused(copies(settings), tmp_path / "new", told)
    copier.release()


@pytest.mark.parametrize("name", ["a foreign trigger", "a view in place of a table"])
def test_nor_is_a_game_repaired_from_it(copy: Path, settings: Settings, name: str) -> None:
    statements, told = SCHEMAS[name]
    with closing(sqlite3.connect(copy / "ledger.sqlite", isolation_level=None)) as ledger:
        ledger.executescript(statements)
    (settings.data / "part").mkdir()
    with pytest.raises(SettingsError, match=told):
        read_source(copy, "game", settings.load_key(), settings.data / "part")


def test_statistics_of_the_database_are_ours(copy: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(copy / "ledger.sqlite", isolation_level=None)) as ledger:
        ledger.execute("INSERT INTO people VALUES ('a', 'b')")
        ledger.execute("ANALYZE")
    sign(copy)
    restore_snapshot(load_settings({"data": str(tmp_path / "new")}, {}), copy)


def test_a_backup_of_an_earlier_version_is_restored(copy: Path, tmp_path: Path) -> None:
    """Later versions added tables; the start makes them."""
    with closing(sqlite3.connect(copy / "ledger.sqlite", isolation_level=None)) as ledger:
        ledger.execute("DROP TABLE mail_asked")
    sign(copy)
    assert restore_snapshot(load_settings({"data": str(tmp_path / "new")}, {}), copy) is None


def test_every_object_of_a_new_ledger_is_known(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.ledger_file)) as ledger:
        found = {(kind, name) for kind, name in ledger.execute("SELECT type, name FROM sqlite_master")}
    assert found == set(make_schema())


def test_doctor_compares_triggers_with_ours(settings: Settings) -> None:
    told = call("doctor", "--data", str(settings.data)).stdout
    assert "ok    log: append-only" in told
    for name in ("a foreign trigger", "a trigger that replaces ours"):
        statements, _ = SCHEMAS[name]
        with closing(sqlite3.connect(settings.ledger_file, isolation_level=None)) as ledger:
            ledger.executescript(statements)
        told = call("doctor", "--data", str(settings.data)).stdout
        assert "FAIL  log: " in told
        assert "foreign" in told
        with closing(sqlite3.connect(settings.ledger_file, isolation_level=None)) as ledger:
            ledger.execute("DROP TRIGGER IF EXISTS later")


# --- the files -------------------------------------------------------------------------------------------------


def noise(path: Path) -> None:
    path.write_bytes(b"noise" * 5000)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8192:40960] = os.urandom(32768)
    path.write_bytes(data)


def lie_about_pages(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[16:18] = (1000).to_bytes(2, "big")
    path.write_bytes(data)


def make_sparse(path: Path) -> None:
    os.truncate(path, shutil.disk_usage(path.parent).free + 2**40)


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def make_endless_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FILES: dict[str, Callable[[Path], None]] = {
    each.__name__: each
    for each in (
        *(noise, truncate, overwrite, lie_about_pages, make_sparse, make_pipe),
        *(make_link, make_endless_link, make_folder),
    )
}


DATABASE_FAULTS = ("overwrite", "lie_about_pages")


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        *(("ledger.sqlite", fault) for fault in FILES),
        *((file, fault) for file in ("key", "backup.json") for fault in FILES if fault not in DATABASE_FAULTS),
    ],
)
def test_a_file_that_is_none_is_refused_by_name(copy: Path, tmp_path: Path, file: str, fault: str) -> None:
    FILES[fault](copy / file)
    if file == "ledger.sqlite" and fault in {"noise", "truncate", *DATABASE_FAULTS}:
        sign(copy)
    assert_refused(copy, tmp_path / "new", str(copy))


@pytest.mark.parametrize("fault", ["make_sparse", "make_pipe", "make_link", "make_endless_link", "make_folder"])
def test_so_are_those_of_a_continuous_backup(
    settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path, fault: str
) -> None:
    copier.begin()
    for name in "ab":
        named(db, name)
        NOW[0] += 1000
        copier.step()
    copier.release()
    base = BaseBackup.list_all(copies(settings))[0]
    for number, path in enumerate((base.folder / BASE, base.folder / "key", base.list_segments()[0])):
        hostile = tmp_path / f"hostile-{number}"
        shutil.copytree(copies(settings), hostile)
        FILES[fault](hostile / base.folder.name / path.name)
        assert_refused(hostile, tmp_path / "new", str(hostile))


def test_a_folder_elsewhere_is_no_part_of_a_backup(settings: Settings, copier: WalArchiver, tmp_path: Path) -> None:
    copier.begin()
    copier.release()
    base = BaseBackup.list_all(copies(settings))[0]
    base.folder.rename(tmp_path / "elsewhere")
    base.folder.symlink_to("../elsewhere")
    assert_refused(copies(settings), tmp_path / "new", "is a link")


def segment(folder: Path, doc: object, data: bytes, name: str = "000001-000000001-1000000000001.wal") -> None:
    """A segment with a hash that fits."""
    packed = zlib.compress(data)
    head = doc | {"sha256": hashlib.sha256(packed).hexdigest()} if isinstance(doc, dict) else doc
    raw = head if isinstance(head, bytes) else json.dumps(head).encode()
    (folder / name).write_bytes(raw + b"\n" + packed)


HEAD = {"annals": 1, "epoch": 1, "first": 0, "at": 1_000_000_000_001, "mark": {"salt": "", "frames": 1, "check": ""}}
HEADS = {
    "a bomb": (HEAD, bytes(2**28)),
    "a bomb that says so": (HEAD | {"mark": HEAD["mark"] | {"frames": 2**31}}, bytes(2**29 + 2**20)),  # type: ignore[operator]
    "words for numbers": (HEAD | {"epoch": "1"}, b""),
    "frames without a number": (HEAD | {"mark": {"salt": "", "frames": None, "check": ""}}, b""),
    "a list": ([], b""),
    "deep nesting": (b"[" * 100_000, b""),
    "an endless time": (HEAD | {"at": 10**30}, b""),
    "noise": (HEAD, b"noise" * 1000),
    "traversal": (HEAD | {"folder": "../../..", "mark": {"salt": "../x", "frames": 1, "check": "/etc"}}, b"x" * 4152),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_piece_that_does_not_fit_is_refused_within_limits(
    settings: Settings, copier: WalArchiver, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copier.begin()
    copier.release()
    base = BaseBackup.list_all(copies(settings))[0]
    doc, data = HEADS[name]
    if name == "a bomb that says so":
        monkeypatch.setattr(wal_files, "MAX_SEGMENT", 2**20)
        data = data[: 2**21]
    segment(base.folder, doc, data)
    segment(base.folder, HEAD, b"", "000001-000000002-1000000000002.wal")  # else it is the last one, which may be cut
    assert_refused(copies(settings), tmp_path / "new", str(base.folder))


@pytest.mark.parametrize("about", [b"[" * 100_000, b'{"annals": 1, "at": 1e999}', b'{"annals": 1, "at": -1}', b"\xff"])
def test_a_manifest_that_does_not_fit_is_refused(
    settings: Settings, copier: WalArchiver, tmp_path: Path, about: bytes
) -> None:
    copier.begin()
    copier.release()
    (BaseBackup.list_all(copies(settings))[0].folder / "base.json").write_bytes(about)
    assert_refused(copies(settings), tmp_path / "new", "holds no whole copy")


def test_the_command_itself_ends_in_time(copy: Path, tmp_path: Path) -> None:
    """In a process of its own, as operators have it."""
    make_pipe(copy / "ledger.sqlite")
    try:
        refused = run("restore", str(copy), "--data", str(tmp_path / "new"))
    except subprocess.TimeoutExpired:
        pytest.fail("it waits for ever")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_a_folder_that_is_there_stays_as_it_was(copy: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.mkdir()
    (target / "key").write_text("0" * 64)
    noise(copy / "ledger.sqlite")
    sign(copy)
    assert call("restore", str(copy), "--data", str(target)).returncode == 2
    assert {path.name: path.read_text() for path in target.iterdir()} == {"key": "0" * 64}
