"""Stacks of units (`Lot`): a number of equal units of one owner in one region. Pieces are not individuals (IMP-0.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from domain.games.imperunde.data import STORM_ORDER, UNITS
from domain.kernel.schema.declarations import UNSET, Maybe, Part
from domain.types import Json

_RANK = {unit: i for i, unit in enumerate(("fort", *STORM_ORDER))}


@dataclass(frozen=True)
class Lot:
    """A stack of equal units; `moves_left` matters for the active seat only, and is 0 for a `pinned` ship."""

    unit: str
    count: int
    moves_left: int = 0
    pinned: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the form for refusals; 0 and false are left out."""
        doc: dict[str, Json] = {"unit": self.unit, "count": self.count}
        if self.moves_left:
            doc["moves_left"] = self.moves_left
        return doc | ({"pinned": True} if self.pinned else {})

    def with_count(self, count: int) -> Lot:
        """Return the stack with another number of units."""
        return self if count == self.count else Lot(self.unit, count, self.moves_left, self.pinned)

    def with_moves(self, moves: int) -> Lot:
        """Return the stack with another number of moves left."""
        return self if moves == self.moves_left else Lot(self.unit, self.count, moves, self.pinned)

    def without_moves(self) -> Lot:
        """Return the stack without a move left."""
        return self.with_moves(0)


Lots = tuple[Lot, ...]


class Told(Part, frozen=True):
    """A lot as stored in facts; 0 and false are left out."""

    unit: str
    count: int
    moves_left: Maybe[int] = UNSET
    pinned: Maybe[bool] = UNSET


def _order(lot: Lot) -> tuple[int, int, bool]:
    return _RANK[lot.unit], -lot.moves_left, lot.pinned


def from_facts(told: Iterable[Told]) -> Lots:
    """Return the lots from their form in facts."""
    return tuple(Lot(x.unit, x.count, x.moves_left or 0, x.pinned or False) for x in told)


def to_facts(lots: Iterable[Lot]) -> list[Told]:
    """Return the lots in their form for facts."""
    return [Told(x.unit, x.count, x.moves_left or UNSET, x.pinned or UNSET) for x in lots]


def to_json(lots: Iterable[Lot]) -> list[Json]:
    """Return the lots in their form for refusals."""
    return [lot.to_json() for lot in lots]


def change(lots: Lots, by: Iterable[Lot], sign: int = 1) -> Lots:
    """Add (or take away) lots; the result is in storm order, most moves first."""
    found = {(x.unit, x.moves_left, x.pinned): x for x in lots}
    for lot in by:
        key = (lot.unit, lot.moves_left, lot.pinned)
        old = found.get(key)
        found[key] = lot.with_count(sign * lot.count + (old.count if old else 0))
    left = [x for x in found.values() if x.count]
    if len(left) > 1:
        left.sort(key=_order)
    return tuple(left)


def replace_each(lots: Lots, new: Callable[[Lot], Lot]) -> Lots:
    """Apply `new` to every lot, merging equal ones; return the same object if nothing changes."""
    if len(lots) == 1 and lots[0].count:
        made = new(lots[0])
        return lots if made is lots[0] else (made,)
    return change((), map(new, lots))


def total(lots: Iterable[Lot], unit: str | None = None) -> int:
    """Return the number of units, of one kind or in all."""
    return sum(x.count for x in lots if unit in (None, x.unit))


def of_kind(lots: Iterable[Lot], kind: str) -> Lots:
    """Return the lots of kind `army` or `warship`."""
    return tuple(x for x in lots if UNITS[x.unit].kind == kind)


def singles(lots: Iterable[Lot]) -> Iterator[Lot]:
    """Yield one lot of 1 for every unit."""
    for lot in lots:
        for _ in range(lot.count):
            yield lot.with_count(1)


def count_by_unit(lots: Iterable[Lot]) -> dict[str, int]:
    """Return unit -> number."""
    counts: dict[str, int] = {}
    for lot in lots:
        counts[lot.unit] = counts.get(lot.unit, 0) + lot.count
    return counts
