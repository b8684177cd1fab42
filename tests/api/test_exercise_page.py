"""The pages of exercises: read without an account, and nothing is stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from html import unescape

import pytest

from api.pages.lobby.daily_exercise import find_daily
from domain.exercises import Exercise, load_exercises
from domain.ruleset_registry import SHIPPED, load_shipped
from tests.api.conftest import Site, make_site
from tests.api.game_pages import Person
from tests.api.oauth.browser import Browser

RULESETS = load_shipped()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with closing(make_site(tmp_path_factory.mktemp("exercises"), RULESETS)) as found:
        yield found


@pytest.fixture
def reader(site: Site) -> Person:
    return Person(site, Browser(site))


def list_buttons(text: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'<button name="answer" value="\d">([^<]*)</button>', text)]


def list_verdicts(text: str) -> list[str]:
    return re.findall(r"<li( class=\"right\")?><strong>", text.partition('class="verdicts"')[2].partition("</ul>")[0])


def find_exercises(game: str) -> list[Exercise]:
    return list(load_exercises(RULESETS.latest(game)))


@pytest.mark.parametrize("game", SHIPPED)
def test_each_is_asked_answered_and_explained(reader: Person, game: str) -> None:
    found = find_exercises(game)
    for number, each in enumerate(found, 1):
        path = f"/learn/{RULESETS.latest(game).meta.ruleset}/exercises/{number}"
        lang, wrong = ("en", "fr")[number % 2], (each.right + 1) % each.count
        asked = reader.read(path, Accept_Language=lang).text
        assert len(set(list_buttons(asked))) == each.count, path
        assert not list_verdicts(asked)
        told = reader.read(f"{path}?answer={wrong}", Accept_Language=lang).text
        assert not list_buttons(told)
        assert [bool(mark) for mark in list_verdicts(told)] == [n == each.right for n in range(each.count)]
        assert ("Not quite." if lang == "en" else "Pas tout à fait.") in told
        if each.spec.kind == "refused":
            assert f"/rules#{each.refusals[each.right].rule}" in told  # type: ignore[union-attr]
    assert not [*reader.site.services.ledger.log(0, 10)]


def test_a_right_answer_leads_on(reader: Person) -> None:
    found = find_exercises("seven_empires")
    told = reader.read(f"/learn/seven_empires@1/exercises/1?answer={found[0].right}").text
    assert "<strong>Right.</strong>" in told
    assert 'href="/learn/seven_empires@1/exercises/2"' in told
    last = reader.read(f"/learn/seven_empires@1/exercises/{len(found)}?answer=0").text
    assert 'name="ruleset" value="seven_empires@1"' in last


@pytest.mark.parametrize("answer", ["9", "-1", "x", ""])
def test_an_answer_that_is_none_asks_again(reader: Person, answer: str) -> None:
    assert list_buttons(reader.read(f"/learn/seven_empires@1/exercises/1?answer={answer}").text)


@pytest.mark.parametrize(
    "path", ["seven_empires@1/exercises/0", "seven_empires@1/exercises/99", "seven_empires@9/exercises/1"]
)
def test_there_is_no_other(reader: Person, path: str) -> None:
    assert reader.browser.get(f"/learn/{path}").status_code == 404


def test_every_day_has_one_and_all_have_their_day(site: Site) -> None:
    rulesets = [RULESETS.latest(game).meta.ruleset for game in SHIPPED]
    total = sum(len(find_exercises(game)) for game in SHIPPED)
    with site.app.test_request_context():
        days = [find_daily(rulesets, date(2026, 1, 1) + timedelta(days=n)) for n in range(total)]
        assert find_daily([], date(2026, 1, 1)) is None
    assert len({each.address for each in days if each}) == total


def test_the_front_page_and_how_to_play_lead_to_them(reader: Person) -> None:
    (address,) = re.findall(r'href="(/learn/[^"]*/exercises/\d+)"', reader.read("/", Accept="text/html").text)
    assert list_buttons(reader.read(address).text)
    assert 'href="/learn/egc@1/exercises/1"' in reader.read("/learn/egc@1").text
