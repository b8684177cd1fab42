"""What rests in the files is closed to who has no key, and the key can be changed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from deploy.config.settings import Settings
from domain.errors import WrongKey
from domain.ledger import Ledger
from domain.ledger.mapper import unpack
from domain.service.keyring import fingerprint
from tests.deploy.harness import Table, call, serving
from tests.postgres import postgres_server, postgres_url
from tests.valkey import redis_url, valkey_server

__all__ = ["postgres_server", "postgres_url", "redis_url", "valkey_server"]


def rows(path: Path, query: str) -> list[tuple[str, bytes]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def test_who_steals_the_files_reads_no_secret(tmp_path: Path) -> None:
    """Orders are sealed in the log, and in boards and timelines too; what everybody sees is not."""
    with serving(tmp_path) as service:
        table = Table(service).open()
        order = {"move": {"type": "order", "to": "t11", "units": 1}, "decision": table.decision()}
        stored = table.post(f"/games/{table.game}/moves", order, table.tokens[0])
        own = table.get(f"/board?wait={stored['position']}", 0)["own"]
        assert "t11" in str(own)
        assert "t11" in str(table.get("/timeline", 0)["items"][-1])
    views = tmp_path / "views.sqlite"
    readable = {viewer for viewer, doc in rows(views, "SELECT viewer, doc FROM boards") if doc[:1] == b"{"}
    assert readable == {"public"}
    readable = {key for key, doc in rows(views, "SELECT audience, doc FROM timeline") if doc[:1] == b"{"}
    assert readable == {"all"}
    for _, state in rows(tmp_path / "ledger.sqlite", "SELECT topic, state FROM records"):
        assert state[:1] == b"s" or unpack(state)["packs"] == {}
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        assert b'"own"' not in path.read_bytes(), path
    with pytest.raises(WrongKey):
        Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite'}").read(table.game)


def rotated(data: Path, *args: str, **env: str) -> str:
    done = call("rotate-key", "--data", str(data), *args, **env)
    assert done.returncode == 0, done.stderr
    return done.stderr


class TestRotation:
    def test_a_game_goes_on_under_another_key(self, tmp_path: Path) -> None:
        old = (call("migrate", "--data", str(tmp_path)), (tmp_path / "key").read_text())[1]
        with serving(tmp_path) as service:
            table = Table(service).open()
            rotated(tmp_path)
            table.turn()
            refused = call("rotate-key", "--finish", "--data", str(tmp_path))
            assert (refused.returncode, "start it anew first" in refused.stderr) == (2, True)
        with serving(tmp_path) as service:
            table.service = service
            table.turn()
            assert rotated(tmp_path, "--finish").startswith("annals: only key")
            table.turn()
            assert table.get("/audit")["proved"]
        assert (tmp_path / "key").read_text() != old
        (tmp_path / "key").write_text(old)
        found = call("doctor", "--data", str(tmp_path))
        assert "FAIL  key: the master key is not the one" in found.stdout

    @pytest.mark.parametrize("step", ["made", "admitted", "taken"])
    def test_a_change_that_was_cut_short_is_ended_by_repeating_it(self, tmp_path: Path, step: str) -> None:
        call("migrate", "--data", str(tmp_path))
        old = (tmp_path / "key").read_bytes()
        if step == "made":
            (tmp_path / "key.next").write_text("ab" * 32)
        else:
            rotated(tmp_path)
        if step == "admitted":  # but not yet in its place
            (tmp_path / "key").rename(tmp_path / "key.next")
            (tmp_path / "key").write_bytes(old)
        assert call("migrate", "--data", str(tmp_path)).returncode == 0, "whatever was killed, the service starts"
        again = call("rotate-key", "--data", str(tmp_path))
        assert again.returncode == (2 if step == "taken" else 0), again.stderr
        rotated(tmp_path, "--finish")
        rotated(tmp_path, "--finish")
        assert call("migrate", "--data", str(tmp_path)).returncode == 0
        assert not (tmp_path / "key.next").exists()

    def test_it_is_changed_by_one_at_a_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Else the one could put in place what the other has made and not yet admitted, and then is killed."""
        call("migrate", "--data", str(tmp_path))
        next_key = Settings.load_next_key
        others: list[subprocess.CompletedProcess[str]] = []

        def meanwhile(settings: Settings) -> bytes:
            monkeypatch.undo()
            made = next_key(settings)
            others.extend(call("rotate-key", "--data", str(tmp_path), *step) for step in ((), ("--finish",)))
            return made

        monkeypatch.setattr(Settings, "load_next_key", meanwhile)
        rotated(tmp_path)
        assert [(other.returncode, "in use" in other.stderr) for other in others] == [(2, True)] * 2
        rotated(tmp_path, "--finish")
        assert call("migrate", "--data", str(tmp_path)).returncode == 0

    def test_a_key_of_the_environment_is_changed_for_another(self, tmp_path: Path, postgres_url: str) -> None:
        old, new = "aa" * 32, "bb" * 32
        env = {"ANNALS_DATABASE_URL": postgres_url}
        assert call("migrate", "--data", str(tmp_path), **env, ANNALS_KEY=old).returncode == 0
        missing = call("rotate-key", "--data", str(tmp_path), **env, ANNALS_KEY=old)
        assert (missing.returncode, "ANNALS_NEW_KEY" in missing.stderr) == (2, True)
        for _ in range(2):
            said = rotated(tmp_path, **env, ANNALS_KEY=old, ANNALS_NEW_KEY=new)
            assert (fingerprint(bytes.fromhex(new))[:16] in said, new in said) == (True, False)
        rotated(tmp_path, "--finish", **env, ANNALS_KEY=new)
        with psycopg.connect(postgres_url) as db:
            marks = db.execute("SELECT DISTINCT mark FROM keyring").fetchall()
        assert marks == [(fingerprint(bytes.fromhex(new)),)]
        assert call("migrate", "--data", str(tmp_path), **env, ANNALS_KEY=old).returncode == 1

    @pytest.mark.parametrize(
        "key", [b"", b"00" * 20, b"\xff\x00", b"11" * 32 + b"\n"], ids=["no", "half", "bytes", "other"]
    )
    def test_nothing_is_made_of_a_backup_that_its_key_does_not_open(self, tmp_path: Path, key: bytes) -> None:
        data, new = tmp_path / "data", tmp_path / "new"
        call("migrate", "--data", str(data))
        with closing(
            Ledger.open(f"sqlite:///{data / 'ledger.sqlite'}", bytes.fromhex((data / "key").read_text()))
        ) as made:
            made.keys.check()
        assert call("backup", str(tmp_path / "copy"), "--data", str(data)).returncode == 0
        sound = (tmp_path / "copy" / "key").read_bytes()
        (tmp_path / "copy" / "key").write_bytes(key)
        done = call("restore", str(tmp_path / "copy"), "--data", str(new))
        assert done.returncode == 2
        assert "copy/key does not" in done.stderr
        assert not (new / "key").exists()
        assert not (new / "ledger.sqlite").exists()
        (tmp_path / "copy" / "key").write_bytes(sound)
        assert call("restore", str(tmp_path / "copy"), "--data", str(new)).returncode == 0

    def test_a_key_that_is_lost_is_told_as_that(self, tmp_path: Path) -> None:
        """And not that there is no service, which would be to make another one."""
        call("migrate", "--data", str(tmp_path))
        (tmp_path / "key").unlink()
        for asked in (("rotate-key",), ("rotate-key", "--finish"), ("admin", "Anne")):
            done = call(*asked, "--data", str(tmp_path))
            assert "key is missing" in done.stderr, done.stderr
        assert not (tmp_path / "key").exists()

    def test_a_backup_names_the_key_that_it_needs(self, tmp_path: Path) -> None:
        data = tmp_path / "data"
        call("migrate", "--data", str(data))
        key = bytes.fromhex((data / "key").read_text())
        assert call("backup", str(tmp_path / "copy"), "--data", str(data)).returncode == 0
        rotated(data)
        rotated(data, "--finish")
        assert json.loads((tmp_path / "copy" / "backup.json").read_text())["key"] == fingerprint(key)
        new = tmp_path / "new"
        assert call("restore", str(tmp_path / "copy"), "--data", str(new)).returncode == 0
        assert call("migrate", "--data", str(new)).returncode == 0
        (data / "key").replace(new / "key")
        assert call("migrate", "--data", str(new)).returncode == 1
