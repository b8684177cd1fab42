"""Bots: every pick is one that was offered, a heuristic plays its first legal proposal."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from domain import bots, rollouts
from domain.errors import RuleError
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import accept, one, some, span
from domain.kernel.rules.ruleset import Bot, Dice, Ruleset
from domain.types import Doc, Json, Seat
from tests.kernel.flows import orders, sealed, skirmish

SEED = b"annals specification seed, fixed"


def match_with(bot: Bot | None) -> InMemoryGame[Any]:
    rules: Ruleset[Any] = replace(skirmish.RULESET, bot=bot)
    return InMemoryGame(rules, 4, SEED)


def dice() -> random.Random:
    return random.Random(1)


class TestPicks:
    @pytest.mark.parametrize(
        "question", [one("a", ["x", "y"]), span("b", 2, 5), some("c", ["x", "y", "z"], 1, 2)], ids=lambda q: q.kind
    )
    def test_every_pick_was_offered(self, question: Any) -> None:
        rng, seen = dice(), set()
        for _ in range(200):
            pick = rollouts.random_pick(rng, question)
            accept(question, pick)
            seen.add(str(pick))
        assert len(seen) >= 2

    def test_the_option_that_brings_the_game_on_comes_more_often(self) -> None:
        rng, question = dice(), one("a", ["x", "y", "z", "end"], ends=["end"])
        ended = sum(rollouts.random_pick(rng, question) == "end" for _ in range(1000))
        assert 400 < ended < 550


class TestHeuristic:
    def test_the_first_legal_proposal_is_played(self) -> None:
        def bot(sight: Json, decision: Json, seat: Seat, _: Dice) -> Iterator[Doc]:
            yield {"type": "attack", "target": seat, "offer": 0}
            yield {"type": "nonsense"}
            yield {"type": "attack", "target": 2, "offer": 1}
            yield {"type": "pass"}

        assert bots.heuristic_move(match_with(bot), 0, dice()) == {"type": "attack", "target": 2, "offer": 1}

    def test_a_move_that_comes_to_a_draw_is_legal(self) -> None:
        match = match_with(lambda *_: iter([{"type": "answer", "yes": False}]))
        match.play(0, {"type": "attack", "target": 2, "offer": 0})
        match.play(0, {"type": "answer", "yes": True})
        assert bots.heuristic_move(match, 2, dice()) == {"type": "answer", "yes": False}

    def test_it_sees_what_its_seat_may_see(self) -> None:
        seen: list[Json] = []

        def bot(sight: Json, decision: Json, seat: Seat, _: Dice) -> Iterator[Doc]:
            seen.append((sight, decision["kind"], seat))
            return iter(())

        rules: Ruleset[Any] = replace(sealed.RULESET, bot=bot)
        match = InMemoryGame(rules, 3, SEED)
        bots.heuristic_move(match, 0, dice())
        sights = {"public": rules.player_view(match.state, "public"), "own": rules.player_view(match.state, 0)}
        assert seen == [(sights, "turn", 0)]

    def test_without_a_legal_proposal_the_builder_decides(self) -> None:
        match = match_with(lambda *_: iter(()))
        move = bots.heuristic_move(match, 0, dice())
        assert move is not None
        assert bots.is_legal(match.rules, match.state, 0, move)

    def test_proposals_without_end_are_cut_off(self) -> None:
        match = match_with(lambda *_: itertools.repeat({"type": "nonsense"}))
        assert bots.heuristic_move(match, 0, dice()) is not None

    def test_a_seat_that_is_not_waited_for_may_keep_still(self) -> None:
        rules: Ruleset[Any] = replace(orders.RULESET, bot=lambda *_: iter(()))
        match = InMemoryGame(rules, 3, SEED)
        match.play(0, {"type": "submit"})
        assert bots.heuristic_move(match, 0, dice()) is None
        assert bots.heuristic_move(match, 1, dice()) is not None

    def test_without_a_heuristic_there_are_no_proposals(self) -> None:
        assert list(bots.proposals(match_with(None), 0, dice())) == []


def test_a_seat_that_decides_nothing_builds_nothing() -> None:
    match = match_with(None)
    with pytest.raises(RuleError, match="not_your_decision"):
        rollouts.random_move(match.rules, match.state, 1, dice())


def test_seats_that_must_decide_come_more_often() -> None:
    """Who has submitted may think again, but seldom: or ten seats would never be ready at the same time."""
    match = InMemoryGame(orders.RULESET, 3, SEED)
    match.play(1, {"type": "submit"})
    assert bots.deciding_seats(match) == [0, 2] * 16 + [1]
