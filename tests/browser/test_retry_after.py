"""Pages ask again after the time that a refusal names, and not before."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import pytest

from tests.api.conftest import ROOT
from tests.browser.conftest import run_node
from tests.deploy.harness import Doc

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),  # one service and one browser at a time
]

TOGETHER = 1200
"""ms after the first request in which a script asks why it was refused, or loads neighbours of a page."""


@pytest.fixture(scope="module")
def waited(program: tuple[str, str], tools: Path) -> Doc:
    """For each refused address the times of its requests, ms after the first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    asked = {"url": url, "modules": str(tools.parent), "browser": program[0], "libraries": program[1]}
    asked["scripts"] = str(ROOT / "api" / "pages" / "static")
    found: Doc = json.loads(run_node("waiting", tools.parent, said=json.dumps(asked)))
    assert not found["faults"], "\n".join(found["faults"])
    return found


@pytest.mark.parametrize("address", ["/stream", "/dated", "/refused", "/step"])
def test_a_page_waits_as_long_as_a_refusal_asks(waited: Doc, address: str) -> None:
    """In seconds, and as a date, which has no fractions of a second."""
    times = waited["found"][address]
    later = [time for time in times if time > TOGETHER]
    assert later, times
    assert 1900 <= later[0] <= 4900
    assert len(times) - len(later) <= 2


def test_a_replay_waits_on_its_page(waited: Doc) -> None:
    assert waited["loads"] == 1
