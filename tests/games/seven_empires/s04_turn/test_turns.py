"""SE7-4: taking a turn."""

from __future__ import annotations

from typing import Any

from domain.games.seven_empires.data import EMPIRES
from tests.games.seven_empires.board import asked, kinds_of, move, moving, offers, position, there
from tests.spec import Given


def choose(empire: str, action: str) -> Any:
    return move("choose_action", empire=empire, action=action)


def test_seven_turns_clockwise() -> None:
    """SE7-4.1: from the pawn holder on; nobody passes; each empire acts once in a decade."""
    game = position(pawn=2)
    for turn, (seat, empire) in enumerate(
        [(2, "spain"), (0, "prussia"), (1, "russia"), (2, "habsburg"), (0, "ottomans")], 1
    ):
        assert (game.state.turn_in_decade, asked(game)) == (turn, ("choose_empire", seat))
        game.when(seat, choose(empire, "palace"))
        game.when(
            seat, move("build_palace", region={"spain": "madrid"}.get(empire) or game.state.free_cities(empire)[0])
        )
    assert game.state.waiting() == ["france", "great_britain"]
    game.refused(1, choose("russia", "attack"), "empire_already_acted", "SE7-10.3")


def test_mode_a_asks_for_an_own_monarch() -> None:
    """SE7-4.2, SE7-4.5: T is monarch of an empire that has not acted, and decides for it."""
    game = position()
    assert game.decision.context == {"mode": "monarch", "empires": ["prussia", "ottomans"]}
    game.refused(0, choose("russia", "palace"), "must_use_own_monarch", "SE7-4.2")
    game.refused(0, move("delegate", empire="russia"), "delegation_not_allowed", "SE7-4.2")
    game.when(0, choose("ottomans", "palace"))
    assert asked(game) == ("palace", 0)


def test_a_monarch_may_act_with_little_influence() -> None:
    """SE7-4.3: the minimum of 3 belongs to mode B."""
    game = position(hands={0: ["spain.worker"], 1: [], 2: []}, monarchs={**dict.fromkeys(EMPIRES, 1), "spain": 0})
    assert game.decision.context == {"mode": "monarch", "empires": ["spain"]}


NOBODY = dict.fromkeys(EMPIRES, 1)


def test_mode_b_asks_for_the_highest_influence() -> None:
    """SE7-4.2, SE7-4.5: at least 3, among equals it is free; the monarch has no say."""
    hands = {0: ["spain.magistrate", "france.magistrate", "russia.peasant_1"]}
    game = position(monarchs=NOBODY, hands=hands)
    assert game.decision.context == {"mode": "influence", "empires": ["spain", "france"]}
    game.refused(0, choose("russia", "palace"), "must_use_highest_influence", "SE7-4.2")
    game.refused(0, move("delegate", empire="russia"), "delegation_not_allowed", "SE7-4.2")
    game.when(0, choose("france", "attack"))
    assert asked(game) == ("attack_deploy", 0)


def test_mode_b_looks_at_empires_that_wait() -> None:
    """SE7-4.2: the highest influence over those that have not acted."""
    hands = {0: ["spain.magistrate", "russia.peasant_1"]}
    game = position(monarchs=NOBODY, hands=hands, acted=["spain"], turn=2, pawn=2)
    assert game.decision.context == {"mode": "influence", "empires": ["russia"]}


def test_mode_n_asks_for_a_neutral_empire() -> None:
    """SE7-4.2, SE7-4.3, SE7-4.5: before mode C; no compensation."""
    game = position(monarchs={**NOBODY, "spain": None}, hands={0: ["russia.worker"]})
    assert game.decision.context == {"mode": "neutral", "empires": ["spain"]}
    game.refused(0, choose("russia", "palace"), "must_use_neutral_empire", "SE7-4.2")
    game.refused(0, move("delegate", empire="russia"), "delegation_not_allowed", "SE7-4.2")
    game.when(0, choose("spain", "palace"))
    assert asked(game) == ("palace", 0)


def test_the_marker_must_lie_on_the_tray() -> None:
    """SE7-4.4: slots II and III are not available; the marker goes to slot I."""
    game = position()
    game.refused(0, choose("prussia", "move_fight"), "action_not_available", "SE7-4.4")
    game.refused(0, choose("prussia", "empire"), "action_not_available", "SE7-4.4")
    assert offers(game, 0, "prussia") == ["build_deploy", "attack", "palace"]
    game.when(0, choose("prussia", "attack"))
    assert game.at("/empires/prussia/markers/attack") == "I"


def delegating(**more: Any) -> Given:
    """Seat 0 has no influence worth a turn, seat 1 is monarch of everything."""
    return position(monarchs=NOBODY, hands={0: ["russia.worker"]}, **more)


def test_mode_c_leaves_an_empire_to_its_monarch() -> None:
    """SE7-4.6, SE7-3.4: the monarch chooses the marker and is the actor; the turn counts as T's."""
    game = delegating()
    assert game.decision.context == {"mode": "delegation", "empires": list(EMPIRES)}
    game.refused(0, choose("russia", "palace"), "must_delegate", "SE7-4.2")
    game.when(0, move("delegate", empire="russia"))
    assert asked(game) == ("choose_delegated_action", 1)
    assert game.decision.context == {"turn_seat": 0, "mode": "delegation", "empire": "russia"}
    game.refused(1, choose("spain", "palace"), "wrong_empire", "SE7-4.6")
    game.refused(1, choose("russia", "empire"), "action_not_available", "SE7-4.4")
    game.when(1, choose("russia", "palace"))
    game.when(1, move("build_palace", region="moscow"))
    assert asked(game) == ("choose_empire", 1)
    game = delegating(acted=["russia"], turn=2, pawn=2)
    game.refused(0, move("delegate", empire="russia"), "empire_already_acted", "SE7-10.3")


def compensate(region: str, unit: str) -> Any:
    return move("delegate", empire="russia", deploy={"region": region, "unit": unit})


def test_the_delegation_is_told_before_its_compensation() -> None:
    """SE7-4.6, SE7-3.5: the empire is named first."""
    facts = delegating().when(0, compensate("berlin", "infantry"))
    assert kinds_of(facts) == ["empire_delegated", "compensation_deployed"]


def test_the_compensation_is_what_a_city_can_produce() -> None:
    """SE7-4.6: in an unoccupied city with a tile, of any empire; also one that has acted or is neutral."""
    game = delegating(units={"berlin": "russia infantry"}, levels={"moscow": 2}, acted=["habsburg"])
    for region, unit, code in (
        ("bavaria", "infantry", "not_a_city"),
        ("berlin", "infantry", "city_occupied"),
        ("konya", "infantry", "no_city_tile"),
        ("moscow", "infantry", "cannot_produce"),
        ("paris", "two_master", "cannot_produce"),
    ):
        game.refused(0, compensate(region, unit), code, "SE7-4.6")
    offered = offers(game, 0, "russia")
    assert {"moscow", "vienna"} <= set(offered)
    assert not {"berlin", "konya"} & set(offered)
    assert game.offered(0, "russia", "moscow") == compensate("moscow", "artillery")
    game.when(0, compensate("vienna", "infantry"))
    assert there(game, "vienna") == {"habsburg": {"infantry": 1}}


def test_the_compensation_may_be_the_substitute() -> None:
    """SE7-4.6: infantry for artillery that is used up; neither when both are."""
    guns = dict(
        zip(
            ("moscow", "kiev", "livonia", "moldavia", "crimea", "finland", "sweden"),
            ["russia artillery"] * 7,
            strict=True,
        )
    )
    game = delegating(levels={"moscow": 2}, units=guns)
    game.refused(0, compensate("moscow", "artillery"), "supply_exhausted", "SE7-0.10")
    game.when(0, compensate("moscow", "infantry"))
    assert there(game, "moscow") == {"russia": {"artillery": 1, "infantry": 1}}


def test_the_compensation_may_move_at_once() -> None:
    """SE7-4.6: it is deployed before the monarch's choice."""
    game = delegating(markers={"russia": {"palace": "II", "attack": "III"}})
    game.when(0, compensate("moscow", "infantry"))
    game.when(1, choose("russia", "move_fight"))
    assert game.state.movement.able == {"moscow": {"infantry": 1}}


def test_the_compensation_may_exceed_the_limit() -> None:
    """SE7-4.6, SE7-10.2: until the end of the turn; the monarch of that empire removes it, else the turn seat."""
    for monarch, decider in ((2, 2), (None, 0)):
        units = {"vienna": "habsburg infantry infantry infantry"}
        game = delegating(units=units)
        game = position(
            monarchs={**NOBODY, "habsburg": monarch},
            hands={0: ["russia.worker"]},
            units=units,
            acted=["habsburg"],
            turn=2,
            pawn=2,
        )
        game.when(0, compensate("vienna", "infantry"))
        game.when(1, choose("russia", "palace"))
        game.when(1, move("build_palace", region="moscow"))
        assert asked(game) == ("reduction", decider)


def test_the_turn_ends_after_the_action() -> None:
    """SE7-4.7: and the decade after the seventh turn."""
    game = moving("spain", {"madrid": "spain infantry"})
    game.when(0, {"type": "end_movement"})
    assert asked(game) == ("choose_empire", 1)
    assert game.state.turn_in_decade == 2
