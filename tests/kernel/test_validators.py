"""Shapes: what is malformed is named before the rules see it, and the same is published as JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from domain.kernel.schema.validators import (
    ANY_INT,
    Boolean,
    IntegerRange,
    ListOf,
    MapOf,
    Nullable,
    ObjectOf,
    Validator,
    Word,
)

MOVE = ObjectOf(
    {
        "to": Word(),
        "units": ListOf(ObjectOf({"unit": Word(("army", "navy")), "count": IntegerRange(1, 9)}), 1, 3),
        "via": Nullable(Word(), optional=True),
        "points": MapOf(IntegerRange(0), optional=True),
        "surprise": Boolean(optional=True),
    }
)
TILE = ObjectOf({"tile": Word()}, "tile", {"pirates": {"region": Word()}, "banking": {}})
GOOD: dict[str, Any] = {"to": "baltic", "units": [{"unit": "army", "count": 2}]}


class TestFaults:
    def test_what_fits(self) -> None:
        """Optional fields may be missing, null where it is allowed."""
        for more in ({}, {"via": None}, {"via": "x", "surprise": True, "points": {"a": 0}}):
            assert MOVE.find_error({**GOOD, **more}, "") is None

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"to": None}, "/to"),
            ({"to": ""}, "/to"),
            ({"to": "x" * 81}, "/to"),
            ({"to": "a\nb"}, "/to"),
            ({"to": "\ud800"}, "/to"),
            ({"to": 3}, "/to"),
            ({"units": []}, "/units"),
            ({"units": [GOOD["units"][0]] * 4}, "/units"),
            ({"units": {"unit": "army"}}, "/units"),
            ({"units": [{"unit": "army", "count": True}]}, "/units/0/count"),
            ({"units": [{"unit": "army", "count": 2.0}]}, "/units/0/count"),
            ({"units": [{"unit": "army", "count": 10}]}, "/units/0/count"),
            ({"units": [{"unit": "fort", "count": 1}]}, "/units/0/unit"),
            ({"units": [{"unit": "army"}]}, "/units/0/count"),
            ({"units": ["army"]}, "/units/0"),
            ({"surprise": 1}, "/surprise"),
            ({"points": {"a": -1}}, "/points/a"),
            ({"points": {"": 1}}, "/points"),
            ({"points": []}, "/points"),
            ({"extra": 1}, "/extra"),
        ],
    )
    def test_the_first_fault_has_its_pointer(self, change: dict[str, Any], pointer: str) -> None:
        """Booleans are no integers, floats are never taken."""
        fault = MOVE.find_error({**GOOD, **change}, "")
        assert fault is not None
        assert fault[0] == pointer

    def test_integers_beyond_2_53_are_none(self) -> None:
        """Not every JSON reader keeps them."""
        assert ANY_INT.find_error(2**53 - 1, "") is None
        assert ANY_INT.find_error(2**53, "") is not None
        assert ANY_INT.find_error(-(2**53), "") is not None

    def test_a_tag_adds_fields(self) -> None:
        """A value that has no entry adds none, so that the rules can refuse it by their own code."""
        assert TILE.find_error({"tile": "pirates", "region": "india"}, "") is None
        assert TILE.find_error({"tile": "pirates"}, "") == ("/region", "a field that is required")
        assert TILE.find_error({"tile": "banking", "region": "india"}, "") == ("/region", "no such field")
        assert TILE.find_error({"tile": "unheard_of"}, "") is None
        assert TILE.find_error({"tile": 3}, "") is not None


def agrees(schema: dict[str, Any], value: Any) -> bool:
    """A few words of JSON Schema, enough to compare."""
    if "anyOf" in schema or "oneOf" in schema:
        return any(agrees(s, value) for s in schema.get("anyOf", schema.get("oneOf", [])))
    kinds: dict[str, Any] = {"integer": int, "string": str, "boolean": bool, "array": list, "object": dict}
    if schema["type"] == "null":
        return value is None
    if type(value) is not kinds[schema["type"]]:
        return False
    if schema["type"] == "integer":
        return bool(schema["minimum"] <= value <= schema["maximum"])
    if schema["type"] == "string":
        return value in schema["enum"] if "enum" in schema else 1 <= len(value) <= schema["maxLength"]
    if schema["type"] == "array":
        items = all(agrees(schema["items"], v) for v in value)
        return items and bool(schema["minItems"] <= len(value) <= schema["maxItems"])
    if schema["type"] == "object" and "properties" in schema:
        known = schema["properties"]
        return set(schema["required"]) <= set(value) <= set(known) and all(
            agrees(known[k], v) for k, v in value.items()
        )
    return True


@pytest.mark.parametrize("value", [GOOD, {**GOOD, "via": None}, {**GOOD, "to": 1}, {"to": "x"}, {**GOOD, "z": 1}, 3])
def test_the_schema_says_the_same(value: Any) -> None:
    """Who checks by the published schema finds what the kernel finds."""
    assert agrees(MOVE.schema(), value) == (MOVE.find_error(value, "") is None)


def test_the_schema_of_variants_is_a_union() -> None:
    """One object per value of the tag."""
    assert [agrees(TILE.schema(), v) for v in ({"tile": "pirates", "region": "x"}, {"tile": "banking"})] == [True] * 2
    assert not agrees(TILE.schema(), {"tile": "banking", "region": "x"})


def test_a_shape_of_its_own_must_say_both() -> None:
    """The base class has no meaning."""
    for call in (lambda: Validator().find_error(1, ""), lambda: Validator().schema()):
        with pytest.raises(NotImplementedError):
            call()
