"""The contract of every registered ruleset, walked by Hypothesis."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.kernel.machine import machine_of
from tests.rulesets import REGISTERED, Registered


@pytest.mark.parametrize("entry", REGISTERED, ids=lambda e: e.name)
def test_a_registered_ruleset_keeps_the_contract(entry: Registered) -> None:
    """Moves, refusals, defaults, rewinds, folds, sights and the move builder agree at every step."""
    run_state_machine_as_test(
        machine_of(entry), settings=settings(max_examples=25, stateful_step_count=20, deadline=None)
    )
