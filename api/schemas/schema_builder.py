"""JSON Schema as generators of clients read it best: named objects, and unions that one member tells apart."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import fields

from domain.kernel.schema.declarations import Varies
from domain.types import Doc, Json

_DROPPED = ("title", "default", "additionalProperties")


class Shaped(fields.Raw):
    """A member whose form a schema tells, and marshmallow does not."""

    def __init__(self, schema: Doc, **more: Any) -> None:
        super().__init__(**more)
        self.schema = schema


def camel(*words: str) -> str:
    """`orders@1`, `place_unit` -> `Orders1PlaceUnit`: the name of a component."""
    return "".join(part[:1].upper() + part[1:] for word in words for part in re.split(r"[^A-Za-z0-9]+", word))


def at(name: str) -> str:
    """Where a component stands in the document."""
    return f"#/components/schemas/{name}"


def ref(name: str) -> Doc:
    """Refers to a component."""
    return {"$ref": at(name)}


def listed(item: Doc) -> Doc:
    """An array of such items."""
    return {"type": "array", "items": item}


def row(*items: Doc) -> Doc:
    """An array of just these items, in their order."""
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


def obj(said: str, required: Mapping[str, Doc], **optional: Doc) -> Doc:
    """An object."""
    properties = {**required, **optional}
    return {"type": "object", "description": said, "properties": properties, "required": list(required)}


def union(member: str, names: Mapping[str, str], said: str) -> Doc:
    """One of these components, by what stands in that member of it; of none, any object."""
    if not names:
        return {"type": "object", "description": said, "additionalProperties": {}}
    mapping = {value: at(name) for value, name in names.items()}
    one_of = [{"$ref": place} for place in dict.fromkeys(mapping.values())]
    return {"description": said, "oneOf": one_of, "discriminator": {"propertyName": member, "mapping": mapping}}


def superset(docs: Sequence[Doc], said: str) -> Doc:
    """An object that may be any of these: required is what all require, and anything goes where they differ."""
    found: dict[str, list[Json]] = {}
    for doc in docs:
        for name, schema in doc["properties"].items():
            found.setdefault(name, []).append({k: v for k, v in schema.items() if k != "description"})
    properties = {name: each[0] if all(s == each[0] for s in each) else {} for name, each in found.items()}
    required = [name for name in found if all(name in doc["required"] for doc in docs)]
    return {"type": "object", "description": said, "properties": properties, "required": required}


def plain(schema: Json) -> Json:
    """The same with less in it.

    No titles, by which two classes would have one name. No defaults, with which some take a member for one that is
    always there. Nothing forbidden that an answer may have in future. One value is `const`, null stands in `type` where
    it can, and an array or a free object says that it may hold anything.
    """
    if isinstance(schema, list):
        return [plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {k: plain(v) for k, v in schema.items() if k not in _DROPPED and k != "properties"}
    if "description" in made:
        made["description"] = inspect.cleandoc(made["description"])
    if "properties" in schema:
        made["properties"] = {name: plain(member) for name, member in schema["properties"].items()}
        made.setdefault("required", [])
    if isinstance(values := schema.get("additionalProperties"), dict):
        made["additionalProperties"] = plain(values)
    return _said(_nullable(made))


def _said(made: Doc) -> Doc:
    if made.get("enum") == [True]:  # many read `const` as a word
        made = {**made, "type": "boolean", "description": "Always `true`."}
        del made["enum"]
    if "enum" in made:
        made.setdefault("type", "string")
        made |= {"const": made.pop("enum")[0]} if len(made["enum"]) == 1 else {}
    if made.get("items") is False:  # nothing after `prefixItems`: `maxItems` says so
        del made["items"]
    if made.get("type") == "array" and not made.keys() & {"items", "prefixItems"}:
        made["items"] = {}
    if made.get("type") == "object" and not made.keys() & {"properties", "additionalProperties"}:
        made["additionalProperties"] = {}
    return made


def _nullable(made: Doc) -> Doc:
    inner = [s for s in made.get("anyOf", ()) if s != {"type": "null"}]
    if len(inner) != 1 or not isinstance(inner[0].get("type"), str) or inner[0].keys() & {"enum", "const"}:
        return made
    rest = {k: v for k, v in made.items() if k != "anyOf"}
    return {**inner[0], "type": [inner[0]["type"], "null"], **rest}


def tell_cases(schema: Doc, varies: Varies | None) -> None:
    """Says of members when they may be there; a union within a union would have no discriminator that all can read."""
    if varies is None:
        return
    members = schema["properties"]
    if all(isinstance(value, str) for value in varies.cases):
        members[varies.tag]["enum"] = list(varies.cases)
    for name in sorted(varies.names):
        needed = [value for value, case in varies.cases.items() if name in case.required]
        allowed = [value for value, case in varies.cases.items() if name in case.optional]
        said = [_case("Required", varies.tag, needed), _case("Possible", varies.tag, allowed)]
        members[name] = {**members[name], "description": " ".join(filter(None, said))}


def _case(word: str, name: str, values: Sequence[str | bool]) -> str:
    if not values:
        return ""
    return (
        f"{word} with `{name}` " + ", ".join(f"`{str(v).lower() if isinstance(v, bool) else v}`" for v in values) + "."
    )
