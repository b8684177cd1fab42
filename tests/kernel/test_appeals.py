"""A seat appeals against an act of an officer; another officer answers in time, or the act stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import RuleError
from domain.kernel.game.appeal_commands import AnswerAppeals, AppealAct
from domain.kernel.game.appeals import answering_role
from domain.kernel.game.command import Command, check_office
from domain.kernel.game.director_commands import Depute, Hold, Look, Rewind, Shift
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.officers import Officer
from domain.kernel.game.pause_commands import PauseGame
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.rulings import WITHDRAWAL_MS
from domain.kernel.game.table_commands import Close
from domain.kernel.proof.record_schema import check_record
from domain.kernel.proof.verify import audit
from tests.template import RULESET

SEED = b"appeals and their answers, fixed"
HOUR = 3_600_000
TERMS = {"hold": 0, "appeals": {"appeal": 7200, "answer": 3600}}
OWNER, ARBITER = Officer("o", "owner"), Officer("a", "arbiter")
Game = InMemoryGame[Any]


def opened(**terms: Any) -> Game:
    game = InMemoryGame(RULESET, 3, SEED, pace={"seconds": {"move": 3600}, "bank": 100}, terms=TERMS | terms)
    game.now = game.game.time
    return game


@pytest.fixture
def game() -> Game:
    """Three players, an owner and an arbiter; two hours to appeal, one to answer."""
    game = opened()
    do(game, Depute("a", "arbiter"), OWNER)
    return game


def do(game: Game, command: Command, officer: Officer | None = None, after: int = 0) -> int:
    """Execute a command; the version of its record."""
    game.now = game.game.time + after
    check_office(game.game, officer, command)
    transition = command.execute(game.rules, game.game, replace(game.context, officer=officer))
    game.records.append(transition.record)
    game.games.append(transition.game)
    return transition.record.version


def refuse(game: Game, code: str, command: Command, officer: Officer | None = None, after: int = 0) -> None:
    with pytest.raises(RuleError, match=f"^{code}"):
        do(game, command, officer, after)


def prove(game: Game) -> None:
    folded = fold(game.rules, game.records)
    assert (folded.lasting.appeals, folded.reversible.clocks, folded.reversible.ruling) == (
        game.game.lasting.appeals,
        game.game.reversible.clocks,
        game.game.reversible.ruling,
    )
    for record in game.records:
        check_record(record, record.version)
    audit(game.rules, game.records, SEED)


@pytest.mark.parametrize("act", [Hold(1, 60), Look(), PauseGame(), Rewind(5)])
def test_another_officer_answers_an_appeal_once(game: Game, act: Command) -> None:
    do(game, Hold(2, 60), OWNER)
    version = do(game, act, ARBITER)
    refuse(game, "no_appeal", AnswerAppeals(version, "upheld"), OWNER)
    do(game, AppealAct(version, 0, "ab"))
    do(game, AppealAct(version, 1))
    refuse(game, "already_appealed", AppealAct(version, 0))
    refuse(game, "own_act", AnswerAppeals(version, "upheld"), ARBITER)
    refuse(game, "office_ended", AnswerAppeals(version, "upheld"), Officer("x", "arbiter"))
    answer = do(game, AnswerAppeals(version, "overturned"), OWNER)
    assert [(a.seat, a.answer and a.answer.version) for a in game.game.lasting.appeals.appeals] == [
        (0, answer),
        (1, answer),
    ]
    refuse(game, "appeal_answered", AnswerAppeals(version, "upheld"), OWNER)
    refuse(game, "appeal_answered", AppealAct(version, 2))
    refuse(game, "not_appealable", AppealAct(answer, 2))
    prove(game)


def test_without_another_officer_owner_answers_as_recorded() -> None:
    game = opened()
    version = do(game, Hold(1, 60), OWNER)
    do(game, AppealAct(version, 0))
    act = game.game.lasting.appeals.find_act(version)
    assert act
    assert answering_role(game.game, act) == "owner"
    arbiter = do(game, Depute("a", "arbiter"), OWNER)
    refuse(game, "own_act", AnswerAppeals(version, "upheld"), OWNER)
    do(game, Depute("a", "none"), OWNER)
    do(game, AnswerAppeals(version, "upheld"), OWNER)
    assert game.records[-1].body["answered_by"] == "owner"
    assert "answered_by" not in game.records[arbiter].body
    prove(game)


def test_officer_with_seat_does_not_judge_the_own_act() -> None:
    game = opened(officers="any")
    player = Officer("p0", "arbiter")
    do(game, Depute("p0", "arbiter"), OWNER)
    version, own = do(game, Hold(1, 60), OWNER), do(game, Hold(2, 60), player)
    refuse(game, "own_act", AppealAct(own, 0))
    do(game, AppealAct(version, 1))
    refuse(game, "director_has_stake", AnswerAppeals(version, "upheld"), player)
    do(game, AnswerAppeals(version, "upheld"), OWNER)
    assert game.records[-1].body["answered_by"] == "owner"


def test_times_to_appeal_and_to_answer_end_and_move_with_clock(game: Game) -> None:
    version = do(game, Hold(1, 60), ARBITER)
    do(game, Shift(HOUR), after=HOUR)
    refuse(game, "appeal_late", AppealAct(version, 0), after=2 * HOUR)
    do(game, AppealAct(version, 0), after=2 * HOUR - 1)
    refuse(game, "answer_late", AnswerAppeals(version, "upheld"), OWNER, after=HOUR)
    do(game, AnswerAppeals(version, "upheld"), OWNER, after=HOUR - 1)
    prove(game)


def test_rewind_takes_the_appeal_along_and_can_be_contested(game: Game) -> None:
    before = game.game.version
    contested, other = do(game, Hold(1, 60), ARBITER), do(game, Hold(2, 60), ARBITER)
    do(game, AppealAct(contested, 0))
    rewind = do(game, Rewind(before), OWNER)
    refuse(game, "act_undone", AppealAct(other, 0))
    do(game, AppealAct(rewind, 2))
    do(game, AnswerAppeals(contested, "overturned"), OWNER)
    do(game, AnswerAppeals(rewind, "upheld"), ARBITER)
    prove(game)


def test_a_contested_ruling_closes_no_game_before_its_answer() -> None:
    game = opened(appeals={"appeal": 86_400, "answer": 86_400})
    do(game, Depute("a", "arbiter"), OWNER)
    clocks = game.game.reversible.clocks
    ruling = do(game, RuleEnding("annulled"), OWNER)
    do(game, AppealAct(ruling, 0), after=WITHDRAWAL_MS - 1)
    refuse(game, "not_due", Close("annulled", "clock"), after=HOUR)
    refuse(game, "office_insufficient", WithdrawRuling(ruling), ARBITER)
    do(game, AnswerAppeals(ruling, "overturned"), ARBITER, after=HOUR)
    do(game, WithdrawRuling(ruling), ARBITER, after=HOUR)
    assert (game.game.status, [c.left for c in game.game.reversible.clocks]) == ("running", [c.left for c in clocks])
    prove(game)


def test_an_upheld_ruling_closes_the_game_after_its_day(game: Game) -> None:
    ruling = do(game, RuleEnding("annulled"), OWNER)
    do(game, AppealAct(ruling, 0), after=HOUR)
    do(game, AnswerAppeals(ruling, "upheld"), ARBITER, after=HOUR - 1)
    do(game, Close("annulled", "clock"), after=WITHDRAWAL_MS)
    refuse(game, "game_over", AppealAct(ruling, 1))
    prove(game)


@pytest.mark.parametrize(("terms", "code"), [(None, "appeals_off"), (TERMS["appeals"], "not_appealable")])
def test_only_officers_acts_at_tables_with_appeals_count(terms: object, code: str) -> None:
    game = opened(appeals=terms)
    do(game, Hold(0, 60), OWNER)
    refuse(game, code, AppealAct(1, 0))
