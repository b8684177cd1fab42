"""Rollouts: the same rules as the tables have, and worlds that a seat holds for possible."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from domain.bots import deciding_seats
from domain.errors import RuleError
from domain.kernel.game.game import state_digest
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.rollouts import heuristic_proposals, imagine, no_proposals, play_move, random_move, rollout
from domain.ruleset_registry import load_shipped
from domain.types import PUBLIC, Json

REGISTRY = load_shipped()
SEATS = {"struggle_of_empires@1": 5, "seven_empires@1": 4, "age_of_reason@1": 5, "egc@1": 10, "imperunde@1": 4}
RECORDS = 120
"""Records compared of each game."""


class RecordedChance:
    """Source of the draws of one record, each channel in its order."""

    def __init__(self, record: Record) -> None:
        parts = {"all": record.public, **record.packs}
        self.draws = {key.partition(":")[0]: list(part.get("draws", ())) for key, part in parts.items()}

    def _next(self, channel: str, label: str) -> list[Json]:
        draw: list[Json] = self.draws[channel].pop(0)
        assert draw[1] == label
        return draw

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        _, _, span, value, *at = self._next(channel, label)
        return int(value - span[0] if isinstance(span, list) else at[0])

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        order: list[int] = self._next(channel, label)[4]
        return order


def begin(ruleset: str, seed: int = 1) -> InMemoryGame[Any]:
    return InMemoryGame(REGISTRY.get(ruleset), SEATS[ruleset], random.Random(seed).randbytes(32))


def play_one(match: InMemoryGame[Any], rng: random.Random, random_share: float = 0.3) -> Record:
    """Play one record: mostly by the heuristic, sometimes at random."""
    if match.state.top.engine:
        return match.resolve()
    rules = match.rules
    while True:
        seat = rng.choice(deciding_seats(match))
        if rng.random() > random_share:
            for move in heuristic_proposals(rules, match.state, seat, rng):
                try:
                    return match.play(seat, move)
                except RuleError:
                    continue
        if seat in match.state.top.owing:
            return match.play(seat, random_move(rules, match.state, seat, rng))


@pytest.mark.parametrize("ruleset", SEATS)
def test_recorded_picks_and_chance_end_in_the_same_state(ruleset: str) -> None:
    """A rollout decides as a table does: the digest of the state is the same after every move."""
    match, rng = begin(ruleset), random.Random(2)
    state = match.state
    for _ in range(RECORDS):
        if match.state.over:
            break
        engine = match.state.top.kind if match.state.top.engine else None
        record = play_one(match, rng)
        chance = RecordedChance(record)
        moves = [(None, {"type": engine})] if engine else record.moves()
        for seat, move in moves:
            state = play_move(match.rules, state, seat, move, chance)
        assert not any(chance.draws.values()), "every draw of the record is used"
        assert state_digest(state, {})[0] == state_digest(match.state, {})[0]


@pytest.mark.parametrize("ruleset", SEATS)
def test_a_seat_imagines_only_worlds_that_look_the_same_to_it(ruleset: str) -> None:
    """Its own view and the board stay as they are, and the world breaks no invariant and can be played on."""
    match, rng = begin(ruleset), random.Random(3)
    for number in range(60):
        if match.state.over:
            break
        play_one(match, rng, 0.05)
        if number % 10:
            continue
        seat = number // 10 % SEATS[ruleset]
        rules, world = match.rules, imagine(match.rules, match.known_to(seat), seat, random.Random(number))
        assert rules.player_view(world, PUBLIC) == rules.player_view(match.state, PUBLIC)
        if not match.state.top.secret:  # the answers of others to a secret question are forgotten
            assert rules.player_view(world, seat) == rules.player_view(match.state, seat)
        assert rules.check(world) == []
        rollout(rules, world, heuristic_proposals, random.Random(number), max_steps=5)


def test_a_rollout_is_repeated_by_its_generator() -> None:
    match = begin("seven_empires@1")
    ends = [rollout(match.rules, match.state, no_proposals, random.Random(seed)) for seed in (4, 4, 5)]
    assert ends[0].over
    assert ends[0] == ends[1] != ends[2]


def test_a_rollout_stops_where_it_is_told_to() -> None:
    match = begin("seven_empires@1")
    rules: AnyRuleset = match.rules
    after = rollout(rules, match.state, no_proposals, random.Random(6), until=lambda s: s.opened >= 9)
    assert after.opened >= 9
    assert not after.over
    assert rollout(rules, match.state, no_proposals, random.Random(6), max_steps=0) is match.state
