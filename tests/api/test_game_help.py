"""Help where it is needed: for each decision, and for each thing of a game."""

from __future__ import annotations

import re

import pytest

from api.documents.game_help import describe_things, explain_decision, load_help
from api.pages.rules.rules_names import load_names
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ruleset_registry import SHIPPED, load_shipped
from tests.api.conftest import ROOT, Site
from tests.api.game_pages import Person
from tests.api.oauth.browser import Browser

REGISTRY = load_shipped()
SOE = "struggle_of_empires@1"
IDS = re.compile(r"[a-z]_[a-z]|\.json|`")
MOST_WORDS = 32
"""Words of a line that is read at a glance."""


@pytest.mark.parametrize("game", SHIPPED)
def test_every_decision_says_what_it_is_for_and_what_to_weigh(game: str) -> None:
    rules = REGISTRY.get(f"{game}@1")
    kinds = {kind for move in rules.moves.values() for kind in move.admission.at}
    for lang in LANGUAGES:
        for kind in kinds:
            lines = explain_decision(rules.package, kind, lang)
            assert len(lines) == 2, (kind, lang)
            assert all(line.endswith(".") and not IDS.search(line) for line in lines), (kind, lang)
            assert all(len(line.split()) <= MOST_WORDS for line in lines), (kind, lang)
    found = load_help(rules.package)
    assert found
    assert set(found["decisions"]) == kinds, "help for a decision that nobody is asked"


@pytest.mark.parametrize("game", SHIPPED)
def test_reasons_belong_to_moves_of_their_decision(game: str) -> None:
    rules = REGISTRY.get(f"{game}@1")
    found = load_help(rules.package)
    assert found
    moves = {f"{kind}.{name}" for name, move in rules.moves.items() for kind in move.admission.at}
    for key, reason in found["reasons"].items():
        kind, _, name = key.partition(".")
        assert kind in found["decisions"]
        assert not name or key in moves or not rules.moves[name].admission.at, key
        assert all(reason[lang].endswith(".") and not IDS.search(reason[lang]) for lang in LANGUAGES), key  # type: ignore[literal-required]


@pytest.mark.parametrize("game", SHIPPED)
def test_everything_with_a_name_has_a_sentence(game: str) -> None:
    package = f"domain.games.{game}"
    rules = (ROOT / f"docs/rules/{game}.md").read_text("utf-8")
    names = {thing.id for thing in load_names(package).things if not re.fullmatch(r"\d[a-d]", thing.id)}
    for lang in LANGUAGES:
        lines = describe_things(package, lang)
        assert not names - lines.keys(), lang
        for id_, line in lines.items():
            assert line["text"].endswith("."), (id_, line)
            assert not re.search(r"[a-z]_[a-z]|[{}\[\]|]|  |\.\.", line["text"]), (id_, line)
            assert not line["rule"] or re.search(rf"{re.escape(line['rule'])}(?![0-9]|\.[0-9])", rules), (id_, line)


def test_the_sentences_stand_where_the_words_stand(site: Site) -> None:
    found = site.get(f"/rulesets/{SOE}/help?lang=en").json
    assert found["things"]["logistics"] == {
        "text": "Always: one more unit in each move action.",
        "rule": "SOE-9.5.7",
    }
    assert len(found["decisions"]["reserve"]) == 2
    assert "Toujours" in site.get(f"/rulesets/{SOE}/help?lang=fr").json["things"]["logistics"]["text"]
    guest = Person(site, Browser(site))
    index = guest.read(f"/learn/{SOE}/rules/index").text
    assert "Always: one more unit in each move action." in index
    path = guest.play_now(SOE)
    assert "What these are" in guest.read(path).text
    assert "Scores 8 points for the most tokens" in guest.read(f"{path}/regions/german_states").text


def test_the_help_is_open_until_it_is_read(site: Site) -> None:
    guest = Person(site, Browser(site))
    path = guest.play_now(SOE)
    page = guest.read(path).text
    code = re.search(r'<details class="help" data-help="([0-9a-f]{4})" open>', page)
    assert code
    assert "You choose the power that you play" in page
    assert "Vous choisissez la puissance que vous jouez" in guest.read(path, Accept_Language="fr").text
    page = guest.decide(path).text
    assert guest.browser.client.get_cookie("help").value == code[1]
    assert re.search(r'data-help="[0-9a-f]{4}" open>', page), "another decision, with other help"
    page = guest.decide(path).text
    assert "You put one unit on the map" in page
    assert re.search(r'data-help="[0-9a-f]{4}">', page), "folded after the first such move"
