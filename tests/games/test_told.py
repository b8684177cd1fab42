"""What a digest and a chronicle tell at once: sums, replacements, results."""

from __future__ import annotations

import pytest

from domain.kernel.text.message_catalog import load_texts
from domain.types import Doc
from tests.games.pages import ALL, GROUPED, Pages
from tests.games.test_stories import namer_at, seeded, told


def of(game: str) -> Pages:
    return next(pages for pages in ALL if pages.game == game)


@pytest.mark.parametrize("pages", GROUPED)
def test_the_last_digest_of_a_finished_game_begins_with_the_winners(pages: Pages) -> None:
    state = seeded(pages, "heuristic").state
    first = told(pages, "en", "heuristic")[1][-1].lines[:1]
    winners = [score.seat for score in pages.rules.scores(state) if score.place == 1]
    names = namer_at(pages, load_texts(pages.rules.package, "en"))(0, pages.rules.powers(state))
    begins = bool(first) and " the game" in first[0]
    assert begins == state.over
    assert not begins or all(names(seat).bare.lower() in first[0].lower() for seat in winners)


def test_two_equal_losses_are_one_sentence_with_both_causes() -> None:
    """SOE-8.8.1: one unit by the result, one by the dice."""
    rules = of("struggle_of_empires").rules
    lost: Doc = {"t": "unit_lost", "seat": 0, "unit": "army", "region": "german_states", "unrest": 1}
    (fact,) = rules.sentence_mergers["unit_lost"]([{**lost, "causes": ["tie", "seven"]}] * 2)
    assert load_texts(rules.package, "en").sentence(fact) == (
        "Seat 1 loses 2 armies in the German States (one by the tie and one as its dice add up to 7) "
        "and takes 2 points of unrest."
    )


@pytest.mark.parametrize("game", ["struggle_of_empires", "age_of_reason"])
def test_a_token_placed_where_one_was_removed_is_told_once(game: str) -> None:
    rules = of(game).rules
    removed: Doc = {"t": "token_removed", "seat": 0, "power": "russia", "region": "africa", "by": 1, "swap": False}
    placed: Doc = {"t": "token_placed", "seat": 1, "region": "africa"}
    one, other = rules.complete_sentences([removed, placed])
    assert (one["swap"], other["t"]) == (True, "")
    assert rules.complete_sentences([removed])[0]["swap"] is False


def test_a_city_occupied_and_freed_in_a_decade_is_not_told() -> None:
    rules = of("seven_empires").rules
    moves: list[Doc] = [
        {"t": "army_moved", "empire": "spain", "occupied": ["paris", "lyon"], "freed": []},
        {"t": "army_moved", "empire": "spain", "occupied": [], "freed": ["paris"]},
    ]
    taken, left = rules.gather_headlines(moves)
    assert (taken["occupied"], left["freed"]) == (["lyon"], [])


def test_one_preposition_serves_a_list_of_places() -> None:
    texts = load_texts(of("seven_empires").rules.package, "en")
    names = ["in Finland", "in Livonia", "in the Baltic Sea"]
    assert texts.grammar.join_names(names) == "in Finland, Livonia and the Baltic Sea"


def test_a_hire_that_is_revealed_at_once_is_told_once() -> None:
    rules = of("age_of_reason").rules
    hired: Doc = {"t": "hire_sealed", "seat": 0, "powers": ["austria"]}
    none: Doc = {"t": "hire_sealed", "seat": 0, "powers": []}
    revealed: Doc = {"t": "battle_revealed", "cards": {}, "hired": {"attacker": ["austria"]}}
    assert [fact["t"] for fact in rules.complete_sentences([hired, revealed])] == ["", "battle_revealed"]
    assert [fact["t"] for fact in rules.complete_sentences([hired])] == ["hire_sealed"]
    assert rules.complete_sentences([none, revealed])[0] == none


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_points_for_a_beaten_marker_stand_in_the_digest(lang: str) -> None:
    rules = of("age_of_reason").rules
    assert "vp_gained" in rules.meta.headlines
    fact: Doc = {"t": "vp_gained", "seat": 0, "vp": 2, "total": 9, "marker": "pirates"}
    assert "9" in (load_texts(rules.package, lang).sentence(fact) or "")
