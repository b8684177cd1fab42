"""SE7-2: options and set-up."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import InvalidTable
from domain.games.seven_empires import RULESET
from domain.games.seven_empires.data import CARDS, DEALS, EMPIRES, LETTERED
from domain.games.seven_empires.rules.monarchs import monarch_of
from domain.types import Json
from tests.games.seven_empires.board import asked, begun, move, position, there, tiles
from tests.spec import Given


@pytest.mark.parametrize(
    ("seats", "options", "pointer"),
    [
        (7, {}, "/seats"),
        (3, {"distribution_card": "2a"}, "/options/distribution_card"),
        (3, {"distribution_card": "3b", "setup": "draft"}, "/options/distribution_card"),
        (3, {"decades": 11}, "/options/decades"),
        (3, {"quick_start": "yes"}, "/options/quick_start"),
        (3, {"setup": "auction"}, "/options/setup"),
        (3, {"colour": "red"}, "/options/colour"),
    ],
)
def test_options_that_do_not_fit(seats: int, options: dict[str, Json], pointer: str) -> None:
    """SE7-2."""
    with pytest.raises(InvalidTable) as caught:
        RULESET.make_table(seats, options)
    assert caught.value.pointer == pointer


def test_what_stands_before_anything_is_drawn() -> None:
    """SE7-2.1, SE7-2.2, SE7-2.3, SE7-2.4: power 0, cities and palaces, markers, piles and workers."""
    state = RULESET.blank(RULESET.make_table(3))
    assert {e.power for e in state.empires.values()} == {0}
    assert state.level("london") == 1
    assert state.level("edinburgh") == 0
    assert state.palaces["vienna"] == 2
    assert len(state.palaces) == 7
    assert state.empires["spain"].markers == {"move_fight": "III", "empire": "II"}
    assert len(state.pile("spain")) == 7
    assert state.workers() == list(EMPIRES)


def test_first_seat_and_distribution_card_are_drawn() -> None:
    """SE7-2.5, SE7-2.6: P1 takes the pawn; a card of this player count."""
    game = Given(RULESET, 3, draws=[2, "3c", tiles(3)])
    assert (game.state.first_seat, game.state.pawn, game.state.card) == (2, 2, "3c")
    assert asked(game) == ("choose_empire", 2)


@pytest.mark.parametrize(("decades", "number"), [(8, 7), (9, 9), (10, 9)])
def test_the_time_track(decades: int, number: int) -> None:
    """SE7-2.7: base tiles, two more for a longer game, one of them put aside for nine; the laurel is last."""
    laid = tiles(4, decades)
    assert len(laid) == number
    game = begun(4, decades=decades)
    kept = laid[:8] if decades == 9 else laid
    assert list(game.state.hourglass) == [*kept, "laurel"]
    assert game.state.left_out == (laid[8] if decades == 9 else None)
    assert "hourglass" not in game.sight("public")


def test_cards_of_the_distribution() -> None:
    """SE7-2.8: each position takes its cards."""
    game = begun(3)
    assert game.state.hands[0] == (
        "prussia.nobility",
        "ottomans.nobility",
        "great_britain.clergy",
        "habsburg.bourgeoisie",
    )


@pytest.mark.parametrize("card", DEALS)
def test_monarchs_of_the_distribution_cards(card: str) -> None:
    """SE7-2.8, SE7-2.12: those that the data name."""
    game = begun(DEALS[card]["players"], distribution_card=card)
    want = {empire: position - 1 for empire, position in DEALS[card]["monarchs"].items()}
    assert {empire: game.state.monarch(empire) for empire in EMPIRES} == want


def drafting(setup: str = "draft", seats: int = 3) -> Given:
    """A draft that begins; seat 0 is P1."""
    return Given(RULESET, seats, options={"setup": setup}, draws=[0, tiles(seats)])


def test_the_order_of_a_draft() -> None:
    """SE7-2.9: round by round to and fro, a letter each."""
    game = drafting()
    seen = []
    for empire in ("spain", "russia", "france", "prussia", "ottomans", "habsburg", "russia", "spain", "great_britain"):
        seen.append((game.decision.context["letter"], game.decision.must[0]))
        game.when(game.decision.must[0], move("draft_influence", empire=empire))
    assert [seat for _, seat in seen] == [0, 1, 2, 2, 1, 0, 0, 1, 2]
    assert [letter for letter, _ in seen] == ["A"] * 6 + ["B"] * 3
    assert game.decision.context == {"letter": "C", "remaining": [2, 1, 0], "round": 4}


def test_what_may_be_drafted() -> None:
    """SE7-2.9: an empire of which the seat holds nothing, by a letter that is still there, even under a higher one."""
    game = drafting()
    game.when(0, move("draft_influence", empire="spain"))
    game.refused(1, move("draft_influence", empire="spain"), "draft_card_gone", "SE7-2.9")
    game.refused(1, move("draft_influence", empire="poland"), "unknown_empire", "SE7-15.1")
    for seat, empire in ((1, "russia"), (2, "france"), (2, "prussia"), (1, "ottomans")):
        game.when(seat, move("draft_influence", empire=empire))
    game.refused(0, move("draft_influence", empire="spain"), "draft_same_empire", "SE7-2.9")
    game.when(0, move("draft_influence", empire="habsburg"))
    game.when(0, move("draft_influence", empire="great_britain"))
    assert game.state.hands[0][-1] == "great_britain.clergy"
    assert game.state.pile("great_britain")[0] == "great_britain.nobility"


def test_the_simple_draft_takes_top_cards() -> None:
    """SE7-2.10: letters play no part."""
    game = drafting("draft_simple")
    for seat in (0, 1, 2):
        assert game.decision.context["letter"] is None
        game.when(seat, move("draft_influence", empire="spain"))
    assert [hand[0] for hand in game.state.hands] == ["spain.nobility", "spain.clergy", "spain.bourgeoisie"]
    game.refused(2, move("draft_influence", empire="spain"), "draft_same_empire", "SE7-2.9")


def test_an_exhausted_pile_is_not_drafted() -> None:
    """SE7-2.10: refused as empty."""
    hands = {"0": [c for c in LETTERED.values() if c.startswith("spain")]}
    more = ["spain.magistrate", "spain.peasant_1", "spain.peasant_2", "spain.peasant_3"]
    patch = {"hands": {"0": [*hands["0"], *more]}}
    game = Given(RULESET, 3, options={"setup": "draft_simple"}, draws=[0, tiles(3)], patch=patch)
    game.when(0, move("draft_influence", empire="france"))
    game.refused(1, move("draft_influence", empire="spain"), "pile_empty", "SE7-2.10")


def test_first_infantry() -> None:
    """SE7-2.11: 3, 2, 1 or 0 for 0, 1, 2 or 3 cards that all seats hold."""
    game = begun(3)
    held = {e: sum(CARDS[c].empire == e for hand in game.state.hands for c in hand) for e in EMPIRES}
    assert held == {
        "prussia": 2,
        "ottomans": 2,
        "spain": 1,
        "habsburg": 2,
        "russia": 2,
        "france": 1,
        "great_britain": 2,
    }
    assert there(game, "madrid") == {"spain": {"infantry": 2}}
    assert there(game, "berlin") == {"prussia": {"infantry": 1}}


def test_the_quick_start() -> None:
    """SE7-2.11: a unit in each city first; infantry only up to three units in the capital."""
    game = begun(2, quick_start=True, setup="distribution", distribution_card="2a")
    assert there(game, "barcelona") == {"spain": {"two_master": 1}}
    assert there(game, "madrid") == {"spain": {"infantry": 2}}
    assert there(game, "konya") == {}
    full = Given(RULESET, 2, options={"setup": "draft_simple", "quick_start": True}, draws=[0, tiles(2)])
    while full.decision.kind == "draft":
        full.when(full.decision.must[0], full_pick(full))
    assert max(sum(units.values()) for e in full.state.units.values() for units in e.values()) == 3


def full_pick(game: Given) -> Any:
    """The first empire that is offered."""
    question: Any = game.offered(game.decision.must[0])
    return move("draft_influence", empire=question.values[0])


def test_four_cards_count_as_three() -> None:
    """SE7-2.11: possible in the simple draft only."""
    game = Given(RULESET, 4, options={"setup": "draft_simple"}, draws=[0, tiles(4)])
    while game.decision.kind == "draft":
        game.when(game.decision.must[0], full_pick(game))
    held = sum(CARDS[c].empire == "prussia" for hand in game.state.hands for c in hand)
    assert held == 4
    assert there(game, "berlin") == {}


def test_monarchs_by_value_then_letter() -> None:
    """SE7-2.12: the sum of the values, not the number of cards; a tie goes to the highest letter."""
    hands = {0: ["spain.magistrate", "spain.peasant_1"], 1: ["spain.nobility"], 2: ["spain.worker"]}
    assert monarch_of(position(hands=hands).state, "spain") == 1
    tie = {
        0: ["spain.magistrate", "spain.peasant_1", "spain.peasant_2"],
        1: ["spain.nobility", "spain.peasant_3"],
        2: [],
    }
    assert monarch_of(position(hands=tie).state, "spain") == 1
    worker = {0: [], 1: [], 2: ["spain.worker"]}
    assert monarch_of(position(hands=worker).state, "spain") == 2
    assert monarch_of(position(hands={0: [], 1: [], 2: []}).state, "spain") is None


def test_a_tie_without_letters() -> None:
    """SE7-2.12: it cannot arise; the incumbent is kept, else the lower position has it."""
    hands = {0: [], 1: ["spain.peasant_1"], 2: ["spain.peasant_2"]}
    assert monarch_of(position(hands=hands).state, "spain") == 2
    assert monarch_of(position(hands=hands, monarchs={"spain": None}).state, "spain") == 1


def test_the_first_decade_begins_with_p1() -> None:
    """SE7-2.13: after a draft as well."""
    game = drafting("draft_simple", 2)
    while game.decision.kind == "draft":
        game.when(game.decision.must[0], full_pick(game))
    assert (asked(game), game.state.decade) == (("choose_empire", 0), 1)
