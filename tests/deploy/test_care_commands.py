"""The operator's commands: migrate, doctor, backup, restore."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import signal
import sqlite3
import stat
import subprocess
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.cli import care_commands, doctor
from deploy.cli.main import report_errors
from deploy.config.settings import SettingsError, load_settings
from deploy.runtime.wiring import ServiceContainer
from domain.command_handler import CommandHandler, new_game_id
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.seed_store import SeedStore
from projections.projector import Projector
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.damage import overwrite
from tests.deploy.harness import CATALOGUE, Doc, Service, Table, call, command, environment, run, serving, until
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server
from workers import liveness

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]

SPOILT = "UPDATE records SET state = ? WHERE originator_version = 2"
NO_GAME = "00000000-0000-4000-8000-000000000000"


def examined(data: Path, **env: str) -> tuple[int, dict[str, Doc]]:
    """The status of `doctor` and its checks by name."""
    found = call("doctor", "--json", "--data", str(data), **env)
    assert found.stdout, found.stderr
    return found.returncode, {c["name"]: c for c in json.loads(found.stdout)["checks"]}


def test_bytes_that_have_changed_are_named_by_the_doctor(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        table = Table(service).open()
        assert until(lambda: examined(tmp_path)[1]["records"]["said"] == "5 are those of the tree")
        overwrite(Ledger.open(load_settings({"data": str(tmp_path)}, {}).ledger_url), SPOILT, (b"j{}",))
        status, checks = examined(tmp_path)
        assert status == 1
        assert checks["records"]["said"] == f"1 damaged; version 2 of {table.game} cannot be read"
        assert checks["ledger"]["well"]


def test_migrating_again_changes_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        assert call("migrate", "--data", str(tmp_path)).returncode == 0
    assert call("migrate", "--data", str(tmp_path)).stdout == ""


def test_a_well_service_is_found_well(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        Table(service).open()

        def well() -> dict[str, Doc] | None:
            status, checks = examined(tmp_path)
            return None if status else checks  # a worker may still be starting

        checks = until(well)
        assert all(check["well"] for check in checks.values())
        assert checks["ledger"]["said"] == "5 records of 1 games, 0 of them archived"
        assert "the one of the seeds" in checks["key"]["said"]
        lines = call("doctor", "--data", str(tmp_path)).stdout.splitlines()
        assert len(lines) == len(checks)
        assert all(line.startswith("ok") for line in lines)


def test_a_service_that_does_not_run_is_found_out(tmp_path: Path) -> None:
    call("migrate", "--data", str(tmp_path))
    status, checks = examined(tmp_path)
    assert status == 1
    assert {name for name, c in checks.items() if not c["well"]} == {"redis", "workers"}


def test_key_that_does_not_open_the_seeds_starts_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        Table(service).open()
        assert not examined(tmp_path, ANNALS_KEY="0" * 64)[1]["key"]["well"]
    refused = run("serve", "--port", "0", "--data", str(tmp_path), ANNALS_KEY="0" * 64)
    assert refused.returncode == 1
    assert "master key is not the one" in refused.stderr
    for args in (("api", "--port", "0"), ("pump",), ("worker", "turns"), ("worker", "batch")):
        refused = run(*args, "--data", str(tmp_path), ANNALS_KEY="0" * 64)
        assert (refused.returncode, refused.stdout) == (1, ""), args
        assert "master key is not the one" in refused.stderr
        assert "0" * 64 not in refused.stderr


def test_still_views_and_games_set_aside_are_found_out(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("migrate", "--data", str(tmp_path))
    settings = load_settings({"data": str(tmp_path)}, {"ANNALS_REDIS_URL": redis_url})
    ledger, views = Ledger.open(settings.ledger_url, settings.load_key()), ViewStore(settings.views_url)
    CommandHandler(ledger, CATALOGUE, SeedStore(ledger, ledger.keys), lambda: 0).open(new_game_id(), "orders@1", 3)
    found = {c.name: c for c in doctor.run_checks(settings, CATALOGUE)}
    assert not found["views"].well
    assert found["games"].well
    Projector(ViewerHistory(ledger, RulesetRegistry([]), views), "pump").run(0)
    found = {c.name: c for c in doctor.run_checks(settings, CATALOGUE)}
    assert found["views"].well
    assert "1 set aside" in found["games"].said
    assert not found["games"].well
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 2**80)
    assert not {c.name: c for c in doctor.run_checks(settings, CATALOGUE)}["disk"].well
    views.close()
    ledger.close()


def test_of_restored_folder_doctor_says_that_it_has_not_started(tmp_path: Path) -> None:
    """Views are made by the start: before it no check names a table that is missing."""
    call("migrate", "--data", str(tmp_path / "data"))
    call("backup", str(tmp_path / "copy"), "--data", str(tmp_path / "data"))
    call("restore", str(tmp_path / "copy"), "--data", str(tmp_path / "restored"))
    found = call("doctor", "--data", str(tmp_path / "restored"))
    assert found.returncode == 1
    assert "FAIL  views: not started yet: `annals serve` makes them from the log" in found.stdout
    assert "no such table" not in found.stdout


def test_of_folder_that_cannot_be_written_doctor_says_one_line(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("migrate", "--data", str(tmp_path))
    settings = load_settings({"data": str(tmp_path)}, {"ANNALS_REDIS_URL": redis_url})
    monkeypatch.setattr(os, "access", lambda *_: False)  # as a mount that is read-only answers, also to root
    (only,) = doctor.run_checks(settings, CATALOGUE)
    assert (only.name, only.well) == ("disk", False)
    assert only.said == f"{tmp_path} cannot be written: check its rights and its mount"


def test_where_nothing_runs_alive_says_so(tmp_path: Path) -> None:
    call("migrate", "--data", str(tmp_path))
    found = call("alive", "--data", str(tmp_path))
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == f"annals: no process of {tmp_path} runs\n"


def test_a_full_disk_is_named_with_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    def fill() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert report_errors(fill) == 2
    assert "the disk of the data folder (--data), or that of temporary files is full" in capsys.readouterr().err


def test_without_a_folder_the_doctor_says_so(tmp_path: Path) -> None:
    found = call("doctor", "--data", str(tmp_path / "nothing"))
    assert found.returncode == 2
    assert "holds no service" in found.stderr
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("command", [["rebuild"], ["audit", NO_GAME], ["backup", "copy"]])
def test_where_there_is_no_service_nothing_is_made(tmp_path: Path, command: list[str]) -> None:
    found = call(*command, "--data", str(tmp_path / "nothing"))
    assert (found.returncode, found.stdout) == (2, "")
    assert str(tmp_path / "nothing") in found.stderr
    assert not list(tmp_path.iterdir())


def test_what_nobody_else_does_is_done_at_once(tmp_path: Path) -> None:
    """A folder whose service does not run: no worker would ever come."""
    assert call("migrate", "--data", str(tmp_path)).returncode == 0
    made = call("rebuild", "--data", str(tmp_path))
    assert (made.returncode, json.loads(made.stdout)["generation"]) == (0, 2)
    assert "the service does not run" in made.stderr
    audited = call("audit", NO_GAME, "--data", str(tmp_path))
    assert (audited.returncode, audited.stderr.splitlines()[-1]) == (1, f"annals: there is no game {NO_GAME}")


def test_service_that_stands_still_is_awaited_until_it_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pump may be frozen, or have no room on the disk."""
    assert call("migrate", "--data", str(tmp_path)).returncode == 0
    found, runs = list[bool](), care_commands._is_running
    with ExitStack() as stack:
        signs = stack.enter_context(liveness.supervised_folder(tmp_path, "serve"))
        liveness.expect_first_sign(signs / "pump", -1)

        def looked(services: ServiceContainer) -> bool:
            found.append(runs(services))
            if len(found) == 3:
                stack.close()
            return found[-1]

        monkeypatch.setattr(care_commands, "PROJECTOR_PATIENCE", 0.05)
        monkeypatch.setattr(care_commands, "_is_running", looked)
        made = call("rebuild", "--data", str(tmp_path))
    assert found == [True, True, True, False]
    assert (made.returncode, made.stdout) == (1, "")
    assert re.findall("the workers are asked|stands still|has stopped", made.stderr) == [
        "the workers are asked",
        *2 * ["stands still"],
        "has stopped",
    ]


def test_it_looks_at_postgresql_too(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    env = {"ANNALS_DATABASE_URL": postgres_url, "ANNALS_REDIS_URL": redis_url}
    assert call("migrate", "--data", str(tmp_path), **env).returncode == 0
    _, checks = examined(tmp_path, **env)
    assert {name for name, c in checks.items() if not c["well"]} == {"workers"}
    refused = call("backup", str(tmp_path / "copy"), "--data", str(tmp_path), **env)
    assert refused.returncode == 2
    assert "pg_dump" in refused.stderr


def test_game_is_proved_and_views_are_made_anew_while_it_runs(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        table = Table(service).open()
        table.turn()
        proved = call("audit", table.game, "--data", str(tmp_path))
        assert proved.returncode == 0, proved.stderr
        assert json.loads(proved.stdout)["verified"] is True
        rebuilt = call("rebuild", "--data", str(tmp_path))
        assert json.loads(rebuilt.stdout)["generation"] == 2
        table.turn()
        table.turn()
        until(lambda: table.get()["status"] == "closed")
        unknown = call("audit", "00000000-0000-0000-0000-000000000000", "--data", str(tmp_path))
        assert (unknown.returncode, unknown.stdout) == (1, "")


def test_whoever_waits_for_a_service_that_stops_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        table = Table(service).open()
        os.kill(service.pid("annals-batch"), signal.SIGSTOP)
        asked = command("audit", table.game, "--data", str(tmp_path))
        with subprocess.Popen(asked, env=environment(), stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr
            assert "awaited" in waiting.stderr.readline()
            service.end()
            assert "the service has stopped" in waiting.stderr.readline()
            assert waiting.wait(30) == 1


# --- backups ---------------------------------------------------------------------------------------------------


def play_on(service: Service, tables: list[Table], stop: threading.Event) -> None:
    """Games are opened and played until that is enough."""
    while not stop.is_set():
        table = Table(service).open()
        tables.append(table)
        table.turn()


def test_copy_of_running_service_proves_and_plays_on_elsewhere(tmp_path: Path) -> None:
    copy, new = tmp_path / "copy", tmp_path / "new"
    tables: list[Table] = []
    with serving(tmp_path / "old") as service:
        first = Table(service).open()
        first.turn()
        stop = threading.Event()
        player = threading.Thread(target=play_on, args=(service, tables, stop))
        player.start()
        until(lambda: len(tables) > 2)
        taken = call("backup", str(copy), "--data", str(tmp_path / "old"))
        assert taken.returncode == 0, taken.stderr
        stop.set()
        player.join()
    assert call("restore", str(copy), "--data", str(new)).returncode == 0
    _prove_all(new)
    with serving(new) as service:
        first.service = service
        first.turn()
        first.turn()
        until(lambda: first.get()["status"] == "closed")
        assert first.get("/audit")["proved"]


def _prove_all(data: Path) -> None:
    settings = load_settings({"data": str(data)}, {})
    ledger = Ledger.open(settings.ledger_url, settings.load_key())
    games = {entry.game for entry in ledger.log(0, 100_000)}
    assert len(games) > 2
    for game in games:
        records = ledger.read(game)
        rules = CATALOGUE.get(records[0].body["ruleset"])
        verify(rules, parse(dump(records, "director")))
    ledger.close()


@pytest.fixture
def copied(tmp_path: Path) -> tuple[Path, Path]:
    """A folder and its backup."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    call("migrate", "--data", str(data))
    take_snapshot(load_settings({"data": str(data)}, {}), copy)
    return data, copy


def test_a_copy_is_for_its_owner_alone(copied: tuple[Path, Path]) -> None:
    assert sorted(path.name for path in copied[1].iterdir()) == ["backup.json", "key", "ledger.sqlite"]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in copied[1].iterdir())


def test_nothing_is_written_over(copied: tuple[Path, Path]) -> None:
    data, copy = copied
    with pytest.raises(SettingsError, match="not empty"):
        take_snapshot(load_settings({"data": str(data)}, {}), copy)
    with pytest.raises(SettingsError, match="exists"):
        restore_snapshot(load_settings({"data": str(data)}, {}), copy)


@pytest.mark.parametrize("fault", ["cut", "changed", "no ledger"])
def test_half_a_copy_is_not_put_back(copied: tuple[Path, Path], tmp_path: Path, fault: str) -> None:
    copy = copied[1]
    if fault == "cut":
        (copy / "backup.json").unlink()
    elif fault == "changed":
        with closing(sqlite3.connect(copy / "ledger.sqlite")) as ledger:
            ledger.execute("CREATE TABLE more (x)")
    else:
        (copy / "ledger.sqlite").unlink()
    settings = load_settings({"data": str(tmp_path / "new")}, {})
    with pytest.raises(SettingsError, match="not a whole backup"):
        restore_snapshot(settings, copy)
    assert not settings.ledger_file.exists()


@pytest.mark.parametrize("about", ["[1]", "5", '"annals"', "null", "{}", "\xff"])
def test_what_says_nothing_of_itself_is_no_copy(copied: tuple[Path, Path], tmp_path: Path, about: str) -> None:
    (copied[1] / "backup.json").write_bytes(about.encode("latin-1"))
    refused = call("restore", str(copied[1]), "--data", str(tmp_path / "new"))
    assert (refused.returncode, refused.stderr) == (2, f"annals: {copied[1]} is not a whole backup\n")
    assert not (tmp_path / "new" / "ledger.sqlite").exists()


@pytest.mark.parametrize("odd", ["nothing", "a file", "an empty folder", "a data folder", "without its key"])
def test_an_odd_folder_is_refused_in_words(copied: tuple[Path, Path], tmp_path: Path, odd: str) -> None:
    """And no service is made of it, whatever was asked for."""
    source = tmp_path / "odd"
    match odd:
        case "a file":
            source.write_text("x")
        case "an empty folder":
            source.mkdir()
        case "a data folder":
            source = copied[0]
        case "without its key":
            source = copied[1]
            (source / "key").unlink()
    for more in ([], ["--at", "2026-11-22"]):
        refused = call("restore", str(source), "--data", str(tmp_path / "new"), *more)
        assert refused.returncode == 2
        assert refused.stderr.startswith("annals: ")
        assert not (tmp_path / "new" / "ledger.sqlite").exists()
    for asked in (["doctor"], ["archive", "0"], ["restore", str(copied[1]), "--game", "x"]):
        refused = call(*asked, "--data", str(tmp_path / "none"))
        assert refused.returncode == 2
        assert "holds no service" in refused.stderr
        assert not (tmp_path / "none").exists()


@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")  # the library's, of a file that is no database
@pytest.mark.parametrize("ledger", ["a folder", "noise", "empty", "gone"])
def test_of_a_ledger_that_is_none_nothing_is_copied_or_archived(tmp_path: Path, ledger: str) -> None:
    """Both say so, and neither leaves half a copy that would be in the way of the next."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    call("migrate", "--data", str(data))
    path = data / "ledger.sqlite"
    for each in data.glob("ledger.sqlite*"):
        each.unlink()
    match ledger:
        case "a folder":
            path.mkdir()
        case "noise":
            path.write_bytes(b"noise" * 1000)
        case "empty":
            path.touch()
    taken, archived = call("backup", str(copy), "--data", str(data)), call("archive", "0", "--data", str(data))
    assert (taken.returncode, taken.stdout) == (2, "")
    assert taken.stderr.startswith("annals: ")
    assert not copy.exists() or not list(copy.iterdir())
    assert archived.returncode != 0
    assert archived.stderr.startswith("annals: ")
    assert archived.stdout == ""


def test_on_a_full_disk_no_half_copy_stays(tmp_path: Path) -> None:
    """It would take the room, and holds the key; once there is room both ways work."""
    data, copy, new = tmp_path / "data", tmp_path / "copy", tmp_path / "new"
    call("migrate", "--data", str(data))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full(*args: str) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        try:
            refused = call(*args)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert refused.returncode == 2, refused.stderr
        assert refused.stderr.startswith("annals: ")

    full("backup", str(copy), "--data", str(data))
    assert list(copy.iterdir()) == []
    assert call("backup", str(copy), "--data", str(data)).returncode == 0
    full("restore", str(copy), "--data", str(new))
    assert not new.exists()
    assert call("restore", str(copy), "--data", str(new)).returncode == 0


def test_what_is_older_than_the_archive_is_migrated_first(tmp_path: Path) -> None:
    """A ledger of a version before: nothing is archived, and after the migration everything goes."""
    data = tmp_path / "data"
    call("migrate", "--data", str(data))
    with closing(sqlite3.connect(data / "ledger.sqlite", isolation_level=None)) as db:
        db.execute("DROP TABLE archive")
    refused = call("archive", "0", "--data", str(data))
    assert refused.returncode == 2
    assert "`annals migrate`" in refused.stderr
    assert call("migrate", "--data", str(data)).returncode == 0
    assert call("archive", "0", "--data", str(data)).returncode == 0


def test_there_must_be_something_to_copy(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nothing to copy"):
        take_snapshot(load_settings({"data": str(tmp_path / "nothing")}, {}), tmp_path / "copy")


# --- single processes ------------------------------------------------------------------------------------------


def test_pump_and_workers_run_alone_and_one_pump_only(tmp_path: Path, redis_url: str) -> None:
    call("migrate", "--data", str(tmp_path))
    env = environment(ANNALS_REDIS_URL=redis_url)
    context = [
        subprocess.Popen(command(*args, "--data", str(tmp_path)), env=env)
        for args in (["pump"], ["worker", "turns"], ["worker", "batch"])
    ]
    try:
        until(lambda: examined(tmp_path, ANNALS_REDIS_URL=redis_url)[0] == 0)
        second = run("pump", "--data", str(tmp_path), ANNALS_REDIS_URL=redis_url)
        assert second.returncode == 2
        assert "in use" in second.stderr
        for process in context:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(20) for process in context] == [0, 0, 0]
    finally:
        for process in context:
            process.kill()
            process.wait()
