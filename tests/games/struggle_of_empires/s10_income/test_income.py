"""SOE-10: income and upkeep."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import army, empire, end_of_war, last_turn, unrest


def test_a_gold_for_each_population_and_token() -> None:
    """SOE-10.1: not for tokens captured by Pirates or Slave Revolt."""
    tokens = {"tokens": {"india": 2, "baltic": 3}, "population": 4}
    game = last_turn(empires={0: tokens}, pirates={"region": "africa", "token_of": 0})
    end_of_war(game)
    assert empire(game, 0)["gold"] == 10 + 4 + 5


def test_a_gold_for_each_unit_at_home_too_borrowed_if_need_be() -> None:
    """SOE-10.2: after the income; missing gold is borrowed."""
    units = {**army("home_prussia", 3, navy=2), **army("india", 4, navy=1, fort=2)}
    game = last_turn(empires={0: {"gold": 1, "population": 2, "units": units}})
    end_of_war(game)
    short = 12 - (1 + 2)
    assert (empire(game, 0)["gold"], unrest(game, 0)) == (2 * 5 - short, 5)


def test_then_population_rises_by_five_to_nine_at_most() -> None:
    """SOE-10.3: income uses the population before the rise."""
    game = last_turn(empires={0: {"population": 2}, 1: {"population": 6}})
    end_of_war(game)
    assert [empire(game, s)["population"] for s in (0, 1)] == [7, 9]
    assert [empire(game, s)["gold"] for s in (0, 1)] == [12, 16]
