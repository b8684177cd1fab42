"""The command line with the small rulesets of the tests: `python -m tests.deploy.served serve ...`."""

import os
import sys
import time
from pathlib import Path

from deploy.cli.main import main
from domain.ruleset_registry import RulesetRegistry
from tests.rulesets import FLOWS

WALL = "SERVED_WALL"
"""Names a file with the seconds by which the clock of the machine is wrong, for this process and its children."""


def set_by(path: Path) -> None:
    """From now on."""
    real = time.time_ns
    time.time_ns = lambda: real() + int(path.read_text()) * 1_000_000_000
    time.time = lambda: time.time_ns() / 1e9


if __name__ == "__main__":
    if WALL in os.environ:
        set_by(Path(os.environ[WALL]))
    sys.exit(main(sys.argv[1:], RulesetRegistry(entry.rules for entry in FLOWS)))
