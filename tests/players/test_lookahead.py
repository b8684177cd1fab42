"""The player that looks ahead: it knows what its seat knows, and its choice is repeated by its generator."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain import lookahead
from domain.bots import BOTS, STRONG, list_levels
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.flow import assign
from domain.lookahead import Effort, choose_move, list_candidates, rate_ending
from domain.rollouts import RandomChance, heuristic_proposals, imagine, play_move, rollout
from domain.types import Seat
from tests.players.test_rollouts import REGISTRY, SEATS, begin, play_one

LITTLE = Effort(candidates=3, rollouts=4, steps=12)


class Table:
    """A game whose hidden part is another one than its seats believe."""

    def __init__(self, match: InMemoryGame[Any], state: Any) -> None:
        self.rules, self.state, self.game, self._match = match.rules, state, match.game, match

    def known_to(self, seat: Seat) -> Any:
        return self._match.known_to(seat)


def some_way_on(ruleset: str, records: int, seed: int = 1) -> InMemoryGame[Any]:
    match, rng = begin(ruleset, seed), random.Random(seed)
    for _ in range(records):
        play_one(match, rng, 0.05)
    while not match.state.top.owing:
        play_one(match, rng, 0.05)
    return match


@pytest.mark.parametrize("ruleset", sorted(lookahead.EFFORTS))
def test_other_hidden_values_change_no_choice(ruleset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the true hidden values replaced by others that the seat holds for possible, it plays the same move."""
    monkeypatch.setitem(lookahead.EFFORTS, ruleset, LITTLE)
    for records in (5, 40):
        match = some_way_on(ruleset, records)
        seat = match.state.top.owing[0]
        moves = []
        for world in (None, 1, 2):
            state = match.state
            if world is not None and not state.top.secret:
                state = imagine(match.rules, match.known_to(seat), seat, random.Random(world))
            moves.append(BOTS[STRONG](Table(match, state), seat, random.Random(7)))
        assert moves[0] is not None
        assert moves == [moves[0]] * 3


@pytest.mark.parametrize("ruleset", sorted(lookahead.EFFORTS))
def test_candidates_are_legal_and_different(ruleset: str) -> None:
    match = some_way_on(ruleset, 30)
    seat = match.state.top.owing[0]
    moves = list_candidates(match.rules, match.state, seat, random.Random(1), 6)
    assert 1 <= len(moves) <= 6
    assert all(move not in moves[:i] for i, move in enumerate(moves))
    for move in moves:
        play_move(match.rules, match.state, seat, move, RandomChance(random.Random(1)))


def test_an_ending_is_worth_most_to_who_wins_it() -> None:
    match = begin("seven_empires@1")
    end = rollout(match.rules, match.state, heuristic_proposals, random.Random(3))
    lines = match.rules.scores(end)
    worth = {line.seat: rate_ending(match.rules, end, line.seat) for line in lines}
    by_place = [worth[line.seat] for line in sorted(lines, key=lambda line: line.place)]
    assert by_place == sorted(by_place, reverse=True)
    assert by_place[0] > 0.5 > by_place[1]
    assert all(0 <= value <= 1 for value in by_place)


def test_a_move_that_wins_at_once_is_seen() -> None:
    """With one answer left in a game, the best of the candidates is the one with the best ending."""
    match, rng = begin("seven_empires@1", 5), random.Random(5)
    before = match.state
    while not match.state.over:
        before = match.state
        play_one(match, rng, 0.0)
    seat = before.top.owing[0]
    chosen = choose_move(match.rules, before, seat, random.Random(1), Effort(8, 48, 1000))
    assert chosen is not None

    def worth(move: Any) -> float:
        after = play_move(match.rules, before, seat, move, RandomChance(random.Random(1)))
        return rate_ending(match.rules, rollout(match.rules, after, heuristic_proposals, random.Random(1)), seat)

    others = list_candidates(match.rules, before, seat, random.Random(1), 8)
    assert worth(chosen) == max(map(worth, others))


def test_levels_are_those_that_a_ruleset_has() -> None:
    assert list_levels(REGISTRY.get("seven_empires@1")) == ["builder", "beginner", "heuristic", "strong"]
    assert list_levels(REGISTRY.get("egc@1")) == ["builder", "beginner", "heuristic"]
    assert set(lookahead.EFFORTS) < set(SEATS)


@pytest.mark.parametrize("name", ["beginner", "strong"])
def test_each_level_plays_a_game_to_its_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(lookahead.EFFORTS, "seven_empires@1", Effort(2, 2, 3))
    match, rng = begin("seven_empires@1"), random.Random(1)
    while not match.state.over:
        seat = match.state.top.owing[0]
        move = BOTS[name](match, seat, rng)
        assert move is not None
        match.play(seat, move)
    assert assign(match.state, over=True).over
