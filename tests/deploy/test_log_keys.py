"""Keys of the log's checkpoints by the command line, and signing after a restore."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.cli.main import main
from deploy.config.settings import Settings, SettingsError, load_settings
from deploy.runtime.wiring import migrate
from domain.ledger import Ledger
from domain.transparency.checkpoint import Signer
from domain.transparency.checkpoint_store import HALTED, RESTORED, CheckpointStore
from domain.transparency.witness_store import WitnessStore
from tests.deploy.running_backup import settings

__all__ = ["settings"]


def store_of(ledger: Ledger) -> CheckpointStore:
    store = CheckpointStore(ledger, ledger.keys, "example.org/log")
    store.migrate()
    return store


def opened(settings: Settings) -> Ledger:
    return Ledger.open(settings.ledger_url, settings.load_key())


@pytest.fixture
def restored(settings: Settings, tmp_path: Path) -> tuple[Path, str]:
    """A data folder from a backup, and the checkpoint that was signed after the backup was made."""
    with closing(opened(settings)) as ledger:
        assert store_of(ledger).sign(3, bytes(32), 1_000, show=True)
    take_snapshot(settings, tmp_path / "copy")
    with closing(opened(settings)) as ledger:
        signed = store_of(ledger).sign(5, bytes(32), 2_000, show=True)
    assert signed
    new = load_settings({"data": str(tmp_path / "new")}, {})
    restore_snapshot(new, tmp_path / "copy")
    migrate(new)  # the service starts
    return tmp_path / "new", signed.note


def test_after_restore_nothing_is_signed_until_one_has_compared(
    restored: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, note = restored
    with closing(opened(load_settings({"data": str(data)}, {}))) as ledger:
        assert store_of(ledger).halts == [RESTORED]
        assert store_of(ledger).sign(4, bytes(32), 3_000, show=True) is None
    (tmp_path / "newest").write_text(note)
    resume = ["log-keys", "resume", "--data", str(data)]
    assert main([*resume, "--checkpoint", str(tmp_path / "newest")]) != 0
    assert "forked" in capsys.readouterr().err  # this log is shorter
    assert main(resume) != 0
    assert "give --checkpoint FILE, or --nothing-newer" in capsys.readouterr().err
    assert main(["log-keys", "--data", str(data)]) == 0
    assert f"nothing is signed: {RESTORED}" in capsys.readouterr().out
    assert main(["log-keys", "add", "--origin", "example.org/log-2", "--data", str(data)]) == 0
    shown = capsys.readouterr().out
    assert "example.org/log-2 signs" in shown
    assert "example.org/log ended: the log is now example.org/log-2" in shown


def test_whoever_is_certain_goes_on(restored: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    data, _ = restored
    assert main(["log-keys", "resume", "--nothing-newer", "--data", str(data)]) == 0
    assert "nothing is signed" not in capsys.readouterr().out


def test_an_operator_halts_it(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """As before the start of a database that was restored to a point in time."""
    place = ["--data", str(settings.data)]
    assert main(["log-keys", "halt", *place]) == 0
    assert f"nothing is signed: {HALTED}" in capsys.readouterr().out
    with closing(opened(settings)) as ledger:
        assert store_of(ledger).sign(3, bytes(32), 1_000, show=True) is None
    assert main(["log-keys", "resume", "--nothing-newer", *place]) == 0
    assert "nothing is signed" not in capsys.readouterr().out


class TestTheWitness:
    """Its key, by the command line and after a restore."""

    def vkeys(self, data: Path, capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
        assert main(["log-keys", *(args or ["witness"]), "--data", str(data)]) == 0
        return [line.strip() for line in capsys.readouterr().out.partition(" cosigns")[2].splitlines()[1:] if line]

    def test_its_key_is_made_once_and_renewed_at_will(
        self, settings: Settings, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.vkeys(settings.data, capsys, "list") == []
        first = self.vkeys(settings.data, capsys, "witness", "--origin", "w.example/v1/witness")
        assert len(first) == 2
        assert all(vkey.startswith("w.example/v1/witness+") for vkey in first)
        assert self.vkeys(settings.data, capsys) == self.vkeys(settings.data, capsys, "list") == first
        assert set(self.vkeys(settings.data, capsys, "witness", "--renew")).isdisjoint(first)

    def test_after_a_restore_it_is_another_witness(
        self, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It may have cosigned larger checkpoints since the copy was made."""
        with closing(opened(settings)) as ledger:
            store = WitnessStore(ledger, ledger.keys)
            store.migrate()
            old = store.ensure_key(1)
        take_snapshot(settings, tmp_path / "copy")
        new = load_settings({"data": str(tmp_path / "new")}, {})
        restore_snapshot(new, tmp_path / "copy")
        assert set(self.vkeys(new.data, capsys)).isdisjoint(map(str, old.keys))


class TestFiles:
    """Witnesses and logs of others are read when the service starts."""

    def test_they_reach_the_settings_and_child_processes(self, tmp_path: Path) -> None:
        witness, log = (Signer(f"{name}.example", b"w" * 32, witness=name == "w") for name in ("w", "l"))
        (tmp_path / "witnesses").write_text(f"witness w {witness.keys[0]} https://w.example\n")
        (tmp_path / "logs").write_text(f"log {log.keys[0]}\n")
        files = {"ANNALS_WITNESSES": str(tmp_path / "witnesses"), "ANNALS_WITNESSED_LOGS": str(tmp_path / "logs")}
        read = load_settings({"data": str(tmp_path)}, files)
        assert read.witnesses[0].url == "https://w.example"
        assert read.witnessed_logs == {"l.example": log.keys[:1]}
        assert load_settings({}, read.to_environ()) == read

    @pytest.mark.parametrize("content", [b"witness", b"\xff", None])
    def test_a_bad_one_stops_the_start(self, tmp_path: Path, content: bytes | None) -> None:
        if content is not None:
            (tmp_path / "file").write_bytes(content)
        for name in ("ANNALS_WITNESSES", "ANNALS_WITNESSED_LOGS"):
            with pytest.raises(SettingsError, match=f"{name}: "):
                load_settings({}, {name: str(tmp_path / "file")})
