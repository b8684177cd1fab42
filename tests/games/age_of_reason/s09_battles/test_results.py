"""AOR-9.6 to AOR-9.11: dice, second rolls, strength, results, cards, and the examples of the rulebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from domain.types import Doc, Json
from tests.games.age_of_reason.board import (
    SEAT,
    asked,
    attack,
    commit,
    facts_of,
    figures,
    move,
    offers,
    position,
)
from tests.spec import Given, kinds

TOKENS = {"prussia": {"central_europe": 1}, "austria": {"central_europe": 1}}
DICE = [1, 1, 1, 1]


def fight(dice: Sequence[int], attacker: str = "prussia_bluff", defender: str = "austria_bluff", **more: Any) -> Given:
    """Prussia against Austria, two seats, nobody else."""
    game = position(2, tokens=more.pop("tokens", TOKENS), **more)
    game.when(0, attack(more.get("region", "central_europe"), "austria", attacker))
    game.when(1, commit(defender), draws=list(dice))
    return game


def last(game: Given, kind: str) -> Json:
    found = facts_of(game.match.records[-1].public["facts"], kind)
    return found[-1] if found else None


def test_the_attackers_dice_come_first() -> None:
    """AOR-9.6.1: two each, also for a marker."""
    game = fight([1, 2, 3, 6])
    rolled = last(game, "battle_rolled")
    assert (rolled["attacker"], rolled["defender"], rolled["strength"]) == ([1, 2], [3, 6], [1, 3])
    game = position(2, tokens=TOKENS, markers=["ce_poland"])
    game.when(0, attack("central_europe", "ce_poland", "prussia_4s0n"), draws=[6, 1, 4, 2])
    assert last(game, "battle_rolled")["strength"] == [9, 7]


RESERVES: Any = {"spaces": {"reserves": [1, 0]}}


def test_the_attacker_then_the_defender_may_roll_again() -> None:
    """AOR-9.7.1: those with a token on Reserves; dice and strengths are seen by all."""
    game = fight([1, 2, 3, 6], **RESERVES)
    assert asked(game) == ("reserves", (0,))
    shown = game.sight("public")["battle"]
    assert shown["dice"] == {"attacker": [1, 2], "defender": [3, 6]}
    assert shown["strength"] == {"attacker": 1, "defender": 3}
    assert offers(game, 0) == [False, True]
    game.when(0, move("reserves", use=False))
    assert asked(game) == ("reserves", (1,))
    game.when(1, move("reserves", use=False))
    assert game.state.battle is None
    game = fight(DICE, spaces={"reserves": [1]})
    assert asked(game) == ("reserves", (1,))


def test_a_second_roll_counts_and_the_window_starts_again() -> None:
    """AOR-9.7.2: only the own dice; the token goes to the reserve; better or worse."""
    game = fight([1, 2, 3, 6], spaces={"reserves": [1, 0]})
    before = game.state.reserve(1)
    game.when(0, move("reserves", use=False))
    facts = game.when(1, move("reserves", use=True), draws=[4, 4])
    assert kinds(facts) == ["reserves_answered", "dice_rerolled"]
    assert game.state.reserve(1) == before + 1
    assert game.sight("public")["battle"]["strength"] == {"attacker": 1, "defender": 0}
    assert asked(game) == ("reserves", (0,))
    game.when(0, move("reserves", use=True), draws=[1, 6])
    assert "reserves" not in game.at("/spaces")
    assert game.at("/tokens/prussia") == {"central_europe": 2}


def test_two_tokens_can_be_used_in_one_battle_and_allies_never() -> None:
    """AOR-9.7.3."""
    game = fight(DICE, spaces={"reserves": [0, 0]})
    game.when(0, move("reserves", use=True), draws=[1, 1])
    assert asked(game) == ("reserves", (0,))
    game.when(0, move("reserves", use=True), draws=[1, 2])
    assert game.state.battle is None
    game = position(3, tokens={**TOKENS, "france": {"central_europe": 1}}, spaces={"reserves": [2]})
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    game.when(1, commit("austria_bluff"))
    game.when(2, commit("france_alliance"), draws=DICE)
    assert game.state.battle is None


def test_the_token_that_a_second_roll_frees_can_be_placed() -> None:
    """AOR-1.4, AOR-9.7.2: the reserve at the moment of the result counts."""
    tokens = {"prussia": {"central_europe": 21}, "austria": {"central_europe": 1}}
    game = fight([1, 1, 2, 1], tokens=tokens, spaces={"reserves": [0]})
    assert game.state.reserve(0) == 0
    game.when(0, move("reserves", use=True), draws=[6, 1])
    assert game.at("/tokens/prussia") == {"central_europe": 22}


def test_strengths_of_seats_powers_and_markers() -> None:
    """AOR-9.8: difference, soldiers, ships in naval regions, support, the action board; 4 for a power; the number."""
    spaces = {"military_training": [0], "cossacks": [0], "naval_training": [1]}
    game = fight([6, 2, 5, 5], "prussia_4s0n", "austria_3s1n", spaces=spaces)
    assert last(game, "battle_rolled")["strength"] == [4 + 4 + 1 + 1, 0 + 3]
    tokens = {"prussia": {"baltic": 1}, "austria": {"baltic": 1}}
    game = position(2, tokens=tokens, spaces={**spaces, "denmark": [1]})
    game.when(0, attack("baltic", "austria", "prussia_2s1n"))
    game.when(1, commit("austria_3s1n"), draws=DICE)
    assert last(game, "battle_rolled")["strength"] == [2 + 1 + 1, 3 + 1 + 1 + 2]
    game = position(2, tokens={"prussia": {"central_europe": 1}, "france": {"central_europe": 7}})
    game.when(0, attack("central_europe", "france", "prussia_bluff"), draws=[1, 1, 4, 1])
    assert last(game, "battle_rolled")["strength"] == [0, 4 + 3]


@pytest.mark.parametrize(
    ("dice", "unrest", "won"),
    [
        ([5, 1, 1, 1], (0, 2), True),
        ([4, 1, 1, 1], (0, 2), True),
        ([3, 1, 1, 1], (1, 1), True),
        ([2, 1, 1, 1], (1, 1), True),
        ([1, 1, 1, 1], (2, 1), False),
        ([1, 1, 2, 1], (2, 1), False),
        ([1, 1, 3, 1], (2, 1), False),
        ([1, 1, 4, 1], (3, 0), False),
        ([1, 1, 6, 1], (3, 0), False),
    ],
)
def test_the_table_of_results(dice: list[int], unrest: tuple[int, int], won: bool) -> None:
    """AOR-9.9: by the difference of the strengths; AOR-9.9.4: a failed attacker loses no token."""
    game = fight(dice)
    assert (figures(game, 0)[1], figures(game, 1)[1]) == unrest
    assert game.at("/tokens/prussia/central_europe") == 1 + won
    assert game.at("/tokens/austria") == ({} if won else {"central_europe": 1})


def test_who_takes_unrest_in_a_tie() -> None:
    """AOR-9.9.1: supporters of both sides; neither bluffers nor powers without seat."""
    here = {"central_europe": 1}
    tokens = dict.fromkeys(("prussia", "austria", "france", "britain", "russia"), here)
    game = position(5, tokens=tokens)
    game.when(0, attack("central_europe", "austria", "prussia_bluff"))
    for seat, card in ((1, "austria_bluff"), (2, "france_alliance"), (3, "britain_alliance")):
        game.when(seat, commit(card))
    game.when(4, commit("russia_bluff"), draws=DICE)
    assert [figures(game, seat)[1] for seat in range(5)] == [2, 1, 1, 1, 0]


def test_a_token_of_a_power_without_seat_leaves_the_game() -> None:
    """AOR-9.9.2: one token, never more; a seat's goes back to its reserve."""
    tokens = {"prussia": {"central_europe": 1}, "france": {"central_europe": 2}}
    game = position(2, tokens=tokens)
    game.when(0, attack("central_europe", "france", "prussia_4s0n"), draws=[6, 1, 1, 1])
    assert game.at("/tokens/france") == {"central_europe": 1}
    game = fight([6, 1, 1, 1])
    assert (game.state.reserve(0), game.state.reserve(1)) == (20, 22)


def test_a_beaten_marker_brings_its_gold_and_points() -> None:
    """AOR-9.9.3: and leaves the game for a token."""
    game = position(2, tokens={"prussia": {"india": 1}}, markers=["in_bengal"])
    game.when(0, attack("india", "in_bengal", "prussia_2s1n"), draws=[6, 1, 1, 1])
    assert figures(game, 0) == (10 - 3 + 4, 0, 0)
    assert (game.at("/tokens/prussia"), game.state.gone) == ({"india": 2}, ("in_bengal",))
    game = position(2, turn=1, markers=["ot_belgrade"], to_play=[])
    game.when(1, attack("ottoman_empire", "ot_belgrade", "austria_4s0n"), draws=[4, 1, 1, 1])
    assert figures(game, 1) == (3, 1, 1)


def test_unrest_of_the_result_comes_after_the_loans() -> None:
    """AOR-9.9.5: both count against the limit of 22."""
    game = fight([1, 1, 6, 1], "prussia_2s0n_a", empires={0: {"gold": 0, "unrest": 20}})
    assert figures(game, 0) == (0, 22, 0)
    assert [f["unrest"] for f in facts_of(game.match.records[-1].public["facts"], "unrest_added")][:1] == [1]


def test_force_cards_are_discarded_and_the_others_go_back() -> None:
    """AOR-9.10.1."""
    game = fight(DICE, "prussia_4s0n", "austria_bluff")
    assert (game.sight(0)["discard"], game.sight(1)["discard"]) == (["prussia_4s0n"], [])
    assert len(game.sight(1)["hand"]) == 11


def example(scope: str, region: str, first: Doc, answers: dict[str, str | None], dice: list[int], **more: Any) -> Given:
    """A battle of the rulebook: all seven powers have seats and a token in the region."""
    everybody = {key: {region: 1} for key in ("prussia", "austria", "france", "russia")}
    game = position(7, tokens=everybody, terms={"support_scope": scope}, **more)
    seat = game.decision.must[0]
    game.when(seat, first)
    while game.state.top.kind == "commit":
        power = next(p for p in answers if SEAT[p] in game.decision.must)
        draws = dice if len(game.decision.must) == 1 else []
        game.when(SEAT[power], commit(answers[power]), draws=draws)
    return game


@pytest.mark.parametrize(
    ("scope", "region", "strength"),
    [
        ("examples", "central_europe", [9, 6]),
        ("table", "german_states", [9, 6]),
        ("table", "central_europe", [8, 5]),
    ],
)
def test_the_first_example_of_the_rulebook(scope: str, region: str, strength: list[int]) -> None:
    """AOR-9.11.1: Prussia against Austria, which France supports, and Russia bluffs."""
    game = example(
        scope,
        region,
        attack(region, "austria", "prussia_4s0n"),
        {"austria": "austria_4s0n", "france": "france_alliance", "russia": "russia_bluff"},
        [4, 1, 3, 3],
        spaces={"military_training": [0], "bavaria": [0], "saxony": [1]},
    )
    assert last(game, "battle_rolled")["strength"] == strength
    assert [figures(game, seat)[1] for seat in range(7)] == [0, 2, 0, 0, 0, 0, 0]
    assert [10 - figures(game, seat)[0] for seat in (0, 1, 2, 4)] == [5, 7, 1, 0]
    assert game.at(f"/tokens/prussia/{region}") == 2


@pytest.mark.parametrize(("scope", "strength"), [("examples", [8, 8]), ("table", [8, 7])])
def test_the_second_example_of_the_rulebook(scope: str, strength: list[int]) -> None:
    """AOR-9.11.2: Russia against Prussia, with France and Austria; a tie, or Russia takes the token."""
    upper = ("russia", "france", "austria", "spain")
    game = example(
        scope,
        "baltic",
        attack("baltic", "prussia", "russia_2s2n"),
        {"prussia": "prussia_3s0n", "france": "france_alliance", "austria": "austria_alliance"},
        [3, 2, 5, 2],
        upper=upper,
        turn=4,
        spaces={"naval_training": [4], "military_training": [0], "bavaria": [0]},
    )
    assert last(game, "battle_rolled")["strength"] == strength
    tie = scope == "examples"
    unrest = {seat: figures(game, seat)[1] for seat in (4, 0, 2, 1)}
    assert unrest == ({4: 2, 0: 1, 2: 1, 1: 1} if tie else {4: 1, 0: 1, 2: 0, 1: 0})
    assert [10 - figures(game, seat)[0] for seat in (4, 0, 2, 1)] == [5, 2, 1, 1]
    assert game.at("/tokens/russia/baltic") == 1 + (not tie)
