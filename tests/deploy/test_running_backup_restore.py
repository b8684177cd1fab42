"""Restoring a running backup: each moment can be restored, and damaged copies are named."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deploy.backup import point_in_time, wal_archive
from deploy.backup.point_in_time import format_time, parse_time, restore_ledger
from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.backup.wal_archive import DAY, HOUR, WalArchiver
from deploy.backup.wal_files import BASE, MANIFEST, SEGMENT, BaseBackup, WalSegment
from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime.supervisor import hold_lock
from domain.ledger import Ledger
from projections.leases import load_progress
from projections.view_store import ViewStore
from tests.deploy.harness import Table, call, serving, until
from tests.deploy.running_backup import NOW, copier, copies, db, named, people, settings

__all__ = ["copier", "db", "settings"]


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

    def test_restore_that_was_killed_while_it_wrote_key_is_repeated(
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


def test_leftovers_of_another_ledger_are_not_taken_for_restored(
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


def test_old_ones_go_and_each_moment_of_last_days_stays(
    settings: Settings, db: sqlite3.Connection, tmp_path: Path
) -> None:
    """A name that was erased is in no copy after the days and one more."""
    copier = WalArchiver(replace(settings, backup_days=2), copies(settings), lambda: NOW[0])
    copier.begin()
    named(db, "Zebediah")
    copier.step()

    def holding() -> list[str]:
        found = copies(settings)
        pieces = [path for path in found.rglob(f"*{SEGMENT}") if b"Zebediah" in WalSegment.load(path).data]
        return [p.name for p in [*pieces, *(p for p in found.rglob("*.sqlite") if b"Zebediah" in p.read_bytes())]]

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


def test_of_ledger_put_back_what_was_played_last_counts(
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


def test_service_cannot_be_started_where_something_is_put_back(
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


# --- the whole service -----------------------------------------------------------------------------------------


def test_service_killed_in_play_is_put_back_with_every_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
