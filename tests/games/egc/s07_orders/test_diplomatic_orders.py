"""Diplomatic orders, gifts, links, submitting."""

from __future__ import annotations

import pytest

from domain.types import Doc
from tests.games.egc.board import Board, act, of, position

HELD = {"italy": {"protectorate": {"seat": 3, "since": 0}}, "serbia": {"protections": {"3": 0, "8": 0}}}


def points(game: Board, seat: int = 3) -> int:
    """Points that the sheet leaves."""
    left: int = game.sight(seat)["projection"]["diplomacy"]
    return left


def without_japan(**more: object) -> Board:
    """Japan is eliminated."""
    return position(status={"4": "eliminated"}, owners={"japan": 2}, levels={"japan": {}}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("relation", "action", "cost"),
    [
        ("peace", "degrade", 50),
        ("war", "degrade", 100),
        ("peace", "propose", 100),
        ("rupture", "incite", 200),
        ("war", "sabotage", 25),
    ],
)
def test_what_an_action_costs(relation: str, action: str, cost: int) -> None:
    """EGC-7.12: with the stake, when it is filed."""
    game = position(relations={(3, 8): relation})
    game.file(3, act("spain", action, stake=7))
    assert points(game) == 300 - cost - 7


@pytest.mark.parametrize(
    ("relation", "action", "code"),
    [
        ("total_war", "degrade", "relation_floor"),
        ("alliance", "propose", "relation_ceiling"),
        ("alliance", "incite", "relation_ceiling"),
        ("peace", "sabotage", "not_at_war"),
        ("war", "declare_war_cb", "already_at_war"),
        ("peace", "declare_war_cb", "no_casus_belli"),
        ("imminent_war", "degrade", "war_imminent"),
    ],
)
def test_what_an_action_needs(relation: str, action: str, code: str) -> None:
    """EGC-7.12, EGC-14.2."""
    position(relations={(3, 8): relation}).refused(3, act("spain", action), code)


def test_further_checks_of_actions() -> None:
    """EGC-7.12: targets, stakes, proposals that await an answer."""
    game = position(
        proposals={"0:3:8": {"sender": 3, "target": 8, "action": "propose"}}, casus_belli={"3:9:colonial_incident": 2}
    )
    game.refused(3, act("france", "degrade"), "self_target", "EGC-7.12")
    game.refused(3, act("spain", "propose"), "proposal_pending", "EGC-7.12")
    game.refused(8, act("france", "incite"), "proposal_pending", "EGC-7.12")
    game.refused(3, act("zulu", "declare_war_cb", stake=1), "stake_not_allowed", "EGC-7.12")
    game.file(3, act("zulu", "declare_war_cb"))
    without_japan().refused(3, act("japan", "degrade"), "empire_eliminated", "EGC-7.12")


@pytest.mark.parametrize(
    ("action", "accept", "cost"),
    [("propose", True, 50), ("propose", False, 0), ("incite", True, 0), ("incite", False, 300)],
)
def test_answers(action: str, accept: bool, cost: int) -> None:
    """EGC-7.13."""
    game = position(proposals={"0:8:3": {"sender": 8, "target": 3, "action": action}})
    answer = {"type": "answer_proposal", "proposal": "0:8:3", "accept": accept}
    game.refused(8, answer, "unknown_proposal", "EGC-7.13")
    game.file(3, answer)
    assert points(game) == 300 - cost


def test_straits() -> None:
    """EGC-7.14: of a territory that the seat owns, from the next turn."""
    game = position(
        owners={"morocco": 3},
        relations={(3, 9): "imminent_war"},
        lands={"egypt": {"protectorate": {"seat": 3, "since": 0}}},
    )
    close = {"type": "set_straits", "strait": "gibraltar", "target": "spain", "closed": True}
    game.refused(3, {**close, "target": "france"}, "self_target", "EGC-7.14")
    game.refused(3, {**close, "strait": "suez"}, "not_owner", "EGC-7.14")
    game.refused(3, {**close, "target": "zulu"}, "war_imminent")
    game.refused(3, {**close, "closed": False}, "no_change", "EGC-7.14")
    game.file(3, close)
    assert game.state.closed == {}
    game.resolve()
    assert game.state.closed == {"gibraltar:8": 3}


def test_ports() -> None:
    """EGC-7.15: neither a war nor peace ends the opening."""
    game = position(relations={(3, 9): "imminent_war"}, open_ports={"3:9": True})
    game.refused(3, {"type": "set_ports", "target": "spain", "open": False}, "no_change", "EGC-7.15")
    game.refused(3, {"type": "set_ports", "target": "zulu", "open": False}, "war_imminent")
    game.file(3, {"type": "set_ports", "target": "spain", "open": True})
    game.resolve()
    assert game.state.open_ports == {"3:8": True, "3:9": True}
    assert game.state.relation(3, 9) == "war"


def test_giving_a_territory() -> None:
    """EGC-7.16: one a turn; not the metropolis, nor the last one."""
    game = position(owners={"holland": 3}, lands=HELD, relations={(3, 9): "imminent_war"})
    give = {"type": "give_territory", "territory": "holland", "to": "spain"}
    game.refused(3, {**give, "to": "france"}, "self_target", "EGC-7.16")
    game.refused(3, {**give, "territory": "serbia"}, "not_owner", "EGC-7.16")
    game.refused(3, {**give, "territory": "france"}, "metropolis_not_giveable", "EGC-7.16")
    game.refused(3, {**give, "to": "zulu"}, "war_imminent")
    game.file(3, give, {**give, "territory": "italy"})
    assert len(game.state.sheets[3].orders) == 1
    exile = position(owners={"france": 8, "holland": 3})
    exile.refused(3, give, "last_territory", "EGC-7.16")
    last = position(owners={"france": 8, "holland": 3}, lands=HELD)
    last.file(3, {**give, "territory": "italy"})


def test_giving_money() -> None:
    """EGC-7.17: paid at once, received in the finance step; up to a limit for each."""
    game = position()
    gift = {"type": "give_money", "to": "spain", "amount": 140_000}
    game.refused(3, {**gift, "amount": 140_001}, "gift_limit", "EGC-7.17")
    facts = game.resolve({3: [gift, {**gift, "to": "zulu"}]})
    assert of(facts, "finance_settled", 3)[0]["kept"] == 220_000
    assert of(facts, "finance_settled", 8)[0]["gifts"] == 140_000


def test_protections() -> None:
    """EGC-7.18."""
    game = position(lands=HELD)
    for territory, code in (("spain", "not_neutral"), ("italy", "is_protectorate"), ("serbia", "already_protected")):
        game.refused(3, {"type": "protect", "territory": territory}, code, "EGC-7.18")
    game.file(3, {"type": "protect", "territory": "holland"})
    assert points(game) == 280


def test_installing_a_protectorate() -> None:
    """EGC-7.19: where the own protection is in force."""
    game = position(lands={**HELD, "holland": {"protections": {"3": 1}}})
    for territory, code in (
        ("spain", "not_neutral"),
        ("italy", "is_protectorate"),
        ("holland", "not_protected_by_you"),
    ):
        game.refused(3, {"type": "install_protectorate", "territory": territory}, code, "EGC-7.19")
    game.file(3, {"type": "install_protectorate", "territory": "serbia"})
    assert points(game) == 220


@pytest.mark.parametrize(("age", "cost"), [(1, 600), (2, 400), (3, 250), (4, 150), (5, 100), (9, 100)])
def test_annexing(age: int, cost: int) -> None:
    """EGC-7.20: by the age of the protectorate."""
    game = position(10, lands={"italy": {"protectorate": {"seat": 3, "since": 10 - age}}}, diplomacy={3: 700})
    game.refused(8, {"type": "annex", "territory": "italy"}, "not_your_protectorate", "EGC-7.20")
    game.file(3, {"type": "annex", "territory": "italy"})
    assert points(game) == 700 - cost


def test_dropping() -> None:
    """EGC-7.21."""
    game = position(lands=HELD)
    game.refused(3, {"type": "drop", "territory": "holland"}, "nothing_to_drop", "EGC-7.21")
    facts = game.resolve({3: [{"type": "drop", "territory": "italy"}, {"type": "drop", "territory": "serbia"}]})
    assert of(facts, "protectorate_ended")[0]["territory"] == "italy"
    assert game.state.lands["serbia"].protections == {"8": 0}


def test_choosing_links() -> None:
    """EGC-7.22, EGC-15.5: two at most, in turn 4 and after a count."""
    links = ["france_greece", "spain_poland"]
    position(3).refused(3, {"type": "choose_links", "links": links}, "links_closed", "EGC-7.22")
    game = position(4, empires={3: {"links_done": ["portugal_italy"]}})
    game.refused(3, {"type": "choose_links", "links": [*links, "holland_finland"]}, "bad_amount", "EGC-7.22")
    game.refused(3, {"type": "choose_links", "links": ["france_greece"] * 2}, "bad_amount", "EGC-7.22")
    game.refused(3, {"type": "choose_links", "links": ["portugal_italy"]}, "link_already_done", "EGC-7.22")
    game.file(3, {"type": "choose_links", "links": []})
    game.resolve({3: [{"type": "choose_links", "links": links}]})
    assert game.state.empires[3].links == tuple(links)
    assert b"france_greece" not in str(game.sight("public")).encode()


def test_submitting_and_reopening() -> None:
    """EGC-7.23: who has submitted is public."""
    game = position()
    game.file(3, {"type": "submit_orders"})
    game.refused(3, {"type": "submit_orders"}, "already_answered")
    assert list(game.decision.done) == [3]
    assert 3 in game.decision.may
    game.file(3, {"type": "reopen_orders"})
    assert list(game.decision.done) == []


TO_ANOTHER: list[tuple[Doc, str, str]] = [
    ({"type": "set_straits", "strait": "gibraltar", "closed": True}, "target", "EGC-7.14"),
    ({"type": "set_ports", "open": True}, "target", "EGC-7.15"),
    ({"type": "give_territory", "territory": "morocco"}, "to", "EGC-7.16"),
    ({"type": "give_money", "amount": 1}, "to", "EGC-7.17"),
]


@pytest.mark.parametrize(("order", "field", "rule"), TO_ANOTHER)
def test_to_another_empire_that_is_in_play(order: Doc, field: str, rule: str) -> None:
    """EGC-7.14, EGC-7.15, EGC-7.16, EGC-7.17: neither to oneself nor to one that is eliminated."""
    game = position(
        status={"4": "eliminated"},
        owners={"japan": 2, "morocco": 3},
        levels={"japan": {}},
        relations={(3, 9): "imminent_war"},
    )
    game.refused(3, {**order, field: "france"}, "self_target", rule)
    game.refused(3, {**order, field: "japan"}, "empire_eliminated", rule)
    game.refused(3, {**order, field: "zulu"}, "war_imminent", rule)
    game.file(3, {**order, field: "spain"})
