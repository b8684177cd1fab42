"""SOE-21: the state and its invariants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.games.struggle_of_empires import RULESET
from domain.games.struggle_of_empires.state import Blockade, Captive, Empire, Struggle, Tile
from domain.kernel.rules.choices import Choice
from tests.games.struggle_of_empires.board import army, asked, attack, move, position


def test_the_sight_has_the_names_of_the_page() -> None:
    """SOE-21.1: a seat's part, the turn record and the tiles on the map."""
    held = {"region": "caribbean", "token_of": 2}
    board = position(5, empires={0: {"units": army("baltic", 2, fort=1)}}, pirates=held).sight("public")
    assert board["empires"][0]["supply"] == {"army": 12, "navy": 7, "fort": 1}
    assert (board["empires"][2]["reserve"], board["pirates"]) == (19, held)
    assert board["stock"]["army_training"] == 6


def broken(s: Struggle, **change: Any) -> list[str]:
    return RULESET.check(replace(s, **change))


@pytest.mark.parametrize(
    "change",
    [
        {"units": {"baltic": {"army": 15}}},
        {"units": {"baltic": {"fort": 3}}},
        {"units": {"home_france": {"army": 1}}},
        {"units": {"home_prussia": {"fort": 1}}},
        {"units": {"german_states": {"navy": 1}}},
        {"units": {"baltic": {"army": 0}}},
        {"tokens": {"baltic": 21}},
        {"tokens": {"home_prussia": 1}},
        {"population": 10},
        {"population": -1},
        {"gold": -1},
        {"tiles": (Tile("militia"),)},
    ],
)
def test_a_broken_seat_is_noticed(change: dict[str, Any]) -> None:
    """SOE-21.2: units, tokens, population, gold, places, copies of tiles."""
    s = position(2).state
    assert RULESET.check(s) == []
    assert broken(s, empires=(replace(s.empires[0], **change), s.empires[1]))


@pytest.mark.parametrize(
    "change",
    [
        {"unrest": (-1, 0)},
        {"stock": {}},
        {"boxed": {"government_reform": 1}},
        {"bag": ()},
        {"gone": ("gs_baden",)},
        {"pirates": Captive("india", 0)},
        {"blockade": Blockade(0, "india")},
        {"empires": (Empire(power="prussia", tiles=(Tile("blockade", True),)), Empire())},
    ],
)
def test_a_broken_table_is_noticed(change: dict[str, Any]) -> None:
    """SOE-21.2: unrest, stock, box, markers, tiles on the map."""
    assert broken(position(2).state, **change)


def test_bids_and_offers_are_templates() -> None:
    """SOE-21.3: a bid's amount and an offer's figures are ranges, all other moves are listed."""
    amount = position(3, turn=None).offered(0, "bid")
    assert isinstance(amount, Choice)
    assert (amount.kind, amount.lo, amount.hi) == ("range", 0, 99)
    units = {seat: {"units": army("baltic", 2)} for seat in range(3)}
    game = position(3, empires=units)
    gold = game.offered(0, "attack", "baltic", {"kind": "player", "seat": 1}, [2], 2)
    assert isinstance(gold, Choice)
    assert (gold.kind, gold.lo, gold.hi) == ("range", 1, 8)


def test_phase_auction_and_turn() -> None:
    """SOE-21.4: `auction` only in alliances, `turn` only in actions."""
    board = position(4, turn=None).sight("public")
    assert (board["phase"], board["turn"]) == ("alliances", None)
    assert board["auction"] == {"opener": 0, "standing": None, "passes": 0, "unaligned": [0, 1, 2, 3]}
    board = position(4).sight("public")
    assert (board["phase"], board["auction"]) == ("actions", None)
    game = position(2, turn=0, war=3, round=6, to_play=[])
    game.when(0, move("pass"))
    assert game.sight("public")["phase"] == "over"


def test_a_combat_in_sight() -> None:
    """SOE-21.4: sides, region, zone, stage, commitments, offers, support, dice and totals."""
    empires = {
        0: {"units": army("ottoman_empire", 2), "tiles": ["reserve"]},
        1: {"tokens": {"ottoman_empire": 1}},
        2: {"units": army("mediterranean", 0, navy=1)},
    }
    game = position(3, empires=empires)
    offers = [{"seat": 2, "gold": 1}]
    game.when(0, attack("ottoman_empire", 1, offers=offers))
    game.when(2, move("support", armies=0, navies=1), draws=[2, 1, 1, 1])
    assert asked(game) == ("reserve", 0)
    combat = game.sight("public")["combat"]
    assert (combat["region"], combat["zone"], combat["stage"]) == ("ottoman_empire", "mediterranean", "land")
    assert (combat["attacker"]["seat"], combat["defender"]["kind"]) == (0, "player")
    assert combat["attacker"]["support"] == {"2": {"navy": 1}}
    assert combat["attacker"]["offers"][0]["accepted"] is True
    assert (combat["naval_support"], combat["dice"], combat["totals"]) == ("attacker", [2, 1, 1, 1], [4, 0])
