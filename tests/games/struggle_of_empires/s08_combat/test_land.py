"""SOE-8.6, SOE-8.7: the land battle and Reserve."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.struggle_of_empires import RULESET
from domain.kernel.narration.move_sentences import MoveSentences
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import load_texts
from domain.types import Doc, Json
from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position

EVEN = [1, 1, 1, 1]


def totals(facts: list[Doc]) -> list[Json]:
    """Strengths of attacker and defender in every roll."""
    return [f["totals"] for f in facts if f["t"] == "battle_rolled"]


def battle(a: dict[str, Any], b: dict[str, Any], region: str = "baltic", dice: list[int] | None = None) -> list[Json]:
    """The totals of a land battle between seats 0 and 1."""
    game = position(2, empires={0: a, 1: b})
    return totals(game.when(0, attack(region, 1), draws=dice or EVEN))


def test_holder_of_support_may_use_a_blockade_tile_for_plus_two() -> None:
    """SOE-8.6.1: the tile returns to the stock and is banned for him this round."""
    game = position(
        2, empires={0: {"units": army("baltic", 3, navy=1), "tiles": ["blockade"]}, 1: {"tokens": {"baltic": 1}}}
    )
    game.when(0, attack("baltic", 1))
    assert asked(game) == ("use_blockade", 0)
    facts = game.when(0, move("use_blockade", use=True), draws=EVEN)
    assert totals(facts) == [[3 + 2, 0]]
    assert (game.at("/stock/blockade"), empire(game, 0)["banned_tiles"]) == (1, ["blockade"])


def test_blockade_not_used_or_lies_on_map_gives_plus_one() -> None:
    """SOE-8.6.1: only a tile in hand can be used."""
    holdings = {"units": army("baltic", 3, navy=1), "tiles": ["blockade"]}
    game = position(2, empires={0: holdings, 1: {"tokens": {"baltic": 1}}})
    game.when(0, attack("baltic", 1))
    assert totals(game.when(0, move("use_blockade", use=False), draws=EVEN)) == [[3 + 1, 0]]
    assert game.state.empires[0].owned("blockade") == 1
    laid = {"units": {**army("baltic", 3, navy=1), **army("india", 0, navy=1)}, "tiles": [("blockade", True)]}
    game = position(2, empires={0: laid, 1: {"tokens": {"baltic": 1}}}, blockade={"seat": 0, "region": "india"})
    assert totals(game.when(0, attack("baltic", 1), draws=EVEN)) == [[3 + 1, 0]]


def test_attacker_rolls_before_the_defender_also_against_marker() -> None:
    """SOE-8.6.2: attacker's two dice, then the defender's two."""
    game = position(2, empires={0: {"units": army("baltic", 2)}}, markers=["ba_norway"])
    dice = [{"label": "battle.attacker", "value": 6}, {"label": "battle.attacker", "value": 1}]
    dice += [{"label": "battle.defender", "value": v} for v in (2, 4)]
    facts = game.when(0, attack("baltic", "ba_norway"), draws=dice)
    assert totals(facts) == [[2 + 5, 5 + 2]]


@pytest.mark.parametrize(
    ("parts", "strength"),
    [
        ({"units": army("baltic", 4, fort=2)}, 4),
        ({"units": army("baltic", 2), "tiles": ["army_training", "army_training"]}, 3),
        ({"units": army("baltic", 2), "tiles": ["sweden", "denmark", "bavaria"]}, 4),
        ({"units": army("baltic", 2, navy=3)}, 3),
    ],
)
def test_the_strength_of_an_attacker(parts: dict[str, Any], strength: int) -> None:
    """SOE-8.6.3: armies, tiles, naval support, training; his forts count nothing."""
    assert battle(parts, {"tokens": {"baltic": 1}}) == [[strength, 0]]


@pytest.mark.parametrize(
    ("parts", "strength"),
    [
        ({"units": army("baltic", 1, fort=2)}, 5),
        ({"units": army("baltic", 0, fort=1), "tiles": ["army_training"]}, 3),
        ({"tokens": {"baltic": 1}, "tiles": ["army_training"]}, 0),
        ({"tokens": {"baltic": 1}, "tiles": ["sweden"]}, 1),
        ({"tokens": {"baltic": 1}, "units": army("baltic", 0, navy=1)}, 1),
    ],
)
def test_the_strength_of_a_defender(parts: dict[str, Any], strength: int) -> None:
    """SOE-8.6.4: forts count 2, training needs an army or fort; without unit the rest still counts."""
    assert battle({"units": army("baltic", 9)}, parts) == [[9, strength]]


def test_equal_training_gives_nobody_a_bonus() -> None:
    """SOE-8.6.3, SOE-8.6.4: more tiles than the opponent are needed."""
    trained = {"units": army("baltic", 2), "tiles": ["army_training"]}
    assert battle(trained, trained) == [[2, 2]]


def test_dice_add_their_difference() -> None:
    """SOE-8.6.3, SOE-8.6.4: larger minus smaller."""
    assert battle({"units": army("baltic", 2)}, {"units": army("baltic", 2)}, dice=[2, 6, 5, 4]) == [[6, 3]]


def test_a_marker_has_its_number_and_the_slave_revolt_three() -> None:
    """SOE-8.6.5: plus the difference of its dice."""
    game = position(2, empires={0: {"units": army("baltic", 2)}}, markers=["ba_holstein"])
    assert totals(game.when(0, attack("baltic", "ba_holstein"), draws=[1, 1, 3, 1])) == [[2, 3 + 2]]
    held = {"region": "caribbean", "token_of": 1}
    game = position(2, empires={0: {"units": army("caribbean", 2)}}, slave_revolt=held)
    assert totals(game.when(0, attack("caribbean", "slave_revolt"), draws=[1, 1, 3, 1])) == [[2, 3 + 2]]


def test_all_own_armies_and_forts_take_part() -> None:
    """SOE-8.6.6: nothing is held back."""
    assert battle({"units": army("baltic", 7)}, {"units": army("baltic", 3, fort=1)}) == [[7, 5]]


def test_reserve_is_asked_after_each_roll_attacker_first() -> None:
    """SOE-8.7.1: an unused tile; the context shows dice and totals."""
    empires = {
        0: {"units": army("baltic", 2), "tiles": ["reserve"]},
        1: {"units": army("baltic", 2), "tiles": ["reserve", ("reserve", True)]},
    }
    game = position(2, empires=empires)
    game.when(0, attack("baltic", 1), draws=[1, 2, 3, 5])
    assert asked(game) == ("reserve", 0)
    context = game.decision.context
    assert (context["dice"], context["totals"]) == ([1, 2, 3, 5], [3, 4])
    game.when(0, move("reserve", use=False))
    assert asked(game) == ("reserve", 1)
    game.when(1, move("reserve", use=False))
    assert asked(game) == ("turn", 0)


def test_used_reserve_rolls_all_four_dice_and_opens_anew() -> None:
    """SOE-8.7.2: only the new roll counts; the tile is turned for this War; no limit but the tiles."""
    empires = {
        0: {"units": army("baltic", 2), "tiles": ["reserve"] * 2},
        1: {"units": army("baltic", 2), "tiles": ["reserve"]},
    }
    game = position(2, empires=empires)
    game.when(0, attack("baltic", 1), draws=[1, 6, 3, 5])
    game.when(0, move("reserve", use=False))
    game.when(1, move("reserve", use=True), draws=[2, 2, 6, 6])
    assert asked(game) == ("reserve", 0)
    game.when(0, move("reserve", use=True), draws=[3, 3, 1, 4])
    assert asked(game) == ("reserve", 0)
    facts = game.when(0, move("reserve", use=False))
    lost = [(f["seat"], f["unit"]) for f in facts if f["t"] == "unit_lost"]
    assert lost == [(0, "army")]
    assert [empire(game, s)["tiles"] for s in (0, 1)] == [
        [{"tile": "reserve", "used": True}, {"tile": "reserve", "used": False}],
        [{"tile": "reserve", "used": True}],
    ]


def test_allies_never_use_reserve() -> None:
    """SOE-8.7.2: only principals."""
    empires = {
        0: {"units": army("baltic")},
        2: {"units": army("baltic"), "tiles": ["reserve"]},
        1: {"tokens": {"baltic": 1}},
    }
    game = position(3, empires=empires)
    game.when(0, attack("baltic", 1))
    game.when(2, move("support", armies=1, navies=0), draws=EVEN)
    assert asked(game) == ("turn", 0)


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", ["Austria: strength 3, you 4", "The Iroquois: strength 3, you 4"]),
        ("fr", ["L'Autriche\u00a0: force 3, vous 4", "Les Iroquois\u00a0: force 3, vous 4"]),
    ],
)
def test_who_chooses_a_target_reads_both_strengths_before(lang: str, said: list[str]) -> None:
    """SOE-8.6.3: without dice and allies; all of it is public. The battle begins with the same figures."""
    own, theirs = army("north_america", 3), army("north_america", 1, fort=1)
    there = {0: {"units": own, "tiles": ["army_training"]}, 1: {"units": theirs}}
    game = position(2, empires=there, markers=["na_iroquois"])
    texts = load_texts(RULESET.package, lang)
    told = MoveSentences(RULESET, texts, SeatNames(texts, RULESET.powers(game.state), {}, own=0), 0, game.state)
    targets: list[Json] = [{"kind": "player", "seat": 1}, {"kind": "neutral", "marker": "na_iroquois"}]
    assert told.options("attack", "target", targets, {"region": "north_america"}) == said
    assert totals(game.when(0, attack("north_america", 1), draws=EVEN)) == [[4, 3]]
