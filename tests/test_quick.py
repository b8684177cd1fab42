"""`--quick` is chosen by measured costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import COSTS, QUICK, QUICK_SECONDS, choose_quick, read_costs, write_costs
from tests.test_skips import CONFTEST

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parent.parent
MOST_UNMEASURED = 15
"""New test files between two measurements."""


def test_the_costs_are_those_of_the_tree() -> None:
    """If this fails, measure the folder: `./run test FOLDER --costs`, and delete the lines of files that are gone."""
    costs = read_costs(COSTS.read_text("utf-8"))
    assert not [name for name in costs if not (ROOT / name).is_file()]
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    unmeasured = {name for name in files if name.startswith(QUICK)} - costs.keys()
    assert len(unmeasured) <= MOST_UNMEASURED, unmeasured
    assert read_costs(write_costs(costs)) == costs


def test_the_cheapest_files_are_quick() -> None:
    costs = {"dear": QUICK_SECONDS, "cheap": 1.0, "fair": QUICK_SECONDS - 1}
    assert choose_quick(["dear", "fair", "cheap", "new"], costs) == {"new", "cheap", "fair"}
    assert choose_quick(["dear"], costs) == {"dear"}


def test_costs_are_measured_and_added(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makefile(".txt", skips="", long="", costs="    3.0 test_other.py\n")
    pytester.makepyfile(test_it="def test_it():\n    sum(i * i for i in range(2_000_000))\n")
    pytester.runpytest_subprocess("-p", "no:valkey", "-p", "no:schemathesis", "--costs").assert_outcomes(passed=1)
    costs = read_costs((pytester.path / "costs.txt").read_text("utf-8"))
    assert costs["test_other.py"] == 3
    assert 0 < costs["test_it.py"] < 60
