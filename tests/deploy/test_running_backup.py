"""The running backup: no commit is missing, whatever dies, and no folder that fails stops the service."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from deploy import running_backup
from deploy.backup import put_back
from deploy.moments import make, time_of, told
from deploy.running_backup import ABOUT, BASE, DAY, Copier, Generation, RunningBackup
from deploy.settings import Settings, SettingsError, load
from deploy.wal import Tail
from deploy.wiring import migrate
from domain.ledger import Ledger
from projections.progress import kept
from projections.store import Views
from tests.deploy.house import Table, call, serving, until


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A folder with its tables."""
    found = load({"data": str(tmp_path / "data"), "backup": str(tmp_path / "copies")}, {})
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
def copier(settings: Settings) -> Iterator[Copier]:
    NOW[0] = 1_000_000_000_000
    made = Copier(settings, copies(settings), lambda: NOW[0])
    yield made
    made.let_go()


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
    make(copies(settings), at, target)
    with closing(sqlite3.connect(target)) as made:
        return [name for (name,) in made.execute("SELECT player FROM people ORDER BY player")]


class TestMoments:
    def test_each_step_can_be_put_back(
        self, settings: Settings, db: sqlite3.Connection, copier: Copier, tmp_path: Path
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
        first = Generation.all(copies(settings))[0].at
        assert people(settings, tmp_path, first) == ["a"]
        assert people(settings, tmp_path, first + 2500) == ["a", "b", "c"]
        with pytest.raises(SettingsError, match="begins at"):
            people(settings, tmp_path, first - 1)

    def test_the_log_is_begun_anew_and_nothing_is_missing(
        self, settings: Settings, db: sqlite3.Connection, copier: Copier, tmp_path: Path
    ) -> None:
        copier.begin()
        names = [f"p{n:03}" for n in range(200)]
        with mock.patch.object(running_backup, "FULL", 20):
            for n in range(0, 200, 10):
                named(db, *names[n : n + 10])
                copier.step()
        epochs = {path.name[:6] for path in Generation.all(copies(settings))[0].segments()}
        assert len(epochs) > 5
        assert people(settings, tmp_path) == names
        assert settings.ledger_file.with_name("ledger.sqlite-wal").stat().st_size < 200 * 4120

    def test_writers_go_on_all_the_while(
        self, settings: Settings, copier: Copier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two of them, with checkpoints of their own, while logs end and whole copies are made."""
        monkeypatch.setattr(running_backup, "FULL", 50)
        stop, wrote = threading.Event(), [0, 0]

        def write(who: int) -> None:
            with closing(sqlite3.connect(settings.ledger_file, isolation_level=None, timeout=10)) as mine:
                mine.execute("PRAGMA synchronous=OFF")
                mine.execute("PRAGMA wal_autocheckpoint=20")
                while not stop.is_set():
                    named(mine, f"{who}-{wrote[who]:06}")
                    wrote[who] += 1

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
        self, settings: Settings, db: sqlite3.Connection, copier: Copier, tmp_path: Path
    ) -> None:
        copier.begin()
        named(db, "a")
        copier.step()
        copier.let_go()
        named(db, "b")
        copier.begin()
        copier.step()
        assert len(Generation.all(copies(settings))) == 1
        assert people(settings, tmp_path) == ["a", "b"]

    def test_else_with_one(self, settings: Settings, db: sqlite3.Connection, copier: Copier, tmp_path: Path) -> None:
        copier.begin()
        named(db, "a")
        copier.step()
        copier.let_go()
        named(db, "b")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        named(db, "c")
        NOW[0] += 1000
        copier.begin()
        copier.step()
        assert len(Generation.all(copies(settings))) == 2
        assert people(settings, tmp_path) == ["a", "b", "c"]

    def test_a_whole_copy_that_was_cut_short_is_none(self, settings: Settings, copier: Copier) -> None:
        copier.begin()
        copier.step()
        (whole,) = Generation.all(copies(settings))
        (whole.folder / ABOUT).unlink()
        NOW[0] += 1000
        copier.begin()
        copier.step()
        assert [g.folder.name for g in Generation.all(copies(settings))] == [p.name for p in copies(settings).iterdir()]


class TestDamage:
    @pytest.fixture
    def shipped(self, settings: Settings, db: sqlite3.Connection, copier: Copier) -> list[Path]:
        """Three segments."""
        copier.begin()
        for name in "abc":
            named(db, name)
            NOW[0] += 1000
            copier.step()
        return Generation.all(copies(settings))[0].segments()

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
        assert people(settings, tmp_path, time_of(at)) == ["a"]
        shipped[1].unlink()
        with pytest.raises(SettingsError, match="a piece is missing"):
            people(settings, tmp_path)

    def test_so_is_a_whole_copy(self, settings: Settings, shipped: list[Path], tmp_path: Path) -> None:
        base = shipped[0].parent / BASE
        base.write_bytes(base.read_bytes()[:-1] + b"x")
        with pytest.raises(SettingsError, match="is damaged"):
            people(settings, tmp_path)


def test_what_is_too_old_goes_and_each_moment_of_the_last_days_stays(
    settings: Settings, db: sqlite3.Connection, tmp_path: Path
) -> None:
    """A name that was erased is in no copy after the days and one more."""
    copier = Copier(replace(settings, backup_days=2), copies(settings), lambda: NOW[0])
    copier.begin()
    named(db, "erased")
    copier.step()
    db.execute("PRAGMA secure_delete=ON")
    db.execute("DELETE FROM people")
    for _ in range(4):
        NOW[0] += DAY + 1
        copier.step()
    ages = [(NOW[0] - g.at) // DAY for g in Generation.all(copies(settings))]
    assert ages == [2, 1, 0]
    copier.let_go()
    assert not any(b"erased" in path.read_bytes() for path in copies(settings).rglob("*.sqlite"))


def test_times_are_read_as_they_are_told() -> None:
    assert time_of("2026-11-22T18:30Z") == time_of("2026-11-22T18:30") == time_of("2026-11-22 19:30+01:00")
    assert told(time_of("2026-11-22T18:30Z")) == "2026-11-22T18:30:00.000Z"
    with pytest.raises(SettingsError):
        time_of("yesterday")


class TestFolder:
    def test_one_that_is_gone_lets_the_log_of_the_database_go(
        self, settings: Settings, db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And once it is back it goes on by itself."""
        monkeypatch.setattr(running_backup, "SHIP", 0.0)
        monkeypatch.setattr(running_backup, "LOOK", 0.01)
        monkeypatch.setattr(running_backup, "PAUSES", (0.01, 0.01))
        views = Views(settings.views_url)
        backup = RunningBackup(settings, views, lambda: time.time_ns() // 1_000_000)
        backup.start()
        until(lambda: "upto" in kept(views, "backup"))
        copies(settings).rename(tmp_path / "away")
        named(db, "a")
        until(lambda: backup._said)
        until(lambda: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        last = kept(views, "backup")["upto"]
        (tmp_path / "away").rename(copies(settings))
        until(lambda: kept(views, "backup").get("upto", 0) > last)
        backup.stop()
        assert people(settings, tmp_path) == ["a"]
        views.close()

    def test_one_that_never_was_there_is_late_from_the_beginning(self, settings: Settings) -> None:
        copies(settings).rmdir()
        copies(settings).write_text("no folder")
        views = Views(settings.views_url)
        backup = RunningBackup(settings, views, lambda: 7)
        backup.start()
        until(lambda: backup._said)
        assert kept(views, "backup") == {"since": 7}
        backup.stop()
        views.close()

    def test_half_a_piece_takes_no_room(self, tmp_path: Path) -> None:
        (tmp_path / "piece").mkdir()
        with pytest.raises(OSError, match="directory"):
            running_backup.write(tmp_path / "piece", b"x")
        assert [path.name for path in tmp_path.iterdir()] == ["piece"]


def test_nobody_is_let_into_the_middle_of_a_commit(settings: Settings, db: sqlite3.Connection) -> None:
    """Frames of a transaction that is not over, or was taken back, are none."""
    tail = Tail(settings.ledger_file)
    before = tail.frames()
    db.execute("PRAGMA cache_size=1")
    db.execute("BEGIN")
    named(db, *(f"p{n}" for n in range(2000)))
    assert tail.frames() == before
    db.execute("ROLLBACK")
    assert tail.frames() == before
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
        views = Views(load({"data": str(data)}, {}).views_url)
        until(lambda: kept(views, "backup").get("upto", 0) > upto)
        views.close()
        tables[0].turn()
        service.kill_group()
    made = call("restore", str(copied), "--at", told(upto + 60_000), "--data", str(new))
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
        views = Views(load({"data": str(data)}, {}).views_url)
        until(lambda: kept(views, "backup").get("upto", 0) > upto)
        views.close()
        service.kill_group()
    new = load({"data": str(tmp_path / "new")}, {})
    put_back(new, copied)
    with closing(Ledger.open(new.ledger_url)) as ledger:
        assert ledger.version(table.game) >= version
