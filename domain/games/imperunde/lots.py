"""Lots: pieces are not individuals (IMP-0.5). A lot is so many equal units of one owner in one region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from domain.games.imperunde.data import STORM_ORDER, UNITS
from domain.ids import Json

_RANK = {unit: i for i, unit in enumerate(("fort", *STORM_ORDER))}


@dataclass(frozen=True)
class Lot:
    """`moves_left` matters for the active seat only; a `pinned` ship has none."""

    unit: str
    count: int
    moves_left: int = 0
    pinned: bool = False

    def to_json(self) -> dict[str, Json]:
        """As facts carry it: what is 0 or false is left out."""
        doc: dict[str, Json] = {"unit": self.unit, "count": self.count}
        if self.moves_left:
            doc["moves_left"] = self.moves_left
        return doc | ({"pinned": True} if self.pinned else {})

    def of(self, count: int) -> Lot:
        """So many of it."""
        return Lot(self.unit, count, self.moves_left, self.pinned)

    def with_moves(self, moves: int) -> Lot:
        """The same units with other moves left."""
        return Lot(self.unit, self.count, moves, self.pinned)


Lots = tuple[Lot, ...]


def _order(lot: Lot) -> tuple[int, int, bool]:
    return _RANK[lot.unit], -lot.moves_left, lot.pinned


def read(docs: Iterable[Mapping[str, Json]]) -> Lots:
    """Lots as facts carry them."""
    return tuple(Lot(d["unit"], d["count"], d.get("moves_left", 0), d.get("pinned", False)) for d in docs)


def show(lots: Iterable[Lot]) -> list[Json]:
    """Lots as facts carry them."""
    return [lot.to_json() for lot in lots]


def change(lots: Lots, by: Iterable[Lot], sign: int = 1) -> Lots:
    """The lots with others added (or taken away), in their order: as ships roll in a storm, most moves first."""
    counts = {(x.unit, x.moves_left, x.pinned): x.count for x in lots}
    for lot in by:
        key = (lot.unit, lot.moves_left, lot.pinned)
        counts[key] = counts.get(key, 0) + sign * lot.count
    return tuple(sorted((Lot(u, n, m, p) for (u, m, p), n in counts.items() if n), key=_order))


def total(lots: Iterable[Lot], unit: str | None = None) -> int:
    """How many units, of one kind or in all."""
    return sum(x.count for x in lots if unit in (None, x.unit))


def of_kind(lots: Iterable[Lot], kind: str) -> Lots:
    """The lots of `army` or `warship`."""
    return tuple(x for x in lots if UNITS[x.unit].kind == kind)


def singles(lots: Iterable[Lot]) -> Iterator[Lot]:
    """One lot of 1 for every unit."""
    for lot in lots:
        for _ in range(lot.count):
            yield lot.of(1)


def counted(lots: Iterable[Lot]) -> dict[str, int]:
    """Unit -> number."""
    counts: dict[str, int] = {}
    for lot in lots:
        counts[lot.unit] = counts.get(lot.unit, 0) + lot.count
    return counts
