"""The introduction to a game for people: its idea, its length, and how to play it in a few lines."""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import TypedDict

import msgspec

from api.schemas.history_responses import AnswersDoc
from domain.kernel.text.package_data import load
from domain.types import Json


class IntroductionWords(TypedDict):
    """An introduction in one language. Each of `turn`, `score` and `forgotten` is a list of sentences."""

    line: str
    goal: str
    turn: list[str]
    score: list[str]
    forgotten: list[str]


class Introduction(TypedDict):
    """`minutes`: least and most of a live game; `weight`: from 1 to 5; `words`: by language.

    `answers`: decisions of one seat in a turn, from simulated games.
    """

    minutes: tuple[int, int]
    weight: int
    answers: AnswersDoc
    words: dict[str, IntroductionWords]


@functools.cache
def load_introduction(package: str) -> Introduction | None:
    """Return `introduction.json` of a game, or None for a game without one."""
    with suppress(FileNotFoundError):
        found: Json = load(package, "introduction.json") if package else None
        return msgspec.convert(found, Introduction) if found else None
    return None
