"""What is particular in the words of this game: the facts of the variants, and what refusals tell."""

from __future__ import annotations

import pytest

from domain.games.seven_empires import RULESET
from domain.games.seven_empires.data import EMPIRES
from domain.kernel.narration.sentences import SeatNames, fact_sentences
from domain.kernel.narration.template_context import template_context, with_context
from domain.kernel.rules.flow import assign
from domain.kernel.text.grammar import parse_noun
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import Doc, Json, Seat
from tests.games.seven_empires.board import Position, acting, army, move, moving, position
from tests.games.seven_empires.test_games import VARIANTS, played
from tests.games.seven_empires.words import QUIET, SILENT
from tests.games.test_texts import DOUBLED, told_facts
from tests.spec import CLUMSY


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
            {"t": "units_reduced", **SPAIN, "removed": [{"unit": "infantry", "number": 3, "one": False}]},
            "Seat 1 removes 3 infantry units of Spain, as there are too many units in Madrid.",
            "Le joueur 1 retire 3 infanteries d'Espagne, car il y a trop d'unités à Madrid.",
        ),
        (
            {"t": "compensation_deployed", **SPAIN, "unit": "infantry"},
            "As compensation, seat 1 deploys an infantry unit of Spain in Madrid.",
            "En compensation, le joueur 1 déploie une infanterie d'Espagne à Madrid.",
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


def said(game: Position, seat: Seat, action: Doc, lang: str = "en") -> list[str]:
    """What players read of a move."""
    before, words = game.state, load_texts(RULESET.package, lang)
    facts = game.when(seat, action)
    lines = fact_sentences(words, words.seat, with_context(RULESET, facts, template_context(RULESET, before, facts)))
    return [line.replace("\N{NARROW NO-BREAK SPACE}", " ") for line in lines]


def test_a_city_that_is_occupied_or_freed_is_told() -> None:
    """SE7-0.7: by a march, and by leaving it."""
    game = moving("spain", {"barcelona": "spain infantry", "lyon": "spain infantry"})
    assert said(game, 0, army("barcelona", "infantry", "marseille")) == [
        "Spain moves an infantry unit from Barcelona to Marseille. Spain occupies Marseille."
    ]
    assert said(game, 0, army("lyon", "infantry", "strasbourg"), "fr") == [
        "Une infanterie d'Espagne quitte Lyon pour Strasbourg. L'Espagne occupe Strasbourg. Lyon est de nouveau libre."
    ]


def test_city_is_occupied_by_army_that_has_beaten_its_defender() -> None:
    """SE7-8.10: artillery stays; infantry falls with the unit attacked, and the city is as free as before."""
    game = moving("spain", {"barcelona": "spain artillery infantry", "marseille": "france infantry"})
    assert said(game, 0, army("barcelona", "artillery", "marseille"))[1:] == [
        (
            "In Marseille, an artillery unit of Spain attacks an infantry unit of France; "
            "the unit attacked is removed, and the attacker survives. Spain occupies Marseille."
        )
    ]
    game = moving("spain", {"barcelona": "spain infantry", "marseille": "france infantry"})
    assert said(game, 0, army("barcelona", "infantry", "marseille"))[1:] == [
        "In Marseille, an infantry unit of Spain attacks an infantry unit of France; both are removed."
    ]


def test_a_city_is_freed_by_the_fall_of_its_occupant() -> None:
    """SE7-0.7: by whoever attacks it."""
    game = moving("spain", {"madrid": "spain infantry", "barcelona": "france infantry"})
    assert said(game, 0, army("madrid", "infantry", "barcelona"))[1].endswith(
        "both are removed. Barcelona is free again."
    )


def test_attacker_that_can_be_struck_back_survives_for_moment() -> None:
    """SE7-8.11."""
    game = moving("spain", {"barcelona": "spain artillery", "marseille": "france infantry infantry two_master"})
    (_, fight, *_) = said(game, 0, army("barcelona", "artillery", "marseille", target="infantry"))
    assert fight.endswith("the unit attacked is removed, and the attacker survives for the moment.")


def test_a_movement_of_nothing_is_told() -> None:
    """SE7-8.15: once an army has moved, its flags and marches tell enough."""
    still = moving("spain", {"barcelona": "spain infantry"})
    assert said(still, 0, move("end_movement"))[0] == "Spain ends its movement."
    moved = moving("spain", {"barcelona": "spain infantry"})
    moved.when(0, army("barcelona", "infantry", "madrid"))
    assert said(moved, 0, move("end_movement"))[0].startswith("In turn 2")


def test_an_attack_in_which_nothing_moves_is_told() -> None:
    """SE7-9.2: the units that it has placed can move, and need not."""
    placed = [{"region": region, "unit": "infantry"} for region in ("madrid", "barcelona")]
    still, moved = (acting("spain", "attack") for _ in range(2))
    for game in (still, moved):
        game.when(0, move("attack_deploy", units=placed))
    assert said(still, 0, move("end_movement"))[0] == "Spain moves none of its new units."
    moved.when(0, army("barcelona", "infantry", "marseille"))
    assert "new units" not in said(moved, 0, move("end_movement"))[0]


@pytest.mark.parametrize(
    ("tile", "line"),
    [
        ("position_3", "beginning with seat 1 (position 3), each player takes an influence card"),
        ("pawn", "beginning with seat 2 (orange pawn), each player takes an influence card"),
    ],
)
def test_a_tile_names_the_seat_that_begins(tile: str, line: str) -> None:
    """SE7-11.2: nobody remembers who has which position."""
    state = position(pawn=1).state
    fact = {"t": "tile_revealed", "decade": 1, "tile": tile}
    more = template_context(RULESET, assign(state, first_seat=1), [fact])[0]
    told = load_texts(RULESET.package, "en").sentence({**more, **fact})
    assert told == f"The hourglass tile of decade 1 is revealed: {line}."


@pytest.mark.parametrize(
    ("regions", "places"),
    [
        (["barbary_coast", "piedmont"], "on the Barbary Coast and in Piedmont"),
        (["piedmont", "finland"], "in Piedmont and Finland"),
    ],
)
def test_flags_stand_on_a_coast_and_in_a_land(regions: list[str], places: str) -> None:
    """A preposition is told once only if it fits all."""
    words = load_texts(RULESET.package, "en")
    flags: list[Doc] = [{"t": "flag_placed", "empire": "spain", "region": region} for region in regions]
    state = moving("spain", {"barcelona": "spain infantry"}).state
    told = with_context(RULESET, flags, template_context(RULESET, state, flags))
    assert fact_sentences(words, SeatNames(words, {}, {}), told) == [f"Spain places flags {places}."]
