"""The JSON form of a state: driven by the types, strict, patchable."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import FormError
from domain.kernel.rules.flow import Frame, State
from domain.kernel.schema.json_codec import BY_SEAT, from_json, merge_patch, resolve, to_json
from tests.kernel.flows.sealed import Sealed


@dataclass(frozen=True)
class Army:
    men: int = 1
    leader: str | None = None


@dataclass(frozen=True)
class World(State):
    gold: Annotated[tuple[int, ...], BY_SEAT] = ()
    armies: dict[str, Army] = field(default_factory=dict)
    trail: tuple[str, ...] = ()
    reserve: Army | None = None
    nested: Annotated[tuple[dict[str, tuple[int, ...]], ...], BY_SEAT] = ()


WORLD = World(
    seats=2,
    gold=(3, 4),
    armies={"a": Army(2, "x")},
    trail=("p", "q"),
    nested=({"k": (1, 2)}, {}),
    frames=(Frame(1, "turn", (0,), (0,), data={"todo": ["a", 1, None]}),),
)


class TestTheForm:
    def test_each_type_has_one_form(self) -> None:
        """Objects by field, tuples by seat as objects keyed "0", "1" .., other tuples as lists."""
        doc = to_json(WORLD)
        assert doc["gold"] == {"0": 3, "1": 4}
        assert doc["armies"] == {"a": {"men": 2, "leader": "x"}}
        assert doc["trail"] == ["p", "q"]
        assert doc["reserve"] is None
        assert doc["nested"] == {"0": {"k": [1, 2]}, "1": {}}
        assert doc["frames"][0]["data"] == {"todo": ["a", 1, None]}

    def test_it_round_trips_through_text(self) -> None:
        """What is written is what is read."""
        assert from_json(World, json.loads(json.dumps(to_json(WORLD)))) == WORLD

    def test_a_missing_field_takes_its_default(self) -> None:
        """Old documents load when a field is added."""
        doc = {k: v for k, v in to_json(WORLD).items() if k != "reserve"}
        assert from_json(World, doc) == WORLD

    def test_a_type_that_has_no_form_is_a_fault_of_the_program(self) -> None:
        """Lists could be changed in place."""

        @dataclass(frozen=True)
        class Bad:
            items: list[int] = field(default_factory=list)

        with pytest.raises(TypeError, match="a state holds no"):
            to_json(Bad())

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"glod": {}}, "/glod"),
            ({"gold": {"0": 3, "2": 4}}, "/gold"),
            ({"gold": [3, 4]}, "/gold"),
            ({"gold": {"0": 3, "1": "4"}}, "/gold/1"),
            ({"gold": {"0": 3, "1": True}}, "/gold/1"),
            ({"armies": {"a/b": {"men": 1.5}}}, "/armies/a~1b/men"),
            ({"armies": {"a": {"ships": 1}}}, "/armies/a/ships"),
            ({"armies": []}, "/armies"),
            ({"trail": "pq"}, "/trail"),
            ({"trail": ["p", 1]}, "/trail/1"),
            ({"reserve": 3}, "/reserve"),
            ({"frames": [{"kind": "turn"}]}, "/frames/0/n"),
        ],
    )
    def test_what_does_not_fit_is_named_by_its_pointer(self, change: dict[str, Any], pointer: str) -> None:
        """The first fault, as RFC 6901 writes it."""
        with pytest.raises(FormError) as caught:
            from_json(World, {**to_json(WORLD), **change})
        assert caught.value.pointer == pointer


class TestPatches:
    def test_a_patch_reaches_one_seat(self) -> None:
        """RFC 7396 on the form: objects are merged, lists replaced."""
        patched = from_json(World, merge_patch(to_json(WORLD), {"gold": {"1": 9}, "trail": ["z"]}))
        assert (patched.gold, patched.trail, patched.armies) == ((3, 9), ("z",), WORLD.armies)

    def test_null_deletes(self) -> None:
        """A deleted member is gone, a deleted field takes its default."""
        patched = from_json(World, merge_patch(to_json(WORLD), {"armies": {"a": None}, "nested": None}))
        assert (patched.armies, patched.nested) == ({}, ())

    @pytest.mark.parametrize(
        ("doc", "patch", "result"),
        [
            ({"a": "b"}, {"a": "c"}, {"a": "c"}),
            ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
            ({"a": "b"}, {"a": None}, {}),
            ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
            ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
            ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
            ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
            ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
            (["a", "b"], ["c", "d"], ["c", "d"]),
            ({"a": "b"}, ["c"], ["c"]),
            ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
            ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
            ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ],
    )
    def test_the_examples_of_the_standard(self, doc: Any, patch: Any, result: Any) -> None:
        """RFC 7396, appendix A."""
        assert merge_patch(doc, patch) == result

    def test_pointers(self) -> None:
        """RFC 6901: `~1` is a slash, `~0` a tilde, the empty pointer the whole."""
        doc = {"a/b": {"m~n": [1, {"": 2}]}}
        assert resolve(doc, "/a~1b/m~0n/1/") == 2
        assert resolve(doc, "") == doc
        for nothing in ("/c", "/a~1b/m~0n/7", "/a~1b/m~0n/x", "/a~1b/m~0n/0/0", "/a~1b/m~0n/-1", "/a~1b/m~0n/00"):
            with pytest.raises(FormError, match="nothing"):
                resolve(doc, nothing)


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["f2", "f3", None])), min_size=1, max_size=5))
def test_any_state_round_trips(seats: list[tuple[int, str | None]]) -> None:
    """Whatever a seat has."""
    gold, cards = zip(*seats, strict=True)
    hands = tuple(("bluff",) * g for g in gold)
    state = Sealed(len(seats), gold=gold, cards=cards, hands=hands)
    assert from_json(Sealed, json.loads(json.dumps(to_json(state)))) == state
