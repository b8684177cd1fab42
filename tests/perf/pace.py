"""How fast the machine is now: what a fixed piece of work takes, in a process of its own that holds nothing else."""

from __future__ import annotations

import hashlib
import json
import statistics
import subprocess
import sys
import time
from typing import Any

QUICK = 0.018
"""Seconds that it takes on the day to which the budgets in milliseconds belong."""

WARM, TIMES = 2, 5


def pace(at_once: int = 1) -> float:
    """What the machine takes now for what takes 1 on that day, each of so many processes at once."""
    command = [sys.executable, "-I", "-S", __file__]
    begun = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(at_once)]
    return statistics.mean(float(process.communicate()[0]) for process in begun) / QUICK


def _large() -> str:
    """As long as the records of a game."""
    eight = range(8)
    rows = [{"id": n, "names": [f"{n}-{i}" for i in eight], "at": {str(i): n for i in eight}} for n in range(3_000)]
    return json.dumps(rows)


def _usual(text: str) -> int:
    """The kinds of work that the service does, in much the same parts: what fills memory, and what only computes."""
    docs = json.loads(text)
    total = 0
    for doc in docs:
        total += _folded({**doc, "at": {**doc["at"], "0": total}})
    return total + hashlib.sha256(json.dumps(docs).encode()).digest()[0]


def _folded(doc: dict[str, Any]) -> int:
    total = 0
    for name, value in sorted(doc.items()):
        total += len(name) if isinstance(value, list) else len(name) & 1
        for i in range(12):
            total += i * total & 3
    return total


def _seconds() -> float:
    text = _large()
    taken = []
    for _ in range(WARM + TIMES):
        begun = time.perf_counter()
        _usual(text)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken[WARM:])


if __name__ == "__main__":
    print(_seconds())
