"""Texts in both languages for everything that players see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.games.struggle_of_empires import ANSWERS, RULESET, TURNS
from domain.games.struggle_of_empires.data import DOC, MARKERS, POWERS, REGIONS, TILES, UNITS
from domain.ids import DIRECTOR
from domain.kernel.record import facts_for
from domain.kernel.texts import LANGUAGES, texts
from tests.games.struggle_of_empires.board import army, end_of_war, last_turn
from tests.games.struggle_of_empires.test_games import played

CATALOGUES = {lang: dict(texts(RULESET.package, lang).own) for lang in LANGUAGES}
ALIKE = set(
    """actions af_angola alliances ba_holstein ca_bahamas ca_cuba ca_curacao ca_saint_domingue ei_java ei_philippines
    ei_sumatra fort france gauchos gs_brunswick gs_cologne gs_hesse_cassel in_hyderabad in_mysore na_iroquois naples
    navigation ot_belgrade pirates pop portugal sa_bahia sa_la_plata""".split()  # noqa: SIM905 (a list of words)
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
    wanted = {"title", *(f"move.{m}" for m in RULESET.moves), *(f"fact.{t}" for t in RULESET.facts)}
    wanted |= {f"refusal.{code}" for code in RULESET.meta.codes} | {f"option.{o}" for o in RULESET.meta.options}
    wanted |= {f"decision.{kind}" for kind in (*TURNS, *ANSWERS)}
    wanted |= {f"word.{i}" for i in (*REGIONS, *POWERS, *MARKERS, *TILES, *UNITS)}
    wanted |= {f"word.{v}" for o in DOC["options"]["items"] for v in o["values"] if o["id"] != "powers" and v != "seat"}
    wanted |= {f"item.{form}" for text in CATALOGUES[lang].values() for form in FORMS.findall(text)} - {"item.seat"}
    assert not wanted - set(CATALOGUES[lang])
    named = {key for key in CATALOGUES[lang] if not key.startswith("word.")}
    assert not named - wanted


@pytest.mark.parametrize(("lang", "member"), [("en", "name"), ("fr", "fr")])
def test_names_are_those_of_the_data(lang: str, member: str) -> None:
    """One display name per language."""
    items = [*DOC["map"]["regions"], *DOC["powers"]["items"], *DOC["tiles"]["items"]]
    items += DOC["region_markers"]["items"] if lang == "en" else []
    assert {i["id"]: CATALOGUES[lang][f"word.{i['id']}"] for i in items} == {i["id"]: i[member] for i in items}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_name_every_word_that_they_use(lang: str) -> None:
    """No id, list or object shows through in the sentences of a whole game, and none has a hole."""
    game = last_turn(empires={0: {"tokens": {"india": 1}, "units": army("india", 3), "tiles": ["bavaria"]}})
    facts = end_of_war(game)
    facts += [f for r in played(4, 1).records for f in facts_for(r, DIRECTOR)]
    catalogue = texts(RULESET.package, lang)
    told = [(fact, catalogue.sentence(fact)) for fact in facts if fact["t"] in RULESET.facts]
    assert len({fact["t"] for fact, _ in told}) > 45
    for fact, sentence in told:
        assert sentence is not None, fact
        assert not CLUMSY.search(sentence), sentence


def test_texts_stay_neutral() -> None:
    """Identifiers follow the rulebook; sentences say what happens to markers and tokens, and no more."""
    page = Path(__file__).parents[3] / "docs/about-the-games.md"
    assert "neutral and factual" in page.read_text()
    assert "marker" in CATALOGUES["en"]["move.enslave"]
