"""The frames of Orders."""

from __future__ import annotations

from domain.kernel.schema.declarations import Context, declared_classes


class Orders(Context, frozen=True):
    """OR-1: all seats file orders, each on its own sheet."""

    turn: int


class Resolve(Context, frozen=True):
    """The engine resolves all sheets."""

    turn: int


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)
