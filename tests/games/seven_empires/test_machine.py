"""7 Empires keeps the contract of every ruleset, with every set-up and in crowded positions."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.schema.canonical_json import canonical
from domain.types import Json
from tests.games.seven_empires.registered import CROWDED, RULESET, candidates, conserved
from tests.kernel.machine import accepted, complete, machine_of, play_on
from tests.rulesets import Registered


@pytest.mark.parametrize(
    ("seats", "options"),
    [
        (2, {"decades": 9}),
        (4, {"quick_start": True}),
        (3, {"setup": "draft_simple"}),
        (6, {"setup": "draft", "decades": 10, "quick_start": True}),
    ],
)
def test_the_ruleset_keeps_the_contract(seats: int, options: Mapping[str, Json]) -> None:
    """SE7-3.1, SE7-3.6: moves, refusals, defaults, rewinds, folds, sights and the move builder agree at every step."""
    entry = Registered(RULESET, seats, candidates, conserved, options=options, brute=400)
    run_state_machine_as_test(
        machine_of(entry), settings=settings(max_examples=6, stateful_step_count=15, deadline=None)
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("setup", ["distribution", "draft_simple"])
def test_the_builder_is_exact_on_a_crowded_board(setup: str, seed: int) -> None:
    """SE7-8: compared with brute force at decisions of a movement, and at every answer in it."""
    rng = random.Random(seed)
    match = InMemoryGame(RULESET, 3, rng.randbytes(32), options={"setup": setup})
    while match.state.top.kind == "draft":
        play_on(match, rng, 1)
    crowded = replace(match.state, units=CROWDED["units"], levels=CROWDED["levels"])
    match.games[-1] = match.game.with_state(crowded)
    compared = 0
    for _ in range(60):
        state, seat = match.state, match.decisions()[0].must[0]
        found = complete(RULESET, state, seat, 500)
        if found is not None:
            want = {canonical(m) for m in candidates(state, seat) if accepted(RULESET, state, seat, m)}
            assert {canonical(m) for m in found} == want, state.top.kind
            assert len(found) == len(want)
            compared += 1
        play_on(match, rng, 1)
        assert not RULESET.check(match.state)
    assert compared > 20
