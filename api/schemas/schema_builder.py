"""JSON Schema in the style that code generators read best: named objects and tagged unions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Unpack

from marshmallow import fields

from api.schemas.field_options import FieldOptions
from domain.kernel.schema.declarations import Varies
from domain.types import Doc, Json

_DROPPED = ("title", "default", "additionalProperties")


class JsonSchemaField(fields.Raw):
    """A field described by a JSON Schema."""

    def __init__(self, schema: Doc, **options: Unpack[FieldOptions]) -> None:
        super().__init__(**options)
        self.schema = schema


def component_name(*words: str) -> str:
    """Return a component's name: `orders@1`, `place_unit` -> `Orders1PlaceUnit`."""
    return "".join(part[:1].upper() + part[1:] for word in words for part in re.split(r"[^A-Za-z0-9]+", word))


def component_pointer(name: str) -> str:
    """Return the JSON pointer of a component."""
    return f"#/components/schemas/{name}"


def ref(name: str) -> Doc:
    """Return a reference to a component."""
    return {"$ref": component_pointer(name)}


def array_of(item: Doc) -> Doc:
    """Return an array schema."""
    return {"type": "array", "items": item}


def tuple_of(*items: Doc) -> Doc:
    """Return the schema of an array with exactly these items."""
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


def object_of(description: str, required: Mapping[str, Doc], **optional: Doc) -> Doc:
    """Return an object schema."""
    properties = {**required, **optional}
    return {"type": "object", "description": description, "properties": properties, "required": list(required)}


def tagged_union(member: str, names: Mapping[str, str], description: str) -> Doc:
    """Return a union of components, selected by the value of `member`. Without components: any object."""
    if not names:
        return {"type": "object", "description": description, "additionalProperties": {}}
    mapping = {value: component_pointer(name) for value, name in names.items()}
    one_of = [{"$ref": place} for place in dict.fromkeys(mapping.values())]
    return {"description": description, "oneOf": one_of, "discriminator": {"propertyName": member, "mapping": mapping}}


def superset(docs: Sequence[Doc], description: str) -> Doc:
    """Return an object schema that accepts all of these: common requirements, and any value where they differ."""
    found: dict[str, list[Json]] = {}
    for doc in docs:
        for name, schema in doc["properties"].items():
            found.setdefault(name, []).append({k: v for k, v in schema.items() if k != "description"})
    properties = {name: each[0] if all(s == each[0] for s in each) else {} for name, each in found.items()}
    required = [name for name in found if all(name in doc["required"] for doc in docs)]
    return {"type": "object", "description": description, "properties": properties, "required": required}


def simplify(schema: Json) -> Json:
    """Return the schema in a simpler form.

    Titles are dropped, since two classes could share one; defaults too, since some generators then treat a member as
    always present; and prohibitions, since later responses may add members. A single value becomes `const`, null moves
    into `type` if possible, and untyped arrays and objects accept any content.
    """
    if isinstance(schema, list):
        return [simplify(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    simple = {k: simplify(v) for k, v in schema.items() if k not in _DROPPED and k != "properties"}
    if "description" in simple:
        simple["description"] = inspect.cleandoc(simple["description"])
    if "properties" in schema:
        simple["properties"] = {name: simplify(member) for name, member in schema["properties"].items()}
        simple.setdefault("required", [])
    if isinstance(values := schema.get("additionalProperties"), dict):
        simple["additionalProperties"] = simplify(values)
    return _simplify_types(_merge_null(simple))


def _simplify_types(schema: Doc) -> Doc:
    if schema.get("enum") == [True]:  # many generators read `const` as a string
        schema = {**schema, "type": "boolean", "description": "Always `true`."}
        del schema["enum"]
    if "enum" in schema:
        schema.setdefault("type", "string")
        schema |= {"const": schema.pop("enum")[0]} if len(schema["enum"]) == 1 else {}
    if schema.get("items") is False:  # no items after `prefixItems`; `maxItems` limits them already
        del schema["items"]
    if schema.get("type") == "array" and not schema.keys() & {"items", "prefixItems"}:
        schema["items"] = {}
    if schema.get("type") == "object" and not schema.keys() & {"properties", "additionalProperties"}:
        schema["additionalProperties"] = {}
    return schema


def _merge_null(schema: Doc) -> Doc:
    inner = [s for s in schema.get("anyOf", ()) if s != {"type": "null"}]
    if len(inner) != 1 or not isinstance(inner[0].get("type"), str) or inner[0].keys() & {"enum", "const"}:
        return schema
    rest = {k: v for k, v in schema.items() if k != "anyOf"}
    return {**inner[0], "type": [inner[0]["type"], "null"], **rest}


def describe_cases(schema: Doc, varies: Varies | None) -> None:
    """Add to members the cases in which they are present.

    Generators cannot read the discriminator of a union inside a union.
    """
    if varies is None:
        return
    members = schema["properties"]
    if all(isinstance(value, str) for value in varies.cases):
        members[varies.tag]["enum"] = list(varies.cases)
    for name in sorted(varies.names):
        needed = [value for value, case in varies.cases.items() if name in case.required]
        allowed = [value for value, case in varies.cases.items() if name in case.optional]
        sentences = [_case_sentence("Required", varies.tag, needed), _case_sentence("Possible", varies.tag, allowed)]
        members[name] = {**members[name], "description": " ".join(filter(None, sentences))}


def _case_sentence(word: str, name: str, values: Sequence[str | bool]) -> str:
    if not values:
        return ""
    return (
        f"{word} with `{name}` " + ", ".join(f"`{str(v).lower() if isinstance(v, bool) else v}`" for v in values) + "."
    )
