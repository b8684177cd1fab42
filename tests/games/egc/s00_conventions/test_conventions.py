"""Integers, ids, orders, chance."""

from __future__ import annotations

import json

from domain.games.egc.data import EMPIRES, TABLES, TERRITORIES, army_id, by_rank, number_of
from domain.games.egc.state import Army, numbered
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.schema.json_codec import to_json
from tests.games.egc.board import move, of, position


def test_no_float_is_in_a_state_or_a_record() -> None:
    """EGC-0.1, EGC-0.2: money, divisions and points are integers."""
    game = position(armies={3: {"france-1": ("france", 120, 7, 6)}})
    game.resolve({3: [move("france-1", "france", "holland")]})
    text = canonical([to_json(game.state), game.record().public, game.record().packs]).decode()

    def refuse(number: str) -> None:
        raise AssertionError(number)

    json.loads(text, parse_float=refuse)


def test_army_numbers_are_numbers() -> None:
    """EGC-0.3: -10 comes after -2."""
    assert (army_id(3, 10), number_of("austria_hungary-12")) == ("france-10", 12)
    army = Army("france", 1, 1, 1)
    assert [i for i, _ in numbered({"france-10": army, "france-2": army})] == ["france-2", "france-10"]


def test_everything_goes_in_ascending_id() -> None:
    """EGC-0.4."""
    assert list(EMPIRES) == sorted(EMPIRES)
    assert list(TERRITORIES) == sorted(TERRITORIES)
    facts = position().resolve()
    assert [f["seat"] for f in of(facts, "finance_settled")] == list(range(10))


def test_draw_is_made_for_nobody_and_only_where_there_is_choice() -> None:
    """EGC-0.5: two defenders are shuffled, one is not; labels as on the page."""
    two = {"spain-1": ("spain", 60, 5, 5), "spain-2": ("spain", 60, 5, 5)}
    game = position(armies={3: {"france-1": ("france", 200, 7, 6)}, 8: two}, relations={(3, 8): "total_war"})
    game.resolve(
        {3: [move("france-1", "france", "spain")]}, draws=[{"label": "defender_order", "value": ["spain-2", "spain-1"]}]
    )
    assert "draws" not in game.record().public
    assert [d[1] for d in game.record().packs[TABLE_KEY]["draws"]] == ["defender_order"]
    alone = position(armies={3: {"france-1": ("france", 200, 7, 6)}})
    alone.resolve({3: [move("france-1", "france", "holland")]}, draws=[])
    assert "draws" not in alone.record().packs[TABLE_KEY]


def test_a_table_is_read_by_rank() -> None:
    """EGC-0.7: item rank-1."""
    assert by_rank("factory_value", 1) == 22_000
    assert by_rank("factory_value", 10) == 4_000
    assert all(len(values) == 10 for values in TABLES.values())
