"""What the tests of programs, pages and factors share."""

from __future__ import annotations

import pytest

from api.http.login_throttle import FREE_FAILURES, LONGEST_WAIT


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has guessed too often waits long at once, so that no test asks how fast the machine is."""
    monkeypatch.setattr(
        "api.http.login_throttle._wait_after", lambda count: LONGEST_WAIT if count >= FREE_FAILURES else 0.0
    )
