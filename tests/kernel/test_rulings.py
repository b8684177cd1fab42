"""A ruling ends play at once, can be withdrawn for a day, and closes the game with its places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import RuleError
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Rewind, Shift
from domain.kernel.game.game import Ending
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.officers import Office, Officer
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.play_commands import Lapse, Play, Rest
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.rulings import WITHDRAWAL_MS, final_scores
from domain.kernel.game.table_commands import Close, Leave
from domain.kernel.proof.record_schema import check_record
from domain.kernel.proof.verify import audit
from tests.kernel.flows import sealed
from tests.template import RULESET

SEED = b"rulings about the end, fixed...."
TAKE = {"type": "take", "count": 1}
HOUR = 3_600_000
Game = InMemoryGame[Any]


@pytest.fixture
def game() -> Game:
    """Three players with an hour for each move."""
    game = InMemoryGame(RULESET, 3, SEED, pace={"seconds": {"move": 3600}, "bank": 100, "vacation": 3})
    game.now = game.game.time
    return game


def do(game: Game, command: Command, after: int = 0, office: Office | None = None) -> None:
    game.now = game.game.time + after
    officer = Officer("p", office) if office else None
    context = replace(game.context, officer=officer)
    transition = command.execute(game.rules, game.game, context)
    game.records.append(transition.record)
    game.games.append(transition.game)
    game.now = game.game.time


def prove(game: Game) -> None:
    folded = fold(game.rules, game.records)
    assert (folded.reversible.clocks, folded.timing.pauses, folded.reversible.ruling) == (
        game.game.reversible.clocks,
        game.game.timing.pauses,
        game.game.reversible.ruling,
    )
    for record in game.records:
        check_record(record, record.version)
    audit(game.rules, game.records, SEED)


def close(game: Game) -> list[tuple[int, int]]:
    """Close a ruled game; the place of each seat."""
    ruling = game.game.pending_ruling
    assert ruling
    do(game, Close(ruling.reason, "clock"), WITHDRAWAL_MS)
    prove(game)
    return [(score.seat, score.place) for score in final_scores(game.rules, game.game)]


def test_a_ruling_ends_play_and_shows_nothing_hidden(game: Game) -> None:
    do(game, RuleEnding("adjourned"))
    assert (game.game.status, game.game.frames, game.game.ending) == ("over", (), None)
    assert "seed" not in game.records[-1].body
    assert final_scores(RULESET, game.game) == []
    commands: list[Command] = [
        Play(0, [TAKE]),
        Lapse("0-1"),
        Rewind(4),
        Rest(0, 1),
        PauseGame(),
        RuleEnding("annulled"),
    ]
    for command in commands:
        with pytest.raises(RuleError, match="game_over"):
            do(game, command, HOUR)
    with pytest.raises(RuleError, match="not_open"):
        do(game, Leave(0))
    for again in (Close("void", "director"), Close("agreed"), Close(), Close("annulled", "clock")):
        with pytest.raises(RuleError, match="ruling_pending"):
            do(game, again, WITHDRAWAL_MS)


def test_the_game_is_closed_after_a_day_and_not_before(game: Game) -> None:
    do(game, RuleEnding("annulled"))
    with pytest.raises(RuleError, match="not_due"):
        do(game, Close("annulled", "clock"), WITHDRAWAL_MS - 1)
    with pytest.raises(RuleError, match="no_ruling"):
        do(game, WithdrawRuling(game.game.version), WITHDRAWAL_MS)
    assert close(game) == []
    ruling = game.game.reversible.ruling
    assert game.game.ending == Ending("annulled", "director", finished=False, ruling=ruling)
    assert ruling is not None
    assert (ruling.version, ruling.is_ranked) == (game.game.version - 1, False)
    assert (ruling.forfeits, ruling.penalties) == ((), {})


def test_without_a_ruling_nobody_closes_by_one(game: Game) -> None:
    with pytest.raises(RuleError, match="no_ruling"):
        do(game, Close("adjourned", "director"))
    with pytest.raises(RuleError, match="no_ruling"):
        do(game, WithdrawRuling(3))


class TestPlaces:
    def test_an_adjourned_game_is_ranked_by_its_true_state(self) -> None:
        game = InMemoryGame(sealed.RULESET, 4, SEED)
        do(game, RuleEnding("adjourned"))
        expected = [(score.seat, score.place) for score in sealed.RULESET.scores(game.state)]
        assert close(game) == expected

    def test_an_adjudicated_one_as_the_officer_says(self, game: Game) -> None:
        do(game, RuleEnding("adjudicated", (2, 1, 2), penalties={"2": 5}))
        assert close(game) == [(0, 2), (1, 1), (2, 2)]
        assert game.game.reversible.ruling
        assert game.game.reversible.ruling.penalties == {2: 5}

    @pytest.mark.parametrize(("forfeits", "last"), [((1,), 3), ((1, 2), 2)])
    def test_who_forfeits_is_last(self, game: Game, forfeits: tuple[int, ...], last: int) -> None:
        do(game, RuleEnding("forfeited", forfeits=forfeits))
        places = dict(close(game))
        assert {places[seat] for seat in forfeits} == {last}
        assert all(places[seat] < last for seat in range(3) if seat not in forfeits)

    @pytest.mark.parametrize(
        "ruling",
        [
            RuleEnding("adjudicated"),
            RuleEnding("adjudicated", (1, 2)),
            RuleEnding("adjudicated", (1, 1, 2)),
            RuleEnding("adjudicated", (0, 1, 2)),
            RuleEnding("adjourned", (1, 2, 3)),
            RuleEnding("forfeited"),
            RuleEnding("forfeited", forfeits=(0, 1, 2)),
            RuleEnding("forfeited", forfeits=(3,)),
            RuleEnding("forfeited", forfeits=(1, 1)),
            RuleEnding("annulled", forfeits=(1,)),
            RuleEnding("annulled", penalties={"3": 1}),
        ],
        ids=repr,
    )
    def test_what_does_not_fit_the_seats_is_refused(self, game: Game, ruling: RuleEnding) -> None:
        with pytest.raises(RuleError, match="ruling_invalid"):
            do(game, ruling)


class TestWithdrawal:
    @pytest.mark.parametrize("before", ["running", "paused", "paused for days", "paused for an hour"])
    def test_it_is_as_if_no_time_had_passed(self, game: Game, before: str) -> None:
        if before != "running":
            hours = {"paused": None, "paused for days": 72, "paused for an hour": 1}[before]
            do(game, PauseGame(None if hours is None else game.game.time + hours * HOUR), HOUR // 2)
        else:
            do(game, PauseGame(), HOUR // 2)
            do(game, ResumeGame())
        begun = game.game.time
        do(game, RuleEnding("adjourned"), 1000)
        do(game, WithdrawRuling(game.game.version), 23 * HOUR)
        assert game.game.status == "running"
        assert game.game.has_stopped is (before == "paused")
        if before == "paused":
            do(game, ResumeGame())
        left = HOUR // 2 - (1000 if before == "running" else 0)
        start = {"paused for days": begun + 72 * HOUR - HOUR // 2}.get(before, game.game.time)
        assert game.game.deadline == start + left
        assert game.game.timing.thinking[0] == HOUR - left
        prove(game)

    def test_play_goes_on_afterwards_and_another_ruling_may_come(self, game: Game) -> None:
        do(game, RuleEnding("annulled"))
        do(game, WithdrawRuling(game.game.version), HOUR)
        do(game, Play(0, [TAKE]))
        do(game, RuleEnding("forfeited", forfeits=(0,)))
        assert dict(close(game))[0] == 3

    def test_it_takes_an_equal_or_higher_role(self, game: Game) -> None:
        do(game, RuleEnding("annulled"), office="director")
        for office in ("arbiter", "deputy", None):
            with pytest.raises(RuleError, match="office_insufficient"):
                do(game, WithdrawRuling(game.game.version), HOUR, office)
        do(game, WithdrawRuling(game.game.version), HOUR, "owner")

    def test_a_clock_set_forward_takes_nothing_from_its_day(self, game: Game) -> None:
        do(game, RuleEnding("annulled"))
        assert game.game.is_timed
        game.now = game.game.time + 2 * WITHDRAWAL_MS
        game.execute(Shift(2 * WITHDRAWAL_MS))
        deadline = HOUR
        do(game, WithdrawRuling(game.game.version - 1), WITHDRAWAL_MS - 1)
        assert game.game.deadline == game.game.time + deadline
        prove(game)

    def test_an_officer_with_a_stake_keeps_it(self, game: Game) -> None:
        do(game, RuleEnding("annulled"))
        assert game.game.has_stake(["p0"])
