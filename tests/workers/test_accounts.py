"""Banks of time and vacations in a game that is played: records, due work, defaults seat by seat."""

from __future__ import annotations

import pytest

from domain.command_handler import GameConditions
from domain.errors import RuleError
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.director_commands import Rewind
from domain.kernel.game.play_commands import Play, Rest
from domain.kernel.game.table_commands import Close
from projections.game_documents import StoredSummaryDoc
from tests.workers.conftest import Harness
from workers.jobs import audits, deadlines, turns

MINUTE = 60_000


def paced(harness: Harness, ruleset: str = "orders@1", **more: int) -> str:
    return harness.game(ruleset, pace={"seconds": {"turn": 60, "move": 60}} | more)


def lapsed(harness: Harness, game: str) -> list[int]:
    """The seats whose defaults the last record holds."""
    record = harness.context.ledger.read(game)[-1]
    assert record.kind == "lapsed"
    return [seat for seat, _ in record.moves()]


def summary(harness: Harness, game: str) -> StoredSummaryDoc:
    harness.pumping.catch_up()
    found = harness.reader.find_summary(game)
    assert found is not None
    return found


def test_a_bank_is_used_up_before_the_default_is_played(harness: Harness) -> None:
    game = paced(harness, bank=30)
    decision = harness.decision(game)
    harness.later(MINUTE)
    assert harness.passed() == 0
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(29_999)
    assert harness.passed() == 0
    harness.later(1)
    assert harness.passed() == 1
    harness.worked()
    assert lapsed(harness, game) == [0, 1, 2]
    assert [a["bank"] for a in summary(harness, game)["accounts"]] == [0, 0, 0]


def test_each_seat_has_its_own_so_defaults_come_one_by_one(harness: Harness) -> None:
    game = paced(harness, bank=30)
    harness.later(MINUTE + 20_000)
    harness.submit(game, 0)  # 20 s late
    decision = harness.submit(game, 1, 2)
    turns.resolve(game, decision)
    assert [a["bank"] for a in summary(harness, game)["accounts"]] == [10_000] * 3
    harness.submit(game, 1)
    harness.later(MINUTE)
    harness.submit(game, 2)
    harness.later(9_999)
    assert harness.passed() == 0
    harness.later(1)
    assert harness.passed() == 1
    harness.worked()
    assert lapsed(harness, game) == [0]
    assert [a["bank"] for a in summary(harness, game)["accounts"]] == [0, 10_000, 10_000]


def test_vacation_keeps_one_seats_default_back_and_nobody_elses(harness: Harness) -> None:
    game = paced(harness, vacation=2)
    decision = harness.decision(game)
    harness.context.commands.handle(game, Rest(1, 2))
    shown = summary(harness, game)["accounts"]
    back = harness.context.clock() + 2 * DAY
    assert shown[1] == {"seat": 1, "bank": 0, "vacation": 0, "back": back}
    harness.later(MINUTE)
    assert harness.passed() == 1
    harness.worked()
    assert lapsed(harness, game) == [0, 2]
    assert harness.decision(game) == decision
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(2 * DAY)
    assert harness.passed() == 1
    harness.worked()
    assert lapsed(harness, game) == [1]


def test_a_seat_on_vacation_may_play(harness: Harness) -> None:
    game = paced(harness, vacation=1)
    harness.context.commands.handle(game, Rest(0, 1))
    harness.submit(game, 0)
    assert harness.kinds(game) == ["rested", "moved"]


def test_days_are_taken_from_the_seats_own_stock(harness: Harness) -> None:
    game = paced(harness, vacation=2)
    harness.context.commands.handle(game, Rest(1, 2))
    for seat, days in ((1, 1), (0, 0), (0, -1), (0, 3)):
        with pytest.raises(RuleError, match="no_vacation_left"):
            harness.context.commands.handle(game, Rest(seat, days))
    harness.context.commands.handle(game, Rest(0, 1))
    assert [a.days for a in harness.context.commands.game(game).timing.banks] == [1, 0, 2]
    with pytest.raises(RuleError, match="no_vacation_left"):
        harness.context.commands.handle(paced(harness), Rest(0, 1))


def test_going_back_gives_no_days_and_no_time_back(harness: Harness) -> None:
    """Accounts belong to the game, not to the line."""
    game = paced(harness, bank=30, vacation=2)
    before = harness.context.ledger.version(game)
    harness.context.commands.handle(game, Rest(1, 1))
    harness.later(MINUTE + 10_000)
    harness.submit(game, 0)
    harness.context.commands.handle(game, Rewind(before), GameConditions(expected=harness.context.ledger.version(game)))
    assert [a.days for a in harness.context.commands.game(game).timing.banks] == [2, 1, 2]
    accounts = summary(harness, game)["accounts"]
    assert [(a["bank"], a["vacation"]) for a in accounts] == [(20_000, 2), (30_000, 1), (20_000, 2)]
    with pytest.raises(RuleError, match="no_vacation_left"):
        harness.context.commands.handle(game, Rest(1, 2))


def test_a_game_with_vacations_proves_itself(harness: Harness) -> None:
    game = paced(harness, bank=30, vacation=2)
    harness.context.commands.handle(game, Rest(2, 1))
    turns.resolve(game, harness.submit(game, 0, 1, 2))
    assert audits.audit_game(harness.context, game)["verified"] is True
    harness.context.commands.handle(game, Close("abandoned"))
    found = audits.audit_game(harness.context, game)
    assert (found["verified"], found["decided"]) == (True, found["records"])


def test_public_due_time_hides_who_answered_in_secret(harness: Harness) -> None:
    """Two of three are on vacation: when the third has answered, the public still reads when its default would come."""
    game = harness.game("windows@1", 3, pace={"seconds": {"move": 60, "window": 60}, "vacation": 1})
    for seat in (1, 2):
        harness.context.commands.handle(game, Rest(seat, 1))
    harness.context.commands.handle(game, Play(0, [{"type": "attack", "target": 1}]))
    asked = summary(harness, game)
    harness.context.commands.handle(game, Play(0, [{"type": "pass"}]))
    answered = summary(harness, game)
    assert (asked["due"], asked["waiting_for"]) == (answered["due"], answered["waiting_for"])
    assert asked["due"] == harness.context.clock() + MINUTE + DAY
    harness.later(MINUTE)
    assert harness.passed() == 0, "nothing is due of those on vacation"
