"""A small torment in every run; `python -m tests.soak_api` is the same with thousands of cases."""

from __future__ import annotations

from pathlib import Path

from tests.soak_api import torment


def test_no_request_meets_a_fault(tmp_path: Path) -> None:
    """About 150 cases over all routes, and the log still proves itself."""
    found = torment(tmp_path, 150)
    assert found.total() >= 150
    assert {200, 201, 404, 422} <= set(found)
