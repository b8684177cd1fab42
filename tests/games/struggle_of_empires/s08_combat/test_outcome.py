"""SOE-8.11 to SOE-8.13: what a won battle takes; Pirates; the worked example."""

from __future__ import annotations

from tests.games.struggle_of_empires.board import army, asked, attack, empire, move, position, unrest


def test_a_defeat_or_tie_changes_no_hands() -> None:
    """SOE-8.11.1: nothing changes hands."""
    for dice in ([1, 1, 1, 1], [1, 1, 3, 1]):
        game = position(
            2, empires={0: {"units": army("baltic", 2)}, 1: {"units": army("baltic", 2), "tokens": {"baltic": 1}}}
        )
        game.when(0, attack("baltic", 1), draws=dice)
        assert (empire(game, 0)["tokens"], empire(game, 1)["tokens"]) == ({}, {"baltic": 1})


def test_a_beaten_player_loses_one_token() -> None:
    """SOE-8.11.2: at most one per attack; the attacker puts one of his own there."""
    game = position(2, empires={0: {"units": army("baltic", 3)}, 1: {"tokens": {"baltic": 3}}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["tokens"], empire(game, 1)["tokens"]) == ({"baltic": 1}, {"baltic": 2})


def test_a_beaten_marker_leaves_the_game_and_pays() -> None:
    """SOE-8.11.3: its gold and victory points at once, and one token."""
    game = position(2, empires={0: {"units": army("india", 9)}}, markers=["in_bengal"])
    game.when(0, attack("india", "in_bengal"), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["gold"], empire(game, 0)["tokens"]) == (10 - 2 + 4, {"india": 1})
    assert game.at("/gone") == ["in_bengal"]
    game = position(2, empires={0: {"units": army("ottoman_empire", 9)}}, markers=["ot_crimea"])
    game.when(0, attack("ottoman_empire", "ot_crimea"), draws=[1, 1, 1, 1])
    assert empire(game, 0)["vp"] == 1


def test_captured_token_is_freed_when_slave_revolt_is_beaten() -> None:
    """SOE-8.11.4: to its owner's reserve; the attacker places one; the tile returns to the stock."""
    for owner in (0, 1):
        held = {"region": "caribbean", "token_of": owner}
        game = position(2, empires={0: {"units": army("caribbean", 9)}}, slave_revolt=held)
        game.when(0, attack("caribbean", "slave_revolt"), draws=[1, 1, 1, 1])
        assert (game.state.slave_revolt, game.at("/stock/slave_revolt")) == (None, 1)
        assert (empire(game, 0)["tokens"], game.state.reserve(0), game.state.reserve(1)) == ({"caribbean": 1}, 19, 20)


def test_units_do_not_move_because_of_combat() -> None:
    """SOE-8.11.5: only losses leave."""
    game = position(2, empires={0: {"units": army("baltic", 3)}, 1: {"units": army("baltic", 2)}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["units"], empire(game, 1)["units"]) == (army("baltic", 3), army("baltic", 1))


def test_another_attack_needs_another_action_and_two_more_gold() -> None:
    """SOE-8.11.6: to go on fighting."""
    game = position(2, empires={0: {"units": army("baltic", 3)}, 1: {"units": army("baltic", 2)}})
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    game.when(0, attack("baltic", 1), draws=[1, 1, 1, 1])
    assert (empire(game, 0)["gold"], empire(game, 1)["units"]) == (6, {})
    assert asked(game) == ("turn", 1)


def test_attacker_of_pirates_counts_navies_tiles_and_training() -> None:
    """SOE-8.12.1: alliance tiles that show a navy, one Naval Training; Pirates 1; Reserve for the attacker."""
    holdings = {"units": army("india", 0, navy=2), "tiles": ["portugal", "indian_nawab", "naval_training", "reserve"]}
    helper = {"units": army("india", 0, navy=1)}
    game = position(3, empires={0: holdings, 2: helper}, pirates={"region": "india", "token_of": 1})
    game.when(0, attack("india", "pirates"))
    game.when(2, move("support", armies=0, navies=1), draws=[5, 3, 6, 4])
    assert game.at("/combat/totals") == [2 + 1 + 1 + 1 + 2, 1 + 2]
    assert asked(game) == ("reserve", 0)


def test_beaten_pirates_free_the_token() -> None:
    """SOE-8.12.2: won: token and tile go back, the attacker places one."""
    game = position(2, empires={0: {"units": army("india", 0, navy=3)}}, pirates={"region": "india", "token_of": 1})
    game.when(0, attack("india", "pirates"), draws=[1, 1, 1, 1])
    assert (game.state.pirates, empire(game, 0)["tokens"], game.state.reserve(1)) == (None, {"india": 1}, 20)


def test_lost_or_tied_against_pirates_costs_a_navy() -> None:
    """SOE-8.12.2: they stay."""
    for dice in ([1, 1, 2, 1], [1, 1, 3, 1]):
        held = {"region": "india", "token_of": 1}
        game = position(2, empires={0: {"units": army("india", 0, navy=2)}}, pirates=held)
        game.when(0, attack("india", "pirates"), draws=dice)
        assert (empire(game, 0)["units"], unrest(game, 0)) == (army("india", 0, navy=1), 1)
        assert game.at("/pirates") == held


def test_the_worked_example() -> None:
    """SOE-8.13: Prussia attacks Austria in the Mediterranean, figure by figure."""
    empires = {
        0: {"units": army("mediterranean", 3, navy=1), "tiles": ["army_training"]},
        1: {"units": army("mediterranean", 1, fort=1), "tiles": ["naples"], "tokens": {"mediterranean": 1}},
        2: {"units": army("mediterranean", 0, navy=1)},
    }
    game = position(3, empires=empires)
    game.when(0, attack("mediterranean", 1))
    assert empire(game, 0)["gold"] == 10 - 2
    assert asked(game) == ("support", 2)
    facts = game.when(2, move("support", armies=0, navies=1), draws=[3, 3, 6, 1])
    assert next(f for f in facts if f["t"] == "naval_support_gained")["seat"] == 0
    assert game.at("/combat/totals") == [3 + 1 + 1 + 0, 1 + 2 + 1 + 5]
    assert asked(game) == ("choose_loss", 1)
    game.when(1, move("choose_loss", choices=[{"seat": 1, "unit": "army"}]))
    assert (empire(game, 0)["units"], empire(game, 1)["units"]) == (
        army("mediterranean", 2, navy=1),
        army("mediterranean", 0, fort=1),
    )
    assert [unrest(game, seat) for seat in range(3)] == [1, 1, 0]
    assert (empire(game, 0)["tokens"], empire(game, 1)["tokens"]) == ({}, {"mediterranean": 1})
