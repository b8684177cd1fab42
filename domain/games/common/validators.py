"""Validators missing in the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from domain.kernel.schema.validators import FieldError, Validator
from domain.kernel.text.message_catalog import Message
from domain.types import Json


@dataclass(frozen=True)
class Either(Validator):
    """A value of one of two forms."""

    first: Validator
    second: Validator
    optional: bool = False

    def find_error(self, value: Json, pointer: str) -> FieldError | None:
        """Return None if the value fits one of them."""
        one, other = self.first.find_error(value, pointer), self.second.find_error(value, pointer)
        return (pointer, Message("{one}, or {other}", one=one[1], other=other[1])) if one and other else None

    def schema(self) -> dict[str, Json]:
        """Return the JSON Schema (2020-12)."""
        return {"anyOf": [self.first.schema(), self.second.schema()]}
