"""Due work: done once, by whoever comes first, and found again whatever is lost on the way."""

from __future__ import annotations

import json
import zlib
from typing import Any, cast

import pytest
from redis import Redis

from domain.command_handler import GameConditions, new_game_id
from domain.errors import RuleError, UnknownGame
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.director_commands import Extend, Hold, Rewind
from domain.kernel.game.game import Ending, Game
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Close, Join, Leave
from tests.workers.conftest import House
from tests.workers.test_outages import up
from workers.job_calls import PERIOD
from workers.jobs import audits, deadlines, turns

MINUTE = 60_000


def test_a_resolved_turn_is_pumped_enqueued_and_done(house: House) -> None:
    game = house.game()
    decision = house.submit(game, 0, 1, 2)
    assert house.passed() == 1
    assert house.worked()
    assert house.kinds(game) == ["moved"] * 3 + ["resolved"]
    assert house.decision(game) != decision
    assert house.rung, "whoever waits for the turn is told"


def test_a_job_whose_work_is_done_says_so_and_stores_nothing(house: House) -> None:
    game = house.game()
    decision = house.submit(game, 0, 1, 2)
    assert turns.resolve(game, decision) == turns.DONE
    head = house.crew.ledger.version(game)
    assert turns.resolve(game, decision) == turns.GONE
    assert deadlines.lapse(game, decision) == turns.GONE
    assert turns.play_vacant_seats(game, decision) == turns.GONE
    assert house.crew.ledger.version(game) == head


def test_due_work_is_enqueued_once_while_its_job_waits(house: House) -> None:
    house.submit(house.game(), 0, 1, 2)
    assert [house.passed() for _ in range(3)] == [1, 0, 0]


def test_an_emptied_redis_loses_nothing(house: House) -> None:
    game = house.game()
    house.submit(game, 0, 1, 2)
    assert house.passed() == 1
    house.redis.flushall()
    assert not house.worked()
    assert house.passed() == 1
    house.worked()
    assert house.kinds(game)[-1] == "resolved"


def test_id_left_by_a_dead_job_blocks_work_for_one_period(house: House) -> None:
    game = house.game()
    decision = house.submit(game, 0, 1, 2)
    left = f"rq:job:resolve-{game}-{decision}-{house.crew.clock() // PERIOD}"
    house.redis.hset(left, "last_heartbeat", "long ago")
    assert house.passed() == 0
    house.later(PERIOD)
    assert house.passed() == 1
    house.worked()
    assert house.kinds(game)[-1] == "resolved"


def test_a_missed_deadline_is_one_record_of_all_who_owe(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    house.submit(game, 1)
    house.later(MINUTE - 1)
    assert house.passed() == 0
    house.later(1)
    assert house.passed() == 1
    house.worked()
    records = house.crew.ledger.read(game)
    assert [r.kind for r in records[5:]] == ["moved", "lapsed"]
    assert [seat for seat, _ in records[-1].moves()] == [0, 2]


def test_a_deadline_is_judged_by_the_log_not_by_who_asks(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}, "grace": 30})
    decision = house.decision(game)
    house.later(MINUTE)
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(MINUTE // 2)
    assert deadlines.lapse(game, decision) == turns.DONE


def test_without_a_deadline_nobody_is_hurried(house: House) -> None:
    game = house.game()
    house.later(10 * MINUTE)
    assert house.passed() == 0
    assert deadlines.lapse(game, house.decision(game)) == turns.GONE


def test_the_clock_of_a_rewound_decision_starts_anew(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    house.submit(game, 0)
    house.later(MINUTE // 2)
    house.crew.commands.handle(game, Rewind(5), GameConditions(expected=house.crew.ledger.version(game)))
    house.later(MINUTE // 2)
    assert deadlines.lapse(game, house.decision(game)) == turns.EARLY
    house.later(MINUTE // 2)
    assert deadlines.lapse(game, house.decision(game)) == turns.DONE


def test_a_deadline_that_was_moved_counts_as_moved(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    decision = house.decision(game)
    house.crew.commands.handle(game, Extend(decision, MINUTE))
    house.later(MINUTE)
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(MINUTE)
    assert deadlines.lapse(game, decision) == turns.DONE


def test_a_vacant_seat_alone_gets_its_default(house: House) -> None:
    game = house.game("sealed@1", 4)
    house.crew.commands.handle(game, Leave(1))
    found: Game[Any] = house.crew.commands.game(game)
    card = next(c for c in found.state.hands[0] if c != "alliance")
    house.crew.commands.handle(game, Play(0, [{"type": "attack", "target": 2, "card": card}]))
    asked = house.decision(game)
    assert house.passed() == 1
    house.worked()
    p = house.crew.commands.game(game)
    assert p.tip.record is not None
    assert p.tip.record.kind == "lapsed"
    assert [seat for seat, _ in p.tip.record.moves()] == [1]
    assert (house.decision(game), p.state.top.owing) == (asked, (2, 3))


def test_held_seat_keeps_its_decision_until_somebody_sits_there(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    house.later(MINUTE // 2)
    house.crew.commands.handle(game, Leave(1, 600))
    decision = house.submit(game, 0, 2)
    house.later(9 * MINUTE)
    assert house.passed() == 0
    assert turns.play_vacant_seats(game, decision) == turns.EARLY
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.crew.commands.handle(game, Join(1, "p7"))
    house.later(MINUTE - 1)
    assert house.passed() == 0, "whoever takes a seat over has the full time of the open decision"
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(1)
    assert house.passed() == 1
    house.worked()
    assert house.kinds(game)[-1] == "lapsed"


def test_held_seat_is_played_for_when_the_hold_is_over(house: House) -> None:
    game = house.game()
    house.crew.commands.handle(game, Leave(1, 600))
    decision = house.submit(game, 0, 2)
    house.later(10 * MINUTE - 1)
    assert house.passed() == 0
    house.later(1)
    assert house.passed() == 1
    house.worked()
    assert house.crew.commands.game(game).state.vacant == (1,)
    last = house.crew.ledger.read(game)[-1]
    assert (last.kind, last.body) == ("ruled", {"act": "vacate"})
    assert turns.play_vacant_seats(game, decision) == turns.GONE
    assert turns.resolve(game, house.decision(game)) == turns.DONE


def test_a_hold_does_not_end_while_nobody_is_answered(house: House) -> None:
    """Whoever would have taken the seat meanwhile could not."""
    game = house.game()
    house.crew.commands.handle(game, Leave(1, 600))
    decision = house.submit(game, 0, 2)
    house.later(MINUTE)
    house.down(20 * MINUTE)
    assert turns.play_vacant_seats(game, decision) == turns.EARLY
    up(house)
    assert turns.play_vacant_seats(game, decision) == turns.DONE


def test_a_director_holds_a_seat_and_lets_it_go(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 60}})
    house.crew.commands.handle(game, Hold(0, 600))
    house.submit(game, 1, 2)
    decision = house.decision(game)
    house.later(5 * MINUTE)
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.crew.commands.handle(game, Hold(0, 0))
    house.later(MINUTE - 1)
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(1)
    assert deadlines.lapse(game, decision) == turns.DONE


def test_without_a_vacant_seat_the_job_leaves_everybody_alone(house: House) -> None:
    game = house.game()
    assert turns.play_vacant_seats(game, house.decision(game)) == turns.GONE
    assert house.kinds(game) == []


@pytest.mark.parametrize("job", [turns.resolve, turns.play_vacant_seats, deadlines.lapse])
def test_a_game_that_nobody_knows_is_an_error(house: House, job: object) -> None:
    with pytest.raises(UnknownGame):
        job("00000000-0000-0000-0000-000000000000", "0-1")  # type: ignore[operator]


def test_a_finished_game_has_no_work(house: House) -> None:
    game = house.game(options={"turns": 1})
    decision = house.submit(game, 0, 1, 2)
    turns.resolve(game, decision)
    assert house.crew.commands.game(game).status == "closed"
    for job in (turns.resolve, turns.play_vacant_seats, deadlines.lapse):
        assert job(game, decision) == turns.GONE
    assert house.passed() == 0


def test_a_table_that_nobody_starts_is_closed_after_two_weeks(house: House) -> None:
    game = new_game_id()
    house.crew.commands.open(game, "orders@1", 3, {})
    house.later(13 * DAY)
    house.crew.commands.handle(game, Join(0, "p0"))
    assert house.passed() == 0
    house.later(14 * DAY - 1)
    assert house.passed() == 0
    assert turns.close_unstarted(game, "0-0") == turns.EARLY
    with pytest.raises(RuleError, match="not_due"):
        house.crew.commands.handle(game, Close("abandoned", "clock"))
    house.later(1)
    assert house.passed() == 1
    house.worked()
    ending = Ending("abandoned", "clock", finished=False)
    assert house.crew.commands.game(game).ending == ending
    found = house.reader.find_summary(game)
    assert found is not None
    assert found["status"] == "open"
    assert house.passed() == 0
    found = house.reader.find_summary(game)
    assert found is not None
    assert found["ending"] == {
        "reason": "abandoned",
        "by": "clock",
        "finished": False,
    }
    assert turns.close_unstarted(game, "0-0") == turns.GONE
    assert audits.audit_game(house.crew, game)["verified"] is True


def test_nothing_in_redis_is_secret_or_pickled(house: House) -> None:
    game = house.game()
    house.crew.commands.handle(
        game, Play(0, [{"type": "order", "to": "t07", "units": 3}], decision=house.decision(game))
    )
    decision = house.submit(game, 0, 1, 2)
    house.passed()
    audit = house.ask("audit", game)
    house.reconciler.pass_once()
    raw = Redis.from_url(house.url)
    held = [json.loads(zlib.decompress(cast("bytes", raw.hget(key, "data")))) for key in raw.keys("rq:job:*")]
    raw.close()
    assert sorted(call[0] for call in held) == ["audit", "resolve"]
    assert sorted(call[2] for call in held) == sorted([[audit], [game, decision]])
