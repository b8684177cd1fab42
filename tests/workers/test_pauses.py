"""During a pause no due work is done; after it everything is, whoever dies in between."""

from __future__ import annotations

import pytest

from domain.errors import RuleError
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.ruling_commands import RuleEnding, WithdrawRuling
from domain.kernel.game.rulings import WITHDRAWAL_MS
from domain.kernel.game.table_commands import Leave
from tests.workers.conftest import House
from tests.workers.test_bots import seated
from tests.workers.test_outages import MINUTE, PACE, up
from workers.jobs import audits, deadlines, turns


def begin(house: House, game: str, known: bool, length: int = 60 * MINUTE, *, moves: bool = False) -> None:
    until = house.crew.clock() + length if known else None
    house.crew.commands.handle(game, PauseGame(until, moves))


def test_a_table_is_adjourned_and_closed_at_its_time_limit(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 7200}}, time_limit=3600)
    house.later(59 * MINUTE)
    assert turns.adjourn_at_limit(game, "") == turns.EARLY
    house.later(2 * MINUTE)
    assert house.passed() >= 1
    house.worked()
    assert house.kinds(game)[-2:] == ["ruled", "closed"]
    assert turns.adjourn_at_limit(game, "") == turns.GONE
    assert audits.audit_game(house.crew, game)["verified"] is True


def test_endless_last_turn_is_waited_for_as_terms_say(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 7200}}, time_limit=3600, last_turn=600)
    house.later(69 * MINUTE)
    assert turns.adjourn_at_limit(game, "") == turns.EARLY
    house.later(2 * MINUTE)
    assert house.passed() >= 1
    house.worked()
    assert house.kinds(game)[-2:] == ["ruled", "closed"]


def end(house: House, game: str, known: bool, length: int = 60 * MINUTE) -> None:
    """The pause has lasted; one without a known end is ended."""
    house.later(length)
    if not known:
        house.crew.commands.handle(game, ResumeGame())


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("work", ["lapse", "vacant", "resolve", "bot"])
def test_due_work_waits_for_the_end(house: House, work: str, known: bool) -> None:
    if work == "bot":
        game = seated(house, "orders@1", ["bot-builder-0", "anne", "bert"])
    elif work == "vacant":
        game = house.game("sealed@1", 4)
        house.crew.commands.handle(game, Leave(0))
    else:
        game = house.game(pace={"seconds": {"turn": 60}})
    if work == "resolve":
        house.submit(game, 0, 1, 2)
    if work == "lapse":
        house.later(2 * MINUTE)
    decision, head = house.decision(game), house.crew.ledger.version(game)
    assert house.passed() >= 1, "due before the pause, and already queued"
    begin(house, game, known)
    house.worked()
    house.later(30 * MINUTE)
    assert house.passed() == 0
    for job in (deadlines.lapse, turns.play_vacant_seats, turns.resolve):
        assert job(game, decision) in (turns.EARLY, turns.GONE)
    assert house.crew.ledger.version(game) == head + 1
    house.redis.flushall()  # every queued job is lost
    end(house, game, known, 30 * MINUTE)
    assert house.passed() >= 1
    house.worked()
    kinds = house.kinds(game)
    assert kinds[-1] in {"lapse": ["lapsed"], "vacant": ["lapsed"], "resolve": ["resolved"], "bot": ["moved"]}[work]
    assert audits.audit_game(house.crew, game)["verified"] is True


def test_turns_are_resolved_where_moves_are_made(house: House) -> None:
    game = house.game()
    begin(house, game, known=False, moves=True)
    house.submit(game, 0, 1, 2)
    assert house.passed() == 1
    house.worked()
    assert house.kinds(game)[-1] == "resolved"


@pytest.mark.parametrize(
    ("known", "before", "inside", "after"),
    [(False, 0, 10, 0), (False, 5, 10, 0), (True, 0, 10, 0), (True, 5, 10, 0), (True, 0, 60, 5), (True, 5, 60, 5)],
)
def test_an_outage_counts_only_outside_a_pause(house: House, known: bool, before: int, inside: int, after: int) -> None:
    """An outage of minutes before a pause, in it and after it; the pause lasts an hour."""
    game = house.game(pace=PACE)
    up(house)
    if before:
        house.down(before * MINUTE)
        up(house)
        house.later(1)
    begun = len(house.kinds(game))
    begin(house, game, known)
    house.pumping.catch_up()
    due = house.crew.commands.game(game).as_at_standstill.due_times([0])[0]
    up(house)
    house.down((inside + after) * MINUTE)
    up(house)
    g = house.crew.commands.game(game)
    if after:
        assert g.due_times([0])[0] == due + after * MINUTE + 30_000
    else:
        assert g.as_at_standstill.due_times([0])[0] == due
        assert len(house.kinds(game)) == begun + 1
    assert audits.audit_game(house.crew, game)["verified"] is True


# --- rulings -------------------------------------------------------------------------------------------------------


def test_a_ruled_game_is_closed_after_a_day_whatever_is_lost(house: House) -> None:
    game = house.game(pace=PACE)
    house.crew.commands.handle(game, RuleEnding("annulled"))
    house.later(WITHDRAWAL_MS - 1)
    assert house.passed() == 0
    assert turns.close_ruled(game, "") == turns.EARLY
    house.later(1)
    assert house.passed() == 1
    house.redis.flushall()  # the worker dies with its job
    house.later(MINUTE)
    assert house.passed() == 1
    house.worked()
    assert house.kinds(game) == ["ruled", "closed"]
    assert turns.close_ruled(game, "") == turns.GONE
    assert audits.audit_game(house.crew, game)["verified"] is True


def test_a_withdrawn_ruling_closes_nothing(house: House) -> None:
    game = house.game(pace=PACE)
    version = house.crew.commands.handle(game, RuleEnding("annulled")).versions[-1]
    house.crew.commands.handle(game, WithdrawRuling(version))
    house.later(MINUTE)
    assert house.passed() == 0
    house.later(WITHDRAWAL_MS)
    house.passed()
    house.worked()
    assert house.kinds(game)[-1] == "lapsed"
    assert turns.close_ruled(game, "") == turns.GONE


def test_nobody_withdraws_after_the_day_though_no_worker_came(house: House) -> None:
    game = house.game()
    version = house.crew.commands.handle(game, RuleEnding("annulled")).versions[-1]
    house.later(WITHDRAWAL_MS)
    with pytest.raises(RuleError, match="no_ruling"):
        house.crew.commands.handle(game, WithdrawRuling(version))
