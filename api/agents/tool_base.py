"""Declaration of a tool: its input, a sentence for readers without any other knowledge, its result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, ClassVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from api.agents.api_calls import ApiCalls
from domain.kernel.schema.declarations import snake_case
from domain.types import Doc, Json

Game = Annotated[str, Meta(description="Id of the table, from `find_tables`.", max_length=64)]
Page = Annotated[int, Meta(description="Page of the answer, from 1.", ge=1, le=1000)]
SeatNumber = Annotated[int, Meta(ge=0, le=99)]
Decision = Annotated[str, Meta(description="Id of the open decision, such as `0-7`.", max_length=32)]


class Tool(Struct, kw_only=True, forbid_unknown_fields=True):
    """A tool. Its members are its input, its docstring is what agents read."""

    title: ClassVar[str] = ""
    changes: ClassVar[bool] = False
    """Whether a call changes something."""

    def run(self, api: ApiCalls) -> Mapping[str, object]:
        """Return the result. Raise ToolRefusal, ConnectionError."""
        raise NotImplementedError

    @classmethod
    def name(cls) -> str:
        """Return the name by which agents call the tool."""
        return snake_case(cls.__name__)


class TableTool(Tool, kw_only=True):
    """A tool for one table."""

    game: Game
    seat: Annotated[SeatNumber | None, Meta(description="Yours, if you have several at this table.")] = None

    def fetch(self, api: ApiCalls, path: str, **query: Json) -> Doc:
        """Return a document of the table."""
        return api.get(f"/games/{self.game}{path}", game=self.game, role=self.role, **query)

    def write(self, api: ApiCalls, path: str, body: Doc) -> Doc:
        """Send a write to the table, and return its answer."""
        return api.write(f"/games/{self.game}{path}", body, game=self.game, role=self.role)

    @property
    def role(self) -> str:
        """Return the given seat as a role, or an empty string."""
        return "" if self.seat is None else str(self.seat)


@cache
def input_schema(tool: type[Tool]) -> Doc:
    """Return the JSON Schema of a tool's input."""
    return _whole_schema(tool)


@cache
def output_schema(tool: type[Tool]) -> Doc:
    """Return the JSON Schema of a tool's result."""
    return _whole_schema(get_type_hints(tool.run)["return"])


def _whole_schema(kind: object) -> Doc:
    """Return the schema of an object with its parts below `$defs`."""
    (found,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    name = found["$ref"].rpartition("/")[2]
    for part in parts.values():
        part.pop("title", None)
    schema: Doc = parts.pop(name)
    schema.pop("description", None)  # the tool has it
    return schema | ({"$defs": parts} if parts else {})


def convert(tool: type[Tool], given: Doc) -> Tool:
    """Return a tool with its input. Raise msgspec.ValidationError."""
    return msgspec.convert(given, tool)
