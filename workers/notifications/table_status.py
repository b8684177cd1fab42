"""The status of a table as the views have it."""

from __future__ import annotations

import orjson

from domain.types import Doc, Seat
from projections.reader import Reader

DIGEST_PARTS = ("near", "turns", "ended")
"""Parts of a digest."""


def list_owed(reader: Reader, summary: Doc, seat: Seat) -> list[Doc]:
    """Return the decisions that a seat owes, in its own view."""
    board = reader.find_board(summary["game"], seat, inside=True) if seat in summary["waiting_for"] else None
    decisions: list[Doc] = orjson.loads(board.doc)["decisions"] if board else []
    return [decision for decision in decisions if seat in decision["must"]]
