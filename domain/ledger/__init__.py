"""The ledger: the append-only log of all games, on SQLite or PostgreSQL.

One transaction stores the records of an append and the row of their command. One writer at a time assigns positions,
in the order in which appends become visible, so a reader at position n never misses a smaller one.

Where to look:
- imports: imported_games.py
- archive: archive.py
"""

from __future__ import annotations

from domain.ledger.ledger import Ledger
from domain.ledger.store import CommandRow, LogEntry, Receipt

__all__ = ["CommandRow", "Ledger", "LogEntry", "Receipt"]
