"""Age of Reason keeps the contract of every ruleset, from the set-up on and in the middle of a game."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from domain.types import Json
from tests.games.age_of_reason.registered import RULESET, candidates, conserved
from tests.kernel.machine import machine_of
from tests.rulesets import Registered

DRAWN: dict[str, Json] = {"power_assignment": "random", "first_alliances": "random"}


@pytest.mark.parametrize(("seats", "options"), [(2, {}), (4, DRAWN), (6, DRAWN), (7, {"support_scope": "examples"})])
def test_the_ruleset_keeps_the_contract(seats: int, options: dict[str, Json]) -> None:
    """AOR-21.2: moves, refusals, defaults, rewinds, folds, sights and the move builder agree at every step."""
    entry = Registered(RULESET, seats, candidates, conserved, options=options, brute=2_000)
    run_state_machine_as_test(
        machine_of(entry), settings=settings(max_examples=8, stateful_step_count=20, deadline=None)
    )
