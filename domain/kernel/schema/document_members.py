"""Types of members of declared documents.

A document of the API is declared once, as a `TypedDict`: builders return it, mypy checks them, and the OpenAPI document
is derived from it. `Annotated` adds to the type of a member what else the OpenAPI document says: a text is its
description, a tuple the words that it may be, and a `JsonSchema` its schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from domain.types import Doc, Json

STATUSES = ("open", "running", "over", "closed")

LISTINGS = ("public", "unlisted", "invitation")

UNDO_POLICIES = ("free", "consent", "director", "none")


@dataclass(frozen=True, eq=False)
class JsonSchema:
    """The JSON Schema of a member, where its type does not give it."""

    schema: Doc


def component(name: str) -> JsonSchema:
    """Return the schema of a member by a component of the OpenAPI document, such as any game's move."""
    return JsonSchema({"$ref": f"#/components/schemas/{name}"})


Author = Annotated[str, JsonSchema({"type": "string", "enum": ["seat", "clock", "engine", "director"]})]

Fact = Annotated[Json, component("Fact")]

Move = Annotated[Json, component("Move")]

ShownMove = Annotated[Json, component("ShownMove")]
"""A move without members hidden from others."""

AnyBoard = Annotated[Json, component("Board")]
"""A board of any ruleset."""

PublicRecord = Annotated[Json, component("Record")]
"""The public part of a record."""

ScoreDetail = Annotated[Json, component("ScoreDetail")]

ProblemCode = Annotated[str, component("ProblemCode")]

ProblemBody = Annotated[Doc, component("Problem")]

ExportRecord = Annotated[Json, component("ExportRecord")]
"""A line of an export with a record."""
