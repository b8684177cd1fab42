"""The kernel's common checks, in the design's order, the same for every ruleset."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import DecisionClosed, InvalidTable, NeedsChance, RuleError, StaleVersion
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import Choice, Option, accept, one, some, span
from domain.kernel.rules.decide import dry_run, query_builder
from domain.kernel.rules.draws import Scripted
from domain.kernel.rules.ruleset import COMMON_CODES
from domain.types import Json
from tests.kernel.flows import orders, sealed, skirmish, windows

ATTACK = {"type": "attack", "target": 1, "offer": 0}


def skirmishing(**more: Any) -> InMemoryGame[skirmish.Skirmish]:
    return InMemoryGame(skirmish.RULESET, 4, bytes(32), **more)


def code(match: InMemoryGame[Any], seat: int, *moves: Json) -> str:
    head = match.game
    with pytest.raises(RuleError) as caught:
        match.play(seat, *moves)
    assert match.game is head
    return caught.value.code


class TestTheOrderOfChecks:
    @pytest.mark.parametrize(
        "move", [None, [], 3, "pass", {}, {"type": 3}, {"type": None}, {"typ": "pass"}, {"type": ["pass"]}]
    )
    def test_no_object_with_a_type_is_malformed(self, move: Json) -> None:
        """First of all."""
        assert code(skirmishing(), 3, move) == "malformed_move"

    def test_an_unknown_type_comes_before_the_fields(self) -> None:
        """A move of the engine is unknown to seats."""
        assert code(skirmishing(), 3, {"type": "fly", "x": 1.5}) == "unknown_move"
        assert code(InMemoryGame(orders.RULESET, 3, bytes(32)), 0, {"type": "resolve"}) == "unknown_move"

    def test_fields_come_before_the_end_of_the_game(self) -> None:
        """A malformed move is malformed at any time."""
        match = skirmishing(options={"turns": 1})
        match.play(0, {"type": "pass"})
        assert match.state.over
        assert code(match, 0, {"type": "pass", "x": 1}) in ("malformed_move", "game_over")
        assert code(match, 0, {"type": "pass"}) == "game_over"

    def test_another_seat_decides(self) -> None:
        """Whatever the type."""
        assert code(skirmishing(), 1, ATTACK) == "not_your_decision"
        assert code(skirmishing(), 1, {"type": "answer", "yes": True}) == "not_your_decision"

    def test_a_seat_that_has_answered(self) -> None:
        """The same kind of answer comes too late, another kind is of another phase."""
        match = InMemoryGame(sealed.RULESET, 4, bytes(32))
        match.play(0, {"type": "attack", "target": 1, "card": next(c for c in match.state.hands[0] if c != "alliance")})
        match.play(2, {"type": "commit", "card": None})
        assert code(match, 2, {"type": "commit", "card": None}) == "already_answered"
        assert code(match, 2, {"type": "pass"}) == "wrong_phase"

    def test_a_type_that_does_not_answer_the_question(self) -> None:
        """The deciding seat, another phase."""
        assert code(skirmishing(), 0, {"type": "answer", "yes": True}) == "wrong_phase"

    def test_then_the_checks_of_the_rules(self) -> None:
        """With rule number and the seat's own figures."""
        with pytest.raises(RuleError) as caught:
            skirmishing().play(0, {**ATTACK, "offer": 9})
        assert (caught.value.code, caught.value.rule, caught.value.detail) == (
            "offer_exceeds_gold",
            "SK-2",
            {"gold": 6},
        )

    def test_a_malformed_field_is_named(self) -> None:
        """By pointer, with what is expected."""
        with pytest.raises(RuleError) as caught:
            skirmishing().play(0, {**ATTACK, "offer": -1})
        assert caught.value.detail["at"] == "/offer"
        assert caught.value.rule == "SK-1"

    def test_every_common_code_is_listed(self) -> None:
        """Clients may rely on the list."""
        assert set(COMMON_CODES) >= {"malformed_move", "unknown_move", "game_over", "not_your_decision"}
        assert set(COMMON_CODES) >= {"already_answered", "wrong_phase", "not_offered", "barrier_in_list", "not_on_line"}


class TestNamedDecisions:
    def test_an_answer_does_not_slip_into_a_later_question(self) -> None:
        """Nor do the later moves of a list."""
        match = skirmishing()
        named = match.decisions()[0].id
        with pytest.raises(DecisionClosed):
            match.play(0, {"type": "pass"}, {"type": "pass"}, decision=named)
        assert match.decisions()[0].id == named
        match.play(0, {"type": "pass"}, decision=named)
        with pytest.raises(DecisionClosed, match=named):
            match.play(1, {"type": "pass"}, decision=named)

    def test_ids_never_come_twice(self) -> None:
        """Also over rewinds."""
        match, seen = skirmishing(), []
        for _ in range(5):
            seen.append(match.decisions()[0].id)
            match.play(match.state.top.owing[0], {"type": "pass"})
            match.rewind(match.game.version - 1)
        assert len(set(seen)) == 5

    def test_an_expected_version_is_not_tried_again(self) -> None:
        """The client asked to be told."""
        match = skirmishing()
        with pytest.raises(StaleVersion) as caught:
            match.play(0, ATTACK, expected=3)
        assert (caught.value.expected, caught.value.version) == (3, match.game.version)

    def test_ten_sheets_do_not_disturb_each_other(self) -> None:
        """Each names the same decision; the last answer closes it."""
        match = InMemoryGame(orders.RULESET, 10, bytes(32))
        named = match.decisions()[0].id
        for seat in range(10):
            match.play(seat, {"type": "submit"}, decision=named)
        assert match.state.top.engine
        with pytest.raises(DecisionClosed):
            match.play(0, {"type": "reopen"}, decision=named)

    def test_an_answer_is_taken_back_by_a_move(self) -> None:
        """As long as the decision is open."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        match.play(1, {"type": "submit"})
        assert match.decisions()[0].done == (1,)
        match.play(1, {"type": "reopen"})
        assert match.decisions()[0].must == (0, 1, 2)
        assert code(match, 1, {"type": "reopen"}) == "not_your_decision"


class TestLists:
    def test_a_list_is_all_or_nothing(self) -> None:
        """The second fails, the first has not happened."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        orders_ = [{"type": "order", "to": "t01", "units": n} for n in (3, 3)]
        assert code(match, 0, *orders_) == "insufficient_funds"
        assert match.state.sheets[0] == ()
        record = match.play(0, orders_[0], {"type": "submit"})
        assert [m["type"] for _, m in record.moves()] == ["order", "submit"]

    def test_only_the_last_move_may_draw_or_reveal(self) -> None:
        """Or a refused list would tell the dice for free; nothing is stored."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        spy = {"type": "spy", "to": "t01"}
        assert code(match, 0, spy, {"type": "order", "to": "t01", "units": 99}) == "barrier_in_list"
        match.play(0, {"type": "order", "to": "t01", "units": 1}, spy)

    def test_only_the_last_move_may_ask_or_answer_in_secret(self) -> None:
        """Before the next one is looked at, and before the decision: both would tell what the others have answered."""
        match: InMemoryGame[Any] = InMemoryGame(windows.RULESET, 3, bytes(32))
        attack, last = {"type": "attack", "target": 1}, {"type": "pass"}
        assert code(match, 0, attack, None) == "barrier_in_list"
        match.play(0, attack)
        for answer in (last, {"type": "set_auto", "on": True}):
            for answered in ((), (1,), (1, 2)):
                asked: InMemoryGame[Any] = InMemoryGame(windows.RULESET, 3, bytes(32))
                asked.play(0, attack)
                for seat in answered:
                    asked.play(seat, last)
                with pytest.raises(RuleError, match="barrier_in_list"):
                    asked.play(0, answer, last, decision=asked.decisions()[0].id)
                with pytest.raises(RuleError, match="barrier_in_list"):
                    dry_run(asked.rules, asked.state, 0, [answer, last])
        match.play(0, {"type": "set_auto", "on": False}, last)

    def test_a_sealed_answer_ends_a_list(self) -> None:
        """A pack that is opened later must hold nothing that was taken back."""
        match: InMemoryGame[Any] = InMemoryGame(sealed.RULESET, 4, bytes(32))
        force = next(card for card in match.state.hands[0] if card != "alliance")
        match.play(0, {"type": "attack", "target": 1, "card": force})
        first, second, back = (
            {"type": "commit", "card": "alliance"},
            {"type": "commit", "card": None},
            {"type": "take_back"},
        )
        for more in ([back], [back, second], [second], [None]):
            assert code(match, 2, first, *more) == "barrier_in_list"
        match.play(2, first)


class TestTheMoveBuilder:
    @pytest.mark.parametrize(
        ("question", "pick"),
        [
            (one("x", [1, 2]), 3),
            (one("x", [1, 2]), True),
            (one("x", [1, 2]), [1]),
            (one("x", ["1"]), 1),
            (span("x", 1, 3), 4),
            (span("x", 1, 3), 2.0),
            (span("x", 0, 3), False),
            (some("x", [1, 2, 3], 1, 2), []),
            (some("x", [1, 2, 3], 1, 2), [1, 2, 3]),
            (some("x", [1, 2, 3], 1, 2), [1, 1]),
            (some("x", [1, 2, 3], 1, 2), 1),
            (some("x", [1, 2, 3], 1, 2), [4]),
            (one("x", [1, 2]), {"a": float("nan")}),
            (one("x", [1, 2]), {1: 2}),
        ],
    )
    def test_what_was_not_offered_is_refused(self, question: Choice, pick: Json) -> None:
        """By type as well as by value."""
        with pytest.raises(RuleError, match="not_offered") as caught:
            accept(question, pick, 4)
        assert caught.value.detail == {"field": "x", "pick": 4}

    def test_picks(self) -> None:
        """The offered value itself comes back; several in the order of the options."""
        assert accept(one("x", [{"a": 1}, None]), None) is None
        assert accept(one("x", [{"a": 1, "b": 2}]), {"b": 2, "a": 1}) == {"a": 1, "b": 2}
        assert accept(some("x", [1, 2, 3], 0, 3), [3, 1]) == [1, 3]

    def test_questions_as_clients_see_them(self) -> None:
        """Options carry their cost; `ends` marks the one that brings the game on."""
        question = one("type", [Option("pass", ends=True), Option("attack", {"gold": 2}), "wait"])
        assert question.to_json() == {
            "field": "type",
            "kind": "one",
            "options": [
                {"value": "pass", "ends": True},
                {"value": "attack", "cost": {"gold": 2}},
                {"value": "wait"},
            ],
        }
        assert span("n", 0, 3).to_json() == {"field": "n", "kind": "range", "lo": 0, "hi": 3}

    def test_a_pick_too_many(self) -> None:
        """The move is finished already."""
        with pytest.raises(RuleError, match="not_offered") as caught:
            query_builder(skirmish.RULESET, skirmishing().state, 0, ["pass", 1])
        assert caught.value.detail == {"field": "", "pick": 1}

    def test_who_is_not_asked(self) -> None:
        """The same refusals as for a move."""
        match = skirmishing()
        with pytest.raises(RuleError, match="not_your_decision"):
            query_builder(match.rules, match.state, 1)
        with pytest.raises(RuleError, match="game_over"):
            query_builder(match.rules, skirmish.Skirmish(), 1)


class TestDryRuns:
    def test_a_dry_run_tells_legality_and_no_result(self) -> None:
        """It stops at the first draw."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        draft = dry_run(match.rules, match.state, 0, [{"type": "order", "to": "t01", "units": 1}])
        assert draft.state.sheets[0] == ({"to": "t01", "units": 1},)
        assert match.state.sheets[0] == ()
        fighting = skirmishing()
        for seat, move in ((0, ATTACK), (2, {"type": "support", "army": 0}), (3, {"type": "support", "army": 0})):
            fighting.play(seat, move)
        with pytest.raises(NeedsChance):
            dry_run(fighting.rules, fighting.state, 0, [{"type": "answer", "yes": False}])


class TestTables:
    @pytest.mark.parametrize(
        ("seats", "options", "pointer"),
        [(5, {}, "/seats"), (4, {"turns": 0}, "/options/turns"), (4, {"x": 1}, "/options/x")],
    )
    def test_what_is_not_allowed_is_named(self, seats: int, options: dict[str, Json], pointer: str) -> None:
        """Seats, unknown options, values out of range."""
        with pytest.raises(InvalidTable) as caught:
            skirmish.RULESET.make_table(seats, options)
        assert caught.value.pointer == pointer

    def test_defaults_are_filled_in(self) -> None:
        """The record `opened` holds every option."""
        assert skirmish.RULESET.make_table(3).options == {"turns": 12}


class TestVacantSeats:
    def test_a_vacant_seat_is_what_the_rules_say(self) -> None:
        """Here: its sheet counts as submitted, and it is not asked again until somebody takes over."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        match.leave(1)
        assert match.decisions()[0].must == (0, 2)
        with pytest.raises(RuleError, match="seat_empty"):
            match.leave(1)
        with pytest.raises(RuleError, match="seat_taken"):
            match.join(0, "x")
        for seat in (0, 2):
            match.play(seat, {"type": "submit"})
        match.resolve()
        assert match.decisions()[0].must == (0, 2)
        match.join(1, "somebody else")
        assert match.state.vacant == ()

    def test_who_sits_there_does_not_go_back_with_the_line(self) -> None:
        """A rewind across a departure leaves the seat vacant, one across an arrival leaves it taken."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        start = match.game.version
        match.leave(1)
        match.rewind(start)
        gone = match.game.version
        assert (match.state.vacant, match.decisions()[0].must) == ((1,), (0, 2))
        match.join(1, "somebody else")
        match.rewind(gone)
        assert match.state.vacant == ()
        with pytest.raises(RuleError, match="seat_taken"):
            match.join(1, "a third")
        assert fold(match.rules, match.records) == match.game

    def test_what_nobody_owes_does_not_lapse(self) -> None:
        """Batch work has no default, and a seat that has answered owes nothing."""
        match = InMemoryGame(orders.RULESET, 2, bytes(32))
        match.play(0, {"type": "submit"})
        with pytest.raises(DecisionClosed):
            match.lapse(seats=[0])
        match.play(1, {"type": "submit"})
        with pytest.raises(DecisionClosed):
            match.lapse()
        match.close("abandoned")
        finished = skirmishing(options={"turns": 1})
        finished.lapse()
        for act in (finished.lapse, finished.resolve):
            with pytest.raises(RuleError, match="game_over"):
                act()

    def test_a_missed_deadline_is_one_record_in_seat_order(self) -> None:
        """Defaults of all who owe; a second try finds the decision closed."""
        match = InMemoryGame(sealed.RULESET, 4, bytes(32))
        card = next(c for c in match.state.hands[0] if c != "alliance")
        match.play(0, {"type": "attack", "target": 1, "card": card})
        match.play(2, {"type": "commit", "card": None})
        named = match.decisions()[0].id
        record = match.lapse(named)
        assert (record.kind, record.public["by"]) == ("lapsed", "clock")
        assert [seat for seat, _ in record.moves()] == [1, 3]
        with pytest.raises(DecisionClosed):
            match.lapse(named)


def test_window_of_auto_passes_closes_in_its_own_record() -> None:
    """And nothing tells that from a window in which all passed by hand."""
    match = InMemoryGame(windows.RULESET, 2, bytes(32))
    for seat in range(2):
        match.play(seat, {"type": "set_auto", "on": True})
    match.source = Scripted([6, 1])
    record = match.play(0, {"type": "attack", "target": 1})
    assert [f["kind"] for f in record.public["facts"] if f["t"] == "asked"] == ["combat", "window", "turn"]
    assert "answered" not in [f["t"] for f in record.public["facts"]]
