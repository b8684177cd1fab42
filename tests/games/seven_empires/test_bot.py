"""The heuristic player: legal, better than chance, and no wiser than its sight."""

from __future__ import annotations

import random

import pytest

from domain.bots import builder_move, heuristic_move, proposals
from domain.games.seven_empires import RULESET
from domain.games.seven_empires.state import Seven
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.types import Json, Seat
from tests.games.seven_empires import board


def series(seats: int, seed: int, bots: set[Seat], options: dict[str, Json] | None = None) -> InMemoryGame[Seven]:
    """A whole game; the other seats pick at random."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32), options=options)
    while not match.state.over:
        seat = match.decisions()[0].must[0]
        move = (heuristic_move if seat in bots else builder_move)(match, seat, rng)
        match.play(seat, move)
    return match


@pytest.mark.parametrize("setup", ["distribution", "draft"])
def test_it_beats_random_players(setup: str) -> None:
    """One against two: best on average, with more points than either."""
    tables = [(seed % 3, RULESET.scores(series(3, seed, {seed % 3}, {"setup": setup}).state)) for seed in range(5)]
    assert sum(table[bot].place for bot, table in tables) <= 7
    mine = sum(table[bot].points for bot, table in tables) / 5
    others = sum(line.points for bot, table in tables for line in table if line.seat != bot) / 10
    assert mine > 1.2 * others


@pytest.mark.parametrize("seats", [2, 6])
def test_it_plays_whole_games_against_itself(seats: int) -> None:
    """With every set-up; flags are spread over the map."""
    match = series(seats, 7, set(range(seats)), {"setup": "draft_simple", "quick_start": True})
    assert len(match.state.flags) > 20


def test_a_proposal_depends_on_the_own_sight_only() -> None:
    """The hidden tiles change nothing."""
    orders = [board.tiles(3), board.tiles(3)[::-1]]
    offered = [list(proposals(board.begun(3, order).match, 0, random.Random(1))) for order in orders]
    assert offered[0] == offered[1]
    assert offered[0]


def test_it_refuses_the_army_of_an_empire_that_others_hold() -> None:
    """SE7-8.7: and lets that of its own empires pass."""
    units = {"strasbourg": "france infantry", "palatinate": "habsburg infantry"}
    hands = {0: ["france.nobility"], 1: [], 2: []}
    game = board.moving("france", units, hands=hands)
    game.when(0, board.army("strasbourg", "infantry", "palatinate", "bavaria"))
    assert next(proposals(game.match, 2, random.Random(1))) == {"type": "answer_passage", "grant": False}


def test_every_decision_has_an_answer() -> None:
    """Whatever is open, it proposes something legal."""
    for seed in range(2):
        match = series(4, seed, set(range(4)), {"decades": 9})
        assert match.state.over
