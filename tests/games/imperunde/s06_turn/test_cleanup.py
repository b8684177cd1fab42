"""IMP-6.5: clean-up of sea zones."""

from __future__ import annotations

from tests.games.imperunde.board import attack, deciding, dice, group, lot, move, named, position, standing, zone


def test_enemies_fight_in_the_order_of_the_wheel() -> None:
    """IMP-6.5.1: the earlier seat in turn order attacks; pirates are last."""
    both = {0: {"frigate": 1}, 1: {"frigate": 1}}
    game = position(
        4,
        "cleanup",
        frames=[{"n": 1, "kind": "game", "data": {"step": "cleanup"}}, _last_investment()],
        opened=2,
        phase=4,
        order=[1, 0, 2, 3],
        wars=[(0, 1)],
        zones={"tasman_sea": zone(both), "north_sea": zone(both, pirates=1)},
    )
    facts = game.when(3, {"type": "end_investments"}, draws=dice("w6 w1 w5 w2 w1 w6"))
    fights = [(f["region"], f["attacker"], f["defender"]) for f in named(facts, "combat_started")]
    assert fights == [("north_sea", 1, 0), ("north_sea", 1, "pirates"), ("tasman_sea", 1, 0)]


def _last_investment() -> dict[str, object]:
    return {"n": 2, "kind": "investment", "asked": [3], "owing": [3], "data": {}}


def test_transports_without_escort_sink() -> None:
    """IMP-6.5.1: an enemy party there, and neither own nor friends' warships."""
    game = position(
        4,
        "cleanup",
        wars=[(0, 1), (0, 2)],
        zones={
            "north_sea": zone({0: {"frigate": 1}, 1: {"infantry": 2}}),
            "baltic_sea": zone({0: {"frigate": 1}, 3: {"infantry": 1}}),
            "tasman_sea": zone({1: {"infantry": 1}, 0: {"infantry": 1}}),
        },
    )
    assert standing(game, "north_sea", 1) == {}
    assert standing(game, "baltic_sea", 3) == {"infantry": 1}
    assert standing(game, "tasman_sea", 1) == {"infantry": 1}


def test_only_transports_are_left_alone() -> None:
    """IMP-6.5.2: also when their owners are at war; no windows and no reinforcements."""
    zones = {"tasman_sea": zone({1: {"infantry": 1}, 0: {"infantry": 1}})}
    game = position(step="cleanup", wars=[(0, 1)], zones=zones, hands={0: ["capture"]})
    assert standing(game, "tasman_sea", 0) == {"infantry": 1}
    assert deciding(game) == ("movement", [0])
    assert game.state.phase == 6


def test_captured_ships_are_held_until_the_end_of_phase_6() -> None:
    """IMP-6.5.3, IMP-6.6.5: pinned, without moves."""
    fleet = [lot("frigate", 1), lot("frigate", 1, pinned=True)]
    game = position(zones={"north_sea": zone({0: fleet})}, frames=None)
    pinned = [x for x in game.state.lots_in(0, "north_sea") if x.pinned]
    assert [x.moves_left for x in pinned] == [0]
    game.refused(0, move("north_sea", "baltic_sea", frigate=2), "not_enough_moves")
    for seat in range(3):
        game.when(seat, {"type": "end_movement"})
    assert not any(x.pinned for x in game.state.lots_in(0, "north_sea"))


def test_friends_that_share_a_zone_stay() -> None:
    """IMP-6.5.4: nobody controls it."""
    zones = {"north_sea": zone({0: {"frigate": 1}, 1: {"frigate": 1}})}
    game = position(step="cleanup", wars=[(0, 1)], overrides={(0, 1): "peace"}, zones=zones)
    assert game.state.controller("north_sea") is None
    assert standing(game, "north_sea", 1) == {"frigate": 1}


def test_friends_that_become_enemies_stay_and_may_leave() -> None:
    """IMP-6.5.5: until the next clean-up; an attack from elsewhere brings both whole fleets in."""
    zones = {
        "north_sea": zone({0: {"frigate": 1}, 1: {"frigate": 1}}),
        "baltic_sea": zone({0: {"ship_of_the_line": 1}}),
    }
    game = position(wars=[(0, 1)], zones=zones)
    facts = game.when(0, attack(group("baltic_sea", "north_sea", ship_of_the_line=1)), draws=dice("g8 w6 w1"))
    assert len(named(facts, "round_fought")[0]["attacker"]) == 2
    again = position(wars=[(0, 1)], zones=zones)
    again.when(0, move("north_sea", "norwegian_sea", frigate=1))
    assert again.state.controller("north_sea") == 1
