"""Orders of armies: paths, destinations, support, and what an army does without an order."""

from __future__ import annotations

import pytest

from domain.types import Doc
from tests.games.egc.board import Board, move, of, order, position

ARMIES = {3: {"france-1": ("france", 100, 7, 6)}}


def refused(game: Board, moved: Doc, code: str, rule: str = "EGC-7.10.1") -> None:
    """France's order is refused."""
    game.refused(3, moved, code, rule)


def test_an_army_has_one_order() -> None:
    """EGC-7.10: of five kinds."""
    game = position(armies=ARMIES)
    game.refused(3, order("france-1", "dance"), "malformed_move")
    game.refused(3, order("france-1", "move"), "malformed_move")
    for kind in ("prepare_defence", "train", "rest"):
        game.file(3, order("france-1", kind))
    assert len(game.state.sheets[3].orders) == 1


def test_the_form_of_a_path() -> None:
    """EGC-7.10.1."""
    game = position(armies=ARMIES)
    for path in ([], ["france"], ["spain", "france"], ["france", "nowhere"], ["france", "holland", "france"]):
        refused(game, move("france-1", *path), "bad_path")
    refused(game, move("france-1", "france", "bay_of_biscay"), "must_end_on_land")
    refused(game, move("france-1", "france", "holland", round=9), "activation_round")
    refused(game, move("france-1", "france", "holland", round=1), "activation_round")
    game.file(3, move("france-1", "france", "holland", round=2), move("france-1", "france", "holland", round=8))
    refused(game, move("france-1", "france", "serbia"), "not_adjacent")


def test_a_rail_move_goes_through_own_railways_only() -> None:
    """EGC-7.10.1 (b)."""
    rails = {t: {"railway": 1} for t in ("france", "holland", "germany")}
    game = position(armies=ARMIES, owners={"holland": 3}, levels=rails)
    refused(game, move("france-1", "france", "holland", "serbia"), "not_adjacent")
    refused(game, move("france-1", "france", "holland", "germany"), "not_controlled")
    bare = position(
        armies=ARMIES, owners={"holland": 3, "germany": 3}, levels={"france": {"railway": 1}, "germany": {"railway": 1}}
    )
    refused(bare, move("france-1", "france", "holland", "germany"), "no_railway")
    good = position(armies=ARMIES, owners={"holland": 3, "germany": 3}, levels=rails)
    good.resolve({3: [move("france-1", "france", "holland", "germany")]})
    assert good.where("france-1") == "germany"


def test_a_naval_move() -> None:
    """EGC-7.10.1 (c): seas, straits, expeditions, the number of moves."""
    game = position(armies=ARMIES, closed={"gibraltar:3": 8}, owners={"morocco": 8})
    refused(game, move("france-1", "france", "bay_of_biscay", "holland", "north_sea", "england"), "bad_path")
    refused(game, move("france-1", "france", "north_sea", "holland"), "not_adjacent")
    refused(game, move("france-1", "france", "western_mediterranean", "black_sea", "ukraine"), "not_adjacent")
    refused(game, move("france-1", "france", "western_mediterranean", "east_atlantic", "azores"), "strait_closed")
    refused(game, move("france-1", "france", "bay_of_biscay", "algeria"), "not_adjacent")
    refused(game, move("france-1", "france", "bay_of_biscay", "east_atlantic", "azores"), "no_expedition")
    game.file(
        3,
        {"type": "fund_expeditions", "count": 1},
        move("france-1", "france", "bay_of_biscay", "east_atlantic", "azores"),
    )
    refused(
        game, move("france-1", "france", "bay_of_biscay", "east_atlantic", "south_atlantic", "brazil"), "no_expedition"
    )
    game.refused(3, {"type": "cancel_order", "order": 1}, "order_has_dependents")


def test_the_first_sea_must_be_accessible() -> None:
    """EGC-7.10.1 (c): an expedition does not open it; the start needs no port."""
    game = position(armies={7: {"russia-1": ("russia", 50, 5, 5)}})
    game.file(7, {"type": "fund_expeditions", "count": 3})
    game.refused(7, move("russia-1", "russia", "baltic_sea", "finland"), "sea_not_accessible", "EGC-7.10.1")
    opened = position(
        armies={7: {"russia-1": ("russia", 50, 5, 5)}},
        open_ports={"3:7": True},
        owners={"germany": 3},
        lands={"germany": {"port": True}},
    )
    opened.file(7, move("russia-1", "russia", "baltic_sea", "finland"))


def test_the_number_of_naval_moves() -> None:
    """EGC-7.10.1 (c): by naval rank; two at rank 9."""
    three = {f"spain-{k}": ("spain", 20, 5, 5) for k in (1, 2, 3)}
    game = position(armies={8: three})
    sail = [move(f"spain-{k}", "spain", "western_mediterranean", "algeria") for k in (1, 2, 3)]
    game.file(8, *sail[:2])
    game.refused(8, sail[2], "naval_move_limit", "EGC-7.10.1")
    game.file(8, sail[0])


@pytest.mark.parametrize(
    ("relation", "code"),
    [
        ("peace", "not_at_war"),
        ("alliance", "not_at_war"),
        ("imminent_war", "not_at_war"),
        ("war", "metropolis_immune"),
        ("total_war", None),
    ],
)
def test_what_may_be_entered(relation: str, code: str | None) -> None:
    """EGC-7.10.2: own and neutral territories always, a metropolis in total war only."""
    game = position(
        armies=ARMIES,
        owners={"holland": 8},
        relations={(3, 8): relation},
        lands={"italy": {"protectorate": {"seat": 3, "since": 0}}},
    )
    game.file(3, move("france-1", "france", "italy"), move("france-1", "france", "germany"))
    if code:
        refused(game, move("france-1", "france", "spain"), code, "EGC-7.10.2")
    else:
        game.file(3, move("france-1", "france", "spain"))
    if relation in ("war", "total_war"):
        game.file(3, move("france-1", "france", "holland"))
    else:
        refused(game, move("france-1", "france", "holland"), "not_at_war", "EGC-7.10.2")


def test_support() -> None:
    """EGC-7.10.3: of a neighbour by land, or over a common sea that the empire controls."""
    game = position(armies=ARMIES, owners={"holland": 3})
    refused(game, order("france-1", "support", territory="holland"), "own_territory", "EGC-7.10.3")
    refused(game, order("france-1", "support", territory="spain"), "not_at_war", "EGC-7.10.2")
    refused(game, order("france-1", "support", territory="serbia"), "support_out_of_range", "EGC-7.10.3")
    game.file(3, order("france-1", "support", territory="algeria"), order("france-1", "support", territory="italy"))
    lost = position(
        armies=ARMIES,
        relations={(3, 8): "war"},
        owners={"algeria": 8},
        lands={"algeria": {"port": True}},
        rank={3: {"naval": 10}, 9: {"naval": 4}},
    )
    refused(lost, order("france-1", "support", territory="tunisia"), "support_out_of_range", "EGC-7.10.3")


def test_prepared_defence_counts_in_the_first_round() -> None:
    """EGC-7.10.4, EGC-9.4."""
    game = position(
        armies={3: {"france-1": ("france", 300, 7, 6)}, 8: {"spain-1": ("spain", 100, 9, 5)}},
        relations={(3, 8): "total_war"},
    )
    facts = game.resolve({3: [move("france-1", "france", "spain")], 8: [order("spain-1", "prepare_defence")]})
    protection = [r[2] for r in of(facts, "combat_fought", 3)[0]["rounds"]]
    assert protection[:2] == [100 + 60 + 30 + 30, 100 + 60 + 30]


def test_an_army_that_can_learn_nothing_prepares_its_defence() -> None:
    """EGC-7.10.6: Spain, rank 9, has caps 5 and 6; with morale 4 it would have rested instead."""
    for morale, first in ((5, 100 + 60 + 30), (4, 100 + 60)):
        game = position(
            armies={3: {"france-1": ("france", 300, 7, 6)}, 8: {"spain-1": ("spain", 100, morale, 6)}},
            relations={(3, 8): "total_war"},
            levels={"spain": {}},
        )
        facts = game.resolve({3: [move("france-1", "france", "spain")]})
        assert of(facts, "combat_fought", 3)[0]["rounds"][0][2] == first


def test_training_and_resting_are_always_legal() -> None:
    """EGC-7.10.5: even above the caps."""
    game = position(armies={3: {"france-1": ("france", 10, 9, 10)}})
    game.resolve({3: [order("france-1", "rest")]})
    game.resolve({3: [order("france-1", "train")]})
    assert game.army("france-1") == ("france", 10, 9, 10)


@pytest.mark.parametrize(
    ("morale", "training", "after"),
    [(4, 6, (5, 6)), (6, 6, (6, 7)), (7, 6, (7, 7)), (8, 9, (8, 9)), (8, 10, (8, 10)), (6, 9, (7, 9)), (9, 8, (9, 9))],
)
def test_the_order_of_an_army_that_has_none(morale: int, training: int, after: tuple[int, int]) -> None:
    """EGC-7.10.6: France's caps are morale 8 and training 9."""
    game = position(armies={3: {"france-1": ("france", 10, morale, training)}})
    game.resolve()
    assert game.army("france-1") == ("france", 10, *after)


@pytest.mark.parametrize(("rank", "first", "last"), [(1, 1, 9), (3, 2, 8), (6, 3, 7), (8, 4, 6), (10, 5, 5)])
def test_the_window_of_activation(rank: int, first: int, last: int) -> None:
    """EGC-7.10.1: half as wide as the logistics rank allows, around round 5."""
    game = position(armies=ARMIES, rank={3: {"logistics": rank}, rank - 1: {"logistics": 4}})
    for bad in (first - 1, last + 1):
        outside = move("france-1", "france", "holland", round=bad)
        error = game.refused(3, outside, "activation_round", "EGC-7.10.1")
        assert error.detail == {"lo": first, "hi": last}
    for good in (first, last):
        game.file(3, move("france-1", "france", "holland", round=good))


def test_each_army_needs_an_expedition_of_its_own() -> None:
    """EGC-7.9, EGC-7.10.1 (c): one for each sea that is not accessible and each army that enters it."""
    two = {"france-1": ("france", 50, 5, 5), "france-2": ("france", 50, 5, 5)}
    game = position(armies={3: two})
    sail = ("france", "bay_of_biscay", "east_atlantic", "canary_islands")
    game.file(3, {"type": "fund_expeditions", "count": 1}, move("france-1", *sail))
    refused(game, move("france-2", *sail), "no_expedition")
    game.file(3, {"type": "fund_expeditions", "count": 2}, move("france-2", *sail))
    refused(game, move("france-1", *sail[:3], "south_atlantic", "brazil"), "no_expedition")


def test_a_port_of_the_same_sheet_opens_a_sea_to_support() -> None:
    """EGC-7.10.3, EGC-7.0.2: and the port cannot be taken back while an order needs it."""
    game = position(armies={3: {"france-1": ("morocco", 50, 5, 5)}}, owners={"morocco": 3})
    support = order("france-1", "support", territory="azores")
    refused(game, support, "support_out_of_range", "EGC-7.10.3")
    game.file(3, {"type": "build", "territory": "morocco", "infrastructure": "port"}, support)
    game.refused(3, {"type": "cancel_order", "order": 1}, "order_has_dependents", "EGC-7.0.3")


@pytest.mark.parametrize(("built", "helpers"), [(True, []), (False, ["france-2"])])
def test_support_is_judged_again_by_the_control_of_the_turn(built: bool, helpers: list[str]) -> None:
    """EGC-7.10.3, EGC-9.6: a port that an enemy builds in the same turn takes the sea away, and the support."""
    game = position(
        armies={
            3: {"france-1": ("france", 300, 8, 8), "france-2": ("france", 50, 8, 8)},
            8: {"spain-1": ("algeria", 60, 5, 5)},
        },
        owners=dict.fromkeys(("algeria", "morocco", "tunisia"), 8),
        lands={"algeria": {"port": True}, "morocco": {"port": True}},
        relations={(3, 8): "war"},
    )
    # One port of France weighs 11 - 4 = 7; three of Spain weigh 3*(11 - 9) = 6, four of them 8.
    game.file(3, move("france-1", "france", "western_mediterranean", "algeria"))
    game.file(3, order("france-2", "support", territory="algeria"))
    assert "western_mediterranean" in game.sight(3)["projection"]["controlled"]
    build = {"type": "build", "territory": "tunisia", "infrastructure": "port"}
    facts = game.resolve({8: [build] if built else []}, draws=["morocco"])
    assert [u[0] for u in of(facts, "combat_fought", 3)[0]["supporters"]] == helpers
