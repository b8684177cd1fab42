"""What an operator does with archived games: by command, from backups, under other keys, with a doctor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.backup.game_repair import repair_game
from deploy.backup.key_rotation import begin_rotation, finish_rotation
from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.backup.wal_archive import WalArchiver
from deploy.cli.doctor import run_checks
from deploy.config.settings import load_settings
from deploy.runtime.wiring import create_services, migrate
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.service.corruption import CorruptRecords
from projections.projector import Projector
from projections.rebuild import create_generation, switch_generation
from projections.viewer_history import ViewerHistory
from tests.damage import overwrite
from tests.deploy.harness import CATALOGUE, call
from tests.deploy.test_game_repair import Place, closed, exported, place
from tests.postgres import postgres_server, postgres_url
from workers.maintenance.archiving import GameArchiver

__all__ = ["place", "postgres_server", "postgres_url"]


def archived(place: Place) -> str:
    game = closed(place)
    _archive(place)
    return game


def _archive(place: Place) -> None:
    archiving = GameArchiver(place.services.build_worker_context(), 0)
    while found := archiving.find_next():
        assert archiving.archive(found)


def _rot(place: Place) -> None:
    overwrite(place.services.ledger, "UPDATE archive SET piece = ?", (b"rotten",))


class TestCommand:
    def test_it_archives_what_was_closed_so_long_ago(self, tmp_path: Path) -> None:
        place = made(tmp_path / "data")
        game = closed(place)
        before = dump(place.services.ledger.read(game)), place.services.reader.proofs.head()
        for days, done in (("1", 0), ("0", 1), ("0", 0)):
            ran = call("archive", days, "--data", str(tmp_path / "data"))
            assert (ran.returncode, json.loads(ran.stdout)) == (0, {"games": done, "records": 8 * done, "kept": 0})
        assert (dump(place.services.ledger.read(game)), place.services.reader.proofs.head()) == before
        place.services.close()

    @pytest.mark.parametrize("days", ["-1", "soon", "99999999"])
    def test_days_are_days(self, tmp_path: Path, days: str) -> None:
        ran = call("archive", days, "--data", str(tmp_path / "data"))
        assert (ran.returncode, ran.stdout) == (2, "")

    def test_what_cannot_be_proved_is_kept_and_fails(self, tmp_path: Path) -> None:
        place = made(tmp_path / "data")
        game = closed(place)
        place.spoil(game, 3)
        ran = call("archive", "0", "--data", str(tmp_path / "data"))
        assert (ran.returncode, json.loads(ran.stdout)) == (1, {"games": 0, "records": 0, "kept": 1})
        assert CorruptRecords(place.services.ledger).first_version(game) == 3
        place.services.close()


def made(data: Path) -> Place:
    settings = load_settings({"data": str(data)}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
    migrate(settings)
    return Place(settings, create_services(settings, CATALOGUE))


class TestCopies:
    def test_a_copy_has_the_archive(self, tmp_path: Path) -> None:
        place = made(tmp_path / "data")
        game = archived(place)
        before = place.log(), dump(place.services.ledger.read(game))
        take_snapshot(place.settings, tmp_path / "copy")
        place.services.close()
        new = load_settings({"data": str(tmp_path / "new")}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
        restore_snapshot(new, tmp_path / "copy")
        place = made(tmp_path / "new")
        assert (place.log(), dump(place.services.ledger.read(game))) == before
        place.pump()
        assert place.services.reader.read_timeline(game, "public")
        place.services.close()

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_game_whose_piece_has_rotted_comes_back_from_a_copy(self, tmp_path: Path, when: str) -> None:
        """Whether the game was archived when the copy was made, or not yet."""
        place = made(tmp_path / "data")
        game = closed(place)
        if when == "after":
            _archive(place)
        take_snapshot(place.settings, tmp_path / "copy")
        _archive(place)
        self.comes_back(place, game, tmp_path / "copy")
        place.services.close()

    def test_running_backup_has_the_time_before_and_the_time_after(self, tmp_path: Path) -> None:
        place, now = made(tmp_path / "data"), [1_000_000]
        game = closed(place)
        before = (
            place.log(),
            dump(place.services.ledger.read(game)),
            place.services.reader.read_timeline(game, "public"),
        )
        (tmp_path / "copies").mkdir()
        copier = WalArchiver(place.settings, tmp_path / "copies", lambda: now[0])
        copier.begin()
        for step in (copier.step, lambda: _archive(place), copier.step):
            now[0] += 1000
            step()
        copier.release()
        place.services.close()
        for at, archived in ((now[0] - 500, False), (now[0] - 1500, False), (now[0], True), (None, True)):
            data = tmp_path / f"at {at}"
            restore_snapshot(
                load_settings({"data": str(data)}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"}), tmp_path / "copies", at
            )
            place = made(data)
            assert place.services.ledger.is_archived(game) is archived
            place.pump()
            ledger, reader = place.services.ledger, place.services.reader
            assert (place.log(), dump(ledger.read(game)), reader.read_timeline(game, "public")) == before
            assert place.services.ledger.admin.list_integrity_errors(10) == []
            assert ledger.admin.has_append_triggers()
            place.services.close()

    @pytest.mark.parametrize("at", [1_001_000, None])
    def test_from_which_a_game_comes_back_of_either_time(self, tmp_path: Path, at: int | None) -> None:
        place, now = made(tmp_path / "data"), [1_000_000]
        game = closed(place)
        (tmp_path / "copies").mkdir()
        copier = WalArchiver(place.settings, tmp_path / "copies", lambda: now[0])
        copier.begin()
        for step in (copier.step, lambda: _archive(place), copier.step):
            now[0] += 1000
            step()
        copier.release()
        self.comes_back(place, game, tmp_path / "copies", at)
        place.services.close()

    def test_and_from_its_export_on_both_stores(self, place: Place, tmp_path: Path) -> None:
        game = archived(place)
        self.comes_back(place, game, exported(place, game, tmp_path / "game.annals"))

    def comes_back(self, place: Place, game: str, source: Path, at: int | None = None) -> None:
        before, head = place.log(), place.services.reader.proofs.head()
        _rot(place)
        done = repair_game(place.services, source, game, at)
        assert (done.repaired, done.lost, done.first_damaged) == (list(range(1, 9)), [], None)
        assert (place.log(), place.services.reader.proofs.head()) == (before, head)
        gen = create_generation(place.services.views, 0)
        pump = Projector(ViewerHistory(place.services.ledger, CATALOGUE, place.services.views), "another", gen)
        while pump.run(0):
            pass
        assert switch_generation(place.services.views, gen)
        assert [e["version"] for e in place.services.reader.read_timeline(game, "public")] == list(range(1, 9))

    def test_a_stub_whose_name_has_changed_gets_its_own_again(self, place: Place, tmp_path: Path) -> None:
        game = archived(place)
        before = place.log()
        source = exported(place, game, tmp_path / "game.annals")
        sql = "UPDATE records SET originator_version = 90 WHERE originator_version = 4 AND length(state) = 33"
        overwrite(place.services.ledger, sql)
        done = repair_game(place.services, source, game)
        assert 4 in done.repaired
        assert done.first_damaged is None
        assert place.log() == before


def test_another_master_key_opens_the_archive(tmp_path: Path) -> None:
    place = made(tmp_path / "data")
    game = archived(place)
    before = dump(place.services.ledger.read(game))
    place.services.close()
    begin_rotation(place.settings)
    finish_rotation(place.settings)
    place = made(tmp_path / "data")
    assert dump(place.services.ledger.read(game)) == before
    assert verify(CATALOGUE.get("orders@1"), parse(dump(place.services.ledger.read(game)))).closed
    place.services.close()


def test_a_doctor_names_what_has_rotted(tmp_path: Path) -> None:
    place = made(tmp_path / "data")
    game = archived(place)

    def said(name: str) -> tuple[bool, str]:
        return next((c.well, c.said) for c in run_checks(place.settings, CATALOGUE) if c.name == name)

    assert said("records")[0]
    assert said("ledger") == (True, "15 records of 2 games, 1 of them archived")
    assert said("log") == (True, "append-only, 1 repairs")
    _rot(place)
    assert said("records") == (False, f"8 damaged; version 1 of {game} cannot be read")
    place.services.close()
