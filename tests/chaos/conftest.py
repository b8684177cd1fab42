"""What storms ask of the machine."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator

import pytest


@pytest.fixture
def one_storm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One storm at a time, whichever processes run the tests.

    Each starts seven processes over and over. Two of them keep a small machine so busy that traps kill processes before
    they have answered anybody, and neither comes to an end.
    """
    place = tmp_path_factory.getbasetemp().parent / "one-storm"
    with place.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
