"""`annals serve --reload`: starts the service anew whenever a file of its code or pages has changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[2]
FOLDERS = ("api", "deploy", "domain", "projections", "workers", "docs/rules")
SUFFIXES = frozenset({".py", ".html", ".css", ".js", ".svg", ".json", ".md"})
POLL_SECONDS = 0.5
"""Seconds between two looks at the files."""

END_SECONDS = 10.0
"""Seconds that a service has to end before it is killed."""


def serve_and_reload(arguments: Sequence[str]) -> int:
    """Run `annals` with these arguments until a signal comes, and start it anew after each change of a file.

    A service that does not start, such as after a slip of the pen, is started again at the next change.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        while True:
            before = read_times()
            process = subprocess.Popen([sys.executable, "-P", "-m", "deploy", *arguments])
            try:
                changed = _wait_for_change(before)
            finally:
                _end(process)
            print(f"annals: {changed} has changed: the service starts anew", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        return 130


def read_times() -> dict[Path, int]:
    """Return the time of the last change of each file of the code and the pages, ns."""
    found: dict[Path, int] = {}
    for folder in FOLDERS:
        for place, _, names in os.walk(ROOT / folder):
            for path in (Path(place, name) for name in names if Path(name).suffix in SUFFIXES):
                try:
                    found[path] = path.stat().st_mtime_ns
                except FileNotFoundError:  # an editor replaces it just now
                    continue
    return found


def _wait_for_change(before: dict[Path, int]) -> Path:
    """Return a file that has come, gone or changed."""
    while True:
        time.sleep(POLL_SECONDS)
        now = read_times()
        for path in sorted(before.keys() | now.keys()):
            if before.get(path) != now.get(path):
                return path.relative_to(ROOT)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
