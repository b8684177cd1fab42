"""The budget table can be made; what its figures are, no test says."""

from __future__ import annotations

import math

import pytest

from tests.deploy.house import ROOT
from tests.perf.__main__ import table
from tests.perf.figures import HEAD, Figure, quantile


@pytest.mark.timeout(180)
def test_every_figure_can_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNALS_RATE", "0")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    found = list(table(quick=True))
    names = {figure.what for figure in found}
    assert {"move over HTTP, p50", "next choice, p95", "rebuild of a game", "start to ready"} <= names
    for figure in found:
        assert math.isfinite(figure.value)
        assert figure.line().count("|") == HEAD.splitlines()[0].count("|")


def test_a_ratio_is_ours_for_each_of_the_bare_limit() -> None:
    assert Figure("a", "b", 6.0, "ms", "", 2.0, "c").ratio == 3.0
    assert Figure("a", "b", 6.0, "ms", "").ratio is None


def test_a_quantile_is_a_value_that_was_taken() -> None:
    assert quantile([5, 1, 3], 0.5) == 3
    assert quantile([5, 1, 3], 0.95) == 5
