"""Bases of the orders of a sheet (EGC-7.0)."""

from __future__ import annotations

from domain.kernel.schema.declarations import Admission, Id, Move, type_name

Key = tuple[str, ...]


def private(rule: str, at: tuple[str, ...] = ("orders",)) -> Admission:
    """EGC-6.6: unseen by the others; the record hides its seat."""
    return Admission(at, hidden=("*",), anonymous=True, rule=rule)


class Order(Move, frozen=True):
    """An order, valid on a sheet until the turn resolves."""

    @property
    def key(self) -> Key | None:
        """EGC-7.0.1: an order with the same key is replaced; None for an order without."""
        return (type_name(type(self)),)


class Management(Order, frozen=True):
    """EGC-7.0.2: carried out in sequence, before all others are checked."""

    @property
    def key(self) -> Key | None:
        return None


class Territorial(Order, frozen=True):
    """A diplomatic order on a territory: one of them for each (EGC-7.0.1)."""

    territory: Id

    @property
    def key(self) -> Key | None:
        return ("territory", self.territory)
