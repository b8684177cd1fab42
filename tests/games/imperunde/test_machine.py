"""ImpeRunde keeps the contract of every ruleset, from the set-up on and in the middle of a game."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.games.imperunde.registered import BRUTE, RULESET, candidates, conserved
from tests.kernel.machine import machine_of
from tests.rulesets import Registered


@pytest.mark.parametrize("seats", [3, 4, 6])
def test_the_ruleset_keeps_the_contract(seats: int) -> None:
    """IMP-0.2: moves, refusals, defaults, rewinds, folds, sights and the move builder agree at every step."""
    entry = Registered(RULESET, seats, candidates, conserved, options={"turn_limit": 4}, brute=BRUTE)
    run_state_machine_as_test(
        machine_of(entry), settings=settings(max_examples=8, stateful_step_count=20, deadline=None)
    )
