"""The running backup: no commit is missing, whatever dies, and no folder that fails stops the service."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deploy.backup import key_rotation, point_in_time, wal_archive, wal_files
from deploy.backup.point_in_time import format_time, parse_time, restore_ledger
from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.backup.wal_archive import DAY, HOUR, RunningBackup, WalArchiver
from deploy.backup.wal_files import BASE, MANIFEST, SEGMENT, BaseBackup, WalSegment
from deploy.backup.wal_reader import WalReader
from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime.supervisor import hold_lock
from deploy.runtime.wiring import migrate
from domain.ledger import Ledger
from domain.ledger.sqlite_files import scrub_marker
from projections.leases import load_progress
from projections.view_store import ViewStore
from tests.deploy.house import Table, call, serving, until


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


class TestMoments:
    def test_each_step_can_be_put_back(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        """Deletions too, and tables that did not exist before."""
        named(db, "a")
        copier.begin()
        copier.step()
        for second, name in enumerate("bcd", 1):
            named(db, name)
            NOW[0] += 1000
            copier.step()
            assert people(settings, tmp_path) == list("abcd"[: second + 1])
        db.execute("DELETE FROM people WHERE player = 'a'")
        db.execute("CREATE TABLE more (x)")
        NOW[0] += 1000
        copier.step()
        assert people(settings, tmp_path) == ["b", "c", "d"]
        first = BaseBackup.list_all(copies(settings))[0].at
        assert people(settings, tmp_path, first) == ["a"]
        assert people(settings, tmp_path, first + 2500) == ["a", "b", "c"]
        with pytest.raises(SettingsError, match="begins at"):
            people(settings, tmp_path, first - 1)

    def test_a_whole_copy_reaches_the_disk_in_steps_and_gives_signs_of_life(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The disk may take longer for all of it than a folder may stand still."""
        named(db, *(f"p{n:03}" for n in range(300)))
        signs: list[float] = []
        fsync = os.fsync

        def slow(number: int) -> None:
            fsync(number)
            found = [path.stat().st_ino for path in copies(settings).glob("*/base.sqlite")]
            if os.fstat(number).st_ino in found:
                signs.append(copier.alive)
                copier.alive = 0.0

        monkeypatch.setattr(wal_archive, "PAGES_PER_STEP", 8)
        monkeypatch.setattr(os, "fsync", slow)
        copier.begin()
        assert len(signs) >= 5
        assert all(signs[1:]), "each step is told before the next"

    def test_the_log_is_begun_anew_and_nothing_is_missing(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        copier.begin()
        names = [f"p{n:03}" for n in range(200)]
        with mock.patch.object(wal_archive, "MAX_WAL_FRAMES", 20):
            for n in range(0, 200, 10):
                named(db, *names[n : n + 10])
                copier.step()
        epochs = {path.name[:6] for path in BaseBackup.list_all(copies(settings))[0].list_segments()}
        assert len(epochs) > 5
        assert people(settings, tmp_path) == names
        assert settings.ledger_file.with_name("ledger.sqlite-wal").stat().st_size < 200 * 4120

    def test_writers_go_on_all_the_while(
        self, settings: Settings, copier: WalArchiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two of them, with checkpoints of their own, while logs end and whole copies are made."""
        monkeypatch.setattr(wal_archive, "MAX_WAL_FRAMES", 50)
        stop, wrote = threading.Event(), [0, 0]

        def write(who: int) -> None:
            with closing(sqlite3.connect(settings.ledger_file, isolation_level=None, timeout=10)) as mine:
                mine.execute("PRAGMA synchronous=OFF")
                mine.execute("PRAGMA wal_autocheckpoint=20")
                while not stop.is_set():
                    named(mine, f"{who}-{wrote[who]:06}")
                    wrote[who] += 1
                    time.sleep(0.0005)  # as the disk would take: nobody waits for who copies

        threads = [threading.Thread(target=write, args=(who,)) for who in range(2)]
        copier.begin()
        for thread in threads:
            thread.start()
        for n in range(60):
            NOW[0] += 1000 if n % 20 else DAY + 1000
            copier.step()
        stop.set()
        for thread in threads:
            thread.join()
        copier.step()
        found = people(settings, tmp_path)
        assert found == sorted(f"{who}-{n:06}" for who in range(2) for n in range(wrote[who]))
        assert len(found) > 100


class TestDeaths:
    def test_who_follows_goes_on_without_a_whole_copy_if_nothing_is_missing(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        copier.begin()
        named(db, "a")
        copier.step()
        copier.release()
        named(db, "b")
        copier.begin()
        copier.step()
        assert len(BaseBackup.list_all(copies(settings))) == 1
        assert people(settings, tmp_path) == ["a", "b"]

    def test_else_with_one(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        copier.begin()
        named(db, "a")
        copier.step()
        copier.release()
        named(db, "b")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        named(db, "c")
        NOW[0] += 1000
        copier.begin()
        copier.step()
        assert len(BaseBackup.list_all(copies(settings))) == 2
        assert people(settings, tmp_path) == ["a", "b", "c"]

    @pytest.mark.parametrize("head", [b'"mark"', b'"salt"', b'"sha256"', b'"epoch"', b"{"], ids=repr)
    def test_a_last_piece_whose_head_has_changed_is_no_reason_to_stop(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path, head: bytes
    ) -> None:
        """Whatever byte it is: a whole copy is made, by which nothing is missing."""
        named(db, "a")
        copier.begin()
        NOW[0] += 1000
        named(db, "b")
        copier.step()
        copier.release()
        last = BaseBackup.list_all(copies(settings))[-1].list_segments()[-1]
        data = last.read_bytes()
        assert head in data
        last.write_bytes(data.replace(head, bytes([head[0], *head[1:-2], head[-1] ^ 1]) if len(head) > 1 else b"[", 1))
        NOW[0] += 1000
        copier.begin()
        copier.step()
        assert people(settings, tmp_path) == ["a", "b"]

    def test_a_whole_copy_that_was_cut_short_is_none(self, settings: Settings, copier: WalArchiver) -> None:
        copier.begin()
        copier.step()
        (whole,) = BaseBackup.list_all(copies(settings))
        (whole.folder / MANIFEST).unlink()
        NOW[0] += 1000
        copier.begin()
        copier.step()
        found = [path for path in copies(settings).iterdir() if path.is_dir()]
        assert [g.folder for g in BaseBackup.list_all(copies(settings))] == found


class TestOthers:
    def test_a_folder_is_of_one_service_at_a_time(
        self, settings: Settings, copier: WalArchiver, tmp_path: Path
    ) -> None:
        """Also while the other makes its first copy, which is not whole yet."""
        copier.begin()
        other = load_settings({"data": str(tmp_path / "other"), "backup": str(copies(settings))}, {})
        migrate(other)
        second = WalArchiver(other, copies(settings), lambda: NOW[0] + 1)
        with pytest.raises(OSError, match="in use by another service"):
            second.begin()
        copier.release()
        second.begin()
        second.release()

    def test_what_is_not_of_the_backup_stays(self, settings: Settings, copier: WalArchiver) -> None:
        foreign = copies(settings) / "QUIZ"
        foreign.mkdir()
        (foreign / "file").write_text("mine")
        copier.begin()
        assert (foreign / "file").read_text() == "mine"

    def test_nobody_waits_for_the_folder(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A commit of somebody else is taken while a piece is being written, whichever, also where a log ends."""
        monkeypatch.setattr(wal_archive, "MAX_WAL_FRAMES", 1)
        copier.begin()
        written: list[Path] = []
        write, ends = wal_files.write_file, WalReader.restart_wal

        def slow(path: Path, data: bytes) -> None:
            with closing(sqlite3.connect(settings.ledger_file, isolation_level=None, timeout=0)) as other:
                named(other, f"p{len(written)}")
            written.append(path)
            write(path, data)

        def late(tail: WalReader, read: Callable[[], Any]) -> Any:
            named(db, "late")
            return ends(tail, read)

        monkeypatch.setattr(wal_files, "write_file", slow)
        monkeypatch.setattr(WalReader, "restart_wal", late)
        named(db, "a")
        copier.step()
        assert len(written) == 2

    def test_a_whole_copy_that_fails_leaves_the_one_before_up_to_date(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        """As where the folder has room for a piece, and not for the database."""
        copier.begin()
        named(db, "a")
        NOW[0] += DAY + 1000
        full = mock.patch.object(WalArchiver, "_make_base_backup", side_effect=OSError(28, "No space left on device"))
        with full, pytest.raises(OSError, match="No space"):
            copier.step()
        assert people(settings, tmp_path) == ["a"]


class TestErased:
    """Whoever erases waits for nobody, and what was erased leaves the files all the same."""

    SECRET = "Anne of the isles"

    def erase(self, settings: Settings, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA secure_delete=ON")
        db.execute("INSERT INTO people VALUES ('p', ?)", (self.SECRET,))
        db.execute("DELETE FROM people WHERE player = 'p'")
        with closing(Ledger.open(settings.ledger_url)) as ledger:
            ledger.scrub_deleted_pages()

    def found(self, settings: Settings) -> set[str]:
        files = settings.ledger_file.parent.glob(f"{settings.ledger_file.name}*")
        return {file.name for file in files if self.SECRET.encode() in file.read_bytes()}

    def test_without_a_backup_it_is_gone_at_once(self, settings: Settings, db: sqlite3.Connection) -> None:
        self.erase(settings, db)
        assert not self.found(settings)
        assert not scrub_marker(settings.ledger_file).exists()

    def test_with_one_it_is_gone_within_the_hour(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        copier.begin()
        copier.step()
        self.erase(settings, db)
        assert self.found(settings) == {"ledger.sqlite-wal"}
        named(db, "a")  # the service goes on
        NOW[0] += HOUR // 2
        copier.step()
        assert scrub_marker(settings.ledger_file).exists()
        NOW[0] += HOUR
        copier.step()
        assert not self.found(settings)
        assert not scrub_marker(settings.ledger_file).exists()
        named(db, "b")
        copier.step()
        assert people(settings, tmp_path) == ["a", "b"]
        assert len(BaseBackup.list_all(copies(settings))) == 2

    def test_a_copy_that_fails_then_leaves_no_gap(
        self,
        settings: Settings,
        db: sqlite3.Connection,
        copier: WalArchiver,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        copier.begin()
        copier.step()
        self.erase(settings, db)
        NOW[0] += 2 * HOUR

        def full() -> None:
            named(db, "a")  # no segment has it: the log before has ended
            raise OSError("no room")

        with monkeypatch.context() as patch:
            patch.setattr(copier, "_make_base_backup", full)
            with pytest.raises(OSError, match="no room"):
                copier.step()
        assert not copier.has_begun
        copier.begin()
        named(db, "b")
        copier.step()
        assert people(settings, tmp_path) == ["a", "b"]

    def test_what_nobody_could_wipe_is_wiped_at_the_next_start(
        self, settings: Settings, db: sqlite3.Connection
    ) -> None:
        db.execute("BEGIN")
        db.execute("SELECT * FROM people").fetchall()
        with closing(sqlite3.connect(settings.ledger_file, isolation_level=None)) as other:
            self.erase(settings, other)
        assert scrub_marker(settings.ledger_file).exists()
        db.execute("COMMIT")
        migrate(settings)
        assert not self.found(settings)
        assert not scrub_marker(settings.ledger_file).exists()


class TestFlushed:
    @pytest.fixture
    def effects(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
        """What is flushed, and what gets its name, in order."""
        found: list[tuple[str, str]] = []
        fsync, rename = os.fsync, Path.rename

        def synced(number: int) -> None:
            found.append(("fsync", Path(f"/proc/self/fd/{number}").readlink().name))
            fsync(number)

        def renamed(path: Path, target: Path) -> Path:
            found.append(("rename", target.name))
            return rename(path, target)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "rename", renamed)
        return found

    def test_what_is_put_back_before_it_has_its_name(
        self, settings: Settings, copier: WalArchiver, tmp_path: Path, effects: list[tuple[str, str]]
    ) -> None:
        copier.begin()
        copier.step()
        effects.clear()
        restore_snapshot(load_settings({"data": str(tmp_path / "new")}, {}), copies(settings))
        assert [e for e in effects if e[1] != BASE] == [
            *(("fsync", "key.part"), ("rename", "key"), ("fsync", "new")),
            *(("fsync", "ledger.restoring"), ("rename", "ledger.sqlite"), ("fsync", "new")),
        ]

    def test_the_folder_of_a_whole_copy(
        self, settings: Settings, copier: WalArchiver, effects: list[tuple[str, str]]
    ) -> None:
        copier.begin()
        assert effects.index(("fsync", copies(settings).name)) < effects.index(("rename", MANIFEST))

    def test_a_backup_of_one_moment(self, settings: Settings, tmp_path: Path, effects: list[tuple[str, str]]) -> None:
        take_snapshot(settings, tmp_path / "one")
        assert effects[-3:] == [("fsync", "backup.json.part"), ("rename", "backup.json"), ("fsync", "one")]
        assert ("rename", "key") in effects

    def test_a_restore_that_was_killed_while_it_wrote_the_key_is_repeated(
        self, settings: Settings, copier: WalArchiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copier.begin()
        copier.step()
        copier.release()
        new = load_settings({"data": str(tmp_path / "new")}, {})

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "fdopen", killed)
            with pytest.raises(KeyboardInterrupt):
                restore_snapshot(new, copies(settings))
        restore_snapshot(new, copies(settings))
        assert new.load_key() == settings.load_key()


class TestDamage:
    @pytest.fixture
    def shipped(self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver) -> list[Path]:
        """Three segments."""
        copier.begin()
        for name in "abc":
            named(db, name)
            NOW[0] += 1000
            copier.step()
        return BaseBackup.list_all(copies(settings))[0].list_segments()

    def test_a_last_piece_that_is_cut_off_is_left_out(
        self, settings: Settings, shipped: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        data = shipped[-1].read_bytes()
        for size in (0, 5, len(data) // 2, len(data) - 1):
            shipped[-1].write_bytes(data[:size])
            assert people(settings, tmp_path) == ["a", "b"]
            assert "cut off" in capsys.readouterr().err

    def test_another_is_named_with_the_time_up_to_which_it_serves(
        self, settings: Settings, shipped: list[Path], tmp_path: Path
    ) -> None:
        shipped[1].write_bytes(shipped[1].read_bytes()[:-1])
        with pytest.raises(SettingsError, match="is damaged") as refused:
            people(settings, tmp_path)
        at = str(refused.value).rpartition(" ")[2]
        assert people(settings, tmp_path, parse_time(at)) == ["a"]
        shipped[1].unlink()
        with pytest.raises(SettingsError, match="a piece is missing"):
            people(settings, tmp_path)

    def test_so_is_a_whole_copy(self, settings: Settings, shipped: list[Path], tmp_path: Path) -> None:
        base = shipped[0].parent / BASE
        base.write_bytes(base.read_bytes()[:-1] + b"x")
        with pytest.raises(SettingsError, match="is damaged"):
            people(settings, tmp_path)

    def test_the_time_that_is_told_is_one_of_the_copy_before(
        self, settings: Settings, copier: WalArchiver, shipped: list[Path], tmp_path: Path
    ) -> None:
        NOW[0] += DAY
        copier.step()
        base = BaseBackup.list_all(copies(settings))[-1].folder / BASE
        base.write_bytes(base.read_bytes()[:-1] + b"x")
        with pytest.raises(SettingsError, match="an older one serves up to") as refused:
            people(settings, tmp_path)
        assert people(settings, tmp_path, parse_time(str(refused.value).rpartition(" ")[2])) == ["a", "b", "c"]

    def test_the_pieces_of_a_day_are_not_read_at_once(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        """They may be larger than the memory."""
        copier.begin()
        with mock.patch.object(wal_archive, "MAX_WAL_FRAMES", 1):
            for n in range(5):
                named(db, f"p{n}")
                copier.step()
        order: list[str] = []
        read, replayed = WalSegment.load, point_in_time._replay_segments

        def reads(path: Path) -> WalSegment:
            order.append("read")
            return read(path)

        def replays(target: Path, parts: Sequence[WalSegment]) -> int:
            order.append("replayed")
            return replayed(target, parts)

        with (
            mock.patch.object(WalSegment, "load", reads),
            mock.patch.object(point_in_time, "_replay_segments", replays),
        ):
            assert len(people(settings, tmp_path)) == 5
        assert order.index("replayed") < 3


def test_a_key_that_was_changed_begins_a_whole_copy(settings: Settings, copier: WalArchiver, tmp_path: Path) -> None:
    """While it copies, and where another goes on: what is put back opens with the key that it has."""
    copier.begin()
    copier.step()
    key_rotation.begin_rotation(settings)
    NOW[0] += 1000
    copier.step()
    assert len(BaseBackup.list_all(copies(settings))) == 2
    key_rotation.finish_rotation(settings)
    NOW[0] += 1000
    copier.step()
    new = load_settings({"data": str(tmp_path / "new")}, {})
    restore_snapshot(new, copies(settings))
    with closing(Ledger.open(new.ledger_url, new.load_key())) as ledger:
        ledger.keys.check()
    key_rotation.begin_rotation(settings)
    NOW[0] += 1000
    copier.release()
    other = WalArchiver(settings, copies(settings), lambda: NOW[0])
    other.begin()
    other.release()
    assert len(BaseBackup.list_all(copies(settings))) == 3


def test_what_another_ledger_has_left_is_not_taken_for_the_one_that_is_put_back(
    settings: Settings, copier: WalArchiver, tmp_path: Path
) -> None:
    """The log of a ledger that is gone, and the drafts of a restore that was killed."""
    copier.begin()
    copier.step()
    new = load_settings({"data": str(tmp_path / "new")}, {})
    new.make_data_folder()
    left = new.data / "ledger.sqlite-wal"
    left.write_bytes(b"x")
    with pytest.raises(SettingsError, match="empty folder"):
        restore_snapshot(new, copies(settings))
    left.unlink()
    for name in ("ledger.restoring", "ledger.restoring-wal", "ledger.restoring-shm"):
        (new.data / name).write_bytes(b"x")
    (new.data / "key").write_text(settings.key_file.read_text())
    restore_snapshot(new, copies(settings))
    assert sorted(path.name for path in new.data.iterdir()) == ["key", "ledger.sqlite", "lock"]
    other = load_settings({"data": str(tmp_path / "other")}, {})
    other.make_data_folder()
    other.load_key()
    with pytest.raises(SettingsError, match="empty folder"):
        restore_snapshot(other, copies(settings))


def test_what_is_too_old_goes_and_each_moment_of_the_last_days_stays(
    settings: Settings, db: sqlite3.Connection, tmp_path: Path
) -> None:
    """A name that was erased is in no copy after the days and one more."""
    copier = WalArchiver(replace(settings, backup_days=2), copies(settings), lambda: NOW[0])
    copier.begin()
    named(db, "erased")
    copier.step()

    def holding() -> list[str]:
        found = copies(settings)
        pieces = [path for path in found.rglob(f"*{SEGMENT}") if b"erased" in WalSegment.load(path).data]
        return [p.name for p in [*pieces, *(p for p in found.rglob("*.sqlite") if b"erased" in p.read_bytes())]]

    assert holding(), "a piece of the log has it"
    db.execute("PRAGMA secure_delete=ON")
    db.execute("DELETE FROM people")
    with closing(Ledger.open(settings.ledger_url)) as ledger:
        ledger.scrub_deleted_pages()
    for _ in range(4):
        NOW[0] += DAY + 1
        copier.step()
    ages = [(NOW[0] - g.at) // DAY for g in BaseBackup.list_all(copies(settings))]
    assert ages == [2, 1, 0]
    copier.release()
    assert holding() == []


def test_a_clock_that_is_set_forward_ages_no_copy(
    settings: Settings, db: sqlite3.Connection, copier: WalArchiver
) -> None:
    """A year that leapt is no year in which anybody could have noticed that something is wrong."""
    year = 365 * DAY
    copier.begin()
    for _ in range(3):
        NOW[0] += DAY + 1
        copier.step()
    db.execute("INSERT INTO leaps VALUES (?, ?, 1, 0, ?)", (NOW[0], year, NOW[0] + year))
    NOW[0] += year + 1
    copier.step()
    assert len(BaseBackup.list_all(copies(settings))) == 5
    for _ in range(settings.backup_days + 1):
        NOW[0] += DAY + 1
        copier.step()
    assert len(BaseBackup.list_all(copies(settings))) == settings.backup_days + 1


def test_of_a_ledger_that_was_put_back_what_was_played_last_counts(
    settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
) -> None:
    """Its time may be earlier than that of copies of before, which serve the moments that it has not."""
    copier.begin()
    begun = NOW[0]
    named(db, "undone")
    copier.step()
    copier.release()
    NOW[0] -= HOUR
    db.execute("DELETE FROM people")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copier.begin()
    named(db, "again")
    NOW[0] += 1000
    copier.step()
    assert people(settings, tmp_path) == people(settings, tmp_path, begun - 1) == ["again"]
    copier.release()
    copier.begin()
    assert len(BaseBackup.list_all(copies(settings))) == 2, "and it goes on from there"


def test_a_service_cannot_be_started_where_something_is_put_back(
    settings: Settings, copier: WalArchiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ledger would be replaced by the other; nor is anything put back where one is starting."""
    copier.begin()
    new = replace(settings, data=tmp_path / "new")

    def meanwhile(*args: Any) -> point_in_time.RestoredSnapshot:
        with pytest.raises(SettingsError, match="in use"), hold_lock(new.data / "lock"):
            pass
        return restore_ledger(*args)

    monkeypatch.setattr(point_in_time, "restore_ledger", meanwhile)
    restore_snapshot(new, copies(settings))
    other = replace(settings, data=tmp_path / "other")
    other.data.mkdir()
    with hold_lock(other.data / "lock"), pytest.raises(SettingsError, match="in use"):
        restore_snapshot(other, copies(settings))


class TestMuchAtOnce:
    """Where the folder was away, or the keeper stood still, or somebody writes more than a disk takes."""

    def test_a_slow_folder_gets_it_in_pieces(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        """Each is a sign of life, and is not copied again; only a commit that is larger is a piece of its own."""
        copier.begin()
        names = [f"p{n:03}" for n in range(200)]
        named(db, *names[:100])
        db.execute("CREATE TABLE blob AS SELECT zeroblob(500000) AS x")
        named(db, *names[100:])
        with mock.patch.object(wal_archive, "PAGES_PER_STEP", 20):
            copier.step()
        (generation,) = BaseBackup.list_all(copies(settings))
        parts = [WalSegment.load(path) for path in generation.list_segments()]
        frames = [part.position.frames - part.first for part in parts]
        assert max(frames) > 100
        assert sorted(frames)[-2] <= 20
        assert people(settings, tmp_path) == people(settings, tmp_path, NOW[0]) == names

    def test_what_was_copied_before_it_failed_is_not_copied_again(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, tmp_path: Path
    ) -> None:
        copier.begin()
        names = [f"p{n:03}" for n in range(100)]
        named(db, *names)
        real, left = WalSegment.write, [2]

        def write(segment: WalSegment, folder: Path) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError("the folder is away")
            real(segment, folder)

        with mock.patch.object(wal_archive, "PAGES_PER_STEP", 20):
            with mock.patch.object(WalSegment, "write", write), pytest.raises(OSError, match="away"):
                copier.step()
            assert len(BaseBackup.list_all(copies(settings))[0].list_segments()) == 2
            copier.begin()
            copier.step()
        assert len(BaseBackup.list_all(copies(settings))) == 1
        assert people(settings, tmp_path) == names

    def test_nobody_waits_until_all_is_in_the_database(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver
    ) -> None:
        """Only for what was written after the lock was asked for."""
        copier.begin()
        db.execute("CREATE TABLE blob AS SELECT zeroblob(5000000) AS x")
        sizes = []

        def read() -> None:
            sizes.append(settings.ledger_file.stat().st_size)

        copier.step()
        db.execute("CREATE TABLE more AS SELECT zeroblob(5000000) AS x")
        copier._open_reader.advance()
        copier._open_reader.restart_wal(read)
        assert sizes[0] > 10_000_000


def test_times_are_read_as_they_are_told() -> None:
    assert parse_time("2026-11-22T18:30Z") == parse_time("2026-11-22T18:30") == parse_time("2026-11-22 19:30+01:00")
    assert format_time(parse_time("2026-11-22T18:30Z")) == "2026-11-22T18:30:00.000Z"
    with pytest.raises(SettingsError):
        parse_time("yesterday")


def test_a_time_that_is_empty_is_none(settings: Settings, copier: WalArchiver, tmp_path: Path) -> None:
    """As where a variable of a shell was not set: nobody has asked for the last moment."""
    copier.begin()
    made = call("restore", str(copies(settings)), "--at", "", "--data", str(tmp_path / "new"))
    assert made.returncode != 0
    assert "a time such as" in made.stderr


class TestFolder:
    def test_one_that_is_gone_lets_the_log_of_the_database_go(
        self, settings: Settings, db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And once it is back it goes on by itself."""
        monkeypatch.setattr(wal_archive, "ARCHIVE_PERIOD", 0.0)
        monkeypatch.setattr(wal_archive, "CHECK_PERIOD", 0.01)
        monkeypatch.setattr(wal_archive, "RETRY_PAUSES", (0.01, 0.01))
        views = ViewStore(settings.views_url)
        backup = RunningBackup(settings, views, lambda: time.time_ns() // 1_000_000)
        backup.start()
        until(lambda: "upto" in load_progress(views, "backup"))
        copies(settings).rename(tmp_path / "away")
        named(db, "a")
        until(lambda: backup._last_error)
        until(lambda: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        last = load_progress(views, "backup")["upto"]
        (tmp_path / "away").rename(copies(settings))
        until(lambda: load_progress(views, "backup").get("upto", 0) > last)
        backup.stop()
        assert people(settings, tmp_path) == ["a"]
        views.close()

    def test_one_that_never_was_there_is_late_from_the_beginning(self, settings: Settings) -> None:
        copies(settings).rmdir()
        copies(settings).write_text("no folder")
        views = ViewStore(settings.views_url)
        backup = RunningBackup(settings, views, lambda: 7)
        backup.start()
        until(lambda: backup._last_error)
        assert load_progress(views, "backup") == {"since": 7}
        backup.stop()
        views.close()

    def test_a_full_one_gets_the_room_of_what_nobody_needs(
        self, settings: Settings, db: sqlite3.Connection, copier: WalArchiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The copies that are too old go before there is another; half a copy takes no room."""
        copier.begin()
        for _ in range(settings.backup_days):
            NOW[0] += DAY + 1
            copier.step()
        assert len(BaseBackup.list_all(copies(settings))) == settings.backup_days + 1
        monkeypatch.setattr(wal_archive, "hash_file", mock.Mock(side_effect=OSError(28, "No space left on device")))
        for _ in range(3):
            NOW[0] += DAY + 1
            with pytest.raises(OSError, match="No space"):
                copier.step()
        assert len(BaseBackup.list_all(copies(settings))) == settings.backup_days - 2
        assert len(list(copies(settings).glob(f"*/{BASE}"))) == settings.backup_days - 2

    def test_half_a_piece_takes_no_room(self, tmp_path: Path) -> None:
        (tmp_path / "piece").mkdir()
        with pytest.raises(OSError, match="directory"):
            wal_files.write_file(tmp_path / "piece", b"x")
        assert [path.name for path in tmp_path.iterdir()] == ["piece"]


@pytest.mark.parametrize("noise", [True, False], ids=["noise", "without a log of last writes"])
def test_of_a_ledger_that_is_none_no_connection_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: bool
) -> None:
    (tmp_path / "ledger").write_bytes(bytes(range(256)) * 64 if noise else b"")
    made, connect = list[sqlite3.Connection](), sqlite3.connect

    def connecting(path: str, **named: Any) -> sqlite3.Connection:
        made.append(connect(path, **named))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", connecting)
    with pytest.raises(
        sqlite3.DatabaseError if noise else FileNotFoundError, match="not a database" if noise else "-shm"
    ):
        WalReader(tmp_path / "ledger")
    (left,) = made
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        left.execute("SELECT 1")


def test_nobody_is_let_into_the_middle_of_a_commit(settings: Settings, db: sqlite3.Connection) -> None:
    """Frames of a transaction that is not over, or was taken back, are none."""
    tail = WalReader(settings.ledger_file)
    before = tail.count_frames()
    db.execute("PRAGMA cache_size=1")
    db.execute("BEGIN")
    named(db, *(f"p{n}" for n in range(2000)))
    assert tail.count_frames() == before
    db.execute("ROLLBACK")
    assert tail.count_frames() == before
    tail.close()


# --- the whole service -----------------------------------------------------------------------------------------


def test_a_service_that_is_killed_in_play_is_put_back_with_every_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, copied, new = tmp_path / "data", tmp_path / "copies", tmp_path / "new"
    with serving(data, "--backup-to", str(copied)) as service:
        tables = [Table(service).open() for _ in range(3)]
        for table in tables:
            table.turn()
        upto = time.time_ns() // 1_000_000
        views = ViewStore(load_settings({"data": str(data)}, {}).views_url)
        until(lambda: load_progress(views, "backup").get("upto", 0) > upto)
        views.close()
        tables[0].turn()
        service.kill_group()
    made = call("restore", str(copied), "--at", format_time(upto + 60_000), "--data", str(new))
    assert made.returncode == 0, made.stderr
    with serving(new) as service:
        for table in tables:
            table.service = service
            assert table.get("/audit")["proved"]
            assert table.get()["version"] >= (0 if table is tables[0] else table.acknowledged[-1])
        tables[1].turn()
        tables[1].turn()
        until(lambda: tables[1].get()["status"] == "closed")
        assert json.loads(call("audit", tables[1].game, "--data", str(new)).stdout)["verified"] is True
    again = call("restore", str(copied), "--data", str(new))
    assert again.returncode != 0


def test_every_acknowledged_move_up_to_the_moment_is_there(tmp_path: Path) -> None:
    """Of the ledger itself: the records that were acknowledged before the time that the backup has told."""
    data, copied = tmp_path / "data", tmp_path / "copies"
    with serving(data, "--backup-to", str(copied)) as service:
        table = Table(service).open()
        table.turn()
        upto, version = time.time_ns() // 1_000_000, table.acknowledged[-1]
        views = ViewStore(load_settings({"data": str(data)}, {}).views_url)
        until(lambda: load_progress(views, "backup").get("upto", 0) > upto)
        views.close()
        service.kill_group()
    new = load_settings({"data": str(tmp_path / "new")}, {})
    restore_snapshot(new, copied)
    with closing(Ledger.open(new.ledger_url)) as ledger:
        assert ledger.version(table.game) >= version
