"""Passwords that are guessed first, and those that are not."""

from __future__ import annotations

import pytest

from domain.accounts.common_passwords import SERVICE_WORDS, is_common, is_service_word
from domain.accounts.passwords import check_password
from domain.errors import AccountError
from domain.ruleset_registry import load_shipped
from tests.test_project import ROOT


@pytest.mark.parametrize(
    "password",
    [
        "P@ssw0rd2024!",
        "password1234",
        "Football!2019",
        "dragondragon",
        "Dr4g0nDr4g0n99",
        "qwertyuiop123",
        "1qaz2wsx3edc",
        "zxcvbnmlkjhgfdsa",
        "12345678987654321",
        "abcdefghij",
        "!!iloveyou!!",
        "letmein00000",
    ],
)
def test_what_is_common_stays_so_in_other_clothes(password: str) -> None:
    assert is_common(password)


@pytest.mark.parametrize(
    "password", ["a fair wind to Genoa", "seven ships and a map", "k8#tq-Vz1m!x", "8294710365", "長い言葉の列です"]
)
def test_what_nobody_guesses_is_left_alone(password: str) -> None:
    assert not is_common(password)


def test_the_longest_is_judged_at_once() -> None:
    for password in ("a" * 256, "1" * 256, "!" * 256, "ab" * 128, "@" * 255 + "x"):
        is_common(password)


# --- words of the service ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "password",
    [
        "annalsannals",
        "Annals2024!!",
        "@nn@ls-12345678",
        "struggleofempires",
        "Struggle of Empires 2",
        "empires7empires",
        "Age of Reason 1776",
        "ImpeRunde password",
        "ANNALS_qwertyuiop",
    ],
)
def test_words_of_the_service_make_no_password(password: str) -> None:
    with pytest.raises(AccountError, match="words of this service"):
        check_password(password, "Anne")


@pytest.mark.parametrize("password", ["annals k8#tq-Vz1m!x", "my empire has seven ships", "no reason to sail west"])
def test_they_may_stand_in_one_that_is_more(password: str) -> None:
    check_password(password, "Anne")


def test_every_game_is_on_the_list() -> None:
    """With its id and its title, and a year."""
    rules = [load_shipped().get(name) for name in load_shipped().names()]
    for name in {text for each in rules for text in (each.meta.ruleset.partition("@")[0], each.meta.title)}:
        assert is_service_word(f"{name} 2026"), name


def test_the_list_is_written_down() -> None:
    text = (ROOT / "docs" / "api" / "accounts.md").read_text("utf-8")
    assert [word for word in SERVICE_WORDS if f"`{word}`" not in text] == []
