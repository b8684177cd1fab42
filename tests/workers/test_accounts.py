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
from tests.workers.conftest import House
from workers.jobs import audits, deadlines, turns

MINUTE = 60_000


def paced(house: House, ruleset: str = "orders@1", **more: int) -> str:
    return house.game(ruleset, pace={"seconds": {"turn": 60, "move": 60}} | more)


def lapsed(house: House, game: str) -> list[int]:
    """The seats whose defaults the last record holds."""
    record = house.crew.ledger.read(game)[-1]
    assert record.kind == "lapsed"
    return [seat for seat, _ in record.moves()]


def summary(house: House, game: str) -> StoredSummaryDoc:
    house.pumping.catch_up()
    found = house.reader.find_summary(game)
    assert found is not None
    return found


def test_a_bank_is_used_up_before_the_default_is_played(house: House) -> None:
    game = paced(house, bank=30)
    decision = house.decision(game)
    house.later(MINUTE)
    assert house.passed() == 0
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(29_999)
    assert house.passed() == 0
    house.later(1)
    assert house.passed() == 1
    house.worked()
    assert lapsed(house, game) == [0, 1, 2]
    assert [a["bank"] for a in summary(house, game)["accounts"]] == [0, 0, 0]


def test_each_seat_has_its_own_so_defaults_come_one_by_one(house: House) -> None:
    game = paced(house, bank=30)
    house.later(MINUTE + 20_000)
    house.submit(game, 0)  # 20 s late
    decision = house.submit(game, 1, 2)
    turns.resolve(game, decision)
    assert [a["bank"] for a in summary(house, game)["accounts"]] == [10_000] * 3
    house.submit(game, 1)
    house.later(MINUTE)
    house.submit(game, 2)
    house.later(9_999)
    assert house.passed() == 0
    house.later(1)
    assert house.passed() == 1
    house.worked()
    assert lapsed(house, game) == [0]
    assert [a["bank"] for a in summary(house, game)["accounts"]] == [0, 10_000, 10_000]


def test_vacation_keeps_one_seats_default_back_and_nobody_elses(house: House) -> None:
    game = paced(house, vacation=2)
    decision = house.decision(game)
    house.crew.commands.handle(game, Rest(1, 2))
    shown = summary(house, game)["accounts"]
    back = house.crew.clock() + 2 * DAY
    assert shown[1] == {"seat": 1, "bank": 0, "vacation": 0, "back": back}
    house.later(MINUTE)
    assert house.passed() == 1
    house.worked()
    assert lapsed(house, game) == [0, 2]
    assert house.decision(game) == decision
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(2 * DAY)
    assert house.passed() == 1
    house.worked()
    assert lapsed(house, game) == [1]


def test_a_seat_on_vacation_may_play(house: House) -> None:
    game = paced(house, vacation=1)
    house.crew.commands.handle(game, Rest(0, 1))
    house.submit(game, 0)
    assert house.kinds(game) == ["rested", "moved"]


def test_days_are_taken_from_the_seats_own_stock(house: House) -> None:
    game = paced(house, vacation=2)
    house.crew.commands.handle(game, Rest(1, 2))
    for seat, days in ((1, 1), (0, 0), (0, -1), (0, 3)):
        with pytest.raises(RuleError, match="no_vacation_left"):
            house.crew.commands.handle(game, Rest(seat, days))
    house.crew.commands.handle(game, Rest(0, 1))
    assert [a.days for a in house.crew.commands.game(game).timing.banks] == [1, 0, 2]
    with pytest.raises(RuleError, match="no_vacation_left"):
        house.crew.commands.handle(paced(house), Rest(0, 1))


def test_going_back_gives_no_days_and_no_time_back(house: House) -> None:
    """Accounts belong to the game, not to the line."""
    game = paced(house, bank=30, vacation=2)
    before = house.crew.ledger.version(game)
    house.crew.commands.handle(game, Rest(1, 1))
    house.later(MINUTE + 10_000)
    house.submit(game, 0)
    house.crew.commands.handle(game, Rewind(before), GameConditions(expected=house.crew.ledger.version(game)))
    assert [a.days for a in house.crew.commands.game(game).timing.banks] == [2, 1, 2]
    accounts = summary(house, game)["accounts"]
    assert [(a["bank"], a["vacation"]) for a in accounts] == [(20_000, 2), (30_000, 1), (20_000, 2)]
    with pytest.raises(RuleError, match="no_vacation_left"):
        house.crew.commands.handle(game, Rest(1, 2))


def test_a_game_with_vacations_proves_itself(house: House) -> None:
    game = paced(house, bank=30, vacation=2)
    house.crew.commands.handle(game, Rest(2, 1))
    turns.resolve(game, house.submit(game, 0, 1, 2))
    assert audits.audit_game(house.crew, game)["verified"] is True
    house.crew.commands.handle(game, Close("abandoned"))
    found = audits.audit_game(house.crew, game)
    assert (found["verified"], found["decided"]) == (True, found["records"])


def test_public_due_time_hides_who_answered_in_secret(house: House) -> None:
    """Two of three are on vacation: when the third has answered, the public still reads when its default would come."""
    game = house.game("windows@1", 3, pace={"seconds": {"move": 60, "window": 60}, "vacation": 1})
    for seat in (1, 2):
        house.crew.commands.handle(game, Rest(seat, 1))
    house.crew.commands.handle(game, Play(0, [{"type": "attack", "target": 1}]))
    asked = summary(house, game)
    house.crew.commands.handle(game, Play(0, [{"type": "pass"}]))
    answered = summary(house, game)
    assert (asked["due"], asked["waiting_for"]) == (answered["due"], answered["waiting_for"])
    assert asked["due"] == house.crew.clock() + MINUTE + DAY
    house.later(MINUTE)
    assert house.passed() == 0, "nothing is due of those on vacation"
