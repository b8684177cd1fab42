"""The game keeps the contract of every ruleset, from the set-up on and in the middle of a turn."""

from __future__ import annotations

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.games.egc.registered import BRUTE, RULESET, candidates, conserved
from tests.kernel.machine import machine_of
from tests.rulesets import Registered


def test_the_ruleset_keeps_the_contract() -> None:
    """EGC-0.6, EGC-6.6: moves, refusals, defaults, rewinds, folds, sights and the move builder agree at every step."""
    entry = Registered(RULESET, 10, candidates, conserved, brute=BRUTE)
    run_state_machine_as_test(
        machine_of(entry), settings=settings(max_examples=3, stateful_step_count=12, deadline=None)
    )
