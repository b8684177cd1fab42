"""A short run of `./run chaos sentinel`: the master is killed once, under a burst of turns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chaos.sentinel import LATE, SHIPPED


def test_shipped_program_replaces_silent_master_in_time() -> None:
    shipped = dict(line.rsplit(" ", 2)[0::2] for line in SHIPPED.read_text("utf-8").splitlines() if " annals " in line)
    assert int(shipped["sentinel down-after-milliseconds"]) < LATE * 1000
    assert "sentinel monitor annals 10.0.0.1 6379 2\n" in SHIPPED.read_text("utf-8"), "two of three must agree"


@pytest.mark.timeout(600)
@pytest.mark.xdist_group("storm")
def test_turns_are_neither_late_nor_doubled_with_killed_master(assert_holds: Callable[..., None]) -> None:
    assert_holds("sentinel", "--runs", "1")
