"""How soon a slow phone shows the question of a table: after a cold start, and after a warm one."""

from __future__ import annotations

import os
import shutil
from statistics import median

import pytest

from tests.browser.conftest import Scenario
from tests.browser.test_pages import PHONE, SOE

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

COLD, WARM = 3_000, 1_500
"""Budgets, ms, for a processor four times slower and a net of 1.5 Mbit/s."""


@pytest.mark.parametrize("ruleset", [SOE, "egc@1"])
def test_a_slow_phone_shows_the_question_in_time(scenario: Scenario, ruleset: str) -> None:
    found = scenario("starting", name=f"Slow {ruleset[:3]}", ruleset=ruleset, browsing=PHONE)
    if found["load"] > 2 * (os.cpu_count() or 1):
        pytest.skip(f"the machine is busy (load {found['load']}): {found}")
    assert max(each["slower"] for each in found["cold"] + found["warm"]) > 2, found
    assert median(each["time"] for each in found["cold"]) <= COLD, found
    assert median(each["time"] for each in found["warm"]) <= WARM, found
