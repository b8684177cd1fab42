"""The pages of the guided first games: played by forms, without scripts and without an account."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from domain.lessons import Lesson, LessonStep, load_lesson
from domain.ruleset_registry import SHIPPED, load_shipped
from tests.api.conftest import Site, make_site
from tests.api.game_pages import Page, PageForm, Person
from tests.api.oauth.browser import Browser

RULESETS = load_shipped()
FIRST = "/learn/struggle_of_empires@1/game"


def find_lesson(game: str) -> Lesson:
    found = load_lesson(RULESETS.latest(game))
    assert found is not None
    return found


class Learner(Person):
    """Somebody in a lesson."""

    def turn(self, text: str, act: str) -> Any:
        form = next(each for each in Page(text).forms if ("act", act, "") in [(n, v, "") for n, v, _ in each.buttons])
        return self.follow(self.send(form, ("act", act)))

    def make(self, text: str, step: LessonStep) -> Any:
        return self.try_move(text, step.moves[0])

    def try_move(self, text: str, move: Any) -> Any:
        return self.send(question_of(text), ("send", json.dumps(move)))


def question_of(text: str) -> PageForm:
    return next(each for each in Page(text).forms if each.action.endswith("/game/play"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One with all games: nothing is stored in it."""
    with closing(make_site(tmp_path_factory.mktemp("lessons"), RULESETS)) as found:
        yield found


@pytest.fixture
def learner(site: Site) -> Learner:
    return Learner(site, Browser(site))


def number_of(text: str) -> int:
    found = re.search(r"<strong>(?:A first game|Une première partie)\s?: (\d+)", text)
    assert found, text
    return int(found[1])


@pytest.mark.parametrize("game", SHIPPED)
def test_lesson_is_played_out_and_leads_to_a_game_with_bots(learner: Learner, game: str) -> None:
    lesson = find_lesson(game)
    path = f"/learn/{lesson.file.ruleset}/game"
    answer = learner.read(path)
    for number, step in enumerate(lesson.steps, 1):
        lang = ("en", "fr")[number % 2]
        shown = learner.read(path, Accept_Language=lang).text
        assert number_of(shown) == number
        assert "{" not in re.sub(r"<[^>]*>", "", shown.partition('class="told"')[2].partition("</p>")[0])
        if number == len(lesson.steps):
            break
        answer = learner.follow(learner.make(shown, step)) if step.moves else learner.turn(shown, "next")
    play = Page(answer.text).form("/play", "ruleset")
    assert play.buttons[0][1] == lesson.file.ruleset
    assert not [*learner.site.services.ledger.log(0, 10)]


def test_another_legal_move_is_told_and_an_illegal_one_refused(learner: Learner) -> None:
    text = learner.turn(learner.turn(learner.read(FIRST).text, "next").text, "next").text
    other = {"type": "place_unit", "unit": "army", "region": "central_europe"}
    told = learner.try_move(text, other)
    assert told.status_code == 409
    assert "The rules allow this: France places an army in Central Europe. The lesson waits: " in told.text
    refused = learner.try_move(text, {**other, "region": "home_france"})
    assert refused.status_code == 409
    assert "The rules allow this" not in refused.text
    assert "/learn/struggle_of_empires@1/rules#SOE-3.6" in refused.text
    assert number_of(learner.read(FIRST).text) == 3


def test_half_made_moves_are_kept_and_learner_goes_back(learner: Learner) -> None:
    text = learner.turn(learner.turn(learner.read(FIRST).text, "next").text, "next").text
    asked = learner.follow(learner.send(question_of(text), ("path", json.dumps([["unit", "army", False]]))))
    assert "One step back" in asked.text
    again = learner.read(FIRST).text
    assert "One step back" in again
    assert number_of(learner.turn(again, "back").text) == 2
    third = learner.turn(learner.read(FIRST).text, "next").text
    assert number_of(learner.follow(learner.send(PageForm(FIRST, [*question_like(again)]), ("act", "next"))).text) == 3
    assert number_of(learner.turn(third, "again").text) == 1


def question_like(text: str) -> list[tuple[str, str]]:
    """Return the fields of the form to go back, of an older page."""
    return next(each for each in Page(text).forms if each.action == FIRST).fields


@pytest.mark.parametrize("damage", [lambda text: text[:-8] + "AAAAAAAA", lambda text: "x" * len(text), lambda text: ""])
def test_a_place_that_is_no_place_begins_anew(learner: Learner, damage: Any) -> None:
    learner.turn(learner.read(FIRST).text, "next")
    cookies = {cookie.key: cookie for cookie in learner.browser.client._cookies.values()}
    kept = cookies["annals_lesson"]
    assert len(kept.value) < 3800
    assert kept.path == FIRST
    learner.browser.client.set_cookie("annals_lesson", damage(kept.value), path=FIRST, domain=kept.domain)
    text = learner.read(FIRST).text
    assert number_of(text) == 1
    assert ("It begins anew" in text) == bool(damage(kept.value))
    assert "It begins anew" not in learner.read(FIRST).text


def test_form_without_signature_and_unknown_ruleset_are_refused(learner: Learner) -> None:
    text = learner.read(FIRST).text
    form = next(each for each in Page(text).forms if each.action == FIRST)
    form.fields = [pair for pair in form.fields if pair[0] != "form"]
    assert learner.send(form, ("act", "next")).status_code == 403
    assert learner.browser.get("/learn/nothing@1/game").status_code == 404
    assert learner.browser.get(f"{FIRST}/play").headers["Location"] == f"{FIRST}#move"


def test_pages_lead_to_the_lessons(learner: Learner) -> None:
    for path in ("/", "/learn/struggle_of_empires@1", "/learn/struggle_of_empires@1/rules"):
        assert f'href="{FIRST}"' in learner.read(path, Accept="text/html").text
