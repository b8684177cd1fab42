"""A newcomer with docs/api/README.md and no other page: every command of it is run, in order, on a fresh service."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.harness import ROOT, SHIPPED, environment, serving

PAGE = ROOT / "docs" / "api" / "README.md"
ADDRESS = "http://127.0.0.1:8000"
WATCHED = "--max-time 2"
"""For how long the page watches a stream."""

SHIM = f'#!/bin/sh\nshift\nexec "{sys.executable}" -P -m deploy "$@"\n'

pytestmark = pytest.mark.skipif(
    shutil.which("curl") is None or shutil.which("jq") is None, reason="curl or jq is not there"
)


def blocks() -> list[str]:
    """The commands of the page."""
    return re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def script(url: str) -> str:
    """All blocks in one shell that ends at the first failure; a line before each tells which it is."""
    said = [f"echo '== {n}'\n{block}" for n, block in enumerate(blocks())]
    slower = "\n".join(said).replace(WATCHED, "--max-time 8")  # the first event may take longer on a busy machine
    return "set -eo pipefail\n" + slower.replace(ADDRESS, url)


def test_the_page_plays_a_game_and_proves_it(tmp_path: Path) -> None:
    assert WATCHED in "".join(blocks())
    folder = tmp_path / "newcomer"
    folder.mkdir()
    (folder / "run").write_text(SHIM)
    (folder / "run").chmod(0o755)
    with serving(tmp_path / "data", program=SHIPPED, ANNALS_RATE="50") as service:
        done = subprocess.run(
            ["/bin/bash", "-c", script(service.url)],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        assert service.complaints() == ""
    last = done.stdout.split("== ")[1:]
    assert len(last) == len(blocks())
    assert '"code": "decision_closed"' in done.stdout
    assert "event: board" in done.stdout
    assert done.stdout.count('"place":') == 3
    assert '"status":"closed","roles":[0,"director"]' in done.stdout
    assert "verified: true" in last[-1]
    assert "closed: true" in last[-1]


def test_it_leads_to_every_other_page() -> None:
    linked = set(re.findall(r"\]\(([a-z-]+\.md)", PAGE.read_text("utf-8")))
    assert linked == {page.name for page in PAGE.parent.glob("*.md")} - {PAGE.name}
