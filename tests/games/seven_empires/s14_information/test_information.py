"""SE7-14: information and chance."""

from __future__ import annotations

import pytest

from domain.errors import RuleError
from domain.games.seven_empires.data import EMPIRES
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.records.record import facts_for
from domain.types import DIRECTOR, PUBLIC
from tests.games.seven_empires.board import begun, end_decade, last_turn, move, tiles
from tests.spec import Given


def test_unturned_tiles_are_hidden() -> None:
    """SE7-14.1: from every seat, until they are revealed; the tile put aside until the end."""
    game = begun(4, decades=9)
    for viewer in (PUBLIC, 0, 3):
        seen = state_known_to(game.match.rules, game.match.records, viewer)
        assert (seen.hourglass, seen.left_out) == ((), None)
    everything = game.sight(DIRECTOR)
    assert everything["hidden"] == {"hourglass": [*tiles(4, 9)[:8], "laurel"], "left_out": tiles(4, 9)[8]}
    assert set(everything["seats"]) == {"0", "1", "2", "3"}


def test_the_tile_put_aside_is_shown_at_the_end() -> None:
    """SE7-14.1."""
    game = last_turn(9, decades=9)
    facts = end_decade(game)
    assert {"t": "tile_left_out", "tile": tiles(3, 9)[8]} in facts
    assert not [f for f in end_decade(last_turn(8)) if f["t"] == "tile_left_out"]


def test_everything_else_is_public() -> None:
    """SE7-14.2: a seat sees nothing besides the board."""
    game = begun()
    assert game.sight(1) == {}
    told = facts_for(game.match.records[-1], PUBLIC)
    assert [f["t"] for f in facts_for(game.match.records[-1], DIRECTOR) if f not in told] == ["hourglass_laid"]


def test_chance_at_the_beginning_alone() -> None:
    """SE7-14.3: first seat, card if it is drawn, tiles."""
    Given(
        begun().match.rules,
        3,
        draws=[
            {"label": "first_seat", "value": 1},
            {"label": "distribution_card", "value": "3a"},
            {"label": "hourglass", "value": tiles(3)},
        ],
    )
    Given(
        begun().match.rules,
        3,
        options={"setup": "draft"},
        draws=[{"label": "first_seat", "value": 1}, {"label": "hourglass", "value": tiles(3)}],
    )
    assert end_decade(last_turn())


def test_a_revealed_tile_ends_a_list_of_moves() -> None:
    """SE7-14.4: nothing that follows may rest on it."""
    game = last_turn(order=["pawn", *[t for t in tiles(3) if t != "pawn"]])
    moves = [move("choose_action", empire="great_britain", action="palace"), move("build_palace", region="london")]
    with pytest.raises(RuleError) as caught:
        game.match.play(0, *moves, move("take_influence", empire=EMPIRES[0]))
    assert caught.value.code == "barrier_in_list"
    game.when(0, *moves)
