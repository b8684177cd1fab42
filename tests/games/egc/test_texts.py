"""Texts in both languages for everything that players see."""

from __future__ import annotations

import re

import pytest

from domain.games.egc import RULESET
from domain.games.egc.data import DOC, LINKS, SEAS, STRAITS, TECHNOLOGIES, TERRITORIES
from domain.games.egc.moves import ACTIONS, ARMY_ORDERS
from domain.kernel.texts import LANGUAGES, texts
from tests.games.egc.board import move, position

CATALOGUES = {lang: dict(texts(RULESET.package, lang).own) for lang in LANGUAGES}
ALIKE = set(
    """administration afghanistan alaska alliance angola bechuanaland congo cuba deccan deccan_malacca exploration
    fortification france gabon gabon_mozambique guatemala java kazakhstan kenya madagascar malacca mozambique nicaragua
    niger nigeria nunavut oman ontario oregon panama paraguay philippines port portugal prairies queensland siam sumatra
    tahiti tanganyika texas texas_panama tibet turkestan ukraine ukraine_turkestan venezuela""".split()  # noqa: SIM905
)
"""Names that are the same in English and French."""

PLACES = re.compile(r"\{[^}]*\}")


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
    """EGC-18: every id that players see has a name."""
    wanted = {"title", *(f"move.{m}" for m in RULESET.moves), *(f"fact.{t}" for t in RULESET.facts)}
    wanted |= {f"refusal.{code}" for code in RULESET.meta.codes} | {f"option.{o}" for o in RULESET.meta.options}
    wanted |= {f"decision.{kind}" for kind in (*RULESET.go, "resolving")}
    ids = [*TERRITORIES, *SEAS, *STRAITS, *LINKS, *TECHNOLOGIES, *ACTIONS, *ARMY_ORDERS]
    ids += [x["id"] for s in ("empires", "infrastructure", "casus_belli") for x in DOC[s]["items"]]
    wanted |= {f"word.{i}" for i in (*ids, *DOC["relations"]["ladder"], *DOC["relations"]["special"])}
    assert not wanted - set(CATALOGUES[lang])
    named = {key for key in CATALOGUES[lang] if not key.startswith("word.")}
    assert not named - wanted


@pytest.mark.parametrize(("lang", "member"), [("en", "name_en"), ("fr", "name_fr")])
def test_names_are_those_of_the_data(lang: str, member: str) -> None:
    """One display name per language."""
    items = [*DOC["empires"]["items"], *DOC["territories"]["items"], *DOC["seas"]["items"]]
    items += [*DOC["straits"]["items"], *DOC["links"]["items"]] if lang == "fr" else []
    assert {i["id"]: CATALOGUES[lang][f"word.{i['id']}"] for i in items} == {i["id"]: i[member] for i in items}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_name_every_word_that_they_use(lang: str) -> None:
    """EGC-6.2: no id, list or object shows through in the sentences of a turn, but the names of armies."""
    game = position(armies={3: {"france-1": ("france", 200, 7, 6)}}, relations={(0, 1): "imminent_war"})
    facts = game.resolve(
        {
            3: [
                move("france-1", "france", "germany"),
                {"type": "relation_action", "target": "zulu", "action": "propose"},
                {"type": "set_ports", "target": "spain", "open": True},
                {"type": "protect", "territory": "serbia"},
            ]
        }
    )
    catalogue = texts(RULESET.package, lang)
    assert {"combat_fought", "finance_settled", "proposal_made", "ports_set"} <= {f["t"] for f in facts}
    for fact in facts:
        sentence = catalogue.sentence(fact)
        if fact["t"] in RULESET.facts:
            assert sentence is not None
            assert not re.search(r"[a-z]_[a-z]|[{}\[\]]", sentence), sentence
