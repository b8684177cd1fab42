"""One game is put back from a backup or an export, on both stores, and nothing but what the tree holds is believed."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.backup import game_repair
from deploy.backup.game_repair import repair_game
from deploy.backup.key_rotation import begin_rotation, finish_rotation
from deploy.backup.snapshot import LEDGER, restore_snapshot, take_snapshot
from deploy.backup.wal_archive import WalArchiver
from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime.wiring import ServiceContainer, create_services, migrate
from domain.command_handler import new_game_id
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Close, Join, Start
from domain.kernel.records.export import dump
from domain.ledger.mapper import pack
from domain.service.corruption import CorruptRecords
from projections.projector import Projector
from projections.viewer_history import ViewerHistory
from tests.damage import key, overwrite, spoil
from tests.deploy.harness import CATALOGUE
from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]


@dataclass
class Place:
    """A data folder whose service does not run."""

    settings: Settings
    services: ServiceContainer

    def game(self) -> str:
        """One with seven records, of which two have packs."""
        game, commands = new_game_id(), self.services.commands
        commands.open(game, "orders@1", 3, {})
        for seat in range(3):
            commands.handle(game, Join(seat, f"p{seat}"))
        commands.handle(game, Start())
        for seat in range(2):
            commands.handle(game, Play(seat, [{"type": "order", "to": "t01", "units": 1}]))
        return game

    def pump(self) -> None:
        s = self.services
        pump = Projector(ViewerHistory(s.ledger, s.registry, s.views), "pump")
        while pump.run(0):
            pass

    def spoil(self, game: str, version: int, state: bytes | None = b"j{") -> None:
        """Other bytes, or none at all."""
        spoil(self.services.ledger, game, version, state)

    def log(self) -> list[tuple[int, str, int, str]]:
        return [(e.position, e.game, e.version, e.record.hash) for e in self.services.ledger.log(0, 1000)]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    env = {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"}
    if request.param == "postgresql":
        env["ANNALS_DATABASE_URL"] = request.getfixturevalue("postgres_url")
    settings = load_settings({"data": str(tmp_path / "data")}, env)
    migrate(settings)
    services = create_services(settings, CATALOGUE)
    yield Place(settings, services)
    services.close()


def exported(place: Place, game: str, path: Path) -> Path:
    path.write_bytes(dump(place.services.ledger.read(game)))
    return path


def closed(place: Place) -> str:
    game = place.game()
    place.services.commands.handle(game, Close("abandoned", "director"))
    place.game()
    place.pump()
    return game


@pytest.mark.parametrize("state", [b"j{", None])
def test_a_closed_game_comes_back_from_its_export(place: Place, tmp_path: Path, state: bytes | None) -> None:
    """Every position and every leaf is what it was."""
    game = closed(place)
    before, head = place.log(), place.services.reader.proofs.head()
    source = exported(place, game, tmp_path / "game.annals")
    for version in (2, 6, 7):
        place.spoil(game, version, state)
    made = repair_game(place.services, source, game)
    assert (made.repaired, made.lost, made.first_damaged) == ([2, 6, 7], [], None)
    assert place.log() == before
    assert place.services.reader.proofs.head() == head
    assert CorruptRecords(place.services.ledger).list_all() == []
    assert repair_game(place.services, source, game).repaired == [], "again changes nothing"


@pytest.mark.parametrize("column", ["originator_version = 9", "originator_id = '0123456789abcdef0123456789abcdef'"])
def test_a_record_whose_name_has_changed_gets_its_own_again(place: Place, tmp_path: Path, column: str) -> None:
    """It stands where the tree says: nothing is lost, and nothing is twice in the log."""
    game = closed(place)
    before, head = place.log(), place.services.reader.proofs.head()
    source = exported(place, game, tmp_path / "game.annals")
    where = (6, key(place.services.ledger, game))
    sql = f"UPDATE records SET {column} WHERE originator_version = ? AND originator_id = ?"  # noqa: S608 - our words
    overwrite(place.services.ledger, sql, where)
    made = repair_game(place.services, source, game)
    assert 6 in made.repaired
    assert made.first_damaged is None
    assert place.log() == before
    assert place.services.reader.proofs.head() == head


def test_a_row_that_an_index_knows_by_its_own_name_is_put_right(tmp_path: Path) -> None:
    """A byte in the file of SQLite: whoever asks for the record finds it, whoever reads the log does not."""
    settings = load_settings({"data": str(tmp_path / "data")}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
    migrate(settings)
    place = Place(settings, create_services(settings, CATALOGUE))
    game = closed(place)
    before = place.log()
    source = exported(place, game, tmp_path / "game.annals")
    place.services.close()
    with closing(sqlite3.connect(settings.ledger_file)) as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    data = bytearray(settings.ledger_file.read_bytes())
    at = data.index(game.replace("-", "").encode() + b"\x02game.joined@1")
    data[at + 3] ^= 0x80
    settings.ledger_file.write_bytes(data)
    place = Place(settings, create_services(settings, CATALOGUE))
    made = repair_game(place.services, source, game)
    assert (len(made.repaired), made.lost, made.first_damaged) == (1, [], None)
    assert place.log() == before
    assert place.services.ledger.admin.list_integrity_errors(10) == []
    place.services.close()


def test_another_record_is_not_believed(place: Place, tmp_path: Path) -> None:
    """A forged public part, a forged pack; the others are put back."""
    game = closed(place)
    records = place.services.ledger.read(game)
    public = [{**r.public, "at": r.public["at"] + (r.version == 2)} for r in records]
    packs = [{k: {**p, "salt": "00"} for k, p in r.packs.items()} if r.version == 6 else r.packs for r in records]
    forged = [type(r)(p, q) for r, p, q in zip(records, public, packs, strict=True)]
    source = tmp_path / "forged.annals"
    source.write_bytes(dump(forged))
    for version in (2, 6, 7):
        place.spoil(game, version)
    made = repair_game(place.services, source, game)
    assert made.repaired == [7]
    assert [version for version, _ in made.lost] == [2, 6]
    assert made.first_damaged == 2


def test_changed_one_that_stayed_readable_comes_back(place: Place, tmp_path: Path) -> None:
    game = closed(place)
    source = exported(place, game, tmp_path / "game.annals")
    record = place.services.ledger.read(game, 3, 4)[0]
    place.spoil(game, 4, pack({"public": {**record.public, "at": 1}, "packs": record.packs}))
    assert repair_game(place.services, source, game).repaired == [4]


def test_the_export_of_a_running_game_gives_no_secret_back(place: Place, tmp_path: Path) -> None:
    game = place.game()
    place.pump()
    source = exported(place, game, tmp_path / "game.annals")
    place.spoil(game, 6)
    (lost,) = repair_game(place.services, source, game).lost
    assert "packs" in lost[1]


def test_a_source_that_is_none_is_refused(place: Place, tmp_path: Path) -> None:
    game, other = closed(place), place.game()
    source = exported(place, other, tmp_path / "other.annals")
    with pytest.raises(SettingsError, match="of another game"):
        repair_game(place.services, source, game)
    with pytest.raises(SettingsError, match="neither"):
        repair_game(place.services, tmp_path, game)
    source.write_bytes(b"nothing")
    with pytest.raises(SettingsError, match="no export"):
        repair_game(place.services, source, game)


class TestFromABackup:
    """Of SQLite, whose backups are ours."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Iterator[Place]:
        settings = load_settings({"data": str(tmp_path / "data")}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
        migrate(settings)
        services = create_services(settings, CATALOGUE)
        yield Place(settings, services)
        services.close()

    def test_a_running_game_goes_on_and_what_is_newer_is_named(self, place: Place, tmp_path: Path) -> None:
        game = place.game()
        take_snapshot(place.settings, tmp_path / "copy")
        place.services.commands.handle(game, Play(2, [{"type": "order", "to": "t01", "units": 1}]))
        place.pump()
        place.spoil(game, 3)
        made = repair_game(place.services, tmp_path / "copy", game)
        assert (made.repaired, made.first_damaged) == ([3], None)
        place.services.commands.handle(game, Play(2, [{"type": "submit"}]))
        place.pump()
        for version in (3, 8):
            place.spoil(game, version)
        made = repair_game(place.services, tmp_path / "copy", game)
        assert (made.repaired, made.first_damaged) == ([3], 8)
        assert "version 8 is lost: the source does not have it" in list(made.describe())

    def test_a_seed_comes_back_and_no_other_one(self, place: Place, tmp_path: Path) -> None:
        game = place.game()
        place.pump()
        take_snapshot(place.settings, tmp_path / "copy")
        seed = place.services.seed_store.seed(game)
        place.services.ledger.execute("UPDATE seeds SET box = ? WHERE game = ?", (b"x" * 48, game))
        assert repair_game(place.services, tmp_path / "copy", game).repaired == [0]
        assert place.services.seed_store.seed(game) == seed

    def test_a_copy_that_is_damaged_itself_gives_what_it_has(self, place: Place, tmp_path: Path) -> None:
        game = place.game()
        place.pump()
        place.spoil(game, 2)
        take_snapshot(place.settings, tmp_path / "copy")
        place.spoil(game, 3)
        made = repair_game(place.services, tmp_path / "copy", game)
        assert (made.repaired, [version for version, _ in made.lost]) == ([3], [2])
        shutil.rmtree(tmp_path / "copy")

    def test_a_backup_stays_what_it_was(self, place: Place, tmp_path: Path) -> None:
        """It may lie where nothing can be written, and is put back as a whole later."""
        game = place.game()
        place.pump()
        take_snapshot(place.settings, tmp_path / "copy")
        before = (tmp_path / "copy" / LEDGER).read_bytes()
        place.spoil(game, 3)
        (tmp_path / "copy" / LEDGER).chmod(0o400)
        assert repair_game(place.services, tmp_path / "copy", game).repaired == [3]
        assert (tmp_path / "copy" / LEDGER).read_bytes() == before
        restore_snapshot(load_settings({"data": str(tmp_path / "new")}, {}), tmp_path / "copy")

    def test_one_killed_leaves_no_copy_that_next_does_not_remove(
        self, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The names of people are in it, also those that are erased later."""
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        game = place.game()
        place.pump()
        take_snapshot(place.settings, tmp_path / "copy")
        place.spoil(game, 3)
        child = os.fork()
        if not child:
            monkeypatch.setattr(game_repair, "_read_copy", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            repair_game(place.services, tmp_path / "copy", game)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert repair_game(place.services, tmp_path / "copy", game).repaired == [3]
        copies = [path for path in tmp_path.rglob("*") if path.is_file() and path.name == LEDGER]
        assert sorted(path.parent.name for path in copies) == ["copy", "data"]

    def test_a_copy_of_which_nothing_can_be_read_is_refused(self, place: Place, tmp_path: Path) -> None:
        game = place.game()
        take_snapshot(place.settings, tmp_path / "copy")
        (tmp_path / "copy" / LEDGER).write_bytes(b"x" * 10_000)
        with pytest.raises(SettingsError, match="is not a ledger"):
            repair_game(place.services, tmp_path / "copy", game)

    def test_a_copy_without_its_key_is_told_as_that(self, place: Place, tmp_path: Path) -> None:
        """After the master key was changed; and nothing is lost by it."""
        game = place.game()
        place.pump()
        take_snapshot(place.settings, tmp_path / "copy")
        kept = (tmp_path / "copy" / "key").read_text()
        (tmp_path / "copy" / "key").unlink()
        begin_rotation(place.settings)
        place.services.close()
        finish_rotation(place.settings)
        place.services = create_services(place.settings, CATALOGUE)
        place.spoil(game, 6)
        with pytest.raises(SettingsError, match="another key"):
            repair_game(place.services, tmp_path / "copy", game)
        (tmp_path / "copy" / "key").write_text(kept)
        assert repair_game(place.services, tmp_path / "copy", game).repaired == [6]

    def test_a_place_that_is_taken_is_told(self, place: Place, tmp_path: Path) -> None:
        """The last record of the log is gone, and SQLite has given its position to the next."""
        game = place.game()
        place.pump()
        take_snapshot(place.settings, tmp_path / "copy")
        place.spoil(game, 7, None)
        place.game()
        done = repair_game(place.services, tmp_path / "copy", game)
        assert (done.repaired, done.lost, done.first_damaged) == ([], [(7, "its place in the log is taken")], 7)
        assert place.services.ledger.admin.has_append_triggers()

    def test_a_time_is_for_a_running_backup(self, place: Place, tmp_path: Path) -> None:
        """A plain one and an export are one moment each, whatever time was asked for."""
        game = closed(place)
        take_snapshot(place.settings, tmp_path / "copy")
        for source in (tmp_path / "copy", exported(place, game, tmp_path / "game.annals")):
            with pytest.raises(SettingsError, match="one moment"):
                repair_game(place.services, source, game, 1)

    def test_running_backup_before_a_key_change_opens_with_its_own(self, place: Place, tmp_path: Path) -> None:
        game = place.game()
        place.pump()
        (tmp_path / "copies").mkdir()
        copier = WalArchiver(place.settings, tmp_path / "copies", lambda: 1)
        copier.begin()
        copier.step()
        copier.release()
        begin_rotation(place.settings)
        place.services.close()
        finish_rotation(place.settings)
        place.services = create_services(place.settings, CATALOGUE)
        place.spoil(game, 6)
        assert repair_game(place.services, tmp_path / "copies", game).repaired == [6]
