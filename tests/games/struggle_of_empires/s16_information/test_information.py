"""SOE-16: who sees what."""

from __future__ import annotations

import json

from domain.games.struggle_of_empires import RULESET
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, NoChance
from tests.games.struggle_of_empires.board import army, attack, end_of_war, last_turn, move, position, unrest


def test_the_bag_has_contents_but_no_order() -> None:
    """SOE-16.1: only its size is shown; dealing anew changes nothing, because nothing is dealt."""
    game = position()
    assert game.sight("public")["bag_size"] == 65
    assert "bag" not in game.sight("public")
    draft = Draft(RULESET, game.state, Draws(NoChance()))
    RULESET.redeal(draft, (0,))
    assert draft.state is game.state


def test_an_unrest_total_is_its_owners_own_until_the_end() -> None:
    """SOE-16.2: absent from every sight but the owner's and the director's."""
    game = last_turn(war=3, empires={0: {"unrest": 11}, 1: {"unrest": 12}})
    assert "unrest" not in game.sight("public")
    assert [game.sight(seat) for seat in (0, 1)] == [{"unrest": 11}, {"unrest": 12}]
    assert game.sight("director")["seats"]["1"] == {"unrest": 12}
    end_of_war(game)
    assert game.sight("public")["unrest"] == [11, 12]


def test_with_open_visibility_everybody_sees_it() -> None:
    """SOE-16.2: by the table's option."""
    game = position(2, visibility="open", empires={0: {"unrest": 11}})
    assert game.sight("public")["unrest"] == [11, 0]


def test_single_causes_are_public() -> None:
    """SOE-16.2: a loan, a unit lost, points removed by Government Reform."""
    game = position(2, empires={0: {"gold": 0, "units": army("baltic", 2)}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
    game.when(0, move("buy_tile", tile="government_reform"))
    said = [f for r in game.match.records for f in r.public.get("facts", ()) if "unrest" in f]
    assert [(f["t"], f["unrest"]) for f in said] == [("loan_taken", 1), ("unit_lost", 1), ("unrest_removed", 2)]


def test_the_standing_table_tells_nothing_of_unrest() -> None:
    """SOE-16.2: two games that differ only in unrest have the same table, sights and questions for others."""
    pair = [position(2, empires={0: {"unrest": n, "vp": 5}}) for n in (0, 25)]
    tables = [[line.to_json() for line in RULESET.scores(game.state)] for game in pair]
    assert tables[0] == tables[1]
    for viewer in ("public", 1):
        assert pair[0].sight(viewer) == pair[1].sight(viewer)


def test_everything_else_is_public() -> None:
    """SOE-16.3: the members of the common board, which is plain JSON."""
    board = position().sight("public")
    assert set(board) == {
        "game",
        "players",
        "war",
        "round",
        "phase",
        "first_player",
        "opener",
        "turn_order",
        "alliances",
        "auction",
        "empires",
        "markers",
        "bag_size",
        "stock",
        "boxed",
        "pirates",
        "slave_revolt",
        "blockade",
        "turn",
        "combat",
    }
    assert set(board["empires"][0]) == {
        "seat",
        "power",
        "gold",
        "population",
        "vp",
        "tokens",
        "units",
        "supply",
        "reserve",
        "tiles",
        "banned_tiles",
    }
    assert json.loads(json.dumps(board)) == board


def test_options_carry_their_cost_and_the_loan() -> None:
    """SOE-16.4: gold, population, unrest, and what borrowing would add."""
    game = position(empires={0: {"gold": 1, "units": army("baltic")}}, markers=["ba_norway"])
    question = game.offered(0)
    assert isinstance(question, Choice)
    costs = {o.value: o.cost for o in question.options}
    assert costs["attack"] == {"actions": 1, "gold": 2, "loan": 1}
    assert costs["build"] == {"actions": 1, "population": 1}
    tiles = game.offered(0, "buy_tile")
    assert isinstance(tiles, Choice)
    prices = {o.value: o.cost for o in tiles.options}
    assert prices["army_training"] == {"gold": 2, "population": 1, "loan": 1}
    assert prices["industry"] == {"unrest": 2}
    assert prices["bavaria"] == {}
    assert unrest(game, 0) == 0
