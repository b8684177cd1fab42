"""The running backup while it archives: no commit is missing, and a slow or missing folder delays nobody."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deploy.backup import key_rotation, wal_archive, wal_files
from deploy.backup.snapshot import restore_snapshot
from deploy.backup.wal_archive import DAY, HOUR, RunningBackup, WalArchiver
from deploy.backup.wal_files import BASE, MANIFEST, BaseBackup, WalSegment
from deploy.backup.wal_reader import WalReader
from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime.wiring import migrate
from domain.ledger import Ledger
from domain.ledger.sqlite_files import scrub_marker
from projections.leases import load_progress
from projections.view_store import ViewStore
from tests.deploy.harness import until
from tests.deploy.running_backup import NOW, copier, copies, db, named, people, settings

__all__ = ["copier", "db", "settings"]


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

    def test_whole_copy_reaches_disk_in_steps_with_signs_of_life(
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
    def test_follower_needs_no_whole_copy_if_nothing_is_missing(
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
    def test_last_piece_whose_head_has_changed_is_no_reason_to_stop(
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

    def test_whole_copy_that_fails_leaves_the_one_before_up_to_date(
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
