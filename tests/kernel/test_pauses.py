"""A pause stops all time of a game, and only moves deadlines later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from domain.errors import RuleError
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Extend, Hold, Rewind, Shift
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.play_commands import Lapse, Play, Rest
from domain.kernel.game.playing_time import moved_time
from domain.kernel.game.proposals import list_silent_seats
from domain.kernel.game.record_builder import Agreement
from domain.kernel.game.table_commands import Close, Leave, Vacate
from domain.kernel.proof.record_schema import check_record
from domain.kernel.proof.verify import audit
from tests.kernel.flows import orders
from tests.template import RULESET

SEED = b"pauses of a game, a fixed seed..."[:32]
TAKE = {"type": "take", "count": 1}
HOUR, DAY = 3_600_000, 86_400_000
Game = InMemoryGame[Any]


def play(**pace: Any) -> Game:
    """A game of two with an hour for each move; no time passes between commands unless the test says so."""
    game = InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": 3600}, "vacation": 9, **pace}, terms={"hold": 0})
    game.now = game.game.time
    return game


def do(game: Game, command: Command, after: int = 0) -> None:
    """Execute a command `after` ms since the last record, and prove the log."""
    game.now = game.game.time + after
    game.execute(command)
    game.now = game.game.time


def due(game: Game, seat: int = 0) -> int:
    return game.game.due_times([seat])[seat]


def pause(game: Game, length: int, *, known: bool) -> None:
    """A pause of some length, with a known end or without."""
    do(game, PauseGame(game.game.time + length if known else None))
    if not known:
        do(game, ResumeGame(), length)


def prove(game: Game) -> None:
    folded = fold(RULESET, game.records)
    assert (folded.reversible.clocks, folded.timing.banks, folded.timing.pauses) == (
        game.game.reversible.clocks,
        game.game.timing.banks,
        game.game.timing.pauses,
    )
    for record in game.records:
        check_record(record, record.version)
    audit(RULESET, game.records, SEED)


class TestPause:
    @pytest.mark.parametrize("known", [False, True])
    def test_deadlines_move_by_its_length(self, known: bool) -> None:
        game = play(grace=60)
        before = due(game)
        pause(game, 5 * DAY, known=known)
        assert due(game) == before + 5 * DAY
        prove(game)

    def test_without_end_nothing_has_a_due_time(self) -> None:
        game = play(bank=100)
        do(game, PauseGame(), HOUR // 2)
        assert (game.game.deadline, game.game.due_times([0]), game.game.seat_deadlines([0])) == (None, {}, [])
        game.now += 9 * DAY
        with pytest.raises(RuleError, match="not_due"):
            game.execute(Lapse(game.decisions()[0].id))

    def test_a_default_that_was_due_waits_for_the_end(self) -> None:
        game, until = play(), 0
        game.now = due(game) + 1000
        until = game.now + DAY
        game.execute(PauseGame(until))
        for now in (game.now, until - 1):
            game.now = now
            with pytest.raises(RuleError, match="not_due"):
                game.execute(Lapse(game.decisions()[0].id))
        assert due(game) == until
        game.now = until
        game.execute(Lapse(game.decisions()[0].id))
        prove(game)

    def test_moves_are_made_only_if_it_says_so(self) -> None:
        game = play()
        do(game, PauseGame())
        for command in (Play(0, [TAKE]), Play(0, [TAKE], by="director"), Rewind(4, "seat", 0)):
            with pytest.raises(RuleError, match="game_paused"):
                do(game, command, 1000)
        do(game, PauseGame(moves=True))
        do(game, Play(0, [TAKE]), 3 * HOUR)
        do(game, ResumeGame(), 3 * HOUR)
        assert due(game, 1) == game.game.time + HOUR, "the next decision has its full time after the pause"
        prove(game)

    def test_after_its_end_time_runs_without_another_record(self) -> None:
        game = play(bank=100)
        until = game.game.time + DAY
        do(game, PauseGame(until))
        do(game, Play(0, [TAKE]), DAY + HOUR + 40_000)
        assert game.game.timing.banks[0].bank == 60_000
        with pytest.raises(RuleError, match="not_paused"):
            do(game, ResumeGame())
        prove(game)

    def test_a_new_end_replaces_the_old_one(self) -> None:
        game = play()
        before, begin = due(game), game.game.time
        for until in (begin + DAY, None, begin + 3 * DAY, begin + 2 * DAY):
            do(game, PauseGame(until), HOUR)
            with pytest.raises(RuleError, match="already_until"):
                do(game, PauseGame(until))
        assert due(game) == before + 2 * DAY - HOUR, "it began an hour after the decision"
        do(game, ResumeGame())
        assert due(game) == before + 3 * HOUR
        prove(game)

    def test_an_end_in_the_past_is_refused(self) -> None:
        game = play()
        with pytest.raises(RuleError, match="time_passed"):
            do(game, PauseGame(game.game.time))

    def test_no_end_of_a_pause_no_amount_until_a_time(self) -> None:
        game = play()
        do(game, PauseGame())
        decision, until = game.decisions()[0].id, game.game.time + DAY
        for command in (Extend(decision, until=until), Hold(0, until=until), Rest(0, until=until)):
            with pytest.raises(RuleError, match="game_paused"):
                do(game, command)

    def test_a_late_seat_is_not_saved_by_a_vacation_in_a_pause(self) -> None:
        game = play(grace=7200)
        do(game, PauseGame(), HOUR + 1000)
        with pytest.raises(RuleError, match="deadline_passed"):
            do(game, Rest(0, 1))

    def test_the_end_of_a_hold_waits_for_the_end_of_a_pause(self) -> None:
        game = play()
        do(game, Leave(0, 600))
        do(game, PauseGame(game.game.time + DAY))
        for after in (HOUR, DAY + 599_000):
            with pytest.raises(RuleError, match="not_due"):
                do(game, Vacate(0), after)
        do(game, Vacate(0), DAY + 600_000)
        prove(game)

    def test_a_secret_decision_waits_too(self) -> None:
        game = InMemoryGame(orders.RULESET, 3, SEED, pace={"seconds": {"turn": 3600}})
        before = due(game)
        do(game, PauseGame())
        do(game, ResumeGame(), DAY)
        assert {due(game, seat) for seat in range(3)} == {before + DAY}

    def test_players_agree_on_it(self) -> None:
        game = play()
        for command in (PauseGame(), ResumeGame()):
            context = replace(game.context, agreement=Agreement(0, (1,)))
            transition = command.execute(RULESET, game.game, context)
            game.records.append(transition.record)
            game.games.append(transition.game)
        prove(game)


# --- every order of two things that move time ---------------------------------------------------------------------

LENGTH = 4 * HOUR


def shift(game: Game) -> int:
    game.now = game.game.time + LENGTH
    game.execute(Shift(LENGTH))
    return LENGTH


def extend(game: Game) -> int:
    """As after an outage."""
    do(game, Extend(game.decisions()[0].id, LENGTH, by="clock"))
    return LENGTH


def hold(game: Game) -> int:
    do(game, Hold(0, LENGTH // 1000))
    return LENGTH


def rest(game: Game) -> int:
    do(game, Rest(0, 1))
    return DAY


def rewind(game: Game) -> int:
    do(game, Play(0, [TAKE]))
    do(game, Rewind(game.game.version - 1), 1000)
    return 1000


def pause_unknown(game: Game) -> int:
    pause(game, LENGTH, known=False)
    return LENGTH


def pause_known(game: Game) -> int:
    pause(game, LENGTH, known=True)
    do(game, Hold(1, 0), LENGTH)  # a record after its end
    return LENGTH


MOVERS: list[Callable[[Game], int]] = [shift, extend, hold, rest, rewind, pause_unknown, pause_known]


@pytest.mark.parametrize(("first", "second"), [pair for pair in permutations(MOVERS, 2) if "pause" in str(pair)])
@pytest.mark.parametrize("spent", [0, HOUR // 2])
def test_one_after_the_other_adds_up(first: Callable[[Game], int], second: Callable[[Game], int], spent: int) -> None:
    """A hold and a vacation run with a pause's end, whatever comes first."""
    game = play()
    game.now = game.game.time + spent
    start = due(game)
    if spent:
        do(game, Hold(1, 0), spent)  # a record in the middle of the decision
    sum_ = first(game) + second(game)
    assert due(game) == start + sum_
    prove(game)


WITHIN: list[Callable[[Game], int]] = [shift, extend, hold, rest]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("inside", WITHIN)
def test_within_a_pause_it_counts_from_its_end(inside: Callable[[Game], int], known: bool) -> None:
    game = play()
    start, begin = due(game), game.game.time
    do(game, PauseGame(begin + 2 * DAY if known else None))
    sum_ = inside(game)
    end = begin + 2 * DAY + (LENGTH if inside is shift else 0)
    if not known:
        do(game, ResumeGame(), end - game.game.time)
    assert due(game) == start + 2 * DAY + sum_
    prove(game)


@pytest.mark.parametrize("known", [False, True])
def test_a_rewind_over_a_pause_keeps_the_time_left(known: bool) -> None:
    """The pause itself is no time of anybody; a vacation before it counts once."""
    game = play()
    do(game, Rest(0, 1), HOUR // 2)
    do(game, Play(0, [TAKE]), HOUR)
    target = game.game.version - 1
    pause(game, 3 * DAY, known=known)
    do(game, Rewind(target), 3 * DAY + HOUR)
    assert game.game.clock
    assert game.game.clock.left == HOUR // 2
    prove(game)


def test_a_rewind_to_before_a_pause_does_not_end_it() -> None:
    game = play()
    do(game, Play(0, [TAKE]), 1000)
    do(game, PauseGame(), 1000)
    do(game, Rewind(game.game.version - 2), DAY)
    assert game.game.has_stopped
    do(game, ResumeGame(), DAY)
    assert due(game) == game.game.time + HOUR
    prove(game)


def test_a_pause_takes_nothing_from_banks() -> None:
    game = play(bank=1000)
    do(game, PauseGame(moves=True), HOUR + 100_000)
    do(game, Hold(1, 0), DAY)
    do(game, ResumeGame(), DAY)
    do(game, Play(0, [TAKE]), 50_000)
    assert game.game.timing.banks[0].bank == 850_000
    prove(game)


def test_thinking_in_a_pause_is_no_thinking_time() -> None:
    game = play()
    start = game.game.version
    do(game, Play(0, [TAKE]), 1000)
    do(game, PauseGame(moves=True))
    do(game, ResumeGame(), DAY)
    do(game, Rewind(start, "seat", 0), 1000)
    assert game.game.timing.thinking == (1000, 1000)
    prove(game)


def test_a_pause_without_end_ends_though_somebody_stays_silent() -> None:
    """As it was found: officer and player vanish, the player has time left that never runs, and nobody resumes."""
    game = play()
    begin, asked = game.game.time, game.game.version
    do(game, PauseGame())
    later = game.records[asked:]
    for command, silent in ((ResumeGame(), [0]), (Close("agreed"), [])):
        assert list_silent_seats(game.game, command, later, [0], begin, begin + 9 * DAY) == silent
    do(game, PauseGame(begin + 30 * DAY))
    assert list_silent_seats(game.game, ResumeGame(), later, [0], begin, begin + 9 * DAY) == [], "it ends by itself"


@pytest.mark.parametrize("known", [False, True])
def test_who_was_on_vacation_before_a_pause_was_not_silent(known: bool) -> None:
    """The pause moves the vacation; the time of an older proposal moves with it."""
    game = play()
    begin, asked = game.game.time, game.game.version + 1
    do(game, Rest(1, 1))
    do(game, Play(0, [TAKE]), 2 * DAY)
    do(game, Play(1, [TAKE]), HOUR)
    pause(game, 2 * DAY, known=known)
    later = [record for record in game.records[asked:] if record.kind != "moved"]
    assert list_silent_seats(game.game, Close("agreed"), later, [1], begin, begin + 8 * DAY) == []
    assert moved_time(game.game.timing.pauses, begin) == begin + 2 * DAY
