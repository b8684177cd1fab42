"""Output of commands: an error, a JSON document, or figures."""

from __future__ import annotations

import json
import sys

from deploy.runtime import logging_setup
from domain.types import Json


def print_error(error: Exception, status: int) -> int:
    """Print an error in one line, and return the status."""
    print(f"annals: {logging_setup.to_safe_line(str(error))}", file=sys.stderr)
    return status


def print_json(doc: Json) -> None:
    """Print a JSON document in one line."""
    print(json.dumps(doc, ensure_ascii=False))


def print_figures(doc: dict[str, Json]) -> None:
    """Print one figure per line, and counts below a heading."""
    for name, value in doc.items():
        if isinstance(value, dict) and name != "options":
            print(f"{name}:")
            for key, count in value.items():
                print(f"  {count:>8}  {key}")
        else:
            print(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
