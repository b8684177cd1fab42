"""IMP-1: pieces, cards, units."""

from __future__ import annotations

from collections import Counter

import pytest

from domain.games.imperunde.data import DECK, DICE, UNITS
from tests.games.imperunde.board import buy, colony, position, zone


@pytest.mark.parametrize(("seats", "sets"), [(3, 2), (4, 1), (6, 1)])
def test_supplies(seats: int, sets: int) -> None:
    """IMP-1.1: one set for each seat, two with three players; embarked armies are army pieces."""
    game = position(
        seats, zones={"north_sea": zone({0: {"infantry": 2}})}, countries={"france": colony(0, forts=1, posts=1)}
    )
    supply = {u: game.state.supply(0, u) for u in ("infantry", "fort", "trading_post", "ship_of_the_line")}
    assert supply == {
        "infantry": 40 * sets - 2,
        "fort": 30 * sets - 1,
        "trading_post": 45 * sets - 1,
        "ship_of_the_line": 10 * sets,
    }


def test_an_empty_supply() -> None:
    """IMP-1.1: no more pieces of a kind can be placed."""
    game = position(
        4, "investment", zones={"north_sea": zone({0: {"ship_of_the_line": 10}})}, nations={0: {"available": 9}}
    )
    game.refused(0, buy("ship_of_the_line", 1, "great_britain", "north_atlantic"), "supply_exhausted", "IMP-6.4.2")


def test_black_ships() -> None:
    """IMP-1.2: 20 frigates and 5 ships of the line."""
    game = position(zones={"north_sea": zone(pirates=3)})
    assert game.state.supply("pirates", "frigate") == 17
    assert game.state.supply("pirates", "ship_of_the_line") == 5


def test_the_cards() -> None:
    """IMP-1.3: 48 cards of 18 kinds."""
    counts = Counter(DECK)
    assert (len(DECK), len(counts)) == (48, 18)
    assert [counts[c] for c in ("rebellion", "unmask_spies", "counter_espionage", "sabotage")] == [4, 6, 8, 2]


def test_units() -> None:
    """IMP-1.4: kind, cost, die, moves."""
    table = {u.id: (u.kind, u.cost, u.die, u.moves, u.vs_fort) for u in UNITS.values()}
    assert table == {
        "infantry": ("army", 1, "white", 1, 0),
        "cavalry": ("army", 2, "yellow", 2, -1),
        "artillery": ("army", 3, "green", 1, 1),
        "fort": ("fort", 3, "red", 0, 0),
        "frigate": ("warship", 3, "white", 2, 0),
        "ship_of_the_line": ("warship", 5, "green", 2, 0),
        "trading_post": ("post", 2, "", 0, 0),
    }
    assert {c: (d.lo, d.hi) for c, d in DICE.items()} == {
        "white": (1, 6),
        "yellow": (2, 7),
        "green": (3, 8),
        "red": (4, 9),
    }
