"""SOE-17: randomness and facts."""

from __future__ import annotations

from domain.games.struggle_of_empires import RULESET
from domain.kernel.rules.draws import Seeded
from tests.games.struggle_of_empires.board import army, attack, move, position
from tests.spec import Given


def test_the_draws_of_a_set_up_in_their_order() -> None:
    """SOE-17.1: markers, first player, powers if random, five markers for each seat."""
    game = Given(RULESET, 3, options={"power_assignment": "random"})
    labels = [draw[1] for draw in game.match.records[-1].public["draws"]]
    assert labels == ["marker"] * 10 + ["first_player"] + ["power"] * 3 + ["marker"] * 15


def test_a_battle_draws_two_dice_for_each_side() -> None:
    """SOE-17.1: attacker, attacker, defender, defender; a tile on purchase is the attacker."""
    battle = ["battle.attacker", "battle.attacker", "battle.defender", "battle.defender"]
    game = position(2, empires={1: {"tokens": {"india": 1}}})
    game.when(0, move("buy_tile", tile="pirates", region="india", target_seat=1), draws=[1, 1, 1, 1])
    assert [draw[1] for draw in game.match.records[-1].public["draws"]] == battle


def test_drawn_values_are_in_the_terms_of_the_rules() -> None:
    """SOE-17.2: a marker id, a seat number, a power id or a die; markers one after the other."""
    game = Given(RULESET, 2)
    started = game.match.records[-1].public
    markers = [draw[3] for draw in started["draws"] if draw[1] == "marker"]
    assert next(f for f in started["facts"] if f["t"] == "markers_drawn")["markers"] == markers[:10]
    assert [draw[2] for draw in started["draws"] if draw[1] == "marker"][:3] == [65, 64, 63]


def test_facts_are_public() -> None:
    """SOE-17.3: every kind, to everybody."""
    game = position(2, empires={0: {"units": army("baltic", 2)}}, markers=["ba_norway"])
    game.when(0, attack("baltic", "ba_norway"), draws=[1, 1, 1, 1])
    record = game.match.records[-1]
    assert list(record.packs) == ["table"]
    assert not record.packs["table"].get("facts")


def test_a_move_that_draws_is_a_barrier() -> None:
    """SOE-17.4: a move that draws nothing is none."""
    game = position(2)
    game.when(0, move("build", unit="army", to="baltic"))
    assert not game.match.records[-1].public.get("barrier")
    game.match.source = Seeded(b"x" * 32, "match")
    game.match.play(0, move("build", unit="navy", to="india"))
    assert game.match.records[-1].public["barrier"] is True


def test_a_move_that_tells_of_hidden_unrest_is_a_barrier() -> None:
    """SOE-17.4: the points that Government Reform removes are public."""
    game = position(2, empires={0: {"unrest": 1}})
    game.when(0, move("buy_tile", tile="government_reform"))
    assert game.match.records[-1].public["barrier"] is True
