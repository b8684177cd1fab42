"""AOR-4: sequence and decisions."""

from __future__ import annotations

import pytest

from domain.errors import DecisionClosed
from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.frames import FRAMES
from domain.kernel.schema.canonical_json import canonical
from tests.games.age_of_reason.board import (
    TEN,
    asked,
    attack,
    commit,
    figures,
    hire,
    last_turn,
    move,
    offers,
    position,
)
from tests.spec import Given, kinds

TOKENS = {
    "prussia": {"central_europe": 1},
    "austria": {"central_europe": 2},
    "france": {"central_europe": 1},
    "russia": {"central_europe": 1},
    "spain": {"central_europe": 1},
}


def battle() -> Given:
    """Prussia attacks Austria; France stands by Austria, Russia by Prussia; Spain can be hired by Prussia."""
    game = position(5, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    return game


def test_a_game_turn_has_six_phases() -> None:
    """AOR-4.1: income, points and the end follow the last turn by themselves, then the next markers."""
    game = last_turn(tokens={"austria": {"baltic": 1}}, empires={0: {"unrest": 1}})
    facts = game.when(1, move("pass"), draws=[6, *TEN])
    assert kinds(facts) == [
        "turn_ended",
        "gold_received",
        "region_scored",
        "unrest_rolled",
        "game_turn_ended",
        "game_turn_started",
        "markers_drawn",
        "opener_drawn",
        "auction_opened",
    ]


def test_kinds_of_decision() -> None:
    """AOR-4.2: of one seat, or of several at once; who owes and who has answered is public."""
    assert set(FRAMES) - {"game_turn", "battle"} == set(RULESET.meta.clocks)
    game = battle()
    game.when(2, commit(None))
    shown = game.decision
    assert (shown.kind, shown.must, shown.done) == ("commit", (1, 4), (2,))


def test_a_battle_interrupts_the_turn_which_then_goes_on() -> None:
    """AOR-4.3: with an attack left the same seat is asked again."""
    two = {power: TOKENS[power] for power in ("prussia", "austria")}
    game = position(2, tokens=two, spaces={"ministry_of_war": [0]}, turn_record={"attacks_allowed": 2})
    game.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    assert asked(game) == ("commit", (1,))
    game.when(1, commit("austria_bluff"), draws=[1, 1, 1, 1])
    assert asked(game) == ("turn", (0,))
    assert game.state.acting.attacks_made == 1


def test_nothing_is_skipped_for_what_a_seat_holds() -> None:
    """AOR-4.4: an ally who can pay for nothing, and a principal who can hire nobody, are asked all the same."""
    game = position(5, tokens=TOKENS, empires={4: {"gold": 0, "unrest": 22}, 0: {"gold": 2, "unrest": 22}})
    game.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    assert asked(game) == ("commit", (1, 2, 4))
    assert offers(game, 4) == [None, "russia_bluff"]
    for seat, card in ((1, "austria_bluff"), (2, None), (4, None)):
        game.when(seat, commit(card))
    assert asked(game) == ("hire", (0,))
    question = game.offered(0)
    assert (question.lo, question.hi) == (0, 0)  # type: ignore[union-attr]


def test_a_game_has_three_game_turns() -> None:
    """AOR-4.5: after the last nobody decides."""
    game = last_turn(game_turn=2)
    game.when(1, move("pass"), draws=[*TEN, 0])
    assert game.state.game_turn == 3
    game = last_turn(game_turn=3)
    game.when(1, move("pass"))
    assert game.state.over
    assert game.match.decisions() == []


def test_answers_come_in_any_order_and_a_refusal_tells_nobody() -> None:
    """AOR-4.6.1: each is checked against the own hand and means."""
    for order in ((1, 2, 4), (4, 2, 1)):
        game = battle()
        game.refused(2, commit("france_4s0n"), "card_not_allowed")
        assert game.decision.done == ()
        for seat in order:
            game.when(seat, commit("austria_bluff" if seat == 1 else None))
        assert asked(game) == ("hire", (0,))


def test_that_a_seat_has_answered_is_public_and_what_is_not() -> None:
    """AOR-4.6.2: the fact goes to the seat alone."""
    game = battle()
    game.when(2, commit("france_alliance"))
    record = game.match.records[-1]
    assert "alliance" not in canonical(record.public).decode()
    assert game.sight(2)["sealed"]["card"] == "france_alliance"
    assert game.sight(4)["sealed"] is None
    assert game.decision.done == (2,)


def test_an_answer_can_be_taken_back_while_the_decision_is_open() -> None:
    """AOR-4.6.3: publicly; a second answer without that is refused; the attack binds."""
    game = battle()
    game.when(2, commit("france_alliance"))
    game.refused(2, commit(None), "already_answered")
    game.refused(1, move("take_back"), "not_your_decision")
    assert offers(game, 2) == ["take_back"]
    game.when(2, move("take_back"))
    assert (game.decision.must, game.decision.done) == ((1, 2, 4), ())
    assert game.sight(2)["sealed"] is None
    assert "france_alliance" in game.sight(2)["hand"]
    game.refused(0, move("take_back"), "not_your_decision")
    game.when(2, commit(None))
    game.when(1, commit("austria_bluff"))
    game.when(4, commit(None))
    game.when(0, hire("spain"), draws=[1, 1, 1, 1])
    assert figures(game, 2)[0] == 10


def test_a_hiring_can_be_taken_back_and_the_card_stays() -> None:
    """AOR-4.6.3: also of `hire`, while the other principal has not answered."""
    tokens = {**TOKENS, "united_provinces": {"central_europe": 1}}
    game = position(2, tokens=tokens)
    game.when(0, attack("central_europe", "austria", "prussia_3s0n"))
    game.when(1, commit("austria_bluff"))
    assert asked(game) == ("hire", (0, 1))
    game.when(0, hire("spain"))
    assert game.sight(0)["sealed"] == {"card": "prussia_3s0n", "powers": ["spain"]}
    game.when(0, move("take_back"))
    assert game.sight(0)["sealed"] == {"card": "prussia_3s0n", "powers": None}
    game.when(0, hire())
    game.when(1, hire(), draws=[1, 1, 1, 1])
    assert figures(game, 0)[0] == 8


def test_the_last_answer_closes_the_decision_in_its_record() -> None:
    """AOR-4.6.4: and nothing can be taken back any more."""
    game = battle()
    game.when(2, commit(None))
    game.when(4, commit(None))
    facts = game.when(1, commit("austria_bluff"))
    assert kinds(facts) == ["card_sealed", "commit_closed"]
    game.refused(1, move("take_back"), "not_your_decision")


@pytest.mark.parametrize("card", ["france_alliance", "france_bluff", None])
def test_nothing_public_depends_on_an_answer(card: str | None) -> None:
    """AOR-4.6.5: hand sizes, gold, and what others are offered are the same whatever was answered."""
    game, other = battle(), battle()
    game.when(2, commit(card))
    other.when(2, commit("france_bluff"))
    assert game.sight("public") == other.sight("public")
    assert game.sight("public")["empires"][2]["hand_size"] == 11
    assert [offers(game, seat) for seat in (1, 4)] == [offers(other, seat) for seat in (1, 4)]
    records = [g.match.records[-1].public for g in (game, other)]
    assert [len(r["seals"]) for r in records] == [len(records[0]["seals"])] * 2
    assert [r["facts"] for r in records] == [records[0]["facts"]] * 2


def test_an_answer_to_a_closed_decision_is_refused() -> None:
    """AOR-4.6.6: an answer names its decision, and others' sealed answers do not close it."""
    game = battle()
    named = game.decision.id
    game.when(2, commit(None))
    game.match.play(4, commit(None), decision=named)
    game.when(1, commit("austria_bluff"))
    with pytest.raises(DecisionClosed):
        game.match.play(0, hire("spain"), decision=named)


def test_the_result_does_not_depend_on_the_order_of_the_answers() -> None:
    """AOR-4.6.7: what is applied is applied attacker, defender, allies in turn order."""
    found = []
    for order in ((1, 2, 4), (4, 1, 2), (2, 4, 1)):
        game = battle()
        cards = {1: "austria_2s0n_a", 2: "france_alliance", 4: "russia_alliance"}
        for seat in order:
            game.when(seat, commit(cards[seat]))
        facts = game.when(0, hire(), draws=[6, 2, 5, 4])
        found.append((facts, game.sight("public")))
    assert found[0] == found[1] == found[2]


def test_placing_and_converting_go_on_with_clock_of_the_turn() -> None:
    """AOR-4.3 (ruling 70): after a battle the turn is asked anew with a fresh one."""
    game = position(2, tokens={"prussia": {"central_europe": 1}, "austria": {"central_europe": 1}}, markers=["ca_cuba"])
    due = game.match.game.due_times([0])
    game.when(0, move("place", space="ministry_of_war"))
    assert game.match.game.due_times([0]) == due
    converted = game.match.fork()
    converted.play(0, move("convert", marker="ca_cuba", card="prussia_0s1n"))
    assert converted.game.due_times([0]) == due
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    game.when(1, commit("austria_bluff"), draws=[1, 1, 1, 1])
    assert asked(game) == ("turn", (0,))
    assert game.match.game.due_times([0])[0] > due[0]


def test_one_clock_runs_for_all_and_taking_back_does_not_wind() -> None:
    """AOR-18.2, AOR-4.6.3: whoever owes an answer again when it runs out gives the default."""
    game = battle()
    due = game.match.game.due_times([1, 2, 4])
    assert len(set(due.values())) == 1
    game.when(2, commit("france_alliance"))
    game.when(2, move("take_back"))
    assert game.match.game.due_times([1, 2, 4]) == due
    game.when(1, commit("austria_2s0n_a"))
    game.deadline()
    assert game.sight("public")["battle"]["laid"] == []
