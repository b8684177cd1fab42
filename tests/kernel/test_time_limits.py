"""A table's own time limit ends it with places, at once or after the turn; an officer leaves ten minutes at least."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.errors import RuleError
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Shift
from domain.kernel.game.last_turn import find_adjournment
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.play_commands import Lapse, Play
from domain.kernel.game.ruling_commands import RuleEnding
from domain.kernel.game.rulings import final_scores
from domain.kernel.game.table_commands import Close
from domain.kernel.rules.ruleset import Chapter
from tests.kernel.test_rulings import SEED, TAKE, Game, do, prove
from tests.template import RULESET

MINUTE = 60_000
AT_LIMIT = RuleEnding("adjourned", final_after=0, by="clock")


@pytest.fixture
def game() -> Game:
    """Three players with ninety minutes."""
    game = Game(RULESET, 3, SEED, pace={"seconds": {"move": 3600}}, terms={"time_limit": 5400})
    game.now = game.game.time
    return game


def refuse(game: Game, command: Command, after: int = 0) -> str:
    with pytest.raises(RuleError) as caught:
        do(game, command, after)
    return caught.value.code


def test_limit_ends_a_table_with_places_that_are_final_at_once(game: Game) -> None:
    end = game.game.limit_end
    assert end == game.game.time + 90 * MINUTE
    assert refuse(game, AT_LIMIT, 90 * MINUTE - 1) == "not_due"
    do(game, AT_LIMIT, 90 * MINUTE)
    ruling = game.game.pending_ruling
    assert ruling is not None
    assert ruling.final_at == game.game.time
    do(game, Close("adjourned", "clock"))
    assert len(final_scores(RULESET, game.game)) == 3
    prove(game)


def test_pauses_and_jumps_of_the_clock_move_it(game: Game) -> None:
    start = game.game.time
    do(game, PauseGame(None, False), 10 * MINUTE)
    assert game.game.limit_end is None
    do(game, ResumeGame(), 20 * MINUTE)
    assert game.game.limit_end == start + 110 * MINUTE
    do(game, Shift(5 * MINUTE), 5 * MINUTE)
    assert game.game.limit_end == start + 115 * MINUTE
    prove(game)


def test_clock_ends_no_table_without_limit_and_with_no_penalty(game: Game) -> None:
    free = Game(RULESET, 3, SEED, pace={"seconds": {"move": 3600}})
    assert free.game.limit_end is None
    assert refuse(free, AT_LIMIT, 900 * MINUTE) == "not_due"
    assert refuse(game, RuleEnding("annulled", final_after=0, by="clock"), 90 * MINUTE) == "not_due"
    assert refuse(game, RuleEnding("adjourned", by="clock"), 90 * MINUTE) == "not_due"


def test_an_officer_leaves_ten_minutes_to_a_day(game: Game) -> None:
    for seconds in (0, 599, 86_401):
        assert refuse(game, RuleEnding("adjourned", final_after=seconds)) == "ruling_invalid"
    assert refuse(game, RuleEnding("annulled", final_after=600)) == "ruling_invalid"
    do(game, RuleEnding("adjourned", final_after=600))
    assert refuse(game, Close("adjourned", "clock"), 10 * MINUTE - 1) == "not_due"
    do(game, Close("adjourned", "clock"), 10 * MINUTE)
    prove(game)


def turns(seconds: int = 900) -> Game:
    """The same game in turns of three sticks, whose last one may take a quarter of an hour more."""
    rules = replace(RULESET, chapter=lambda s: Chapter(100 - s.heap // 3))
    terms = {"time_limit": 5400, "last_turn": seconds}
    game = Game(rules, 3, SEED, pace={"seconds": {"move": 3600}}, terms=terms)
    game.now = game.game.time
    return game


def take(game: Game, count: int = 1, after: int = 0) -> None:
    do(game, Play(game.game.state.top.owing[0], [{**TAKE, "count": count}]), after)


def test_the_turn_is_played_to_its_end_and_nothing_after_it() -> None:
    game = turns()
    while game.game.state.heap % 3 != 2:
        take(game)
    start = game.records[-1].time
    limit = game.game.limit_end
    assert limit is not None
    assert find_adjournment(game.rules, game.game) == limit + 15 * MINUTE
    assert refuse(game, AT_LIMIT, limit - start + 1) == "not_due"
    take(game, after=limit - start + 1)
    assert refuse(game, AT_LIMIT) == "not_due"
    take(game)
    assert find_adjournment(game.rules, game.game) == limit + 15 * MINUTE
    take(game)
    assert find_adjournment(game.rules, game.game) == game.game.time
    assert refuse(game, Play(game.game.state.top.owing[0], [TAKE])) == "game_over"
    assert refuse(game, Lapse(f"0-{game.game.frames[-1].n}"), 70 * MINUTE) == "game_over"
    prove(game)
    do(game, AT_LIMIT)
    do(game, Close("adjourned", "clock"))
    assert len(final_scores(game.rules, game.game)) == 3
    prove(game)


def test_a_turn_that_ended_before_the_limit_is_not_the_last() -> None:
    game = turns()
    take(game, 3, 10 * MINUTE)
    take(game, after=81 * MINUTE)
    assert (game.game.timing.last_turn or (0, 0))[0] == 100 - (game.game.state.heap + 1) // 3
    prove(game)


def test_a_last_turn_that_does_not_end_ends_after_its_time() -> None:
    game = turns(60)
    assert refuse(game, AT_LIMIT, 91 * MINUTE - 1) == "not_due"
    do(game, AT_LIMIT, 91 * MINUTE)
    prove(game)


def test_a_pause_in_the_last_turn_leaves_it_its_time() -> None:
    game = turns()
    start = game.game.time
    do(game, PauseGame(None, False), 95 * MINUTE)
    assert find_adjournment(game.rules, game.game) is None
    do(game, ResumeGame(), 60 * MINUTE)
    assert find_adjournment(game.rules, game.game) == start + (90 + 15 + 60) * MINUTE
    prove(game)
