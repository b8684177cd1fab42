"""Form fields for the options of a ruleset, made from their schemas."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from api.pages.common.labels import capital
from api.pages.common.numbers import parse_number
from domain.kernel.text.message_catalog import Texts
from domain.types import MAX_INT, Doc, Json

MOST_ENTRIES = 12
"""Most entries of a list in a form."""


@dataclass(frozen=True)
class FieldShown:
    """A field of the form: a selection if it has `values`, else a number."""

    name: str
    label: str
    rule: str
    values: Sequence[tuple[str, str]]
    lo: int = 0
    hi: int = 0
    value: str = ""
    optional: bool = False
    group: str = ""
    """Name of the list that the field is an entry of, or an empty text."""


def show_options(
    options: Mapping[str, Doc], texts: Texts, sent: Mapping[str, str], seats: Container[str] = ()
) -> list[FieldShown]:
    """Return the fields of a ruleset's options, with the values that were sent before.

    `seats`: names of the options whose numbers are seats.
    """
    found = []
    for name, option in options.items():
        schema, default, label = option["schema"], option["default"], str(option["text"])
        if schema.get("type") == "array":
            for n in range(min(schema.get("maxItems", MOST_ENTRIES), MOST_ENTRIES)):
                field = f"option.{name}.{n}"
                values = [("", texts.word("none")), *_values(schema["items"], texts)]
                title = f"{label} ({texts.grammar.number(n + 1)})"
                found.append(FieldShown(field, title, option["rule"], values, value=sent.get(field, ""), group=label))
            continue
        field = f"option.{name}"
        values, number = _values(schema, texts), _integer(schema)
        if number and values:  # a word or a number: both in one selection
            # Whole numbers beside words are seats, or limits with few values.
            span = range(number["minimum"], min(number["maximum"], number["minimum"] + 99) + 1)
            name_number = (lambda n: capital(texts.seat(n).bare)) if name in seats else texts.grammar.number
            values = [*values, *((str(n), name_number(n)) for n in span)]
            number = None
        lo, hi = (number["minimum"], number["maximum"]) if number else (0, 0)
        value = sent.get(field, _encode(default))
        found.append(FieldShown(field, label, option["rule"], values, lo, hi, value, _is_nullable(schema)))
    return found


def read_options(options: Mapping[str, Doc], sent: Mapping[str, str]) -> dict[str, Json]:
    """Return the options in a form. An empty field leaves the default."""
    found: dict[str, Json] = {}
    for name, option in options.items():
        schema = option["schema"]
        if schema.get("type") == "array":
            words = [sent.get(f"option.{name}.{n}", "") for n in range(MOST_ENTRIES)]
            found[name] = [word for word in words if word]
        elif (text := sent.get(f"option.{name}", "")) != "":
            found[name] = _decode(text, schema)
    return found


def _parts(schema: Doc) -> Sequence[Doc]:
    return schema.get("anyOf") or [schema]


def _values(schema: Doc, texts: Texts) -> list[tuple[str, str]]:
    """Return the values of a selection: words, or yes and no."""
    found: list[tuple[str, str]] = []
    for part in _parts(schema):
        if part.get("type") == "boolean":
            found += [("true", texts.word("yes")), ("false", texts.word("no"))]
        found += [(word, texts.word(word)) for word in part.get("enum", ())]
    return found


def _integer(schema: Doc) -> Doc | None:
    return next((part for part in _parts(schema) if part.get("type") == "integer" and "maximum" in part), None)


def _is_nullable(schema: Doc) -> bool:
    return any(part.get("type") == "null" for part in _parts(schema))


def _encode(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _decode(text: str, schema: Doc) -> Json:
    """Return the value of a field. The API checks it."""
    if any(part.get("type") == "boolean" for part in _parts(schema)) and text in ("true", "false"):
        return text == "true"
    number = parse_number(text, MAX_INT, -MAX_INT) if _integer(schema) else None
    return text if number is None else number
