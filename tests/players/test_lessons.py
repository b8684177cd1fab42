"""The guided first game of each ruleset: the rules themselves play it, and no sentence of it is untrue."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.text.message_catalog import LANGUAGES
from domain.kernel.text.package_data import load
from domain.lessons import Lesson, fill_figures, load_lesson, read_pointer
from domain.ruleset_registry import SHIPPED, load_shipped
from domain.types import Json

REGISTRY = load_shipped()

MOST_WORDS = 1400
"""Words read in seven minutes, at 200 a minute: five are left for the questions."""

MOST_QUESTIONS = 4000


@pytest.fixture(params=SHIPPED)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    found = load_lesson(REGISTRY.latest(request.param))
    assert found is not None
    return found


def test_it_has_ten_to_fourteen_steps_of_few_words(lesson: Lesson) -> None:
    assert 10 <= len(lesson.steps) <= 14
    for lang in LANGUAGES:
        words = [step.words[lang] for step in lesson.steps]
        assert sum(len(f"{each.title} {each.text}".split()) for each in words) <= MOST_WORDS
        assert len({each.title for each in words}) == len(words)
    assert all(set(step.words) == set(LANGUAGES) for step in lesson.steps)
    assert sum(bool(step.moves) for step in lesson.steps) >= 4
    assert not lesson.steps[-1].moves


def test_all_that_is_said_of_the_board_is_so(lesson: Lesson) -> None:
    for number, step in enumerate(lesson.steps):
        facts = lesson.facts(number)
        found = [[pointer, read_pointer(facts, pointer)] for pointer, _ in step.checks]
        assert found == [list(each) for each in step.checks], f"step {number + 1}"


def test_each_number_in_sentence_comes_from_state_or_is_checked(lesson: Lesson) -> None:
    for number, step in enumerate(lesson.steps):
        figures = lesson.read_figures(number)
        checked = {str(value) for _, value in step.checks}
        used = set[str]()
        for words in step.words.values():
            text = f"{words.title} {words.text} {words.wait}"
            assert not (set(re.findall(r"\d+", text)) - checked), f"step {number + 1}: {text}"
            assert fill_figures(text, dict.fromkeys(figures, "7"))
            used |= set(re.findall(r"\{(\w+)\}", text))
        assert used == set(figures), f"step {number + 1}"
        named = [set(re.findall(r"\{(\w+)\}", each.text)) for each in step.words.values()]
        assert named[0] == named[1], f"step {number + 1}"


def test_marks_are_on_the_map(lesson: Lesson) -> None:
    regions = set(load(lesson.match.rules.package, "geometry.json")["regions"])
    assert {mark for step in lesson.steps for mark in step.mark} <= regions


def test_the_questions_of_the_game_lead_to_the_expected_moves(lesson: Lesson) -> None:
    for number, step in enumerate(lesson.steps):
        state = lesson.match.game_at(lesson.versions[number]).state
        if step.moves:
            assert all(words.wait.endswith(".") for words in step.words.values())
            assert lesson.file.seat in state.top.owing
            built = _find_moves(lesson, number, step.moves[0])
            assert any(lesson.is_expected(number, [move, *step.moves[1:]]) for move in built), f"step {number + 1}"


def _find_moves(lesson: Lesson, number: int, wanted: Json) -> Iterator[Json]:
    """Yield the moves of the builder with the words and numbers of the wanted one."""
    rules, state, seat = lesson.match.rules, lesson.match.game_at(lesson.versions[number]).state, lesson.file.seat
    known, waiting = set(_list_words(wanted)), [list[Json]()]
    for _ in range(MOST_QUESTIONS):
        if not waiting:
            return
        picks = waiting.pop()
        asked = query_builder(rules, state, seat, picks)
        if not isinstance(asked, Choice):
            yield asked
        elif asked.kind == "range":
            named = _find_number(wanted, asked.field)
            numbers = {asked.lo, *known.intersection(range(asked.lo, asked.hi + 1))} if named is None else {named}
            waiting += [[*picks, each] for each in numbers]
        else:
            fitting = [each for each in asked.values if each is None or set(_list_words(each)) <= known]
            waiting += [[*picks, each] for each in ([fitting] if asked.kind == "some" else fitting or asked.values)]


def _find_number(value: Json, field: str) -> int | None:
    """Return the number of a field in a move."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get(field), int):
        return int(value[field])
    return next((found for each in value.values() if (found := _find_number(each, field)) is not None), None)


def _list_words(value: Json, name: str = "") -> list[Json]:
    """Return the words in a value, and numbers but counts and steps left, which the builder adds."""
    if isinstance(value, dict):
        return [found for key, each in value.items() for found in _list_words(each, key)]
    if isinstance(value, list):
        return [found for each in value for found in _list_words(each, name)]
    return [] if name in ("moves_left", "count") else [value]
