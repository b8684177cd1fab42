"""The heuristic player."""

from __future__ import annotations

import random

import pytest

from domain.bots import builder_move, deciding_seats, heuristic_move, proposals
from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.bot import chances, outlook
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.types import Seat
from tests.games.age_of_reason import board


def series(seats: int, seed: int, bots: set[Seat]) -> InMemoryGame[AgeOfReason]:
    """A whole game; the other seats pick at random."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32))
    while not match.state.over:
        seat = rng.choice(deciding_seats(match))
        move = (heuristic_move if seat in bots else builder_move)(match, seat, rng)
        if move is not None:
            match.play(seat, move)
    return match


@pytest.mark.parametrize("seats", [3, 5])
def test_it_beats_random_players(seats: int) -> None:
    """One against all others: best every time, with more than twice their points."""
    for seed in range(3):
        bot = seed % seats
        table = RULESET.scores(series(seats, seed, {bot}).state)
        assert table[bot].place == 1
        assert table[bot].points > 2 * max(line.points for line in table if line.seat != bot)


@pytest.mark.parametrize("seats", [2, 7])
def test_it_plays_whole_games_against_itself(seats: int) -> None:
    """And keeps its unrest within bounds."""
    match = series(seats, 7, set(range(seats)))
    assert max(empire.unrest for empire in match.state.empires) < 15
    assert match.state.over


def test_a_proposal_depends_on_the_own_sight_only() -> None:
    """Another seat's discard and sealed card change nothing."""
    tokens = {power: {"central_europe": 1} for power in ("prussia", "austria", "france")}
    offered = []
    for card, answer in (("france_4s0n", "france_bluff"), ("france_1s0n", "france_alliance")):
        game = board.position(3, tokens=tokens, discards={2: [card]})
        game.when(0, board.attack("central_europe", "austria", "prussia_bluff"))
        game.when(2, board.commit(answer))
        offered.append(list(proposals(game.match, 1, random.Random(1))))
    assert offered[0] == offered[1]
    assert offered[0]


def test_the_chance_of_an_attack() -> None:
    """Even strength: as often won as lost, and sometimes tied."""
    win, tie = chances(0)
    assert 2 * win + tie == pytest.approx(1)
    assert [chances(-5)[0], chances(6)[0]] == [0, 1]
    assert chances(1)[0] < outlook(1.5)[0] < chances(2)[0]


@pytest.mark.parametrize("turn", [None, 0])
def test_every_decision_has_an_answer(turn: int | None) -> None:
    """Whatever is open, it proposes something, and nothing while it may only take an answer back."""
    game = board.position(3, turn=turn)
    assert list(proposals(game.match, 0, random.Random(1)))
    assert not list(proposals(game.match, 1, random.Random(1)))
