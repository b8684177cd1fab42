"""Exercises: the rules alone give their answers, from what the seat may know."""

from __future__ import annotations

import pytest

from domain.exercises import Exercise, count_exercises, load_exercises, read_exercises, replay
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.narration.move_sentences import MoveSentences
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import SHIPPED, load_shipped
from tests.players.make_exercises import find_code

REGISTRY = load_shipped()

LEAST = 12


@pytest.fixture(params=SHIPPED)
def exercises(request: pytest.FixtureRequest) -> list[Exercise]:
    return list(load_exercises(REGISTRY.latest(request.param)))


def test_a_game_has_a_dozen_of_which_one_move_is_no_other(exercises: list[Exercise]) -> None:
    assert len(exercises) >= LEAST
    assert count_exercises(exercises[0].rules) == len(exercises)
    asked = [(each.spec.version, each.spec.seat) for each in exercises]
    assert len(set(asked)) == len(asked)


def test_one_answer_is_right_and_no_two_read_alike(exercises: list[Exercise]) -> None:
    for number, each in enumerate(exercises, 1):
        assert 3 <= each.count <= 10, number
        for lang in LANGUAGES:
            texts = load_texts(each.rules.package, lang)
            told = MoveSentences(each.rules, texts, SeatNames(texts, {}, {}), each.spec.seat, each.game.state)
            said = [texts.refusal(found.code, found.detail) or "" if found else "" for found in each.refusals]
            match each.spec.kind:
                case "allowed":
                    assert [number for number, found in enumerate(each.refusals) if found is None] == [each.right]
                    shown = [told.move(move) for move in each.spec.moves]
                    assert all(said[: each.right] + said[each.right + 1 :]), number
                case "refused":
                    assert len({found.code for found in each.refusals if found}) == len(each.refusals), number
                    shown = said
                case _:
                    assert each.points.count(max(each.points)) == 1, number
                    shown = list(map(str, range(each.count)))
            assert all(shown), number
            assert len(set(shown)) == len(shown), f"{number} {lang}: {shown}"


def test_refusals_cite_their_rules(exercises: list[Exercise]) -> None:
    cited = [found.rule for each in exercises for found in each.refusals if found]
    assert cited
    assert all(cited)


def test_the_answers_follow_from_what_the_seat_may_know(exercises: list[Exercise]) -> None:
    rules = exercises[0].rules
    file = read_exercises(rules)
    assert file is not None
    records = replay(rules, file).records
    for number, each in enumerate(exercises, 1):
        known = state_known_to(rules, records[: each.spec.version], each.spec.seat)
        told = [find_code(rules, known, each.spec.seat, move) for move in each.spec.moves]
        assert told == [found and (found.code, found.rule) for found in each.refusals], number
