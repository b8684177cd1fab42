"""A log that nobody reads for its repetitions."""

from __future__ import annotations

import time

import pytest

from workers.log_throttle import PAUSE_SECONDS, LogThrottle


def test_same_is_said_now_and_then_and_another_thing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    says = LogThrottle()
    assert [says("the ledger is away"), says("the ledger is away"), says("the views are away")] == [True, False, True]
    now[0] += PAUSE_SECONDS - 1
    assert not says("the ledger is away")
    now[0] += 1
    assert says("the ledger is away")


def test_it_remembers_no_more_than_a_few() -> None:
    says = LogThrottle()
    assert all(says(str(number)) for number in range(1000))
    assert not says("999")
