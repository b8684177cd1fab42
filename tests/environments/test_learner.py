"""The agent of docs/environments.md learns."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("seconds", "share"), [(3, 0.0), (60, 0.65)])
def test_the_agent_of_the_page_beats_chance(seconds: int, share: float, tmp_path: Path) -> None:
    (program,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs/environments.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "learn.py").write_text(program, "utf-8")
    command = [sys.executable, str(tmp_path / "learn.py"), "age_of_reason@1", str(seconds)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    found = re.fullmatch(r"\d+ games; share of the first place ([\d.]+), by chance 0\.50\n", done.stdout)
    assert found
    assert float(found[1]) >= share
