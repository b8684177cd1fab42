"""The heuristic player: legal, better than chance, and no wiser than its sight."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.bots import builder_move, heuristic_move, proposals
from domain.games.struggle_of_empires import RULESET
from domain.games.struggle_of_empires.bot import chance
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.types import Seat
from tests.games.struggle_of_empires import board


def series(seats: int, seed: int, bots: set[Seat]) -> InMemoryGame[Struggle]:
    """A whole game; the other seats pick at random."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, seats, rng.randbytes(32))
    while not match.state.over:
        seat = match.decisions()[0].must[0]
        move = (heuristic_move if seat in bots else builder_move)(match, seat, rng)
        match.play(seat, move)
    return match


def test_it_beats_random_players() -> None:
    """One against two: best on average, with more points than both."""
    tables = [(seed % 3, RULESET.scores(series(3, seed, {seed % 3}).state)) for seed in range(4)]
    places = [table[bot].place for bot, table in tables]
    assert sum(places) <= 6
    assert all(table[bot].points > 40 for bot, table in tables)


@pytest.mark.parametrize("seats", [2, 5])
def test_it_plays_whole_games_against_itself(seats: int) -> None:
    """Nobody ends in revolution when nobody borrows for ever."""
    match = series(seats, 7, set(range(seats)))
    assert max(match.state.unrest) < 20
    assert all(not RULESET.check(match.game_at(v).state) for v in range(seats + 2, len(match.records)))


def test_a_proposal_depends_on_the_own_sight_only() -> None:
    """The unrest of another seat changes nothing."""
    units: dict[int, Any] = {0: {"units": board.army("baltic", 3)}, 1: {"tokens": {"baltic": 1}}}
    pair = [board.position(2, empires={**units, 1: {**units[1], "unrest": n}}) for n in (0, 15)]
    offered = [list(proposals(game.match, 0, random.Random(1))) for game in pair]
    assert offered[0] == offered[1]
    assert offered[0][-1] == {"type": "pass"}


def test_the_chance_of_an_attack() -> None:
    """Even strength: as often won as lost, and sometimes tied."""
    assert chance(0) + chance(0) + ties() == pytest.approx(1)
    assert [chance(-5), chance(6)] == [0, 1]


def ties() -> float:
    """How often the differences of two pairs of dice are equal."""
    pairs = [abs(a - b) for a in range(6) for b in range(6)]
    return sum(x == y for x in pairs for y in pairs) / len(pairs) ** 2


def test_every_decision_has_an_answer() -> None:
    """Whatever is open, it proposes something."""
    game = board.position(3, turn=None)
    assert list(proposals(game.match, 0, random.Random(1)))
