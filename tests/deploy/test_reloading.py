"""`annals serve --reload`: the service starts anew after each change of its code or pages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.cli import reloading

PROGRAM = """
import sys
from pathlib import Path
from deploy.cli import reloading
reloading.ROOT, reloading.POLL_SECONDS = Path(sys.argv[1]), 0.05
sys.exit(reloading.serve_and_reload(["rulesets"]))
"""


def test_files_of_code_and_pages_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reloading, "ROOT", tmp_path)
    (tmp_path / "api/pages").mkdir(parents=True)
    for name in ("api/app.py", "api/pages/table.html", "api/notes.orig", "README.md"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    assert {path.relative_to(tmp_path).as_posix() for path in reloading.read_times()} == {
        "api/app.py",
        "api/pages/table.html",
    }


def test_a_change_starts_the_service_anew_until_a_signal(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdout
    assert process.stderr
    first = process.stdout.readline()
    (tmp_path / "api/app.py").write_text("x", encoding="utf-8")
    assert process.stderr.readline() == "annals: api/app.py has changed: the service starts anew\n"
    while process.stdout.readline() != first:
        pass
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 130
    process.stdout.close()
    process.stderr.close()
