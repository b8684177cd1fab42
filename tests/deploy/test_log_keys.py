"""Keys of the log's checkpoints by the command line, and signing after a restore."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from deploy.backup.snapshot import restore_snapshot, take_snapshot
from deploy.cli.main import main
from deploy.config.settings import Settings, load_settings
from deploy.runtime.wiring import migrate
from domain.ledger import Ledger
from domain.transparency.checkpoint_store import RESTORED, CheckpointStore
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


def test_after_a_restore_nothing_is_signed_until_somebody_has_compared(
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
