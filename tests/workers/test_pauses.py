"""During a pause no due work is done; after it everything is, whoever dies in between."""

from __future__ import annotations

import pytest

from domain.errors import RuleError
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.rulings import WITHDRAWAL_MS
from domain.kernel.game.table_commands import Leave
from tests.workers.conftest import Harness
from tests.workers.test_bots import seated
from tests.workers.test_heartbeat import MINUTE, PACE, up
from workers.jobs import audits, deadlines, turns


def begin(harness: Harness, game: str, known: bool, length: int = 60 * MINUTE, *, moves: bool = False) -> None:
    until = harness.context.clock() + length if known else None
    harness.context.commands.handle(game, PauseGame(until, moves))


def test_a_table_is_adjourned_and_closed_at_its_time_limit(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 7200}}, time_limit=3600)
    harness.later(59 * MINUTE)
    assert turns.adjourn_at_limit(game, "") == turns.EARLY
    harness.later(2 * MINUTE)
    assert harness.passed() >= 1
    harness.worked()
    assert harness.kinds(game)[-2:] == ["ruled", "closed"]
    assert turns.adjourn_at_limit(game, "") == turns.GONE
    assert audits.audit_game(harness.context, game)["verified"] is True


def test_endless_last_turn_is_waited_for_as_terms_say(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 7200}}, time_limit=3600, last_turn=600)
    harness.later(69 * MINUTE)
    assert turns.adjourn_at_limit(game, "") == turns.EARLY
    harness.later(2 * MINUTE)
    assert harness.passed() >= 1
    harness.worked()
    assert harness.kinds(game)[-2:] == ["ruled", "closed"]


def end(harness: Harness, game: str, known: bool, length: int = 60 * MINUTE) -> None:
    """The pause has lasted; one without a known end is ended."""
    harness.later(length)
    if not known:
        harness.context.commands.handle(game, ResumeGame())


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("work", ["lapse", "vacant", "resolve", "bot"])
def test_due_work_waits_for_the_end(harness: Harness, work: str, known: bool) -> None:
    if work == "bot":
        game = seated(harness, "orders@1", ["bot-builder-0", "anne", "bert"])
    elif work == "vacant":
        game = harness.game("sealed@1", 4)
        harness.context.commands.handle(game, Leave(0))
    else:
        game = harness.game(pace={"seconds": {"turn": 60}})
    if work == "resolve":
        harness.submit(game, 0, 1, 2)
    if work == "lapse":
        harness.later(2 * MINUTE)
    decision, head = harness.decision(game), harness.context.ledger.version(game)
    assert harness.passed() >= 1, "due before the pause, and already queued"
    begin(harness, game, known)
    harness.worked()
    harness.later(30 * MINUTE)
    assert harness.passed() == 0
    for job in (deadlines.lapse, turns.play_vacant_seats, turns.resolve):
        assert job(game, decision) in (turns.EARLY, turns.GONE)
    assert harness.context.ledger.version(game) == head + 1
    harness.redis.flushall()  # every queued job is lost
    end(harness, game, known, 30 * MINUTE)
    assert harness.passed() >= 1
    harness.worked()
    kinds = harness.kinds(game)
    assert kinds[-1] in {"lapse": ["lapsed"], "vacant": ["lapsed"], "resolve": ["resolved"], "bot": ["moved"]}[work]
    assert audits.audit_game(harness.context, game)["verified"] is True


def test_turns_are_resolved_where_moves_are_made(harness: Harness) -> None:
    game = harness.game()
    begin(harness, game, known=False, moves=True)
    harness.submit(game, 0, 1, 2)
    assert harness.passed() == 1
    harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


@pytest.mark.parametrize(
    ("known", "before", "inside", "after"),
    [(False, 0, 10, 0), (False, 5, 10, 0), (True, 0, 10, 0), (True, 5, 10, 0), (True, 0, 60, 5), (True, 5, 60, 5)],
)
def test_an_outage_counts_only_outside_a_pause(
    harness: Harness, known: bool, before: int, inside: int, after: int
) -> None:
    """An outage of minutes before a pause, in it and after it; the pause lasts an hour."""
    game = harness.game(pace=PACE)
    up(harness)
    if before:
        harness.down(before * MINUTE)
        up(harness)
        harness.later(1)
    begun = len(harness.kinds(game))
    begin(harness, game, known)
    harness.pumping.catch_up()
    due = harness.context.commands.game(game).as_at_standstill.due_times([0])[0]
    up(harness)
    harness.down((inside + after) * MINUTE)
    up(harness)
    g = harness.context.commands.game(game)
    if after:
        assert g.due_times([0])[0] == due + after * MINUTE + 30_000
    else:
        assert g.as_at_standstill.due_times([0])[0] == due
        assert len(harness.kinds(game)) == begun + 1
    assert audits.audit_game(harness.context, game)["verified"] is True


# --- rulings -------------------------------------------------------------------------------------------------------


def test_a_ruled_game_is_closed_after_a_day_whatever_is_lost(harness: Harness) -> None:
    game = harness.game(pace=PACE)
    harness.context.commands.handle(game, RuleEnding("annulled"))
    harness.later(WITHDRAWAL_MS - 1)
    assert harness.passed() == 0
    assert turns.close_ruled(game, "") == turns.EARLY
    harness.later(1)
    assert harness.passed() == 1
    harness.redis.flushall()  # the worker dies with its job
    harness.later(MINUTE)
    assert harness.passed() == 1
    harness.worked()
    assert harness.kinds(game) == ["ruled", "closed"]
    assert turns.close_ruled(game, "") == turns.GONE
    assert audits.audit_game(harness.context, game)["verified"] is True


def test_a_withdrawn_ruling_closes_nothing(harness: Harness) -> None:
    game = harness.game(pace=PACE)
    version = harness.context.commands.handle(game, RuleEnding("annulled")).versions[-1]
    harness.context.commands.handle(game, WithdrawRuling(version))
    harness.later(MINUTE)
    assert harness.passed() == 0
    harness.later(WITHDRAWAL_MS)
    harness.passed()
    harness.worked()
    assert harness.kinds(game)[-1] == "lapsed"
    assert turns.close_ruled(game, "") == turns.GONE


def test_nobody_withdraws_after_the_day_though_no_worker_came(harness: Harness) -> None:
    game = harness.game()
    version = harness.context.commands.handle(game, RuleEnding("annulled")).versions[-1]
    harness.later(WITHDRAWAL_MS)
    with pytest.raises(RuleError, match="no_ruling"):
        harness.context.commands.handle(game, WithdrawRuling(version))
