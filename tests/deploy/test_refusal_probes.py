"""Illegal moves: they change nothing, they fit the shapes they should fit, and they reach the refusals."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from deploy.simulation import refusal_probes
from domain import bots, rollouts
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.ruleset import COMMON_CODES
from domain.kernel.schema.validators import Boolean, IntegerRange, ListOf, MapOf, Nullable, ObjectOf, Validator, Word
from tests.kernel.flows import skirmish
from tests.rulesets import FLOWS, Registered

SEED = b"annals specification seed, fixed"
WORDS = ["army", "navy", "nowhere"]

SHAPES: list[Validator] = [
    IntegerRange(3, 5),
    Boolean(),
    Word(),
    Word(("a", "b")),
    Nullable(IntegerRange()),
    ListOf(Word(), 2, 3),
    MapOf(IntegerRange()),
    ObjectOf({"a": IntegerRange(), "b": Boolean(optional=True)}),
    ObjectOf({"kind": Word(), "more": Boolean()}, "kind", {"x": {"n": IntegerRange()}, "y": {"w": Word()}}),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
def test_a_value_of_a_shape_fits_it(shape: Validator) -> None:
    rng = random.Random(1)
    for _ in range(100):
        value = refusal_probes.random_value(shape, rng, WORDS)
        assert shape.find_error(value, "") is None, value


@pytest.mark.parametrize("value", [True, 4, "army", None, ["a", "b"], [], {"a": 1}, {}], ids=str)
def test_an_altered_value_is_another(value: Any) -> None:
    rng = random.Random(1)
    assert any(refusal_probes.alter_value(value, rng, WORDS) != value for _ in range(20))


def test_an_altered_move_keeps_its_type_and_the_move_itself() -> None:
    rng, move = random.Random(1), {"type": "x", "n": 1, "list": [{"a": 1}, "b"]}
    for _ in range(100):
        assert refusal_probes.alter_move(move, rng, WORDS)["type"] == "x"
    assert move == {"type": "x", "n": 1, "list": [{"a": 1}, "b"]}


def test_every_malformed_move_is_refused() -> None:
    match, rng = InMemoryGame(skirmish.RULESET, 4, SEED), random.Random(1)
    move = {"type": "attack", "target": 1, "offer": 0}
    for bad in refusal_probes.list_malformed(move, rng):
        assert not bots.is_legal(match.rules, match.state, 0, bad), bad


def test_words_are_all_strings_of_a_document() -> None:
    assert set(refusal_probes.list_strings({"a": ["b", {"c": 1}], "d": ("e", None)})) == {"a", "b", "c", "d", "e"}


@pytest.mark.parametrize("entry", FLOWS, ids=lambda e: e.name)
def test_probes_change_nothing_and_meet_refusals(entry: Registered) -> None:
    match, rng = InMemoryGame(entry.rules, entry.seats, SEED), random.Random(1)
    prober, met = refusal_probes.RefusalProbe(entry.rules, random.Random(2)), Counter[str]()
    for _ in range(20):
        if match.state.over:
            break
        head = match.game
        met.update(code for _ in range(15) if (code := prober.probe(match)))
        assert match.game is head
        if match.state.top.engine:
            match.resolve()
            continue
        seat = rng.choice(bots.deciding_seats(match))
        move = rollouts.random_move(entry.rules, match.state, seat, rng)
        prober.learn(move)
        match.play(seat, move)
    assert set(met) <= {*COMMON_CODES, *entry.rules.meta.codes}
    assert set(met) >= {"malformed_move", "unknown_move", "not_your_decision", "not_offered", "not_on_line"}
    assert set(met) & set(entry.rules.meta.codes)
