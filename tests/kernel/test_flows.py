"""The five flows, told step by step: the shapes that the contract was made for."""

from __future__ import annotations

from domain.kernel.schema.json_codec import to_json
from tests.kernel.flows import orders, passage, sealed, skirmish, windows
from tests.spec import Given, kinds


class TestAChainOfInterruptions:
    def test_a_whole_attack(self) -> None:
        """Allies are asked first, gold for support is binding, both fight at sea, a reserve rolls all dice again."""
        game = Given(skirmish.RULESET, 4)
        game.when(0, {"type": "attack", "target": 1, "offer": 3})
        assert (game.decision.kind, game.decision.must) == ("support", (2,))
        game.refused(2, {"type": "support", "army": 3}, "exceeds_available", "SK-3")
        game.when(2, {"type": "support", "army": 2})
        assert game.state.gold == (3, 8, 11, 8)
        game.when(3, {"type": "support", "army": 0})
        game.when(0, {"type": "answer", "yes": True})
        game.when(1, {"type": "answer", "yes": True}, draws=[4, 1, 2, 6])
        assert game.decision.context["dice"] == [4, 1, 2, 6]
        game.when(0, {"type": "answer", "yes": False})
        game.when(1, {"type": "answer", "yes": True}, draws=[1, 1, 5, 1])
        assert game.state.reserve == (1, 0, 1, 1)
        game.when(0, {"type": "answer", "yes": False})
        assert (game.decision.kind, game.decision.must, game.decision.context["kinds"]) == (
            "choose_loss",
            (0,),
            ["navy", "fort"],
        )
        game.refused(0, {"type": "choose_loss", "kind": "army"}, "invalid_choice", "SK-4")
        game.when(0, {"type": "choose_loss", "kind": "navy"}, draws=[1, 1, 5, 1])
        game.when(0, {"type": "answer", "yes": False})
        game.when(0, {"type": "choose_loss", "kind": "army"})
        assert (game.decision.kind, game.decision.must) == ("turn", (1,))
        assert game.at("/units/0") == {"army": 1, "navy": 0, "fort": 1}
        assert game.sight(0) == {"unrest": 2}
        assert "unrest" not in game.sight("public")

    def test_the_worst_and_the_best_dice(self) -> None:
        """Fakes for all minimum and all maximum."""
        for last, faces in ((False, [1, 1, 1, 1]), (True, [6, 6, 6, 6])):
            game = Given(skirmish.RULESET, 4, patch={"reserve": {"0": 0, "1": 0}})
            game.when(0, {"type": "attack", "target": 1, "offer": 0})
            game.deadline()
            game.deadline()
            facts = game.extreme(0, {"type": "answer", "yes": False}, last=last)
            assert next(f["data"]["dice"] for f in facts if f["t"] == "noted" and "dice" in f["data"]) == faces


class TestAnotherSeatDecides:
    def test_delegation_permission_and_a_counter_fight(self) -> None:
        """The turn stays the delegator's; a refused passage holds for the turn; the attacked names what falls."""
        game = Given(passage.RULESET, 3)
        game.refused(0, {"type": "delegate", "to": 0}, "invalid_delegate", "PA-1")
        game.when(0, {"type": "delegate", "to": 1})
        assert (game.decision.must, game.decision.context["turn_of"]) == ((1,), 0)
        game.when(1, {"type": "march", "start": 3, "via": None, "to": 2})
        march = {"type": "march", "start": 2, "via": 1, "to": 0}
        game.when(1, march)
        assert (game.decision.kind, game.decision.must) == ("passage", (0,))
        game.when(0, {"type": "answer_passage", "grant": False})
        game.refused(1, march, "passage_refused", "PA-3")
        game.when(1, {"type": "march", "start": 2, "via": None, "to": 1})
        assert (game.decision.kind, game.decision.must) == ("counterfight", (0,))
        game.when(0, {"type": "choose_defender", "artillery": True})
        assert game.state.armies["1"] == (0, 1, 0)
        assert game.state.armies["2"] == (1, 2, 0)
        game.when(1, {"type": "pass"})
        assert game.decision.must == (1,)

    def test_a_granted_passage_is_carried_out_as_announced(self) -> None:
        """The position has not changed in between."""
        game = Given(passage.RULESET, 2, patch={"armies": {"3": None, "2": [1, 1, 0]}})
        game.when(0, {"type": "march", "start": 1, "via": 2, "to": 3})
        game.when(1, {"type": "answer_passage", "grant": True})
        assert game.state.armies == {"2": (1, 1, 0), "3": (0, 2, 1)}


class TestSealedAnswersAtOnce:
    def test_all_is_shown_together(self) -> None:
        """In any order of answers; the result does not depend on it."""
        ends = []
        for order in ((1, 2), (2, 1)):
            game = Given(sealed.RULESET, 3, draws=["alliance", "alliance", "f2"])
            game.refused(0, {"type": "attack", "target": 1, "card": "alliance"}, "card_not_in_hand", "SE-1")
            game.when(0, {"type": "attack", "target": 1, "card": "f2"})
            assert game.decision.must == (1, 2)
            game.refused(1, {"type": "commit", "card": None}, "card_required", "SE-2")
            for seat in order:
                game.when(seat, {"type": "commit", "card": "f3" if seat == 1 else "alliance"})
            assert game.at("/laid") == [1, 2]
            game.when(1, {"type": "hire", "powers": ["russia"]})
            facts = game.when(0, {"type": "hire", "powers": ["spain", "russia"]}, draws=[4, 6])
            assert kinds(facts)[1:] == ["unsealed", "battle_shown", "battle_over"]
            ends.append(to_json(game.state))
        assert ends[0] == ends[1]
        assert ends[0]["gold"] == {"0": 4, "1": 5, "2": 6}
        assert ends[0]["points"] == {"0": 0, "1": 1, "2": 0}


class TestSheetsResolvedInBatch:
    def test_the_engine_resolves_when_all_have_submitted(self) -> None:
        """No seat wrote that record; hidden draws are nobody's."""
        game = Given(orders.RULESET, 2, patch={"garrison": {"t01": 1, "t02": 6}})
        game.when(0, {"type": "order", "to": "t01", "units": 2}, {"type": "order", "to": "t02", "units": 3})
        game.refused(0, {"type": "order", "to": "t03", "units": 1}, "insufficient_funds", "OR-2")
        game.when(0, {"type": "submit"})
        game.when(0, {"type": "reopen"})
        game.when(0, {"type": "submit"})
        game.refused(0, {"type": "submit"}, "already_answered")
        game.when(1, {"type": "submit"})
        assert (game.decision.engine, game.decision.must) == (True, ())
        game.engine(draws=[{"label": "battle", "value": 2}, 3])
        assert (game.state.owner["t01"], game.state.garrison["t02"]) == (0, 3)
        assert game.sight(0) == {"money": 4, "sheet": [], "spied": {}}
        assert (game.decision.kind, game.decision.context) == ("orders", {"turn": 2})

    def test_a_missed_deadline_submits_the_sheet_as_it_stands(self) -> None:
        """Submitted is enough."""
        game = Given(orders.RULESET, 2)
        game.when(1, {"type": "order", "to": "t01", "units": 1})
        game.deadline()
        assert game.decision.engine
        assert len(game.state.sheets[1]) == 1


class TestWindowsForAll:
    def hands(self) -> Given:
        """Seats 0 and 2 hold a counter, seat 1 an ambush, all a filibuster."""
        hands = (
            ["counter", "filibuster", "ambush"],
            ["ambush", "filibuster", "ambush"],
            ["counter", "filibuster", "ambush"],
        )
        rest = list(windows.DECK)
        for card in [c for h in hands for c in h]:
            rest.remove(card)
        return Given(windows.RULESET, 3, draws=[[*(c for h in hands for c in h), *rest]])

    def test_counters_stack_and_the_first_card_stands_or_falls(self) -> None:
        """The window starts again for all, under a new id."""
        game = self.hands()
        game.when(0, {"type": "attack", "target": 1})
        window = game.decision.id
        game.when(1, {"type": "play_card", "card": "ambush"})
        assert (game.decision.kind, game.decision.must) == ("counter", (0, 2))
        game.refused(1, {"type": "pass"}, "not_your_decision")
        game.when(0, {"type": "play_card", "card": "counter"})
        game.when(2, {"type": "play_card", "card": "counter"})
        assert game.decision.context["chain"] == [[1, "ambush"], [0, "counter"], [2, "counter"]]
        for seat in (0, 1):
            game.when(seat, {"type": "pass"})
        assert (game.decision.kind, game.decision.must, game.decision.id != window) == ("window", (0, 1, 2), True)
        for seat in (2, 0):
            game.when(seat, {"type": "pass"})
        facts = game.when(1, {"type": "pass"}, draws=[2, 1])
        assert [f for f in facts if f["t"] == "point_won"] == [{"t": "point_won", "seat": 1, "points": 1}]

    def test_a_card_in_anybodys_turn(self) -> None:
        """At a safe point every seat with a card may, and is never waited for."""
        game = self.hands()
        assert (game.decision.must, game.decision.may) == ((0,), (1, 2))
        game.refused(2, {"type": "play_card", "card": "ambush"}, "card_not_playable_now", "WI-3")
        game.refused(2, {"type": "end"}, "not_your_decision")
        game.when(2, {"type": "play_card", "card": "filibuster"})
        for seat in (1, 0):
            game.when(seat, {"type": "pass"})
        assert (game.state.points, game.decision.must) == ((0, 0, 1), (0,))
