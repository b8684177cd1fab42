"""Declaration of a tool: its input, a sentence for readers without any other knowledge, its result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, ClassVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from api.agents.api_calls import ApiCalls
from api.agents.tool_results import ToolRefusalDoc
from domain.kernel.schema.declarations import snake_case
from domain.types import Doc, Json

WORD = r"^[A-Za-z0-9_@-]+$"
"""An id in a path of the API: without it, an input would reach other paths."""

Game = Annotated[str, Meta(description="Id of the table, from `find_tables`.", pattern=WORD, max_length=64)]
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

    @property
    def patience(self) -> int:
        """Return the longest wait for `is_ready` before the tool runs, seconds."""
        return 0

    def is_ready(self, api: ApiCalls) -> bool:
        """Return whether the wait of the tool is over. Raise ToolRefusal, ConnectionError."""
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

    def write(self, api: ApiCalls, path: str, body: Doc, version: int | None = None) -> Doc:
        """Send a write to the table, and return its answer."""
        return api.write(f"/games/{self.game}{path}", body, game=self.game, role=self.role, version=version)

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
    """Return the JSON Schema of a tool's result, or of its refusal.

    Clients in TypeScript check refusals as well, and would tell an agent of missing members instead of the reason.
    """
    return _whole_schema(get_type_hints(tool.run)["return"], ToolRefusalDoc)


def _whole_schema(*kinds: object) -> Doc:
    """Return the schema of an object of one of these kinds, with its parts below `$defs`."""
    found, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for part in parts.values():
        part.pop("title", None)
    if len(kinds) > 1:
        for each in found:
            parts[each["$ref"].rpartition("/")[2]].pop("description", None)
        return {"type": "object", "anyOf": list(found), "$defs": parts}
    schema: Doc = parts.pop(found[0]["$ref"].rpartition("/")[2])
    schema.pop("description", None)  # the tool has it
    return schema | ({"$defs": parts} if parts else {})


def convert(tool: type[Tool], given: Doc) -> Tool:
    """Return a tool with its input. Raise msgspec.ValidationError."""
    return msgspec.convert(given, tool)
