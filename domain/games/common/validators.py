"""Shapes that the kernel does not have."""

from __future__ import annotations

from dataclasses import dataclass

from domain.kernel.schema.validators import Fault, Shape
from domain.kernel.text.message_catalog import Message
from domain.types import Json


@dataclass(frozen=True)
class Either(Shape):
    """A value that fits one of two shapes."""

    first: Shape
    second: Shape
    optional: bool = False

    def fault(self, value: Json, at: str) -> Fault | None:
        """None when the value fits one of them."""
        one, other = self.first.fault(value, at), self.second.fault(value, at)
        return (at, Message("{one}, or {other}", one=one[1], other=other[1])) if one and other else None

    def schema(self) -> dict[str, Json]:
        """JSON Schema 2020-12."""
        return {"anyOf": [self.first.schema(), self.second.schema()]}
