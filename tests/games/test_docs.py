"""A game's page names every field, frame, move, code and fact, and its rules page every code and its rule."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec
import pytest

from domain.kernel.rules.flow import Frame
from domain.kernel.schema.json_codec import field_types
from tests.games.pages import ALL, ROOT, Pages

COMPOSED = ("no_army_in_region", "no_navy_in_region")
"""Codes that are made of the kind of unit."""

pytestmark = pytest.mark.parametrize("game", ALL, ids=lambda pages: pages.game)


def parts(hint: Any, known: set[type]) -> Iterator[type]:
    """The dataclasses within a type, each once."""
    if is_dataclass(hint) and isinstance(hint, type):
        if hint not in known:
            known.add(hint)
            yield hint
            for inner in field_types(hint).values():
                yield from parts(inner, known)
    elif typing.get_origin(hint) is not None or isinstance(hint, types.UnionType):
        for inner in typing.get_args(hint):
            yield from parts(inner, known)


def codes(game: Pages) -> dict[str, str]:
    """Rows about codes stand among those about moves, and have nothing but a rule."""
    return {name: rest.strip() for name, rest in game.rows("Moves").items() if rest.startswith(f"{game.prefix}-")}


def test_every_field_of_the_state_is_described(game: Pages) -> None:
    """EGC-19.1."""
    state: Any = game.rules.state
    assert set(game.rows("State")) == {f.name for f in fields(state)}
    for part in parts(state, {Frame}):
        for f in fields(typing.cast(Any, part)):
            assert f"`{f.name}`" in game.page, (part, f.name)


def test_every_frame_is_described(game: Pages) -> None:
    engine = {name for name, move in game.rules.moves.items() if move.admission.by == "engine"}
    assert set(game.rows("Frames")) == {*game.rules.meta.clocks, *game.rules.continuations, *engine}


def test_every_move_and_field_is_described(game: Pages) -> None:
    listed = {name: rest for name, rest in game.rows("Moves").items() if name not in codes(game)}
    assert set(listed) == set(game.rules.moves)
    for name, move in game.rules.moves.items():
        for field in (f.encode_name for f in msgspec.structs.fields(move)):
            assert f"`{field}`" in listed[name], (name, field)


def test_every_code_is_listed_with_its_rule(game: Pages) -> None:
    """EGC-17.1."""
    assert codes(game) == dict(game.rules.meta.codes)


def test_every_kind_of_fact_is_described(game: Pages) -> None:
    """EGC-16.1."""
    assert set(game.rows("Facts")) == set(game.rules.facts)


def test_rules_of_codes_and_moves_exist(game: Pages) -> None:
    for rule in {*game.rules.meta.codes.values(), *(m.admission.rule for m in game.rules.moves.values())}:
        assert re.search(rf"\*\*{re.escape(rule)}\b", game.rules_page), rule


def test_the_rules_page_names_every_code_that_is_raised(game: Pages) -> None:
    """No code is raised that the page does not know, and none is listed in vain."""
    source = "".join(path.read_text() for path in (ROOT / "domain/games" / game.game).rglob("*.py"))
    shared = set(re.findall(r"domain\.games\.common(?: import |\.)(\w+)", source))
    source += "".join((ROOT / f"domain/games/common/{name}.py").read_text() for name in sorted(shared))
    for code in game.rules.meta.codes:
        assert code in COMPOSED or source.count(f'"{code}"') > 1, f"{code} is listed, and nothing raises it"
        assert code in game.rules_page, code
