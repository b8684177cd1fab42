"""Undo: free up to the last barrier, by consent beyond it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest

from domain.errors import RuleError
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.table_commands import Leave
from domain.kernel.game.undo import Policy, build_motion, check_consent, foresee_undo
from domain.kernel.records.record import Record
from domain.types import Json
from tests.kernel.flows import orders, skirmish, windows

ATTACK = {"type": "attack", "target": 1, "offer": 0}


class FinalAttack(skirmish.Attack, frozen=True, tag="attack"):
    """An attack that cannot be undone."""

    admission: ClassVar = replace(skirmish.Attack.admission, undo=False)


def skirmishing(pace: Json = None) -> InMemoryGame[skirmish.Skirmish]:
    match = InMemoryGame(skirmish.RULESET, 4, bytes(32), pace=pace)
    match.play(0, ATTACK)
    return match


def started(match: InMemoryGame[skirmish.Skirmish]) -> int:
    return next(r.version for r in match.records if r.kind == "started")


class TestWhoMustAgree:
    def test_a_seat_takes_back_its_own_move_freely(self) -> None:
        """Nothing was drawn or shown, and nobody else has decided."""
        match = skirmishing()
        asked = build_motion(match.rules, match.game, match.records, started(match), 0)
        assert (asked.free, asked.consents, asked.draws) == (True, (), ())

    def test_another_author_must_agree(self) -> None:
        """The ally has answered since."""
        match = skirmishing("none")
        match.play(2, {"type": "support", "army": 1})
        asked = build_motion(match.rules, match.game, match.records, started(match), 0)
        assert (asked.free, asked.consents) == (False, (2,))

    def test_with_deadlines_all_must_agree_once_somebody_must(self) -> None:
        """What is agreed on costs no time: else two people would hold a table for ever, and nobody ask the others."""
        match = skirmishing()
        match.play(2, {"type": "support", "army": 1})
        asked = build_motion(match.rules, match.game, match.records, started(match), 0)
        assert asked.consents == (1, 2, 3)
        match.execute(Leave(3))
        asked = build_motion(match.rules, match.game, match.records, started(match), 0)
        assert asked.consents == (1, 2), "nobody sits there"
        with pytest.raises(RuleError, match="consent_missing"):
            match.execute(Rewind(started(match), "seat", 0, consent=(2,)))

    def test_past_draw_all_others_must_agree_and_draws_are_named(self) -> None:
        """Everybody has seen the dice."""
        match = skirmishing()
        for seat, move in ((2, "support"), (3, "support"), (0, "answer")):
            match.play(seat, {"type": move} | ({"army": 0} if move == "support" else {"yes": False}))
        asked = build_motion(match.rules, match.game, match.records, started(match), 0)
        assert asked.consents == (1, 2, 3)
        assert [label for _, label, _ in asked.draws] == ["battle.army"] * 4
        with pytest.raises(RuleError, match="consent_missing") as caught:
            check_consent(asked, [1, 3])
        assert caught.value.detail == {"missing": [2]}
        check_consent(asked, [1, 2, 3])

    def test_an_anonymous_record_is_a_barrier_for_all(self) -> None:
        """Otherwise the question who must agree would tell who filed an order."""
        match = InMemoryGame(orders.RULESET, 3, bytes(32))
        match.play(1, {"type": "spy", "to": "t01"})
        match.play(1, {"type": "order", "to": "t01", "units": 1})
        asked = [build_motion(match.rules, match.game, match.records, match.game.version - 2, s) for s in range(3)]
        assert [m.consents for m in asked] == [(1, 2), (0, 2), (0, 1)]
        assert asked[0].hidden == ((6, "1"), (7, "1"))

    def test_a_missed_deadline_concerns_all(self) -> None:
        """The clock is another author."""
        match = skirmishing()
        match.lapse()
        assert build_motion(match.rules, match.game, match.records, started(match), 0).consents == (1, 2, 3)


class TestWhatTheTableAndTheRulesSay:
    def test_the_policies(self) -> None:
        """free asks nobody, director and none let no seat undo."""
        match = skirmishing()
        match.play(2, {"type": "support", "army": 1})
        assert build_motion(match.rules, match.game, match.records, started(match), 0, "free").free
        policies: tuple[Policy, ...] = ("director", "none")
        for policy in policies:
            with pytest.raises(RuleError, match="undo_forbidden"):
                build_motion(match.rules, match.game, match.records, started(match), 0, policy)

    def test_a_kind_of_move_that_cannot_be_undone(self) -> None:
        """The rules may forbid it for one type alone."""
        match = skirmishing()
        rules = replace(match.rules, moves={**match.rules.moves, "attack": FinalAttack})
        with pytest.raises(RuleError, match="undo_forbidden"):
            build_motion(rules, match.game, match.records, started(match), 0)

    def test_versions_off_the_line(self) -> None:
        """What was undone, or lies before the start, is no target."""
        match = skirmishing()
        match.play(2, {"type": "support", "army": 1})
        match.rewind(started(match))
        for to in (started(match) + 1, 1, match.game.version, 99):
            with pytest.raises(RuleError, match="not_on_line"):
                build_motion(match.rules, match.game, match.records, to, 0)


class TestRewinding:
    def test_state_and_draws_go_back_and_ids_do_not(self) -> None:
        """The same decision has another id after a rewind, so no stale answer slips in."""
        match = skirmishing()
        before = match.decisions()[0].id
        match.play(2, {"type": "support", "army": 1}, decision=before)
        match.rewind(match.game.version - 1)
        assert match.state == match.game_at(match.game.version - 2).state
        assert (match.decisions()[0].kind, match.decisions()[0].id != before) == ("support", True)
        with pytest.raises(Exception, match="not open"):
            match.play(2, {"type": "support", "army": 1}, decision=before)

    def test_fresh_entropy_deals_anew_what_nobody_has_seen(self) -> None:
        """Hands that seats know stay, the deck does not; the dice change."""
        match = InMemoryGame(windows.RULESET, 2, bytes(32))
        start = match.game.version
        match.play(0, {"type": "attack", "target": 1})
        match.rewind(start, fresh=True)
        assert match.game.lasting.rewinds.epoch == 1
        assert match.state.hands == match.game_at(start).state.hands
        assert sorted(match.state.deck) == sorted(match.game_at(start).state.deck)
        assert match.state.deck != match.game_at(start).state.deck

    def test_a_closed_game_is_not_rewound(self) -> None:
        """Its seed is shown."""
        match = skirmishing()
        match.close("abandoned")
        with pytest.raises(RuleError, match="game_over"):
            match.rewind(started(match))


class TestForesight:
    """What undo will take is foreseen by the rule that decides it afterwards."""

    @pytest.mark.parametrize("barrier", [False, True])
    @pytest.mark.parametrize("policy", ["free", "consent", "director", "none"])
    @pytest.mark.parametrize("with_people", [False, True])
    def test_it_is_true_of_the_table(self, barrier: bool, policy: Policy, with_people: bool) -> None:
        match = InMemoryGame(skirmish.RULESET, 4, bytes(32))
        for seat in () if with_people else (1, 2, 3):
            match.leave(seat)
            match.join(seat, f"bot-builder-{seat}")
        foreseen = foresee_undo(match.rules, match.game, 0, policy, ["attack"], barrier=barrier)
        before = match.game.version
        match.play(0, ATTACK)
        record = match.records[-1]
        records = [*match.records[:-1], Record({**record.public, "barrier": barrier}, record.packs)]
        if foreseen == "never":
            with pytest.raises(RuleError, match="undo_forbidden"):
                build_motion(match.rules, match.game, records, before, 0, policy)
            return
        motion = build_motion(match.rules, match.game, records, before, 0, policy)
        assert foreseen == ("alone" if motion.free else "consent")
