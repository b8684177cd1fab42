"""Going back gives nobody time: clocks after a rewind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import RuleError
from domain.kernel.game.director_commands import Rewind, SetPace
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.record_builder import Agreement
from domain.kernel.game.table_commands import Leave
from domain.kernel.game.undo import build_motion, waiting_seats
from tests import template
from tests.kernel.flows import orders
from tests.template import RULESET

SEED = b"clocks of a rewind, a fixed seed"
TAKE = {"type": "take", "count": 1}
LIMIT = 30_000


def play(**pace: Any) -> InMemoryGame[Any]:
    """A game of two with 30 s for each move; its clock stands still between commands."""
    return InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": LIMIT // 1000}, **pace})


def left(game: InMemoryGame[Any]) -> int:
    """Seconds of the open decision."""
    assert game.game.deadline is not None
    return (game.game.deadline - game.game.time) // 1000


def at(game: InMemoryGame[Any], seconds: int) -> None:
    """Let seconds pass since the last record."""
    game.now = game.game.time + seconds * 1000


def undo(game: InMemoryGame[Any], to: int, seconds: int, **more: Any) -> None:
    at(game, seconds)
    game.execute(Rewind(to, "seat", 0, **more))


def loop(game: InMemoryGame[Any], to: int, before: int, after: int) -> None:
    """Wait some seconds, play, wait, and take back, again and again."""
    for _ in range(20):
        at(game, before)
        game.play(0, TAKE)
        undo(game, to, after)


class TestFree:
    """A seat goes back by itself, and nobody is asked."""

    def test_the_decision_has_the_time_that_was_left_of_it(self) -> None:
        game = play()
        start = game.game.version
        at(game, 20)
        game.play(0, TAKE)
        undo(game, start, 5)
        assert left(game) == 10, "20 s of 30 were used; the 5 s were the other seat's"

    def test_taking_back_again_and_again_gains_nothing(self) -> None:
        """As it was found: a deadline of 30 s was held for 112 s."""
        game = play()
        start, begin = game.game.version, game.game.time
        for _ in range(3):
            at(game, 9)
            game.play(0, TAKE)
            undo(game, start, 0)
        at(game, 9)
        game.play(0, TAKE)
        with pytest.raises(RuleError, match="no_time_left"):
            undo(game, start, 0)
        assert game.now - begin <= LIMIT + 9_000

    def test_without_time_left_the_move_stands(self) -> None:
        game = play()
        start = game.game.version
        at(game, 30)
        game.play(0, TAKE)
        version = game.game.version
        with pytest.raises(RuleError, match="no_time_left"):
            undo(game, start, 1)
        assert game.game.version == version

    def test_a_bank_pays_beyond_the_deadline(self) -> None:
        game = play(bank=100)
        start = game.game.version
        at(game, 50)
        game.play(0, TAKE)
        undo(game, start, 0)
        assert left(game) == 0
        assert game.game.timing.banks[0].bank == 80_000
        assert game.game.due_times([0]) == {0: game.game.time + 80_000}

    def test_a_vacation_costs_no_time(self) -> None:
        game = play(vacation=3)
        start = game.game.version
        at(game, 10)
        game.execute(Rest(0, 1))
        at(game, 3600)
        game.play(0, TAKE)
        undo(game, start, 0)
        assert game.game.timing.banks[0].days == 2, "days that were taken stay taken"
        assert game.game.due_times([0])[0] == game.game.timing.banks[0].vacation_end + 20_000

    def test_an_extension_stays(self) -> None:
        game = play()
        start = game.game.version
        at(game, 0)
        game.extend(86_400_000)
        at(game, 20)
        game.play(0, TAKE)
        undo(game, start, 0)
        assert left(game) == 86_400 + 10


class TestLoops:
    """What a seat could repeat by itself, until it has held its decision for ever."""

    @pytest.mark.parametrize(("pace", "wait", "bound"), [({"grace": 60}, 59, 100), ({"bank": 10}, 20, 60)])
    def test_time_beyond_the_limit_comes_once(self, pace: dict[str, int], wait: int, bound: int) -> None:
        game = play(**pace)
        start, begin = game.game.version, game.game.time
        with pytest.raises(RuleError, match="no_time_left"):
            loop(game, start, wait, 0)
        assert game.game.time - begin <= bound * 1000
        assert fold(RULESET, game.records).timing.banks == game.game.timing.banks

    def test_the_bank_pays_for_what_the_clock_could_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two decisions of one seat, one after the other: each within its limit, together beyond it."""

        def same_seat_again(draft: Any, seat: int) -> None:
            draft.end()
            draft.ask(template.Turn(), seat)

        monkeypatch.setattr(template, "_next", same_seat_again)
        game = play(bank=10)
        start, begin = game.game.version, game.game.time
        with pytest.raises(RuleError, match="no_time_left"):
            loop(game, start, 0, 29)
        assert game.game.time - begin <= 80_000

    def test_another_pace_is_not_undone_alone(self) -> None:
        """Going back before it would start every clock again."""
        game = play()
        start = game.game.version
        change = SetPace({"seconds": {"move": 40}})
        agreed = replace(game.context, agreement=Agreement(0, (1,)))
        game._append(change.execute(game.rules, game.game, agreed))
        assert build_motion(RULESET, game.game, game.records, start, 0).consents == (1,)

    def test_a_game_without_clocks_goes_back_before_a_pace(self) -> None:
        game = InMemoryGame(RULESET, 2, SEED, pace="none", options={"sticks": 99})
        start = game.game.version
        game.play(0, TAKE)
        agreed = replace(game.context, agreement=Agreement(0, (1,)))
        paces: list[Any] = [{"seconds": {"move": 40}}, "none"]
        for pace in paces:
            game._append(SetPace(pace).execute(game.rules, game.game, agreed))
        game.execute(Rewind(start))
        assert game.game.reversible.clocks == ()

    def test_a_seat_that_has_thought_for_long_is_asked(self) -> None:
        """Or one would answer, let the other think, take back, and so renew both clocks for ever."""
        game = InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": 3600}}, options={"sticks": 99})
        start = game.game.version
        game.play(0, TAKE)
        with pytest.raises(RuleError, match="consent_missing"):
            undo(game, start, 61)
        undo(game, start, 61, consent=(1,))
        game.play(0, TAKE)
        undo(game, game.game.version - 1, 60)

    @pytest.mark.parametrize("rests", [False, True])
    def test_short_waits_add_up(self, rests: bool) -> None:
        """A friend thinks for 59 s again and again; the target is the rewind before, or a record after it."""
        pace = {"seconds": {"move": 3600}, "vacation": 9}
        game = InMemoryGame(RULESET, 2, SEED, pace=pace, options={"sticks": 99})
        start = game.game.version
        game.play(0, TAKE)
        undo(game, start, 59)
        if rests:
            game.execute(Rest(0, 1))
        again = game.game.version
        game.play(0, TAKE)
        with pytest.raises(RuleError, match="consent_missing"):
            undo(game, again, 59)

    def test_a_seat_without_a_player_is_not_asked(self) -> None:
        """It could never answer, so the move could never be taken back."""
        game = InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": 3600}}, options={"sticks": 99})
        start = game.game
        game.play(0, TAKE)
        at(game, 90)
        game.execute(Leave(1))
        assert waiting_seats(game.game, start, 0, game.game.time) == ()


class TestSharedDecision:
    """The others of an open decision go on thinking, so its clock is theirs as well."""

    def test_its_deadline_stays(self) -> None:
        game = InMemoryGame(orders.RULESET, 3, SEED, pace={"seconds": {"turn": 3600}})
        start, deadline = game.game.version, game.game.deadline
        at(game, 0)
        game.play(0, {"type": "submit"})
        undo(game, start, 1800)
        assert game.game.deadline == deadline

    def test_the_vacation_of_another_seat_stays(self) -> None:
        game = InMemoryGame(orders.RULESET, 3, SEED, pace={"seconds": {"turn": 3600}, "vacation": 5})
        at(game, 0)
        game.execute(Rest(1, 5))
        start, due = game.game.version, game.game.due_times([1], individually=True)
        at(game, 3500)
        game.play(0, {"type": "submit"})
        undo(game, start, 0)
        assert game.game.due_times([1], individually=True) == due

    def test_who_is_asked_does_not_tell_who_has_answered(self) -> None:
        """Two seats order in secret, and seat 0 has moved before: it asks both or none."""
        game = InMemoryGame(orders.RULESET, 3, SEED, pace={"seconds": {"turn": 3600}})
        open_ = game.game
        earlier = open_.with_state(replace(open_.state, frames=(replace(open_.frames[-1], timed_as=99),)))
        at(game, 30)
        game.play(1, {"type": "submit"})
        assert waiting_seats(game.game, earlier, 0, game.game.time + 29_000) == ()
        assert waiting_seats(game.game, earlier, 0, game.game.time + 40_000) == (1, 2)


class TestAgreed:
    """The others have agreed, or a director goes back: the decision has the time that it had then."""

    @pytest.mark.parametrize("more", [{"by": "director"}, {"by": "seat", "seat": 0, "consent": (1,)}])
    def test_the_decision_has_its_time_of_then(self, more: dict[str, Any]) -> None:
        game = play()
        at(game, 5)
        game.look()
        version = game.game.version
        at(game, 20)
        game.play(0, TAKE)
        at(game, 5)
        game.execute(Rewind(version, **more))
        assert left(game) == 25

    def test_an_extension_since_then_stays(self) -> None:
        game = play()
        start = game.game.version
        game.play(0, TAKE)
        game.extend(60_000)
        game.rewind(start)
        assert left(game) == 30, "it was the other seat's"
        game.extend(60_000)
        game.play(0, TAKE)
        game.rewind(start)
        assert left(game) == 90


def test_records_before_the_rule_start_every_clock_again() -> None:
    """Clocks are folded: a stored game keeps the deadlines that it had."""
    game = play()
    start = game.game.version
    at(game, 20)
    game.play(0, TAKE)
    undo(game, start, 5, clocks="restarted")
    assert "clocks" not in game.records[-1].body
    assert left(game) == 30
    assert fold(RULESET, game.records).reversible.clocks == game.game.reversible.clocks


STEPS = st.lists(st.tuples(st.sampled_from(["play", "undo", "extend", "look", "rest", "wait"]), st.integers(0, 40)))


@given(STEPS)
def test_no_seat_thinks_longer_than_its_decisions_allow(steps: list[tuple[str, int]]) -> None:
    """By any row of commands a seat has at most the limit of its decision, what was granted, and its bank."""
    game = play(bank=20, vacation=2)
    start = game.game.version
    for what, seconds in steps:
        at(game, seconds)
        try:
            match what:
                case "play":
                    game.play(0, TAKE)
                case "undo":
                    game.execute(Rewind(start, "seat", 0))
                case "extend":
                    game.extend(seconds * 1000)
                case "look":
                    game.look()
                case "rest":
                    game.execute(Rest(0, 1))
        except RuleError:
            continue
        due = game.game.due_times(game.game.frames[-1].owing)
        if any(at_ < game.game.time for at_ in due.values()):
            break  # its default would have been played
    used, granted = game.game.timing.thinking[0], game.game.timing.granted[0]
    assert used <= LIMIT + 20_000 + max(granted, 0) + 40_000
    assert fold(RULESET, game.records).reversible.clocks == game.game.reversible.clocks
    assert fold(RULESET, game.records) == game.game
