"""Types hold where they are written down: `Any` is for what a library leaves open, and for JSON by its own name."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_any_is_rare() -> None:
    """At most three in a thousand lines."""
    texts = [
        path.read_text() for room in ("domain", "projections", "api", "workers") for path in (ROOT / room).rglob("*.py")
    ]
    lines = sum(text.count("\n") for text in texts)
    assert sum(len(re.findall(r"\bAny\b", text)) for text in texts) * 1000 <= 3 * lines
