"""Exercises: the rules alone give their answers, from what the seat may know."""

from __future__ import annotations

from collections import Counter

import pytest

from domain.exercises import Exercise, count_exercises, load_exercises, read_exercises, replay
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.narration.move_sentences import MoveSentences
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import SHIPPED, load_shipped
from tests.players.make_exercises import find_code, is_hidden, is_plain, may_be_said

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


def test_each_answer_could_be_believed(exercises: list[Exercise]) -> None:
    """All answers are of one kind of move; a reason names nothing beyond the move; none moves to where it is."""
    for number, each in enumerate(exercises, 1):
        spec = each.spec
        assert len({move["type"] for move in spec.moves}) <= 1, number
        for place, (move, refusal) in enumerate(zip(spec.moves, each.refusals, strict=True)):
            if spec.kind == "refused" and refusal and place != each.right:
                assert may_be_said(refusal, spec.moves[spec.asked]), (number, refusal.code)
            if spec.kind == "allowed" and refusal:
                assert not is_plain(move, refusal), (number, refusal.code)


def test_no_form_of_an_answer_tells_that_it_is_right(exercises: list[Exercise]) -> None:
    """Right answers are as long as others, seldom the longest or the shortest, and stand at every place."""
    places = Counter(each.right for each in exercises)
    assert len(places) >= 3
    assert max(places.values()) <= len(exercises) / 2
    extremes = Counter[str]()
    for number, each in enumerate(exercises, 1):
        said = [read_answers(each, lang) for lang in LANGUAGES] if each.spec.kind != "count" else []
        for texts in said:
            others = [text for n, text in enumerate(texts) if n != each.right]
            assert is_hidden([texts[each.right]], [[text] for text in others]), (number, texts)
            extremes["longest"] += len(texts[each.right]) > max(map(len, others))
            extremes["shortest"] += len(texts[each.right]) < min(map(len, others))
    assert max(extremes.values(), default=0) <= len(exercises) * len(LANGUAGES) / 2, extremes


def read_answers(each: Exercise, lang: str) -> list[str]:
    texts = load_texts(each.rules.package, lang)
    if each.spec.kind == "refused":
        return [texts.refusal(found.code, found.detail) or "" for found in each.refusals if found]
    told = MoveSentences(each.rules, texts, SeatNames(texts, {}, {}), each.spec.seat, each.game.state)
    return [told.move(move) for move in each.spec.moves]
