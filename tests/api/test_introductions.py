"""Each game says in a few lines what it is and how it is played, in both languages."""

from __future__ import annotations

import re

import pytest

from api.documents.introductions import load_introduction
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ruleset_registry import SHIPPED
from tests.api.conftest import Site
from tests.api.game_pages import Page, Person
from tests.api.oauth.browser import Browser

MOST_WORDS = 420
"""Words that fit four screens of a telephone."""


@pytest.mark.parametrize("game", SHIPPED)
def test_an_introduction_fits_four_screens_in_both_languages(game: str) -> None:
    found = load_introduction(f"domain.games.{game}")
    assert found is not None
    assert set(found["words"]) == set(LANGUAGES)
    assert 1 <= found["weight"] <= 5
    assert found["minutes"][0] < found["minutes"][1]
    shapes = set()
    for words in found["words"].values():
        lists = (words["turn"], words["score"], words["forgotten"])
        assert len(words["turn"]) == 5
        shapes.add(tuple(map(len, lists)))
        text = " ".join([words["line"], words["goal"], *(line for each in lists for line in each)])
        assert len(text.split()) <= MOST_WORDS
        assert not re.search(r"[a-z]_[a-z]|\.json|`", text)
    assert len(shapes) == 1, "the languages have different sentences"


def test_the_front_page_leads_to_each_game_and_its_introduction(site: Site) -> None:
    visitor = Person(site, Browser(site))
    page = visitor.read("/", Accept="text/html")
    plays = {value for form in Page(page.text).forms if form.action == "/play" for _, value, _ in form.buttons}
    learned = set(re.findall(r'href="/learn/([^"/]+)"', page.text))
    games = {each["name"] for each in site.get("/rulesets").json["items"]}
    assert plays == games
    assert learned == {f"{game}@1" for game in SHIPPED} & games
    for name in sorted(learned):
        assert visitor.browser.get(f"/pages/shelf/{name}.svg").mimetype == "image/svg+xml"
        text = visitor.read(f"/learn/{name}", Accept_Language="fr").text
        assert "Ce qu'on oublie" in text or "Ce qu&#39;on oublie" in text


def test_rules_have_contents_and_a_search_and_no_preface(site: Site) -> None:
    visitor = Person(site, Browser(site))
    path = "/learn/struggle_of_empires@1/rules"
    whole = visitor.read(path).text
    assert "data.json" not in whole.partition('class="rules"')[2][:3000]
    anchors = re.findall(r'<li><a href="#([^"]+)">', whole)
    assert len(anchors) > 10
    assert all(f'id="{each}"' in whole for each in anchors)
    found = visitor.read(f"{path}?find=natural seven").text
    assert "SOE-8.8.3" in found
    assert "SOE-3.1" not in found
    assert len(found) < len(whole) / 3
    assert "0 places" in visitor.read(f"{path}?find=zeppelin").text
    assert visitor.browser.get("/learn/nothing@1").status_code == 404
