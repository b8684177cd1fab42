"""IMP-6.6, IMP-6.7: parts of phase 6, sinking, embarkation."""

from __future__ import annotations

import pytest

from tests.games.imperunde.board import (
    PASS,
    attack,
    colony,
    country,
    deciding,
    dice,
    group,
    move,
    moves_left,
    named,
    position,
    standing,
    units,
    zone,
)


def test_one_seat_after_the_other() -> None:
    """IMP-6.6.1: before each part a window asks the others."""
    game = position(step="move_window", order=[2, 0, 1], hands={0: ["ambush"], 2: ["ambush"]})
    assert deciding(game) == ("open_window", [0])
    game.when(0, PASS)
    assert deciding(game) == ("movement", [2])
    game.when(2, {"type": "end_movement"})
    assert deciding(game) == ("open_window", [2])


def test_moves_are_given_and_taken() -> None:
    """IMP-6.6.2: 1 on land, 2 for cavalry and ships; the others have none."""
    everything = {"infantry": 1, "cavalry": 1, "artillery": 1, "frigate": 1}
    game = position(
        countries={"france": colony(0, infantry=1, cavalry=1, artillery=1), "spain": colony(1, infantry=1)},
        zones={"north_sea": zone({0: everything})},
    )
    assert moves_left(game, "france", 0) == {"artillery": 1, "cavalry": 2, "infantry": 1}
    assert set(moves_left(game, "north_sea", 0).values()) == {2}
    assert moves_left(game, "spain", 1) == {"infantry": 0}
    game.when(0, {"type": "end_movement"})
    assert set(moves_left(game, "north_sea", 0).values()) == {0}


def test_nothing_is_compulsory() -> None:
    """IMP-6.6.3: `end_movement` ends the part at any time."""
    game = position(wars=[(0, 1)], countries={"france": colony(0, infantry=1)})
    game.when(0, {"type": "end_movement"})
    assert deciding(game) == ("movement", [1])


def test_sinking_on_arrival_and_in_passing() -> None:
    """IMP-6.6.4, IMP-7.4: after every step of warships, in zones that the active seat then controls."""
    game = position(
        wars=[(0, 1)],
        zones={
            "north_sea": zone({0: {"frigate": 1}}),
            "norwegian_sea": zone({1: {"infantry": 1}, 2: {"infantry": 1}}),
            "barents_sea": zone({1: {"cavalry": 1}}),
        },
    )
    facts = game.when(0, move("north_sea", "norwegian_sea", "barents_sea", frigate=1))
    assert [f["region"] for f in named(facts, "transports_sunk")] == ["norwegian_sea", "barents_sea"]
    assert standing(game, "norwegian_sea", 2) == {"infantry": 1}


def test_sinking_when_a_part_starts() -> None:
    """IMP-6.6.4: fleets of seats that are not active sink nothing."""
    zones = {"north_sea": zone({1: {"frigate": 1}, 0: {"infantry": 1}})}
    game = position(wars=[(0, 1)], zones=zones)
    assert standing(game, "north_sea", 0) == {"infantry": 1}
    game.when(0, {"type": "end_movement"})
    assert standing(game, "north_sea", 0) == {}


def test_pins_end_with_the_phase() -> None:
    """IMP-6.6.5: at the end of phase 6, and of phase 8."""
    pinned = [{"unit": "frigate", "count": 1, "moves_left": 0, "pinned": True}]
    game = position(step="unpin", zones={"north_sea": zone({0: pinned})})
    assert [x.pinned for x in game.state.lots_in(0, "north_sea")] == [False]
    assert deciding(game) == ("embarkation", [0])


def embark(start: str, to: str, **counts: int) -> dict[str, object]:
    return {"type": "embark", "from": start, "zone": to, "units": units(**counts)}


@pytest.mark.parametrize(
    ("order", "code"),
    [
        (embark("atlantis", "north_sea", infantry=1), "unknown_region"),
        (embark("france", "spain", infantry=1), "unknown_region"),
        (embark("spain", "north_atlantic", infantry=1), "not_your_country"),
        (embark("france", "north_sea", frigate=1), "wrong_unit_for_target"),
        (embark("france", "north_sea"), "no_units"),
        (embark("france", "north_sea", infantry=3), "not_enough_units"),
        (embark("france", "baltic_sea", infantry=1), "zone_not_adjacent"),
        (embark("france", "north_atlantic", infantry=1), "enemy_warships_present"),
    ],
)
def test_refused_embarkations(order: dict[str, object], code: str) -> None:
    """IMP-6.7.1: in the order of the rule; pirates are enemies."""
    game = position(
        step="embarkation", countries={"france": colony(0, infantry=2)}, zones={"north_atlantic": zone(pirates=1)}
    )
    game.refused(0, order, code, "IMP-6.7.1")


def test_embarkation() -> None:
    """IMP-6.7.1, IMP-6.7.2: any army, into calm, storm and among friends; it rolls, and sails next turn."""
    game = position(
        step="embarkation",
        countries={"france": colony(0, infantry=2, posts=1), "spain": colony(0, cavalry=1)},
        zones={"north_sea": zone({1: {"frigate": 1}}, marker="storm"), "north_atlantic": zone(marker="calm")},
    )
    game.when(0, embark("france", "north_sea", infantry=2), draws=dice("w2 w3"))
    assert standing(game, "north_sea", 0) == {"infantry": 1}
    game.when(0, embark("spain", "north_atlantic", cavalry=1))
    assert country(game, "spain").owner is None
    assert moves_left(game, "north_atlantic", 0) == {"cavalry": 0}
    game.when(0, {"type": "end_embarkation"})
    assert deciding(game) == ("embarkation", [1])


def test_a_landed_army_may_embark_again() -> None:
    """IMP-6.7.2: also one that has fought this turn."""
    game = position(zones={"north_sea": zone({0: {"infantry": 3}})})
    game.when(0, attack(group("north_sea", "netherlands", infantry=3)), draws=dice("w6 w6 w6 w1 w1"))
    for seat in range(3):
        game.when(seat, {"type": "end_movement"})
    game.when(0, embark("netherlands", "north_sea", infantry=3))
    assert standing(game, "north_sea", 0) == {"infantry": 3}
