"""The conformance kit: both clients pass it, and what does not bear a case is told so."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_clients import imported
from tests.api.test_npm_clients import tools
from tests.clients.kit import CLIENTS
from tests.clients.test_typescript import compiled
from tests.deploy.harness import SHIPPED, serving

__all__ = ["compiled", "tools"]

FOLDER = CLIENTS / "conformance"
kit: Any = imported(FOLDER, "kit")


def passes(data: Path, *command: str) -> None:
    with serving(data, program=SHIPPED, ANNALS_RATE="50") as service:
        done = subprocess.run(
            [sys.executable, str(FOLDER / "kit.py"), service.url, "--", *command, "{address}"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[1].rstrip(":") for line in done.stdout.splitlines()] == list(kit.CASES)


def test_the_python_client_passes(tmp_path: Path) -> None:
    passes(tmp_path / "data", sys.executable, str(FOLDER / "example.py"))


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there")
@pytest.mark.xdist_group("typescript")  # compiled once
def test_the_typescript_client_passes(tmp_path: Path, compiled: Path) -> None:
    shutil.copy(FOLDER / "example.mjs", compiled)
    passes(tmp_path / "data", "node", str(compiled / "example.mjs"))


def test_a_client_that_does_nothing_passes_nothing() -> None:
    found = kit.run_cases("http://127.0.0.1:9", [sys.executable, "-c", "raise SystemExit(3)"])
    assert found.keys() == kit.CASES.keys()
    assert all(found.values())


@pytest.mark.parametrize(
    ("case", "key", "body", "looked", "waited", "good"),
    [
        ("lost_answer", "k1", b"1", False, 0.0, True),
        ("lost_answer", "k2", b"1", True, 0.0, False),
        ("lost_answer", "k1", b"2", True, 0.0, False),
        ("lost_answer", "", b"1", True, 0.0, False),
        ("too_many_requests", "k1", b"1", False, 1.0, True),
        ("too_many_requests", "k1", b"1", False, 0.2, False),
        ("not_answering", "k1", b"1", False, 0.0, False),
        ("decision_closed", "k2", b"1", True, 0.0, True),
        ("decision_closed", "k2", b"1", False, 0.0, False),
        ("stale_version", "k1", b"1", True, 0.0, False),
    ],
)
def test_what_comes_after_a_fault_is_judged(
    case: str, key: str, body: bytes, looked: bool, waited: float, good: bool
) -> None:
    before = kit.Pending(case, "k1" if key else "", b"1", time.monotonic() - waited, looked)
    assert (kit.judge(before, key, body) == "") is good


def test_a_stream_that_is_taken_up_elsewhere_fails() -> None:
    tried = kit.Kit("http://127.0.0.1:9", cut=("stream_cut", "12"))
    tried.judge_stream("")
    assert "12" in tried.results["stream_cut"]


def test_the_page_tells_of_every_case() -> None:
    page = (CLIENTS / "README.md").read_text("utf-8")
    assert [case for case in kit.CASES if f"| `{case}` |" not in page] == []
    assert {*kit.MOVES.values(), *kit.STREAMS.values()} <= kit.CASES.keys()
