"""The command line makes the first administrator, and gives an account back."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.config.settings import load_settings
from deploy.runtime.wiring import migrate, open_account_store
from domain.accounts.accounts import AccountRegistration
from domain.accounts.recovery_codes import FOR_ALL
from tests.deploy.harness import call


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


def test_account_is_given_back_by_a_code_that_its_owner_redeems(folder: str) -> None:
    """Nobody types a password but its owner; the account's log says what was done."""
    told = call("recover", "ANNE", "--data", folder)
    assert (told.returncode, len(told.stdout.strip())) == (0, 30)
    assert "it works once, for a day: Anne" in told.stderr
    with open_account_store(load_settings({"data": folder}, {"ANNALS_REDIS_URL": "redis://127.0.0.1:1"})) as people:
        account = people.accounts.find_by_name("Anne")
        assert account is not None
        code = told.stdout.strip()
        assert people.recovery_codes.find_kind(account.id, code) == FOR_ALL
        entries = people.audit_log.list_entries(account.id)
        assert [(entry.what, code in str(entry)) for entry in entries] == [("recovery_issued", False)]
        assert people.recovery_codes.recover(account.id, code, "another hash", [])
        assert people.credentials.find_password_hash(account.id) == "another hash"
        assert not people.recovery_codes.recover(account.id, code, "a third one", [])


def test_nothing_is_given_back_to_nobody(folder: str) -> None:
    told = call("recover", "Nobody", "--data", folder)
    assert (told.returncode, told.stdout) == (1, "")
    assert "there is no account Nobody" in told.stderr
