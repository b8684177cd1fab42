"""The command line makes the first administrator."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.config.settings import load_settings
from deploy.runtime.wiring import migrate, open_account_store
from domain.accounts.accounts import AccountRegistration
from tests.deploy.house import call


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A data folder in which somebody has an account."""
    settings = load_settings({"data": str(tmp_path)}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})
    migrate(settings)
    with open_account_store(settings) as people:
        people.accounts.open(people.accounts.make_id(), AccountRegistration("Anne", "hash", []))
    return str(tmp_path)


def test_an_account_becomes_one_however_often_it_is_said(folder: str) -> None:
    assert call("admin", "--data", folder).stdout == ""
    told = [call("admin", *name, "--data", folder) for name in (["Anne"], ["ANNE"], [])]
    assert [(t.returncode, t.stdout.split()[1:]) for t in told] == [(0, ["Anne"])] * 3, told


def test_nobody_is_made_one_who_has_no_account(folder: str) -> None:
    told = call("admin", "Nobody", "--data", folder)
    assert (told.returncode, told.stdout) == (1, "")
    assert "there is no account Nobody" in told.stderr


def test_a_folder_without_a_service_stays_so(tmp_path: Path) -> None:
    told = call("admin", "--data", str(tmp_path / "nothing"))
    assert told.returncode == 2
    assert not (tmp_path / "nothing" / "ledger.sqlite").exists()
