"""What is particular in the words of this game: attacks, rounds, marches and what cards force, each told once."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.imperunde import RULESET
from domain.kernel.narration.sentences import SeatNames, fact_sentences
from domain.kernel.narration.template_context import public_dice, template_context, with_context
from domain.kernel.rules.flow import assign
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import Doc, Json
from tests.games.imperunde.board import attack, card, colony, dice, group, move, position, zone
from tests.spec import Given


def told(game: Given, seat: int, *moves: Doc, draws: Any = (), lang: str = "en") -> list[str]:
    """What players read of a move."""
    before = game.state
    facts = game.when(seat, *moves, draws=draws)
    words = load_texts(RULESET.package, lang)
    name = SeatNames(words, RULESET.powers(before), {})
    rolled = public_dice(RULESET, game.match.records[-1])
    return fact_sentences(words, name, with_context(RULESET, facts, template_context(RULESET, before, facts, rolled)))


def test_an_attack_tells_forces_dice_and_losses_once() -> None:
    """IMP-8.1.2, IMP-8.2.6: who comes from where, against what; die against die; the conquest is the victory."""
    game = position(countries={"france": colony(0, infantry=2, cavalry=1, posts=1)})
    going = attack(group("france", "netherlands", infantry=2), group("france", "netherlands", cavalry=1))
    assert told(game, 0, going, draws=dice("y7 w6 w2 w3 w1")) == [
        (
            "Great Britain attacks the Netherlands with 1 cavalry and 2 infantry from France. "
            "They are defended by the natives with 2 infantry."
        ),
        (
            "Round 1 in the Netherlands, Great Britain against the natives: 7 (cavalry, die up to 7) "
            "beats 3 (infantry) and 6 (infantry) beats 1 (infantry); without an opponent: 2 (infantry). "
            "The natives have no infantry left."
        ),
        "Great Britain takes the Netherlands.",
    ]


def test_round_tells_what_a_die_counts_against_a_fort() -> None:
    """IMP-8.2.5: for this comparison only."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, cavalry=2, posts=1), "spain": colony(1, posts=1, forts=1)},
    )
    said = told(game, 0, attack(group("france", "spain", cavalry=2)), draws=dice("y5 y4 r4 y6 r4"), lang="fr")
    assert said[1].replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ") == (
        "Manche 1 en Espagne, la Grande-Bretagne contre l'Afrique du Sud : 5 (cavalerie, compté 4) "
        "perd contre 4 (fort) ; l'égalité revient au défenseur ; sans adversaire : 4 (cavalerie). "
        "La Grande-Bretagne perd 1 cavalerie."
    )
    assert not any(line.startswith("La Grande-Bretagne perd") for line in said)


def test_tie_on_land_is_defenders_and_high_die_is_explained() -> None:
    """IMP-8.2.6: by the highest face of the unit's die."""
    game = position(countries={"france": colony(0, artillery=1, infantry=1, posts=1)})
    going = attack(group("france", "netherlands", artillery=1), group("france", "netherlands", infantry=1))
    said = told(game, 0, going, draws=dice("g7 w4 w4 w4 g5 w1"))
    assert said[1] == (
        "Round 1 in the Netherlands, Great Britain against the natives: 7 (artillery, die up to 8) beats 4 (infantry) "
        "and 4 (infantry) loses to 4 (infantry); the tie goes to the defender. Great Britain loses 1 infantry. "
        "The natives have 1 infantry left."
    )


def test_a_march_of_several_steps_is_one_sentence() -> None:
    """IMP-7.2."""
    game = position(zones={"north_sea": zone({0: {"frigate": 1, "ship_of_the_line": 1}})})
    said = told(game, 0, move("north_sea", "norwegian_sea", "barents_sea", frigate=1, ship_of_the_line=1))
    assert said == [
        (
            "Great Britain moves 1 frigate and 1 ship of the line from the North Sea to the Barents Sea "
            "by way of the Norwegian Sea."
        )
    ]


def test_ships_that_go_the_same_way_go_together() -> None:
    """IMP-8.1.2.1: group by group; the attack tells their way."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({0: {"frigate": 1, "ship_of_the_line": 1}}),
            "barents_sea": zone({1: {"frigate": 1}}),
        },
    )
    way = ("north_sea", "norwegian_sea", "barents_sea")
    said = told(game, 0, attack(group(*way, frigate=1), group(*way, ship_of_the_line=1)), draws=dice("g8 w5 w1"))
    assert said[0] == (
        "Great Britain attacks the Barents Sea with 1 frigate and 1 ship of the line from the North Sea by way of the "
        "Norwegian Sea. It is defended by South Africa with 1 frigate."
    )
    assert not any("moves" in line for line in said)


def test_units_that_a_card_sends_do_not_go_of_their_own_will() -> None:
    """IMP-9.4.9."""
    game = position(zones={"north_sea": zone({1: {"frigate": 2}})}, hands={0: ["forged_naval_orders"]})
    orders = card("forged_naval_orders", target_seat=1, start="north_sea", to="norwegian_sea")
    assert told(game, 0, orders)[-1] == "South Africa must send 2 frigates from the North Sea to the Norwegian Sea."


def test_cards_dealt_are_told_together_and_no_more_than_that() -> None:
    """IMP-6.2.1: the reader's own card may stand between them."""
    dealt = [{"t": "card_dealt", "seat": seat, "cards": 1, "pile": 47 - seat} for seat in range(3)]
    facts = [dealt[0], {"t": "card_drawn", "seat": 0, "card": "ambush"}, *dealt[1:]]
    words = load_texts(RULESET.package, "en")
    assert fact_sentences(words, words.seat, with_context(RULESET, facts, {})) == [
        "Seat 1 draws 1 card and now has 1 in hand; the draw pile has 47 left.",
        "The card drawn by seat 1 is “Ambush”.",
        "Cards are drawn, one each. In hand: 1 for seat 2 and 1 for seat 3; the draw pile has 45 left.",
    ]


@pytest.mark.parametrize(
    ("wars", "said"),
    [
        ([], ["The talks are over: all players are at peace."]),
        (
            ["0-1", "0-3", "1-2"],
            [
                "The talks are over.",
                "Great Britain is at war with South Africa and Victoria.",
                "South Africa is at war with Japan.",
            ],
        ),
    ],
)
def test_who_is_at_war_is_told_by_name(wars: list[Json], said: list[str]) -> None:
    """IMP-6.2.5."""
    state, facts = position(seats=4).state, [{"t": "relations_fixed", "wars": wars}]
    words = load_texts(RULESET.package, "en")
    name = SeatNames(words, RULESET.powers(state), {})
    assert fact_sentences(words, name, with_context(RULESET, facts, template_context(RULESET, state, facts))) == said


def test_a_war_that_ends_is_told_as_a_peace() -> None:
    """IMP-6.2.5: a peace stands in no fact of its own."""
    facts: list[Doc] = [{"t": "relations_fixed", "wars": ["0-1", "0-2", "1-3"]}]
    state = RULESET.fold(position(seats=4).state, facts)
    facts = [{"t": "relations_fixed", "wars": ["0-2"]}]
    told = with_context(RULESET, facts, template_context(RULESET, state, facts))
    for lang, said in (
        ("en", ["Great Britain makes peace with South Africa.", "South Africa makes peace with Victoria."]),
        (
            "fr",
            [
                "La Grande-Bretagne fait la paix avec l'Afrique du Sud.",
                "L'Afrique du Sud fait la paix avec le Victoria.",
            ],
        ),
    ):
        words = load_texts(RULESET.package, lang)
        assert fact_sentences(words, SeatNames(words, RULESET.powers(state), {}), told)[2:] == said


PASSES = [
    (
        ["open", "combat", "round"],
        "new phases, combats or rounds of combat",
        "aux débuts de phase, aux combats ni aux manches",
    ),
    (["counter", "open"], "new phases or cards", "aux débuts de phase ni aux cartes"),
    (["round"], "rounds of combat", "aux manches"),
]


@pytest.mark.parametrize(("windows", "english", "french"), PASSES)
def test_a_standing_pass_says_what_the_seat_lets_go_by(windows: list[Json], english: str, french: str) -> None:
    """IMP-11.8: windows are no word of players."""
    said = standing_pass(windows)
    assert said["en"] == f"Great Britain will not react to {english} until the end of the turn."
    assert said["fr"] == f"La Grande-Bretagne ne réagira pas {french} jusqu'à la fin du tour."


def test_a_standing_pass_for_everything_and_its_end() -> None:
    """IMP-11.8."""
    every = ["open", "counter", "combat", "round"]
    assert standing_pass(every)["en"] == "Great Britain will play no card until the end of the turn."
    assert standing_pass(every, "off")["fr"] == "La Grande-Bretagne peut à nouveau jouer des cartes."
    assert standing_pass(["combat"], "off")["en"] == "Great Britain may again react to combats."


def standing_pass(windows: list[Json], until: str = "turn_end") -> dict[str, str]:
    state = position().state
    facts = [{"t": "auto_pass_set", "seat": 0, "windows": windows, "until": until}]
    lines = {}
    for lang in LANGUAGES:
        words = load_texts(RULESET.package, lang)
        name = SeatNames(words, RULESET.powers(state), {})
        (lines[lang],) = fact_sentences(
            words, name, with_context(RULESET, facts, template_context(RULESET, state, facts))
        )
    return lines


@pytest.mark.parametrize(("moves", "said"), [(1, "disposent d'un mouvement."), (2, "disposent de 2 mouvements.")])
def test_one_is_not_counted_after_a_french_preposition(moves: int, said: str) -> None:
    """IMP-10.4."""
    fact = {"t": "wind_risen", "seat": 0, "zone": "indian_ocean", "moves": moves}
    assert (load_texts(RULESET.package, "fr").sentence(fact) or "").endswith(said)


def test_ships_go_towards_a_sea() -> None:
    """IMP-7.2: `dans` tells where a ship is, `vers` where it goes."""
    game = position(zones={"north_sea": zone({0: {"frigate": 1}})})
    assert told(game, 0, move("north_sea", "norwegian_sea", frigate=1), lang="fr") == [
        "La Grande-Bretagne déplace 1 frégate de la mer du Nord vers la mer de Norvège."
    ]


def test_the_pile_of_the_set_up_is_not_told_as_shuffled() -> None:
    """IMP-5.1, IMP-6.2.1: it is shuffled in the first turn."""
    fact = {"t": "deck_shuffled", "pile": 48, "discard": False}
    english = load_texts(RULESET.package, "en")
    new, old = ({**fact, **template_context(RULESET, assign(position().state, turn=n), [fact])[0]} for n in (0, 1))
    assert english.sentence(new) == "48 secret-service cards form the draw pile."
    assert english.sentence(old) == "The draw pile is shuffled and now has 48 cards."


def test_a_wind_that_nobody_uses_is_no_headline() -> None:
    """IMP-10.5: of digests, that is; the timeline tells it."""
    idle = {"t": "sea_event", "region": "bering_sea", "event": "fair_wind"}
    state = position(zones={"north_sea": zone({0: {"frigate": 1}})}).state
    facts = [idle, {**idle, "region": "north_sea"}]
    told = with_context(RULESET, facts, template_context(RULESET, state, facts))
    assert [fact["t"] for fact in told] == ["sea_event.idle", "sea_event"]
    said = fact_sentences(load_texts(RULESET.package, "en"), load_texts(RULESET.package, "en").seat, told)
    assert said[0] == "A fair wind blows in the Bering Sea, where nobody has a ship."


def test_what_a_card_adds_to_a_die_is_told() -> None:
    """IMP-8.5.1: apart from the die."""
    duel = {"unit": "cavalry", "value": 8, "own": {"base": 7, "bonus": 1}, "target": "fort", "against": 9}
    line = {"result": "lost", **duel, "other": {"most": 9}}
    english = load_texts(RULESET.package, "en")
    assert english.fill("item.duel", line) == "8 (cavalry, 7 + 1) loses to 9 (fort, die up to 9)"
