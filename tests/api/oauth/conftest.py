"""What the tests of programs, pages and factors share."""

from __future__ import annotations

import pytest

from api.http.login_throttle import FREE, LONGEST


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has guessed too often waits long at once, so that no test asks how fast the machine is."""
    monkeypatch.setattr("api.http.login_throttle._pause", lambda count: LONGEST if count >= FREE else 0.0)
