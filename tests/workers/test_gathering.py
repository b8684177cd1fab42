"""In a busy service a pump takes what several moves have brought; elsewhere it takes each at once."""

from __future__ import annotations

import pytest

from workers.batching_delay import BUSY_RATE, BatchingDelay

APART = 0.006


def play(gathering: BatchingDelay, rate: float, seconds: float, start: float = 0.0, cost: float = 0.002) -> list[float]:
    """Records that come at that rate, taken as the pump takes them; the pauses."""
    pauses, now, taken = [], start, 0
    while now < start + seconds:
        come = int((now - start) * rate)
        if come == taken:  # it waits for the signals
            now = start + (come + 1) / rate + 1e-6
            continue
        pauses.append(gathering.pause(now))
        now += pauses[-1]
        come = int((now - start) * rate)
        gathering.record_batch(now, come - taken)
        taken, now = come, now + cost
    return pauses


@pytest.mark.parametrize("rate", [1, 20, 200, BUSY_RATE * 0.8])
def test_nobody_waits_in_a_service_that_is_not_busy(rate: float) -> None:
    assert not any(play(BatchingDelay(APART), rate, 3))


@pytest.mark.parametrize("rate", [BUSY_RATE * 1.5, 1000, 5000])
def test_slices_of_a_busy_one_are_kept_apart(rate: float) -> None:
    pauses = play(BatchingDelay(APART), rate, 3)
    assert sum(1 for pause in pauses if pause) > 0.9 * len(pauses)
    assert len(pauses) < 1.1 * 3 / APART
    assert max(pauses) <= APART


def test_once_it_is_quiet_again_nobody_waits() -> None:
    gathering = BatchingDelay(APART)
    assert any(play(gathering, 1000, 1))
    assert not any(play(gathering, 50, 1, start=1.5))


def test_who_is_far_behind_goes_on_at_once() -> None:
    """A slice of many records takes longer than slices are apart."""
    gathering = BatchingDelay(APART)
    now = 0.0
    for _ in range(20):
        assert gathering.pause(now) == 0
        gathering.record_batch(now, 500)
        now += 0.08


def test_an_empty_look_is_no_company() -> None:
    gathering = BatchingDelay(APART)
    for n in range(100):
        gathering.record_batch(n * 0.001, 0)
    assert gathering.pause(0.1) == 0
