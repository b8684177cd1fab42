"""Headings and folds of the groups of answers in games that bots play: each says something, once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.pages.common.labels import Labels
from api.pages.decision.move_choices import Builder, BuilderState, Pick, Picks, Question, WholeMove, dump, show_question
from api.pages.decision.option_folds import MOST_FLAT, fold_question, fold_whole
from api.pages.lessons.lesson_builder import LessonBuilder
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.rules.decide import decisions
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from tests.api.conftest import Site
from tests.games.test_move_sentences import play
from tests.rulesets import GAMES, Registered

EVERY = 5
"""Of so many decisions, one is read."""

OTHER = {"en": "Something else", "fr": "Autre chose"}


MOST_FOLDS = 9
"""Most folds of kinds of moves: three rows of a phone."""


def ask(builder: Builder, step: BuilderState) -> Question | None:
    assert step.choice is not None
    return builder.open_options(step) or builder.tell_kinds(step, show_question(builder.labels, step.choice))


def check_folds(labels: Labels, question: Question | None, whole: list[WholeMove]) -> int:
    """Each option is in one fold, whose name differs from the others. Return their number."""
    folds = fold_whole(whole) if question is None else fold_question(labels, question)
    paths = [move.path for move in whole if not move.ends] if question is None else []
    groups = question.groups if question else ()
    values = paths or [each.value for _, some in groups for each in some if not each.ends]
    if not folds:
        shown = {name for name, some in groups if any(not each.ends for each in some)}
        headings = shown | {move.kind for move in whole if not move.rest and not move.ends}
        is_short = len(headings) < 2 or len(values) <= max(MOST_FLAT, len(headings))
        assert is_short or (question is not None and question.kind == "some"), headings
        return 0
    assert sorted(each.value for fold in folds for _, some in fold.groups for each in some) == sorted(values)
    names = [fold.name for fold in folds if fold.only is None]
    assert len(set(names)) == len(names)
    assert all(names)
    if question is None or question.field == "type":
        assert len(folds) <= MOST_FOLDS, names
    return len(folds)


def check_labels(labels: Labels, question: Question | None, whole: list[WholeMove]) -> None:
    """No two buttons have one text beside each other: on the page itself, or below one name."""
    if question is None:
        check_unique([move.label for move in whole])
        return
    folds = fold_question(labels, question)
    names = [fold.only.label if fold.only else fold.name for fold in folds]
    check_unique([*names, *(each.label for each in question.ending)])
    groups = [group for fold in folds for group in fold.groups] or question.groups
    for _, some in groups:
        check_unique([each.label for each in some])


def check_unique(told: list[str]) -> None:
    assert len({*told}) == len(told), told


def check_told(builder: Builder, step: BuilderState, question: Question | None) -> int:
    """A kind of move that is made at once, its other answers forced, is its whole sentence. Return their number."""
    if question is None or question.field != "type" or not step.choice:
        return 0
    shown = {each.value: each.label for _, options in question.groups for each in options}
    told = 0
    for option in step.choice["options"]:
        after = builder.go_on(step, Pick("type", option["value"]))
        if after.move is None or option.get("ends") or len(after.picks.trail) - len(step.picks.trail) < 2:
            continue
        trail = after.picks.trail[len(step.picks.trail) :]
        value = replace(after.picks, trail=trail).to_json() if question.kind == "paths" else dump(option["value"])
        assert shown[value] == (after.answer.doc["text"] or builder.labels.move(after.move))
        told += 1
    return told


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("table", [pytest.param(each, id=each.name) for each in GAMES])
def test_no_heading_is_empty_repeated_or_alone(site: Site, table: Registered, lang: str) -> None:
    read = folded = told = 0
    for number, (match, seat, _) in enumerate(play(table)):
        if number % EVERY:
            continue
        texts = load_texts(match.rules.package, lang)
        labels = Labels(match.rules, texts, SeatNames(texts, match.rules.powers(match.state), {}, own=seat))
        builder = LessonBuilder("headings", str(seat), labels, match.game, match.records, seat)
        top = decisions(match.rules, match.state, match.game.lasting.rewinds.count, seat)[0]
        with site.app.test_request_context(f"/?lang={lang}"):
            step = builder.advance(Picks(top.id, "k" * 24))
            whole = builder.list_whole_moves(step) if step.choice else []
            question = ask(builder, step) if step.choice and not whole else None
            folded += check_folds(labels, question, whole)
            told += check_told(builder, step, question)
            check_labels(labels, question, whole)
        if question is None or question.kind not in ("one", "paths", "some"):
            continue
        shown = [(name, [each for each in some if not each.ends]) for name, some in question.groups]
        headings = [name for name, some in shown if some]
        assert len(set(headings)) == len(headings), headings
        assert headings != [OTHER[lang]]
        if question.kind == "paths" and question.field == "type":
            assert all(headings), headings
        read += len(headings)
    assert read
    assert folded or table.name.startswith("seven_empires"), "its questions are short"
    assert told or not table.name.startswith("struggle"), "one target is left at times"
