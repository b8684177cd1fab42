"""Rows of a generation by pairs of values, such as game and version: each pair is found by an index."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from sqlalchemy import Column, Connection, bindparam, or_, select

from domain.service.database import Row
from projections.view_store import PreparedStatement

AnyColumn = Column[str] | Column[int] | Column[bytes]

BATCH = 50
"""Pairs in one statement. Databases limit the depth of conditions."""


class PairLookup:
    """Finds rows by the values of two columns. SQLite would search all rows for pairs in a list."""

    def __init__(self, first: AnyColumn, second: AnyColumn, *more: AnyColumn) -> None:
        """Find rows of both columns and `more`, all of one table with generations."""
        gen = first.table.c.gen
        pairs = (
            (gen == bindparam("in_gen")) & (first == bindparam(f"first{i}")) & (second == bindparam(f"second{i}"))
            for i in range(BATCH)
        )
        self._batch = BATCH
        self._statement = PreparedStatement(select(first, second, *more).where(or_(*pairs)))

    def fetch_all(self, db: Connection, gen: int, pairs: Iterable[tuple[object, object]]) -> list[Row]:
        """Return the rows of these pairs in a generation, in any order."""
        rows: list[Row] = []
        left = iter(pairs)
        while batch := list(islice(left, self._batch)):
            batch += [(None, None)] * (self._batch - len(batch))  # nothing equals a missing value
            wanted: dict[str, object] = {}
            for i, (first, second) in enumerate(batch):
                wanted |= {f"first{i}": first, f"second{i}": second}
            rows += self._statement.fetch_all(db, in_gen=gen, **wanted)
        return rows
