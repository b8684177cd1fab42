"""What a digest and a chronicle tell at once: sums, replacements, results."""

from __future__ import annotations

import pytest

from domain.kernel.records.fact_decoder import FactDecoder
from domain.kernel.text.message_catalog import load_texts
from domain.types import Doc
from tests.games.pages import ALL, GROUPED, Pages
from tests.games.test_stories import namer_at, seeded, told


def of(game: str) -> Pages:
    return next(pages for pages in ALL if pages.game == game)


@pytest.mark.parametrize("pages", GROUPED)
def test_last_digest_of_a_finished_game_begins_with_the_winners(pages: Pages) -> None:
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
    (told,) = rules.gather_headlines([*moves, {**moves[0], "occupied": ["bordeaux"]}])
    assert (told["occupied"], told["freed"]) == (["lyon", "bordeaux"], [])


def test_one_preposition_serves_a_list_of_places() -> None:
    texts = load_texts(of("seven_empires").rules.package, "en")
    names = ["in Finland", "in Livonia", "in the Baltic Sea"]
    assert texts.grammar.join_names(names) == "in Finland, Livonia and the Baltic Sea"


def test_what_is_laid_and_revealed_in_one_record_is_told_once() -> None:
    """AOR-9.4: what was laid before is told by its consequence, not as played again."""
    rules = of("age_of_reason").rules
    laid: list[Doc] = [
        {"t": "card_sealed", "seat": 0, "card": "france_bluff"},
        {"t": "commit_closed", "laid": [0]},
        {"t": "battle_revealed", "cards": {"0": "france_bluff"}},
    ]
    assert [fact["t"] for fact in rules.complete_sentences(laid)] == ["", "", "battle_revealed"]
    assert [fact["t"] for fact in rules.complete_sentences(laid[:2])] == ["card_sealed", ""]
    words = load_texts(rules.package, "en")
    assert (words.sentence({**laid[2], "bluffing": [0]}) or "").endswith("With the Bluff card, seat 1 supports nobody.")


def test_a_hire_that_is_revealed_at_once_is_told_once() -> None:
    rules = of("age_of_reason").rules
    hired: Doc = {"t": "hire_sealed", "seat": 0, "powers": ["austria"]}
    none: Doc = {"t": "hire_sealed", "seat": 0, "powers": []}
    revealed: Doc = {"t": "battle_revealed", "cards": {}, "hired": {"attacker": ["austria"]}}
    assert [fact["t"] for fact in rules.complete_sentences([hired, revealed])] == ["", "battle_revealed"]
    assert [fact["t"] for fact in rules.complete_sentences([hired])] == ["hire_sealed"]
    assert rules.complete_sentences([none, revealed])[0] == none


def test_a_storm_that_sinks_pirates_has_spared_nobody() -> None:
    """IMP-10.5: their losses are told by zone, those of seats by region."""
    storm: Doc = {"t": "sea_event", "event": "storm", "region": "north_sea", "idle": False}
    lost: Doc = {"t": "pirates_lost", "zone": "north_sea", "units": {"frigate": 1}, "cause": "storm"}
    tell = of("imperunde").rules.complete_sentences
    assert "spared" not in tell([storm, lost])[0]
    assert tell([{**lost, "zone": "tasman_sea"}, storm])[1]["spared"] is True


def test_an_attack_tells_its_way_and_no_step_of_it_again() -> None:
    """IMP-8.1.2: the steps stand between the attack and its combat; those of others, and later ones, are told."""
    moved: Doc = {"t": "units_moved", "seat": 0}
    facts: list[Doc] = [{"t": "attack_declared", "seat": 0}, moved, {"t": "combat_started"}, moved]
    told = of("imperunde").rules.complete_sentences(facts)
    assert [fact["t"] for fact in told] == ["attack_declared", "", "combat_started", "units_moved"]


@pytest.mark.parametrize(
    ("wars", "lines"), [([], ["All players are at peace."]), ([0, 1], ["Seat 1 is at war with seat 2."] * 2)]
)
def test_a_digest_of_talks_tells_what_they_have_led_to(wars: list[int], lines: list[str]) -> None:
    fact: Doc = {"t": "relations_fixed", "fronts": [{"seat": 0, "against": [1]} for _ in wars]}
    words = load_texts(of("imperunde").rules.package, "en")
    assert (words.render("headline.relations_fixed", fact) or "").split("\n") == lines


def test_palaces_of_a_decade_are_told_at_once() -> None:
    """SE7-6.1: a single one in its own sentence."""
    rules = of("seven_empires").rules
    words = load_texts(rules.package, "en")
    built: list[Doc] = [
        {"t": "palace_built", "empire": "spain", "region": "barcelona", "crowns": 2},
        {"t": "palace_built", "empire": "france", "region": "lyon", "crowns": 1},
    ]
    assert [words.render("headline.palace_built", rules.gather_headlines(some)[0]) for some in (built, built[:1])] == [
        "Palaces are built or enlarged: 2 crowns in Barcelona and 1 in Lyon.",
        "Spain enlarges the palace in Barcelona to 2 crowns.",
    ]


def test_the_outcome_of_a_boarding_is_told_if_the_ship_sinks() -> None:
    """IMP-8.4.2: the round has told what its dice sank; a ship that its captor has no piece for is told apart."""
    rules = of("imperunde").rules
    words = load_texts(rules.package, "en")
    fought: Doc = {"t": "round_fought", "sides": {"attacker": 0, "defender": "pirates"}, "lost": [[{}], []]}
    frigate: Doc = {"t": "units_lost", "seat": 0, "region": "tasman_sea", "cause": "combat"}
    frigate["units"] = [{"unit": "frigate", "count": 1}]
    black: Doc = {"t": "pirates_lost", "zone": "tasman_sea", "units": {"frigate": 1}, "cause": "combat"}
    told = rules.complete_sentences([fought, frigate, frigate, black])
    assert [words.sentence(fact) for fact in told[1:]] == [
        None,
        "Seat 1 loses 1 frigate in the Tasman Sea: the captor has no such piece left, and the ship sinks.",
        "The Pirates lose 1 frigate in the Tasman Sea: the captor has no such piece left, and the ship sinks.",
    ]


def test_losses_draws_and_reinforcements_are_sums() -> None:
    """IMP-7.7, IMP-6.4.5, IMP-8.3.2: of a seat in a storm, of several cards, and of the steps into a combat."""
    rules = of("imperunde").rules
    words = load_texts(rules.package, "en")
    lost: Doc = {"t": "units_lost", "seat": 0, "region": "coral_sea", "cause": "storm"}
    lost["units"] = [{"unit": "artillery", "count": 1}]
    step: Doc = {"t": "units_moved", "seat": 0, "lot": lost["units"], "from": "coral_sea", "to": "tasman_sea"}
    into: Doc = {**step, "from": "tasman_sea", "to": "new_zealand", "how": "support"}
    marched = rules.sentence_mergers["units_moved"]([{**step, "how": "march"}, into])
    drawn: Doc = {"t": "card_drawn", "seat": 0, "card": "sabotage"}
    dealt: list[Doc] = [{"t": "card_dealt", "seat": 0, "cards": n, "pile": 9 - n, "drawn": 1} for n in (1, 2)]
    cards = rules.complete_sentences([dealt[0], drawn, dealt[1], drawn])
    assert len(cards) == 4
    storm = rules.complete_sentences([lost, {"t": ""}, lost])
    assert [line for fact in (*storm, *marched, *cards) if (line := words.sentence(fact))] == [
        "Seat 1 loses 2 artillery in the storm in the Coral Sea.",
        (
            "Seat 1 sends 1 artillery from the Coral Sea by way of the Tasman Sea as reinforcements "
            "into the combat in New Zealand."
        ),
        "Seat 1 draws 2 cards and now has 2 in hand; the draw pile has 7 left.",
        "The cards drawn by seat 1 are 2 \N{MULTIPLICATION SIGN} “Sabotage”.",
    ]


def test_size_of_discard_is_told_to_those_who_know_the_card() -> None:
    rules = of("age_of_reason").rules
    words = load_texts(rules.package, "en")
    taken: Doc = {"t": "card_taken_back", "seat": 0, "card": "france_bluff"}
    counted: Doc = {"t": "discard_counted", "seat": 0, "cards": 0, "told": False}
    owner, others = ([words.sentence(f) for f in rules.complete_sentences(s)] for s in ([taken, counted], [counted]))
    assert owner == ["Seat 1 takes the Bluff card back from its discard pile, which is now empty.", None]
    assert others == ["The discard pile of seat 1 is now empty."]


@pytest.mark.parametrize(
    ("losses", "end"),
    [
        (
            (5, 40),
            "The neutral army of Serbia cannot retreat and is destroyed. The morale of Austria-Hungary 1 is now 7.",
        ),
        ((5, 60), "The neutral army of Serbia is destroyed. The morale of Austria-Hungary 1 is now 7."),
    ],
)
def test_a_destroyed_army_has_no_morale(losses: tuple[int, int], end: str) -> None:
    """EGC-9.10: and the sentence tells why it is destroyed with divisions left."""
    rules = of("egc").rules
    army, neutral = "austria_hungary-1", "N-serbia"
    fact: Doc = {
        "t": "combat_fought",
        "step": "P4",
        "seat": 0,
        "territory": "serbia",
        "attacker": army,
        "defender": neutral,
        "attacking": "austria_hungary",
        "defending": "neutral",
        "before": [100, 60],
        "losses": list(losses),
        "supporters": [],
        "fort": 0,
        "landing": False,
        "significant": True,
        "winner": army,
        "winning": "austria_hungary",
        "goes": [[neutral, None]],
        "morale": [7, 4],
        "rounds": [[50, 30, 160, 0, 5, 40, {}]],
    }
    (known,) = FactDecoder([rules.facts["combat_fought"]]).decode_docs([fact])
    context = rules.context_builders["combat_fought"](None, None, known)
    assert end in (load_texts(rules.package, "en").sentence({**fact, **context}) or "")


def test_two_equal_casus_belli_are_told_as_two() -> None:
    """EGC-14.7: and colonial incidents with their places."""
    rules = of("egc").rules
    gained: Doc = {"t": "casus_belli_gained", "step": "P12", "seat": 3, "holder": 3, "against": 0, "expires": 3}
    incident, attack = ({**gained, "kind": kind} for kind in ("colonial_incident", "protected_attacked"))
    fought: list[Doc] = [
        fact
        for land in ("holland", "serbia")
        for fact in (
            {"t": "battle_fought", "territory": land, "empires": ["austria_hungary", "france"], "held_by": None},
            {"t": "territory_conquered", "territory": land, "seat": 0},
        )
    ]
    told = rules.complete_sentences([*fought, incident, attack, incident, attack])
    both = rules.complete_sentences([incident, incident])[0]
    words = load_texts(rules.package, "en")
    assert [words.sentence(fact) for fact in (*(f for f in told if f["t"] == gained["t"]), both)] == [
        f"Seat 4 has a casus belli against seat 1 for {cause}, up to turn 3."
        for cause in (
            "2 colonial incidents in Holland and Serbia",
            "2 attacks on territories under its protection",
            "2 colonial incidents",
        )
    ]


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_points_for_a_beaten_marker_stand_in_the_digest(lang: str) -> None:
    rules = of("age_of_reason").rules
    assert "vp_gained" in rules.meta.headlines
    fact: Doc = {"t": "vp_gained", "seat": 0, "vp": 2, "total": 9, "marker": "pirates"}
    assert "9" in (load_texts(rules.package, lang).sentence(fact) or "")
