"""AOR-9.1 to AOR-9.5: cards, allies, hiring, reveal and payment."""

from __future__ import annotations

from typing import Any

from domain.kernel.rules.choices import Choice
from tests.games.age_of_reason.board import (
    asked,
    attack,
    commit,
    empire,
    facts_of,
    figures,
    hire,
    offers,
    position,
)
from tests.spec import Given, kinds

HERE = {"central_europe": 1}
ALL = dict.fromkeys(("prussia", "austria", "france", "britain", "russia", "spain", "united_provinces"), HERE)


def battle(seats: int = 5, target: str = "austria", card: str = "prussia_3s0n", **more: Any) -> Given:
    """Prussia (0) attacks; Britain (3) and Russia (4) are its allies, France (2) is Austria's (1)."""
    game = position(seats, tokens=ALL, markers=["ce_poland"], **more)
    game.when(0, attack("central_europe", target, card))
    return game


def test_the_attackers_card_lies_face_down_from_the_declaration() -> None:
    """AOR-9.1.1: he is not asked again."""
    game = battle()
    assert 0 not in game.decision.must
    assert game.sight("public")["battle"]["cards"] is None


def test_who_is_asked_for_a_card() -> None:
    """AOR-9.2.1: the defender, and seats of both coalitions with a token there; a marker has no allies."""
    assert asked(battle()) == ("commit", (1, 2, 3, 4))
    assert asked(battle(target="ce_poland")) == ("commit", (3, 4))
    assert asked(battle(target="united_provinces")) == ("commit", (1, 2, 3, 4))
    game = position(5, tokens={**ALL, "russia": {"baltic": 1}})
    game.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    assert asked(game) == ("commit", (1, 2, 3))


def test_what_a_defender_and_an_ally_answer() -> None:
    """AOR-9.2.2: the defender a card; the ally Alliance, Bluff or nothing."""
    game = battle()
    assert None not in offers(game, 1)
    assert offers(game, 3) == [None, "britain_bluff", "britain_alliance"]
    game.refused(1, commit(None), "card_required", "AOR-9.2.3")


def test_errors_of_commit() -> None:
    """AOR-9.2.3: in this order."""
    poor = {seat: {"gold": 0, "unrest": 22} for seat in (1, 3)}
    game = battle(empires=poor)
    game.refused(1, {"type": "commit"}, "malformed_move")
    game.refused(1, commit(None), "card_required", "AOR-9.2.3")
    game.refused(1, commit("britain_bluff"), "card_not_in_hand", "AOR-8.3.5")
    game.refused(3, commit("britain_0s1n"), "card_not_allowed", "AOR-8.3.5")
    game.refused(3, commit("britain_alliance"), "insufficient_funds", "AOR-15.3")
    game.refused(1, commit("austria_1s0n"), "insufficient_funds", "AOR-15.3")
    assert offers(game, 1) == ["austria_bluff"]


def test_it_becomes_public_who_has_laid_a_card() -> None:
    """AOR-9.2.4: Alliance and Bluff alike; the cards stay face down."""
    game = battle()
    game.when(1, commit("austria_bluff"))
    game.when(2, commit("france_bluff"))
    game.when(3, commit(None))
    facts = game.when(4, commit("russia_alliance"))
    assert facts_of(facts, "commit_closed")[0]["laid"] == [2, 4]
    shown = game.sight("public")["battle"]
    assert (shown["laid"], shown["cards"]) == ([2, 4], None)


def closed(cards: dict[int, str | None], **more: Any) -> Given:
    """All have answered; principals hire next."""
    game = battle(**more)
    for seat in game.decision.must:
        game.when(seat, commit(cards.get(seat, "austria_bluff" if seat == 1 else None)))
    return game


def test_an_alliance_card_adds_1_and_a_bluff_nothing() -> None:
    """AOR-9.3.1, AOR-9.5.2: neither the ally's tokens on the board nor its cards count."""
    game = closed({2: "france_bluff", 3: "britain_alliance", 4: "russia_alliance"}, spaces={"military_training": [3]})
    game.when(0, hire())
    facts = game.when(1, hire(), draws=[1, 1, 1, 1])
    assert facts_of(facts, "battle_rolled")[0]["strength"] == [5, 0]


def test_an_ally_pays_1_and_gains_nothing() -> None:
    """AOR-9.3.2: a bluff is free; unrest only in a tie."""
    game = closed({2: "france_bluff", 3: "britain_alliance"})
    game.when(0, hire())
    game.when(1, hire(), draws=[1, 1, 1, 1])
    assert [figures(game, seat) for seat in (2, 3)] == [(10, 0, 0), (9, 0, 0)]


def test_principals_with_powers_without_seat_are_asked_to_hire() -> None:
    """AOR-9.4.1: those of the own coalition with a token there; a principal without seat hires nobody."""
    game = closed({})
    assert asked(game) == ("hire", (0, 1))
    assert [offers(game, seat) for seat in (0, 1)] == [["spain"], ["united_provinces"]]
    game = battle(target="united_provinces")
    for seat in game.decision.must:
        game.when(seat, commit(None))
    assert asked(game) == ("hire", (0,))
    game = battle(seats=7)
    *others, last = game.decision.must
    for seat in others:
        game.when(seat, commit("austria_bluff" if seat == 1 else None))
    facts = game.when(last, commit(None), draws=[1, 1, 1, 1])
    assert "hire_sealed" not in kinds(facts)
    assert asked(game)[0] == "turn"


def test_each_hired_power_adds_1_and_costs_1() -> None:
    """AOR-9.4.2."""
    game = closed({}, seats=2)
    assert offers(game, 0) == ["britain", "spain", "russia"]
    game.when(0, hire("spain", "russia"))
    facts = game.when(1, hire(), draws=[1, 1, 1, 1])
    assert facts_of(facts, "battle_rolled")[0]["strength"] == [5, 0]
    assert figures(game, 0)[0] == 10 - 2 - 2


def test_errors_of_hire() -> None:
    """AOR-9.4.3: in this order; the own card is counted."""
    game = closed({}, seats=2, empires={0: {"gold": 3, "unrest": 22}})
    for powers in (("poland",), ("prussia",), ("france",), ("spain", "spain")):
        game.refused(0, hire(*powers), "invalid_hire", "AOR-9.4.3")
    game.refused(0, hire("spain", "russia"), "insufficient_funds", "AOR-15.3")
    most = game.offered(0)
    assert isinstance(most, Choice)
    assert (most.lo, most.hi) == (0, 1)
    away = position(2, tokens={**ALL, "spain": {"baltic": 1}})
    away.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    away.when(1, commit("austria_bluff"))
    away.refused(0, hire("spain"), "invalid_hire", "AOR-9.4.3")


def test_hirings_are_sealed() -> None:
    """AOR-9.4.4: until the reveal."""
    game = closed({})
    game.when(0, hire("spain"))
    assert game.sight("public")["battle"]["hired"] is None
    assert game.sight(1)["sealed"] == {"card": "austria_bluff", "powers": None}
    assert game.sight(0)["sealed"]["powers"] == ["spain"]


def test_the_reveal_and_the_order_of_payment() -> None:
    """AOR-9.5.1: attacker, defender (one sum each), then allies in turn order; loans where gold is short."""
    game = closed({1: "austria_2s0n_a", 3: "britain_alliance", 2: "france_alliance"}, empires={0: {"gold": 2}})
    game.when(1, hire("united_provinces"))
    facts = game.when(0, hire("spain"), draws=[1, 1, 1, 1])
    revealed = facts_of(facts, "battle_revealed")[0]
    assert revealed["hired"] == {"attacker": ["spain"], "defender": ["united_provinces"]}
    assert revealed["cards"] == {
        "0": "prussia_3s0n",
        "1": "austria_2s0n_a",
        "2": "france_alliance",
        "3": "britain_alliance",
    }
    paid = [(f["seat"], f["gold"]) for f in facts_of(facts, "gold_paid")]
    assert game.state.turn_order.index(2) < game.state.turn_order.index(3)
    assert paid == [(0, 3), (1, 3), (2, 1), (3, 1)]
    assert [(f["seat"], f["gold"], f["unrest"]) for f in facts_of(facts, "loan_taken")] == [(0, 2, 1)]
    unsealed = facts_of(facts, "unsealed")[0]["keys"]
    assert unsealed == ["0:card", "1:card", "2:card", "3:card", "4:card", "0:powers", "1:powers"]


def test_supporters_are_allies_with_the_card_and_hired_powers() -> None:
    """AOR-9.5.2."""
    game = closed({2: "france_alliance", 3: "britain_bluff", 4: "russia_alliance"})
    game.when(0, hire("spain"))
    facts = game.when(1, hire("united_provinces"), draws=[1, 1, 1, 1])
    assert facts_of(facts, "battle_rolled")[0]["strength"] == [3 + 2, 0 + 2]


def test_shown_cards_lie_on_the_table_until_the_battle_is_over() -> None:
    """AOR-9.5.3: neither in hand nor in the discard while dice may be rolled again."""
    game = closed({3: "britain_alliance"}, spaces={"reserves": [0]})
    game.when(0, hire())
    game.when(1, hire(), draws=[1, 1, 1, 1])
    assert asked(game) == ("reserves", (0,))
    shown = game.sight("public")["empires"]
    assert [shown[seat]["hand_size"] for seat in range(5)] == [10, 10, 11, 10, 11]
    assert [e["discard_size"] for e in shown] == [0] * 5
    assert "britain_alliance" not in game.sight(3)["hand"]
    game.when(0, {"type": "reserves", "use": False})
    assert "britain_alliance" in game.sight(3)["hand"]
    assert (empire(game, 0)["discard_size"], game.sight(0)["discard"]) == (1, ["prussia_3s0n"])
