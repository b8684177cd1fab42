"""The script that sets up what is missing and becomes the command."""

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[1] / "run"

CLOSED = f"""
import os, runpy

runpy.run_path({str(RUN)!r})["open_standard_streams"]()
for number in range(3):
    assert os.get_inheritable(number)
    assert os.path.samestat(os.fstat(number), os.stat(os.devnull))
"""


def test_input_and_output_that_are_closed_are_opened() -> None:
    """Else the front had no standard input to leave to its processes, and was never ready."""
    command = [sys.executable, "-B", "-c", CLOSED]
    closed = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command]
    assert subprocess.run(closed, check=False).returncode == 0
