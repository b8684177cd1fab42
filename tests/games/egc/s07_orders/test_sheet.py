"""The order sheet."""

from __future__ import annotations

import pytest

from domain.types import Doc
from tests.games.egc.board import Board, move, order, position

ARMIES = {3: {"france-1": ("france", 100, 7, 6), "france-2": ("france", 50, 4, 3)}}


def numbers(game: Board, seat: int = 3) -> list[int]:
    """Numbers of the orders in a sheet."""
    return [o.n for o in game.state.sheets[seat].orders]


KEYED: list[tuple[Doc, Doc]] = [
    (
        {"type": "set_research", "technology": "naval", "amount": 1},
        {"type": "set_research", "technology": "research", "amount": 2},
    ),
    ({"type": "fund_expeditions", "count": 1}, {"type": "fund_expeditions", "count": 2}),
    (order("france-1", "train"), order("france-1", "rest")),
    (
        {"type": "relation_action", "target": "spain", "action": "degrade"},
        {"type": "relation_action", "target": "spain", "action": "propose", "stake": 3},
    ),
    ({"type": "give_money", "to": "spain", "amount": 1}, {"type": "give_money", "to": "spain", "amount": 2}),
    (
        {"type": "give_territory", "territory": "holland", "to": "spain"},
        {"type": "give_territory", "territory": "holland", "to": "zulu"},
    ),
    ({"type": "protect", "territory": "serbia"}, {"type": "protect", "territory": "serbia"}),
    ({"type": "drop", "territory": "italy"}, {"type": "annex", "territory": "italy"}),
    ({"type": "set_ports", "target": "spain", "open": True}, {"type": "set_ports", "target": "spain", "open": True}),
    (
        {"type": "set_straits", "strait": "gibraltar", "target": "spain", "closed": True},
        {"type": "set_straits", "strait": "gibraltar", "target": "spain", "closed": True},
    ),
]


@pytest.mark.parametrize(("first", "second"), KEYED)
def test_an_order_with_the_same_key_replaces_the_old(first: Doc, second: Doc) -> None:
    """EGC-7.0.1: the old one is removed, the new one appended with a new number."""
    held = {"italy": {"protectorate": {"seat": 3, "since": 0}}}
    game = position(8, armies=ARMIES, owners={"holland": 3, "morocco": 3}, lands=held, diplomacy={3: 900})
    game.file(3, first, order("france-2", "rest"), second)
    assert numbers(game) == [2, 3]
    assert game.state.sheets[3].orders[-1].order == second


def test_management_orders_are_added() -> None:
    """EGC-7.0.1, EGC-7.0.2: what is built and raised can be used in the same turn."""
    game = position(armies=ARMIES, owners={"holland": 3}, treasury={3: 900_000})
    game.file(
        3,
        {"type": "recruit", "territory": "france", "divisions": 10},
        {"type": "recruit", "territory": "france", "divisions": 20},
    )
    assert numbers(game) == [1, 2]
    game.refused(3, {"type": "recruit", "territory": "holland", "divisions": 1}, "no_recruitment_centre")
    game.file(3, {"type": "build", "territory": "holland", "infrastructure": "recruitment_centre"})
    game.file(3, {"type": "recruit", "territory": "holland", "divisions": 105}, move("france-50", "france", "italy"))


def test_other_orders_are_checked_after_all_management_orders() -> None:
    """EGC-7.0.2: whatever their sequence; management orders at their own place."""
    game = position(armies=ARMIES, owners={"holland": 3, "germany": 3}, treasury={3: 900_000})
    rails = [{"type": "build", "territory": t, "infrastructure": "railway"} for t in ("france", "holland", "germany")]
    game.refused(3, move("france-1", "france", "holland", "germany"), "no_railway")
    game.file(3, *rails, move("france-1", "france", "holland", "germany"))
    game.file(3, {"type": "fund_expeditions", "count": 2})
    game.refused(3, {"type": "cancel_order", "order": 2}, "order_has_dependents", "EGC-7.0.3")


def test_an_edit_that_makes_another_order_illegal_is_refused() -> None:
    """EGC-7.0.3: with the numbers of those orders, and nothing changes."""
    game = position(armies=ARMIES)
    game.file(3, {"type": "recruit", "territory": "france", "divisions": 10}, order("france-50", "train"))
    error = game.refused(3, {"type": "cancel_order", "order": 1}, "order_has_dependents", "EGC-7.0.3")
    assert error.detail == {"orders": [2]}


def test_cancelling() -> None:
    """EGC-7.0.4."""
    game = position(armies=ARMIES)
    game.file(3, order("france-1", "train"))
    game.refused(3, {"type": "cancel_order", "order": 2}, "unknown_order", "EGC-7.0.4")
    game.file(3, {"type": "cancel_order", "order": 1})
    assert numbers(game) == []
    game.file(3, order("france-1", "train"))
    assert numbers(game) == [2]


def test_funds_and_points_never_fall_below_zero() -> None:
    """EGC-7.0.5."""
    game = position(treasury={3: 100}, diplomacy={3: 60})
    game.file(3, {"type": "set_research", "technology": "naval", "amount": 100})
    assert game.refused(
        3, {"type": "give_money", "to": "spain", "amount": 1}, "insufficient_funds", "EGC-7.0.5"
    ).detail == {"missing": 1}
    degrade = {"type": "relation_action", "target": "spain", "action": "degrade", "stake": 10}
    game.file(3, degrade)
    game.refused(3, {**degrade, "stake": 11}, "insufficient_diplomacy_points", "EGC-7.0.5")


def test_the_order_of_checks() -> None:
    """EGC-7.0.6: shape, unknown ids in the order of the fields, own errors, funds, points."""
    game = position(armies=ARMIES, treasury={3: 0}, diplomacy={3: 0})
    game.refused(3, {"type": "build", "territory": "nowhere"}, "malformed_move")
    game.refused(3, {"type": "give_money", "to": "spain", "amount": True}, "malformed_move")
    game.refused(
        3, {"type": "build", "territory": "nowhere", "infrastructure": "temple"}, "unknown_territory", "EGC-7.0.6"
    )
    game.refused(3, {"type": "build", "territory": "spain", "infrastructure": "temple"}, "unknown_infrastructure")
    game.refused(3, {"type": "build", "territory": "spain", "infrastructure": "farm"}, "not_owner")
    game.refused(3, {"type": "build", "territory": "france", "infrastructure": "farm"}, "insufficient_funds")
    game.refused(3, order("spain-1", "support", territory="nowhere"), "unknown_territory")
    game.refused(3, order("spain-1", "support", territory="spain"), "not_your_army")
    game.refused(3, move("france-1", "france", "nowhere"), "bad_path")
    game.refused(3, {"type": "set_straits", "strait": "x", "target": "y", "closed": True}, "unknown_strait")
    game.refused(3, {"type": "set_straits", "strait": "suez", "target": "y", "closed": True}, "unknown_empire")
    game.refused(3, {"type": "choose_links", "links": ["x"]}, "unknown_link")
    game.refused(3, {"type": "set_research", "technology": "x", "amount": 0}, "unknown_technology")
    game.refused(3, {"type": "allocate_turn_zero", "points": {}}, "wrong_phase")
    game.refused(3, {"type": "resolving"}, "unknown_move")
    game.refused(3, {"type": "answer_proposal", "proposal": "x", "accept": True}, "unknown_proposal", "EGC-7.13")


UNKNOWN: list[tuple[Doc, str]] = [
    ({"type": "demolish", "territory": "nowhere", "infrastructure": "farm"}, "unknown_territory"),
    ({"type": "demolish", "territory": "france", "infrastructure": "temple"}, "unknown_infrastructure"),
    ({"type": "recruit", "territory": "nowhere", "divisions": 1}, "unknown_territory"),
    ({"type": "relation_action", "target": "atlantis", "action": "degrade"}, "unknown_empire"),
    ({"type": "set_ports", "target": "atlantis", "open": True}, "unknown_empire"),
    ({"type": "give_territory", "territory": "nowhere", "to": "spain"}, "unknown_territory"),
    ({"type": "give_territory", "territory": "france", "to": "atlantis"}, "unknown_empire"),
    ({"type": "give_money", "to": "atlantis", "amount": 1}, "unknown_empire"),
    ({"type": "protect", "territory": "nowhere"}, "unknown_territory"),
    ({"type": "install_protectorate", "territory": "nowhere"}, "unknown_territory"),
    ({"type": "annex", "territory": "nowhere"}, "unknown_territory"),
    ({"type": "drop", "territory": "nowhere"}, "unknown_territory"),
    ({"type": "spy_territory", "territory": "nowhere"}, "unknown_territory"),
    ({"type": "spy_empire", "empire": "atlantis"}, "unknown_empire"),
]


@pytest.mark.parametrize(("bad", "code"), UNKNOWN)
def test_ids_that_do_not_exist(bad: Doc, code: str) -> None:
    """EGC-7.0.6: whatever else is wrong."""
    position(armies=ARMIES, treasury={3: 0}, diplomacy={3: 0}).refused(3, bad, code, "EGC-7.0.6")


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "set_research", "technology": "naval", "amount": 0},
        {"type": "recruit", "territory": "france", "divisions": -1},
        {"type": "fund_expeditions", "count": 0},
        {"type": "give_money", "to": "spain", "amount": 0},
        {"type": "relation_action", "target": "spain", "action": "degrade", "stake": -1},
        {"type": "disband", "army": "france-1", "divisions": 101},
    ],
)
def test_amounts_that_are_not_possible(bad: Doc) -> None:
    """EGC-7.0.7."""
    position(armies=ARMIES).refused(3, bad, "bad_amount")


def test_number_of_new_army_is_allotted_when_the_order_is_filed() -> None:
    """EGC-7.0.8: it stays, and is not used again."""
    game = position(armies=ARMIES)
    raise_ten = {"type": "recruit", "territory": "france", "divisions": 10}
    game.file(3, raise_ten, raise_ten, {"type": "cancel_order", "order": 1}, raise_ten)
    assert [o.army for o in game.state.sheets[3].orders] == ["france-51", "france-52"]
    game.file(3, order("france-51", "rest"))


@pytest.mark.parametrize(
    ("army", "code"),
    [
        ("N-serbia", "not_your_army"),
        ("N-nowhere", "not_your_army"),
        ("spain-1", "not_your_army"),
        ("austria_hungary-77", "not_your_army"),
        ("france-3", "unknown_army"),
        ("france", "unknown_army"),
        ("atlantis-1", "unknown_army"),
    ],
)
def test_foreign_armies_are_told_by_the_form_of_the_id(army: str, code: str) -> None:
    """EGC-7.0.9: whether there is such an army or not."""
    game = position(armies={**ARMIES, 8: {"spain-1": ("spain", 10, 5, 5)}})
    for bad in (
        order(army, "train"),
        {"type": "split_army", "army": army, "divisions": 1},
        {"type": "disband", "army": army, "divisions": 1},
        {"type": "merge_armies", "armies": ["france-1", army]},
    ):
        game.refused(3, bad, code, "EGC-7.0.9")
