"""Texts in both languages for everything that players see."""

from __future__ import annotations

import random
import re

import pytest

from domain.games.imperunde import RULESET
from domain.games.imperunde.data import CARDS, COUNTRIES, DOC, LAND_EVENTS, SEA_EVENTS, TIMEOUTS, UNITS, ZONES
from domain.ids import DIRECTOR
from domain.kernel.record import facts_for
from domain.kernel.texts import LANGUAGES, texts
from tests.games.imperunde.test_games import played

CATALOGUES = {lang: dict(texts(RULESET.package, lang).own) for lang in LANGUAGES}
SILENT = {"deck_ordered", "hand_dealt"}
"""Facts of nobody."""
ALIKE = set(
    """title item.lot item.die
    afghanistan alaska angola annam armistice capture combat congo coup_de_main cuba famine fort france java
    la_plata madagascar mozambique oregon panama philippines pirates portugal queensland sabotage sahara siam sprint
    suez sumatra tibet tripoli turkestan usa venezuela victoria""".split()  # noqa: SIM905 (a list of words)
)
"""Names that are the same in English and French."""
PLACES = re.compile(r"\{[^}]*\}")
FORMS = re.compile(r"\{\w+:(\w+)\}")
CLUMSY = re.compile(r"[a-z]_[a-z]|[{}\[\]]|\(\W*\)|[:,;]\W*\.|\s\s|\s[.,]")
"""An id, a list or an object that shows through, or a hole where something should stand."""


def test_both_languages_have_the_same_keys_and_places() -> None:
    assert CATALOGUES["en"].keys() == CATALOGUES["fr"].keys()
    for key, text in CATALOGUES["en"].items():
        assert sorted(PLACES.findall(text)) == sorted(PLACES.findall(CATALOGUES["fr"][key])), key


def test_no_text_is_empty_and_french_is_not_english() -> None:
    for key, text in CATALOGUES["en"].items():
        french = CATALOGUES["fr"][key]
        assert text.strip()
        assert french.strip()
        assert (text == french) == (key.removeprefix("word.") in ALIKE), key


@pytest.mark.parametrize("lang", LANGUAGES)
def test_everything_has_a_text(lang: str) -> None:
    wanted = {"title", *(f"move.{m}" for m in RULESET.moves), *(f"fact.{t}" for t in set(RULESET.facts) - SILENT)}
    wanted |= {f"refusal.{code}" for code in RULESET.meta.codes} | {f"option.{o}" for o in RULESET.meta.options}
    wanted |= {f"decision.{kind}" for kind in TIMEOUTS["live"]}
    wanted |= {f"word.{i}" for i in (*COUNTRIES, *ZONES, *UNITS, *CARDS, *LAND_EVENTS, *SEA_EVENTS)}
    wanted |= {f"item.{form}" for text in CATALOGUES[lang].values() for form in FORMS.findall(text)} - {"item.seat"}
    assert not wanted - set(CATALOGUES[lang])
    named = {key for key in CATALOGUES[lang] if not key.startswith("word.")}
    assert not named - wanted


@pytest.mark.parametrize(("lang", "member"), [("en", "name"), ("fr", "name_fr")])
def test_names_are_those_of_the_data(lang: str, member: str) -> None:
    """One display name per language."""
    items = [*DOC["countries"]["items"], *DOC["sea_zones"]["items"], *(DOC["cards"]["items"] if lang == "fr" else [])]
    assert {i["id"]: CATALOGUES[lang][f"word.{i['id']}"] for i in items} == {i["id"]: i[member] for i in items}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_name_every_word_that_they_use(lang: str) -> None:
    """No id, list or object shows through in the sentences of a whole game, and none has a hole."""
    catalogue = texts(RULESET.package, lang)
    facts = [f for r in played(4).records for f in facts_for(r, DIRECTOR) if f["t"] in set(RULESET.facts) - SILENT]
    assert len({f["t"] for f in facts}) > 40
    for fact in random.Random(1).sample(facts, min(len(facts), 1000)):
        sentence = catalogue.sentence(fact)
        assert sentence is not None
        assert not CLUMSY.search(sentence), sentence
