"""IMP-0: seats, moves, order of checks, chance, lots."""

from __future__ import annotations

import pytest

from tests.games.imperunde.board import (
    attack,
    buy,
    card,
    colony,
    deciding,
    dice,
    group,
    lot,
    move,
    moves_left,
    named,
    position,
    standing,
    wheel,
    zone,
)
from tests.spec import Given


def test_a_seat_is_named_by_its_home() -> None:
    """IMP-0.1: the nation's id is the id of its home country."""
    game = position()
    assert game.state.homes() == {"great_britain": 0, "south_africa": 1, "japan": 2}


def test_a_refused_move_changes_nothing() -> None:
    """IMP-0.2: no piece, no money, no dice."""
    game = position(nations={0: {"available": 3}}, step="investment")
    game.refused(0, buy("artillery", 2, "great_britain"), "insufficient_funds", "IMP-6.4.2")
    assert game.state.nations[0].available == 3


@pytest.mark.parametrize(
    ("seat", "move", "code"),
    [
        (0, {"units": []}, "malformed_move"),
        (0, {"type": "move", "units": [{"unit": "infantry", "count": -1}], "path": ["a", "b"]}, "malformed_move"),
        (0, {"type": "buy", "item": "frigate", "quantity": 1, "country": "japan"}, "malformed_move"),
        (0, {"type": "buy", "item": ["frigate"], "quantity": 1, "country": "japan"}, "malformed_move"),
        (0, {"type": "levitate"}, "unknown_move"),
        (1, {"type": "end_movement"}, "not_your_decision"),
        (0, {"type": "end_investments"}, "wrong_phase"),
        (1, card("ambush"), "card_not_in_hand"),
    ],
)
def test_common_checks(seat: int, move: dict[str, object], code: str) -> None:
    """IMP-0.3: those of all games come first; a card is judged by its own."""
    position().refused(seat, move, code)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (("atlantis", "north_sea"), "unknown_region"),
        (("indian_ocean", "antarctica"), "antarctica_forbidden"),
    ],
)
def test_ids_of_regions(path: tuple[str, ...], code: str) -> None:
    """IMP-0.3, IMP-3.10: both kinds fit a path; Antarctica is no place for pieces."""
    position().refused(0, move(*path, frigate=1), code)


def test_the_wrong_kind_of_region() -> None:
    """IMP-0.3: a country where a zone is wanted is unknown, Antarctica too."""
    game = position(step="investment", nations={0: {"available": 9}})
    for zone_id in ("france", "antarctica"):
        game.refused(0, buy("frigate", 1, "great_britain", zone_id), "unknown_region", "IMP-6.4.2")


def test_unknown_units_and_none() -> None:
    """IMP-0.3: an unknown unit, then an empty list or a count of 0."""
    game = position()
    game.refused(0, move("north_sea", "baltic_sea", dragon=1), "unknown_item")
    game.refused(0, {"type": "move", "units": [], "path": ["north_sea", "baltic_sea"]}, "no_units")
    game.refused(0, move("north_sea", "baltic_sea", frigate=0), "no_units")


def test_demands_on_the_same_lots_are_added_up() -> None:
    """IMP-0.3: two groups cannot take the same unit."""
    game = position(countries={"france": colony(0, posts=1, infantry=1)})
    double = attack(group("france", "spain", infantry=1), group("france", "spain", infantry=1))
    game.refused(0, double, "not_enough_units", "IMP-8.1.1")


def test_draws_are_recorded_in_their_order() -> None:
    """IMP-0.4: attackers' dice first, each of its colour."""
    game = position(countries={"france": colony(0, posts=1, artillery=1, infantry=1)})
    game.when(0, attack(group("france", "spain", artillery=1)), draws=dice("g8 w1 w2 w3 g8 w1 w1 g8 w5"))
    public = game.match.records[-1].public["draws"]
    assert [(d[1], d[3]) for d in public[:4]] == [
        ("die.green", 8),
        ("die.white", 1),
        ("die.white", 2),
        ("die.white", 3),
    ]


def test_lots_of_few_moves_go_first() -> None:
    """IMP-0.5: without `moves_left` those with the fewest moves that suffice; with it, that lot."""
    fleet = {0: {"frigate": 2}}
    game = position(zones={"north_sea": zone(fleet)})
    game.when(0, move("north_sea", "norwegian_sea", frigate=1))
    game.when(0, move("norwegian_sea", "north_sea", frigate=1))
    assert {(x.count, x.moves_left) for x in game.state.lots_in(0, "north_sea")} == {(1, 0), (1, 2)}
    game.when(0, move("north_sea", "baltic_sea", frigate=1))
    assert moves_left(game, "baltic_sea", 0) == {"frigate": 1}
    named_lot = {"unit": "frigate", "count": 1, "moves_left": 2}
    game.refused(0, {"type": "move", "units": [named_lot], "path": ["north_sea", "baltic_sea"]}, "not_enough_units")


def test_pinned_ships_fight_first() -> None:
    """IMP-0.5: for fighting, pinned first, then those with the fewest moves."""
    fleet = [lot("frigate", 2), lot("frigate", 2, pinned=True), lot("ship_of_the_line", 1)]
    game = position(step="cleanup", wars=[(0, 1)], zones={"north_sea": zone({0: fleet, 1: {"frigate": 1}})})
    units = [{"unit": "frigate", "count": 3}]
    facts = game.when(0, {"type": "choose_units", "units": units}, draws=dice("w5 w1 w1 w1"))
    chosen = named(facts, "units_chosen")[0]["units"]
    assert {"unit": "frigate", "count": 2, "pinned": True} in chosen


@pytest.mark.parametrize(("turn", "order"), [(3, [1, 2, 3, 0]), (4, [1, 0, 3, 2])])
def test_turn_order(turn: int, order: list[int]) -> None:
    """IMP-0.6, IMP-6.1.2: from the first player, clockwise in odd turns, else counter-clockwise."""
    game = position(4, step="events", turn=turn - 1, order=[0, 1, 2, 3], frames=last_move())
    rolled = dice("w1 w6 w2 w3")
    game.when(0, {"type": "end_embarkation"}, draws=[*rolled_events(), *rolled, shuffled(game)])
    assert list(game.state.order) == order


def last_move() -> list[dict[str, object]]:
    """The last embarkation of a turn, so that a move leads into the next turn."""
    lowest = {"n": 1, "kind": "game", "data": {"step": "events"}}
    last = {"n": 2, "kind": "embarkation", "asked": [0], "owing": [0], "data": {}}
    return [lowest, last]


def rolled_events() -> list[dict[str, object]]:
    """Nine events that do nothing."""
    land = ["iceland", "scandinavia", "portugal", "spain", "france", "netherlands"]
    sea = ["north_sea", "baltic_sea", "norwegian_sea"]
    out = [w for c in land for w in (wheel("country", c), wheel("land_event", "trade"))]
    return [*out, *(w for z in sea for w in (wheel("sea", z), wheel("sea_event", "calm")))]


def shuffled(game: Given) -> dict[str, object]:
    """The draw pile as it lies."""
    return {"label": "shuffle.deck", "value": list(game.state.deck)}


def test_a_country_without_pieces_is_free_at_once() -> None:
    """IMP-0.7, IMP-3.4: when its last army leaves."""
    game = position(countries={"france": colony(0, infantry=1), "spain": colony(0, posts=1)})
    game.when(0, move("france", "spain", infantry=1))
    assert game.state.country("france").owner is None
    assert standing(game, "spain", 0) == {"infantry": 1}
    assert deciding(game) == ("movement", [0])
