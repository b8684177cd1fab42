"""A service in damaged or strange surroundings: it goes on, makes anew what can be made, and names what cannot."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from unittest import mock

import httpx
import pytest

from deploy.config.settings import SettingsError, load_settings
from deploy.runtime.wiring import migrate
from domain.ledger.sqlite_files import list_integrity_errors
from tests.deploy.harness import Service, Table, call, command, environment, serving, until
from tests.imposter import Answer, depths, imposter, noise, numbers
from tests.valkey import new_server

FOLDERS = ["a b ha#sh new\nline qu\"o'te do$host", "what? per%41cent x&y=1 back\\slash semi;{}"]


# --- something else in the place of Redis ------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [numbers, depths, noise], ids=lambda answer: answer.__name__)
def test_service_goes_on_when_another_program_replaces_redis(tmp_path: Path, answer: Answer) -> None:
    with new_server() as redis, serving(tmp_path / "data", ANNALS_REDIS_URL=redis.url) as service:
        table = Table(service).open()
        table.turn()
        redis.stop()
        with imposter(redis.folder / "socket", answer):
            before = pids(service)
            table.turn()
            ready = httpx.get(f"{service.url}/readyz", timeout=5)
            assert (ready.status_code, ready.json()["redis"]) == (200, "away")
            table.turn()
            assert pids(service) == before, service.errors.read_text()[-2000:]
            assert service.errors.read_text().count("unhandled exception") <= 2, "each worker loses it once"
            assert service.end() == 0


def pids(service: Service) -> dict[str, int]:
    return {name: service.pid(name) for name in ("annals-pump", "annals-worker-1", "annals-batch", "annals-api")}


# --- the shell -----------------------------------------------------------------------------------------------------


def test_a_locale_need_not_have_all_letters(tmp_path: Path) -> None:
    """Else the front could not write its configuration, and was never ready."""
    with serving(tmp_path / "data", LC_ALL="POSIX", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") as service:
        Table(service).open().turn()
        assert service.end() == 0


def test_a_service_asks_itself_past_any_proxy(tmp_path: Path) -> None:
    """Else it would never be ready where a shell names one for all that goes out."""
    nowhere = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    with serving(tmp_path / "data", **nowhere, no_proxy="", NO_PROXY="") as service:
        Table(service).open().turn()
        assert service.end() == 0


# --- folders -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOLDERS)
def test_any_name_of_a_folder_will_do(short_path: Path, name: str) -> None:
    data = short_path / name
    with serving(data) as service:
        Table(service).open().turn()
        until(lambda: call("doctor", "--data", str(data)).returncode == 0)  # a worker may still be starting
        left = {"ledger.sqlite", "views.sqlite", "key"}
        assert left <= {each.name for each in data.iterdir()}
        assert {each.name for each in short_path.iterdir()} == {name, f"{name}.errors"}
        assert stat.S_IMODE((data / "views.sqlite").stat().st_mode) == 0o600
        assert service.end() == 0


# --- views and ledger --------------------------------------------------------------------------------------------


def played(data: Path) -> str:
    """A service has played a turn and has ended; its game. All is in the two files then, for whoever copies them."""
    with serving(data) as service:
        table = Table(service).open()
        table.turn()
        assert service.end() == 0
    assert {each.name for each in data.glob("*.sqlite*")} == {"ledger.sqlite", "views.sqlite"}
    return table.game


def shown(service: Service, game: str) -> bool:
    return service.http.get(f"/games/{game}").status_code == 200


def test_views_of_a_later_time_than_the_ledger_are_made_anew(tmp_path: Path) -> None:
    """As where an older ledger was put back and the views beside it were kept."""
    data, old = tmp_path / "data", tmp_path / "old.sqlite"
    first = played(data)
    shutil.copyfile(data / "ledger.sqlite", old)
    later = played(data)
    shutil.copyfile(old, data / "ledger.sqlite")
    said = call("doctor", "--data", str(data))
    assert "views: at position" in said.stdout
    assert "of another log" in said.stdout
    with serving(data) as service:
        until(lambda: shown(service, first))
        assert not shown(service, later)
        new = Table(service).open()
        new.turn()
        until(lambda: call("doctor", "--data", str(data)).returncode == 0)  # a worker may still be starting
        assert service.errors.read_text().count("are not those of this log") == 1


def test_views_of_another_ledger_of_same_length_are_made_anew(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    ours, theirs = played(one), played(two)
    shutil.copyfile(two / "views.sqlite", one / "views.sqlite")
    with serving(one) as service:
        until(lambda: shown(service, ours))
        assert not shown(service, theirs)


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(20_000))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def headless(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(100))


def page(path: Path) -> None:
    """One that nobody reads who starts a service."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((number,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'timeline'")
        ((size,),) = db.execute("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(os.urandom(64))


@pytest.mark.parametrize("damage", [garbage, cut, headless, page], ids=lambda damage: damage.__name__)
def test_damaged_views_are_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    data = tmp_path / "data"
    game = played(data)
    damage(data / "views.sqlite")
    said = call("doctor", "--data", str(data))
    assert "the views: " in said.stdout
    assert "Traceback" not in said.stderr
    with serving(data) as service:
        until(lambda: shown(service, game))
        assert f"{data}/views.sqlite is damaged" in service.errors.read_text()
        assert stat.S_IMODE((data / "views.sqlite").stat().st_mode) == 0o600


def test_damage_is_told_until_a_start_remakes_the_views(tmp_path: Path) -> None:
    """A start has not always the time to look at every page."""
    data = tmp_path / "data"
    with serving(data) as service:
        table = Table(service).open()
        table.turn()
        page(data / "views.sqlite")
        table.submit(0, table.decision())  # what is written next is not what anybody remembers of the file
        unread = f"/games/{table.game}/timeline"
        until(lambda: service.http.get(unread).status_code == 503)
        until(lambda: ready(service) == 503)
        assert "FAIL  pages: the views: " in call("doctor", "--data", str(data)).stdout
        refused = call("migrate", "--data", str(data))
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"annals: {data}/views.sqlite is damaged, and in use: ")
        assert ready(service) == 503
        assert service.end() == 0
    with mock.patch("projections.view_store.list_integrity_errors", return_value=[]):  # as where the file is large
        migrate(load_settings({"data": str(data)}))
    assert list_integrity_errors(data / "views.sqlite", 60) == []
    with serving(data) as service:
        until(lambda: service.http.get(unread).status_code == 200)
        assert ready(service) == 200
        until(lambda: call("doctor", "--data", str(data)).returncode == 0)  # a worker may still be starting


def ready(service: Service) -> int:
    return httpx.get(f"{service.url}/readyz", timeout=5).status_code


@pytest.mark.parametrize("damage", [garbage, cut, headless], ids=lambda damage: damage.__name__)
def test_a_damaged_ledger_stops_the_start_and_is_named(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    data = str(tmp_path / "data")
    assert call("migrate", "--data", data).returncode == 0
    path = tmp_path / "data" / "ledger.sqlite"
    damage(path)
    before = path.read_bytes()
    refused = call("migrate", "--data", data)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"annals: {path}: ")
    assert path.read_bytes() == before, "it is left as it was, for whoever can mend it"


@pytest.mark.parametrize("held", [b"\xc8\xff\x00secret", b"", b"\x00" * 64, "é".encode() * 32])
def test_a_key_that_is_no_text_is_refused_and_not_shown(tmp_path: Path, held: bytes) -> None:
    settings = load_settings({"data": str(tmp_path)}, {})
    (tmp_path / "key").write_bytes(held)
    with pytest.raises(SettingsError, match="64 hex digits") as refused:
        settings.load_key()
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("held", [b"\xc8\xff\x00", b"", b"two names", b"x" * 81])
def test_a_node_that_is_no_name_is_refused(tmp_path: Path, held: bytes) -> None:
    settings = load_settings({"data": str(tmp_path)}, {})
    (tmp_path / "node").write_bytes(held)
    with pytest.raises(SettingsError, match="can be deleted"):
        settings.load_node_name()
    (tmp_path / "node").unlink()
    assert settings.load_node_name()


# --- signs of life -----------------------------------------------------------------------------------------------


def test_service_whose_signs_of_life_are_deleted_gives_new_ones(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:
        table = Table(service).open()
        shutil.rmtree(tmp_path / "data" / "pulse")
        until(lambda: call("alive", "--data", str(tmp_path / "data")).returncode == 0)
        until(lambda: answers(service))
        table.turn()
        assert service.process.poll() is None
        assert service.end() == 0


def answers(service: Service) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{service.url}/readyz", timeout=1).status_code == 200
    return False


def test_two_workers_of_one_folder_have_signs_of_their_own(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    assert call("migrate", "--data", data).returncode == 0
    with new_server() as redis:
        env = environment(ANNALS_REDIS_URL=redis.url)
        workers = [
            subprocess.Popen(command("worker", "turns", "--data", data), env=env, stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        try:
            signs = [tmp_path / "data" / "pulse" / f"worker-turns-{each.pid}" / "worker-turns" for each in workers]
            until(lambda: all(sign.exists() and sign.read_text() for sign in signs))
            workers[0].send_signal(signal.SIGSTOP)
            os.utime(signs[0], (0, 0))
            told = call("alive", "--data", data)
            assert told.returncode == 1
            assert told.stderr.count("no sign of life") == 1
            workers[0].kill()
            workers[0].wait(20)
            assert call("alive", "--data", data).returncode == 0, "who has gone is not waited for"
            assert not signs[0].parent.exists()
        finally:
            for each in workers:
                each.kill()
                each.wait(20)
    assert call("alive", "--data", data).returncode == 1, "and nobody is left"
