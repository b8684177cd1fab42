"""What stands at a table, as the views know it."""

from __future__ import annotations

import orjson

from domain.types import Doc, Seat
from projections.reader import Reader

DIGEST_PARTS = ("near", "turns", "ended")
"""Of a digest."""


def list_owed(reader: Reader, summary: Doc, seat: Seat) -> list[Doc]:
    """The decisions that a seat owes, as it sees them itself: of a secret one others know less."""
    board = reader.find_board(summary["game"], seat, inside=True) if seat in summary["waiting_for"] else None
    decisions: list[Doc] = orjson.loads(board.doc)["decisions"] if board else []
    return [decision for decision in decisions if seat in decision["must"]]
