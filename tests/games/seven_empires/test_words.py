"""What is particular in the words of this game: the facts of the variants, and what refusals tell."""

from __future__ import annotations

import pytest

from domain.games.seven_empires import RULESET
from domain.games.seven_empires.data import EMPIRES
from domain.kernel.text.grammar import parse_noun
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import Doc, Json
from tests.games.seven_empires.test_games import VARIANTS, played
from tests.games.seven_empires.words import QUIET, SILENT
from tests.games.test_texts import CLUMSY, DOUBLED, told_facts


@pytest.fixture(scope="module")
def told() -> list[Doc]:
    """The facts of a few games."""
    matches = [played(4, seed, options) for seed, options in enumerate(VARIANTS)]
    return [f for match in matches for f in told_facts(RULESET, match.records) if f["t"] in RULESET.facts]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_are_whole_in_all_variants(lang: str, told: list[Doc]) -> None:
    catalogue = load_texts(RULESET.package, lang)
    assert len({fact["t"] for fact in told}) >= 32
    for fact in told:
        if fact["t"] in SILENT:
            assert catalogue.sentence(fact) is None
            continue
        sentence = catalogue.sentence(fact)
        if sentence is None:
            assert fact["t"] in QUIET, fact
            continue
        assert sentence.endswith("."), fact
        assert not CLUMSY.search(sentence), sentence
        assert not DOUBLED.search(sentence), sentence


SPAIN = {"seat": 0, "empire": "spain", "region": "madrid"}
FIGHT = {"region": "breslau", "empire": "habsburg", "unit": "artillery", "against": "prussia", "target": "infantry"}


@pytest.mark.parametrize(
    ("fact", "english", "french"),
    [
        (
            {"t": "units_reduced", **SPAIN, "units": [{"unit": "infantry", "number": 3}]},
            "Seat 1 removes 3 infantry units of Spain, as there are too many units in Madrid.",
            "Le siège 1 retire 3 infanteries d'Espagne, car il y a trop d'unités à Madrid.",
        ),
        (
            {"t": "compensation_deployed", **SPAIN, "unit": "infantry"},
            "As compensation, seat 1 deploys an infantry unit of Spain in Madrid.",
            "En compensation, le siège 1 déploie une infanterie d'Espagne à Madrid.",
        ),
        (
            {"t": "fought", **FIGHT, "outcome": "counter_fight"},
            "In Breslau, an infantry unit of Prussia strikes back at the artillery unit of Habsburg; both are removed.",
            (
                "À Breslau, une infanterie de Prusse riposte contre l'artillerie des Habsbourg\u202f; "
                "les deux unités sont retirées."
            ),
        ),
    ],
    ids=lambda value: value["t"] if isinstance(value, dict) else "",
)
def test_sentences(fact: Doc, english: str, french: str) -> None:
    said = {lang: load_texts(RULESET.package, lang).sentence(fact) for lang in LANGUAGES}
    assert said == {"en": english, "fr": french}


def crowned(**more: Json) -> Doc:
    return {
        "t": "monarchs_assigned",
        "monarchs": [],
        "known": True,
        "crowned": [{"empire": "spain", "seat": 0, **more}],
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"former": 2, "why": "more", "influence": 11, "against": 8},
            "Seat 1 becomes monarch of Spain in place of seat 3, with an influence of 11 against 8.",
        ),
        (
            {"former": None, "why": "more", "influence": 3, "against": None},
            "Seat 1 becomes monarch of Spain, with an influence of 3.",
        ),
        (
            {"former": 1, "why": "letter", "influence": 7},
            "Seat 1 becomes monarch of Spain in place of seat 2, with the same influence of 7 but the higher letter.",
        ),
    ],
)
def test_a_new_monarch_is_told_with_the_reason(change: Doc, said: str) -> None:
    """SE7-2.12: most influence, then the higher letter; where none changes, nothing is told."""
    english = load_texts(RULESET.package, "en")
    assert english.sentence(crowned(**change)) == said
    assert english.sentence({"t": "monarchs_assigned", "monarchs": [], "known": True, "crowned": []}) is None


def test_only_monarchs_that_change_are_told(told: list[Doc]) -> None:
    """SE7-11.6: after the first decade each of them follows somebody else, with no less influence."""
    changes = [one for fact in told if fact.get("known") for one in fact["crowned"]]
    assert changes
    for one in changes:
        assert one["seat"] != one["former"]
        assert one["influence"] >= (one.get("against") or 0)


def test_the_final_table_says_where_a_tie_was_broken() -> None:
    """SE7-12.5: of equal points and different places, by influence; shared places are not set apart."""
    line = {"seat": 1, "place": 2, "points": 156, "shares": []}
    english = load_texts(RULESET.package, "en")
    tied = "Seat 2 is second with 156 victory points, after a tie-break by influence."
    assert english.render("item.final", {**line, "tied": True}) == tied
    assert english.render("item.final", {**line, "tied": False}) == "Seat 2 is second with 156 victory points."


def test_units_that_are_deployed_in_a_city_stand_together(told: list[Doc]) -> None:
    """SE7-5.2."""
    deployed = [fact for fact in told if fact["t"] == "units_deployed"]
    assert deployed
    for fact in deployed:
        regions = [stand["region"] for stand in fact["stands"]]
        assert len(regions) == len(set(regions))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_empires_have_names_that_act(lang: str) -> None:
    """Verbs agree with them: `les Habsbourg agissent`, `the Ottomans act`."""
    many = {
        empire for empire in EMPIRES if parse_noun(load_texts(RULESET.package, lang).own[f"word.{empire}"]).is_plural
    }
    assert many == {"en": {"ottomans"}, "fr": {"habsburg"}}[lang]


@pytest.mark.parametrize(
    ("code", "detail", "said"),
    [
        (
            "supply_exhausted",
            {"unit": "infantry"},
            "Il ne reste aucune infanterie dans la réserve.",
        ),
        ("supply_exhausted", {"unit": "three_master", "supply": 1}, "Il reste seulement 1 trois-mâts dans la réserve."),
        ("deployment_incomplete", {"due": 1}, "Il faut déployer au moins 1 unité."),
        ("deployment_incomplete", {"due": 2, "unit": "artillery"}, "Il faut déployer au moins 2 artilleries."),
        ("no_coast", {"region": "london", "to": "portugal"}, "Les mers indiquées ne relient pas Londres au Portugal."),
    ],
)
def test_refusals_tell_their_detail(code: str, detail: Doc, said: str) -> None:
    assert load_texts(RULESET.package, "fr").render(f"refusal.{code}", detail) == said
