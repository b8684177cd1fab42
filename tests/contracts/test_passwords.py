"""Passwords that are guessed first, and those that are not."""

from __future__ import annotations

import pytest

from domain.beside.people.common import common


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
    assert common(password)


@pytest.mark.parametrize(
    "password", ["a fair wind to Genoa", "seven ships and a map", "k8#tq-Vz1m!x", "8294710365", "長い言葉の列です"]
)
def test_what_nobody_guesses_is_left_alone(password: str) -> None:
    assert not common(password)


def test_the_longest_is_judged_at_once() -> None:
    for password in ("a" * 256, "1" * 256, "!" * 256, "ab" * 128, "@" * 255 + "x"):
        common(password)
