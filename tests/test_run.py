"""The script that sets up what is missing and becomes the command."""

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[1] / "run"

CLOSED = f"""
import os
from importlib.machinery import SourceFileLoader

run = SourceFileLoader("run", {str(RUN)!r}).load_module()
run.open_what_is_closed()
assert all(os.get_inheritable(number) for number in range(3))
assert not any(os.fstat(number).st_size for number in range(3))
"""


def test_input_and_output_that_are_closed_are_opened() -> None:
    """Else the front had no standard input to leave to its processes, and was never ready."""
    command = [sys.executable, "-B", "-W", "ignore", "-c", CLOSED]
    closed = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command]
    assert subprocess.run(closed, check=False).returncode == 0
