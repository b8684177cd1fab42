"""The levels of a relation, how they rise and fall, and which of two actions counts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.games.egc import RULESET
from domain.games.egc.rules.relations import better_level
from domain.kernel.narration.move_sentences import MoveSentences
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import load_texts
from tests.games.egc.board import Board, act, answer, move, of, position, proposal

ARMY = {3: {"france-1": ("france", 100, 7, 6)}}


def spent(game: Board, seat: int, income: int) -> int:
    """What a seat has paid and not got back in the first turn, of 300 points; nothing is kept up."""
    left: int = game.state.empires[seat].diplomacy
    return 300 + income - left


INCOME = {3: 150, 8: 75}
"""EGC-14.10: of France, rank 4, and Spain, rank 9."""


# --- levels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("total_war", "peace"),
        ("war", "peace"),
        ("rupture", "peace"),
        ("peace", "nap"),
        ("nap", "mpa"),
        ("mpa", "alliance"),
    ],
)
def test_the_ladder_upwards(before: str, after: str) -> None:
    """EGC-14.1, EGC-14.5: one step by an accepted proposal; a war of either kind becomes peace."""
    game = position(relations={(3, 8): before}, proposals=proposal(8, 3))
    game.resolve({3: [answer("0:8:3", True)]})
    assert game.state.relation(3, 8) == after
    assert game.state.peace_turn == ({"3-8": 2} if "war" in before else {})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("alliance", "nap"),
        ("mpa", "nap"),
        ("nap", "peace"),
        ("peace", "rupture"),
        ("rupture", "imminent_war"),
        ("war", "total_war"),
    ],
)
def test_the_ladder_downwards(before: str, after: str) -> None:
    """EGC-14.1, EGC-14.5: an alliance falls to a non-aggression pact, a rupture is a declaration of war."""
    game = position(relations={(3, 8): before})
    game.resolve({3: [act("spain", "degrade")]})
    assert game.state.relation(3, 8) == after
    assert game.state.casus_belli == ({"8:3:alliance_broken": 3} if before == "alliance" else {})


@pytest.mark.parametrize("relation", ["rupture", "peace", "nap"])
def test_three_levels_have_no_effect_of_their_own(relation: str) -> None:
    """EGC-14.1: neither is Spain open to France, nor does anybody join in."""
    game = position(armies=ARMY, relations={(3, 8): relation, (2, 8): "rupture"})
    game.refused(3, move("france-1", "france", "spain"), "not_at_war", "EGC-7.10.2")
    game.resolve({2: [act("spain", "degrade")]})
    assert game.state.relation(2, 3) == "peace"
    assert game.state.casus_belli == {}


def test_diplomatic_orders_take_effect_for_the_next_turn() -> None:
    """EGC-14.1: who turns a war into a total war does not storm a metropolis in the same turn."""
    game = position(armies=ARMY, relations={(3, 8): "war"})
    game.file(3, act("spain", "degrade"))
    game.refused(3, move("france-1", "france", "spain"), "metropolis_immune", "EGC-7.10.2")
    game.resolve()
    game.file(3, move("france-1", "france", "spain"))


def test_an_imminent_war_lasts_one_turn() -> None:
    """EGC-14.2, EGC-14.3: no attack and no diplomatic order in it; then it is war."""
    game = position(armies=ARMY, relations={(3, 8): "rupture"}, owners={"holland": 8, "morocco": 3, "italy": 3})
    game.resolve({3: [act("spain", "degrade")]})
    assert game.state.relation(3, 8) == "imminent_war"
    game.refused(3, move("france-1", "france", "holland"), "not_at_war", "EGC-7.10.2")
    for bad in (
        act("spain", "degrade"),
        act("spain", "propose"),
        act("spain", "declare_war_cb"),
        {"type": "set_straits", "strait": "gibraltar", "target": "spain", "closed": True},
        {"type": "set_ports", "target": "spain", "open": True},
        {"type": "give_territory", "territory": "italy", "to": "spain"},
        {"type": "give_money", "to": "spain", "amount": 1},
    ):
        game.refused(3, bad, "war_imminent")
    game.resolve()
    assert game.state.relation(3, 8) == "war"
    game.file(3, move("france-1", "france", "holland"))


# --- which action counts -----------------------------------------------------------------------------------------


def test_one_action_is_retained_and_paid() -> None:
    """EGC-14.4: cost and stake are spent, also when it has no effect."""
    game = position()
    game.resolve({3: [act("spain", "degrade", stake=30)]})
    assert spent(game, 3, INCOME[3]) == 50 + 30
    # What was a war is peace before the sabotage comes: it has no effect, and its price is gone.
    idle = position(relations={(3, 8): "war"}, proposals=proposal(8, 3))
    idle.resolve({3: [answer("0:8:3", True), act("spain", "sabotage", stake=10)]})
    assert spent(idle, 3, INCOME[3]) == 50 + 25 + 10


CASUS = {"3:8:colonial_incident": 2, "8:3:colonial_incident": 2}


def test_a_declaration_of_war_goes_before_every_stake() -> None:
    """EGC-14.4: the other action is refunded with its stake."""
    game = position(casus_belli=CASUS)
    facts = game.resolve({8: [act("france", "declare_war_cb")], 3: [act("spain", "incite", stake=90)]})
    assert game.state.relation(3, 8) == "imminent_war"
    (back,) = of(facts, "action_cancelled")
    assert (back["seat"], back["target"], back["action"], back["refund"]) == (3, 8, "incite", 290)
    assert (spent(game, 3, INCOME[3]), game.state.proposals) == (0, {})


def test_of_two_declarations_that_of_the_better_diplomat_counts() -> None:
    """EGC-14.4: it is the declaration that the others hear of."""
    for rank, declarer in (({}, 3), ({3: {"diplomacy": 9}, 8: {"diplomacy": 4}}, 8)):
        game = position(casus_belli=CASUS, rank=rank)
        facts = game.resolve({3: [act("spain", "declare_war_cb")], 8: [act("france", "declare_war_cb")]})
        assert [f["seat"] for f in of(facts, "war_declared")] == [declarer]


@pytest.mark.parametrize(("mine", "other"), [("propose", "propose"), ("propose", "incite"), ("incite", "incite")])
def test_two_improvements_are_a_mutual_one(mine: str, other: str) -> None:
    """EGC-14.4, EGC-14.5: both pay, nobody has to answer, and the pair rises by one step."""
    game = position()
    game.resolve({3: [act("spain", mine)], 8: [act("france", other, stake=5)]})
    assert game.state.relation(3, 8) == "nap"
    assert game.state.proposals == {}
    price = {"propose": 100, "incite": 200}
    assert (spent(game, 3, INCOME[3]), spent(game, 8, INCOME[8])) == (price[mine], price[other] + 5)


@pytest.mark.parametrize(("french", "spanish", "after"), [(6, 5, "rupture"), (5, 6, "peace"), (5, 5, "rupture")])
def test_otherwise_the_larger_stake_counts(french: int, spanish: int, after: str) -> None:
    """EGC-14.4: France degrades, Spain proposes; with equal stakes the better diplomacy rank decides."""
    game = position()
    game.resolve({3: [act("spain", "degrade", stake=french)], 8: [act("france", "propose", stake=spanish)]})
    assert game.state.relation(3, 8) == after
    assert list(game.state.proposals) == ([] if after == "rupture" else ["1:8:3"])
    assert spent(game, 3, INCOME[3]) == (50 + french if after == "rupture" else 0)
    assert spent(game, 8, INCOME[8]) == (0 if after == "rupture" else 100 + spanish)


def test_a_sabotage_keeps_the_other_action_out() -> None:
    """EGC-14.4: and does nothing more."""
    game = position(relations={(3, 8): "war"})
    game.resolve({3: [act("spain", "degrade", stake=1)], 8: [act("france", "sabotage", stake=2)]})
    assert game.state.relation(3, 8) == "war"
    assert (spent(game, 3, INCOME[3]), spent(game, 8, INCOME[8])) == (0, 27)


def test_two_degradations_are_one_step() -> None:
    """EGC-14.4: of two equal actions one is retained."""
    game = position(relations={(3, 8): "mpa"})
    game.resolve({3: [act("spain", "degrade")], 8: [act("france", "degrade")]})
    assert game.state.relation(3, 8) == "nap"
    assert (spent(game, 3, INCOME[3]), spent(game, 8, INCOME[8])) == (50, 0)


def test_pairs_go_in_ascending_order() -> None:
    """EGC-14.4: by the smaller id, then the larger."""
    game = position()
    pairs = [(0, "japan", 4, "austria_hungary"), (0, "zulu", 9, "austria_hungary"), (4, "zulu", 9, "japan")]
    for a, other, b, mine in reversed(pairs):
        game.file(a, act(other, "degrade"))
        game.file(b, act(mine, "degrade"))
    back = of(game.resolve(), "action_cancelled")
    assert [(f["seat"], f["target"]) for f in back] == [(4, 0), (9, 0), (9, 4)]


def eliminating(**more: Any) -> Board:
    """Spain is about to lose its last territory to France, and is paid court to by others."""
    armies = {3: {"france-1": ("france", 300, 8, 8)}}
    return position(armies=armies, relations={(3, 8): "total_war", **more.pop("relations", {})}, **more)


def test_actions_with_an_eliminated_empire_are_void() -> None:
    """EGC-14.4: the survivor gets cost and stake back, for an answer too; straits and ports are not set."""
    game = eliminating(
        proposals=proposal(8, 2),
        owners={"anatolia": 5, "egypt": 5},
        relations={(0, 8): "mpa"},
        turn=1,
        diplomacy={8: 900},
    )
    game.file(2, answer("0:8:2", True))
    game.file(0, act("spain", "incite", stake=40))
    game.file(5, {"type": "set_straits", "strait": "suez", "target": "spain", "closed": True})
    game.file(5, {"type": "set_ports", "target": "spain", "open": True})
    game.file(8, act("zulu", "degrade"), {"type": "set_ports", "target": "zulu", "open": True})
    facts = game.resolve({3: [move("france-1", "france", "spain")]})
    assert of(facts, "empire_eliminated")[0]["seat"] == 8
    assert [(f["seat"], f["refund"]) for f in of(facts, "action_cancelled")] == [(0, 240), (2, 50)]
    assert (game.state.relation(0, 8), game.state.relation(2, 8), game.state.relation(8, 9)) == (
        "mpa",
        "peace",
        "peace",
    )
    assert (game.state.closed, game.state.open_ports, game.state.proposals) == ({}, {}, {})


def test_an_answer_and_an_action_of_one_turn_both_count() -> None:
    """EGC-14.4, EGC-14.5: first the improvement, then the degradation, from the level as it then is."""
    game = position(relations={(3, 8): "mpa"}, proposals=proposal(8, 3))
    facts = game.resolve({3: [answer("0:8:3", True), act("spain", "degrade")]})
    assert [f["level"] for f in of(facts, "relation_changed")] == ["alliance", "nap"]
    assert game.state.casus_belli == {"8:3:alliance_broken": 3}


# --- improvements ------------------------------------------------------------------------------------------------


def test_a_lonely_proposal_waits_for_its_answer() -> None:
    """EGC-14.5, EGC-14.8: one turn; refused when nothing is said, while an incitement is then accepted."""
    for action, after in (("propose", "peace"), ("incite", "nap")):
        game = position()
        game.resolve({3: [act("spain", action)]})
        assert game.state.relation(3, 8) == "peace"
        assert list(game.state.proposals) == ["1:3:8"]
        game.resolve()
        assert (game.state.relation(3, 8), game.state.proposals) == (after, {})


ALLIES = {(3, 8): "alliance", (2, 3): "war", (2, 8): "total_war"}


def test_who_makes_a_separate_peace_has_broken_the_alliance() -> None:
    """EGC-14.5: a pact is left, and the ex-ally has a casus belli."""
    game = position(relations=ALLIES, proposals=proposal(2, 3))
    game.resolve({3: [answer("0:2:3", True)]})
    assert (game.state.relation(2, 3), game.state.relation(3, 8), game.state.relation(2, 8)) == (
        "peace",
        "nap",
        "total_war",
    )
    assert game.state.casus_belli == {"8:3:alliance_broken": 3}


def test_the_second_of_a_pair_can_break_it_too() -> None:
    """EGC-14.5: the same test with x and y exchanged."""
    game = position(relations=ALLIES, proposals=proposal(2, 8))
    game.resolve({8: [answer("0:2:8", True)]})
    assert (game.state.relation(2, 8), game.state.relation(3, 8)) == ("peace", "nap")
    assert game.state.casus_belli == {"3:8:alliance_broken": 3}


def test_a_peace_that_both_sign_breaks_nothing() -> None:
    """EGC-14.5: nor does one with an empire that only one of them fought."""
    game = position(relations=ALLIES, proposals={**proposal(2, 3), **proposal(2, 8)})
    game.resolve({3: [answer("0:2:3", True)], 8: [answer("0:2:8", True)]})
    assert game.state.relation(3, 8) == "alliance"
    own = position(relations={(3, 8): "alliance", (2, 3): "war"}, proposals=proposal(2, 3))
    own.resolve({3: [answer("0:2:3", True)]})
    assert (own.state.relation(2, 3), own.state.relation(3, 8)) == ("peace", "alliance")


@pytest.mark.parametrize(
    ("before", "en", "fr"),
    [
        ("war", "The proposal of Spain: to make peace with you. ", "font la paix"),
        ("mpa", "The proposal of Spain: to form an alliance with you. ", "forment une alliance"),
        ("imminent_war", "", ""),
    ],
)
def test_a_proposal_says_who_offers_what(before: str, en: str, fr: str) -> None:
    """EGC-14.5: to the empire that answers it, and to nobody else."""
    game = position(relations={(3, 8): before}, proposals=proposal(8, 3))
    (name,) = game.state.proposals
    french = f"Proposition de l'Espagne : les deux empires {fr}. " if fr else ""
    for lang, offer, asks in (("en", en, "Do you accept it?"), ("fr", french, "L'acceptez-vous ?")):
        texts = load_texts(RULESET.package, lang)
        for seat, said in ((3, offer + asks), (2, asks)):
            names = SeatNames(texts, RULESET.powers(game.state), {}, own=seat)
            told = MoveSentences(RULESET, texts, names, seat, game.state)
            assert re.sub(r"\s", " ", told.question("answer_proposal", "accept", {"proposal": name}) or "") == said
    assert (better_level(before) is None) == (not en)
