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
from tests.workers.conftest import Harness
from tests.workers.test_heartbeat import up
from workers.job_calls import PERIOD
from workers.jobs import audits, deadlines, turns

MINUTE = 60_000


def test_a_resolved_turn_is_pumped_enqueued_and_done(harness: Harness) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    assert harness.passed() == 1
    assert harness.worked()
    assert harness.kinds(game) == ["moved"] * 3 + ["resolved"]
    assert harness.decision(game) != decision
    assert harness.rung, "whoever waits for the turn is told"


def test_a_job_whose_work_is_done_says_so_and_stores_nothing(harness: Harness) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    assert turns.resolve(game, decision) == turns.DONE
    head = harness.context.ledger.version(game)
    assert turns.resolve(game, decision) == turns.GONE
    assert deadlines.lapse(game, decision) == turns.GONE
    assert turns.play_vacant_seats(game, decision) == turns.GONE
    assert harness.context.ledger.version(game) == head


def test_due_work_is_enqueued_once_while_its_job_waits(harness: Harness) -> None:
    harness.submit(harness.game(), 0, 1, 2)
    assert [harness.passed() for _ in range(3)] == [1, 0, 0]


def test_an_emptied_redis_loses_nothing(harness: Harness) -> None:
    game = harness.game()
    harness.submit(game, 0, 1, 2)
    assert harness.passed() == 1
    harness.redis.flushall()
    assert not harness.worked()
    assert harness.passed() == 1
    harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


def test_id_left_by_a_dead_job_blocks_work_for_one_period(harness: Harness) -> None:
    game = harness.game()
    decision = harness.submit(game, 0, 1, 2)
    left = f"rq:job:resolve-{game}-{decision}-{harness.context.clock() // PERIOD}"
    harness.redis.hset(left, "last_heartbeat", "long ago")
    assert harness.passed() == 0
    harness.later(PERIOD)
    assert harness.passed() == 1
    harness.worked()
    assert harness.kinds(game)[-1] == "resolved"


def test_a_missed_deadline_is_one_record_of_all_who_owe(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}})
    harness.submit(game, 1)
    harness.later(MINUTE - 1)
    assert harness.passed() == 0
    harness.later(1)
    assert harness.passed() == 1
    harness.worked()
    records = harness.context.ledger.read(game)
    assert [r.kind for r in records[5:]] == ["moved", "lapsed"]
    assert [seat for seat, _ in records[-1].moves()] == [0, 2]


def test_a_deadline_is_judged_by_the_log_not_by_who_asks(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}, "grace": 30})
    decision = harness.decision(game)
    harness.later(MINUTE)
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(MINUTE // 2)
    assert deadlines.lapse(game, decision) == turns.DONE


def test_without_a_deadline_nobody_is_hurried(harness: Harness) -> None:
    game = harness.game()
    harness.later(10 * MINUTE)
    assert harness.passed() == 0
    assert deadlines.lapse(game, harness.decision(game)) == turns.GONE


def test_the_clock_of_a_rewound_decision_starts_anew(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}})
    harness.submit(game, 0)
    harness.later(MINUTE // 2)
    harness.context.commands.handle(game, Rewind(5), GameConditions(expected=harness.context.ledger.version(game)))
    harness.later(MINUTE // 2)
    assert deadlines.lapse(game, harness.decision(game)) == turns.EARLY
    harness.later(MINUTE // 2)
    assert deadlines.lapse(game, harness.decision(game)) == turns.DONE


def test_a_deadline_that_was_moved_counts_as_moved(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}})
    decision = harness.decision(game)
    harness.context.commands.handle(game, Extend(decision, MINUTE))
    harness.later(MINUTE)
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(MINUTE)
    assert deadlines.lapse(game, decision) == turns.DONE


def test_a_vacant_seat_alone_gets_its_default(harness: Harness) -> None:
    game = harness.game("sealed@1", 4)
    harness.context.commands.handle(game, Leave(1))
    found: Game[Any] = harness.context.commands.game(game)
    card = next(c for c in found.state.hands[0] if c != "alliance")
    harness.context.commands.handle(game, Play(0, [{"type": "attack", "target": 2, "card": card}]))
    asked = harness.decision(game)
    assert harness.passed() == 1
    harness.worked()
    p = harness.context.commands.game(game)
    assert p.tip.record is not None
    assert p.tip.record.kind == "lapsed"
    assert [seat for seat, _ in p.tip.record.moves()] == [1]
    assert (harness.decision(game), p.state.top.owing) == (asked, (2, 3))


def test_held_seat_keeps_its_decision_until_somebody_sits_there(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}})
    harness.later(MINUTE // 2)
    harness.context.commands.handle(game, Leave(1, 600))
    decision = harness.submit(game, 0, 2)
    harness.later(9 * MINUTE)
    assert harness.passed() == 0
    assert turns.play_vacant_seats(game, decision) == turns.EARLY
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.context.commands.handle(game, Join(1, "p7"))
    harness.later(MINUTE - 1)
    assert harness.passed() == 0, "whoever takes a seat over has the full time of the open decision"
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(1)
    assert harness.passed() == 1
    harness.worked()
    assert harness.kinds(game)[-1] == "lapsed"


def test_held_seat_is_played_for_when_the_hold_is_over(harness: Harness) -> None:
    game = harness.game()
    harness.context.commands.handle(game, Leave(1, 600))
    decision = harness.submit(game, 0, 2)
    harness.later(10 * MINUTE - 1)
    assert harness.passed() == 0
    harness.later(1)
    assert harness.passed() == 1
    harness.worked()
    assert harness.context.commands.game(game).state.vacant == (1,)
    last = harness.context.ledger.read(game)[-1]
    assert (last.kind, last.body) == ("ruled", {"act": "vacate"})
    assert turns.play_vacant_seats(game, decision) == turns.GONE
    assert turns.resolve(game, harness.decision(game)) == turns.DONE


def test_a_hold_does_not_end_while_nobody_is_answered(harness: Harness) -> None:
    """Whoever would have taken the seat meanwhile could not."""
    game = harness.game()
    harness.context.commands.handle(game, Leave(1, 600))
    decision = harness.submit(game, 0, 2)
    harness.later(MINUTE)
    harness.down(20 * MINUTE)
    assert turns.play_vacant_seats(game, decision) == turns.EARLY
    up(harness)
    assert turns.play_vacant_seats(game, decision) == turns.DONE


def test_a_director_holds_a_seat_and_lets_it_go(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 60}})
    harness.context.commands.handle(game, Hold(0, 600))
    harness.submit(game, 1, 2)
    decision = harness.decision(game)
    harness.later(5 * MINUTE)
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.context.commands.handle(game, Hold(0, 0))
    harness.later(MINUTE - 1)
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(1)
    assert deadlines.lapse(game, decision) == turns.DONE


def test_without_a_vacant_seat_the_job_leaves_everybody_alone(harness: Harness) -> None:
    game = harness.game()
    assert turns.play_vacant_seats(game, harness.decision(game)) == turns.GONE
    assert harness.kinds(game) == []


@pytest.mark.parametrize("job", [turns.resolve, turns.play_vacant_seats, deadlines.lapse])
def test_a_game_that_nobody_knows_is_an_error(harness: Harness, job: object) -> None:
    with pytest.raises(UnknownGame):
        job("00000000-0000-0000-0000-000000000000", "0-1")  # type: ignore[operator]


def test_a_finished_game_has_no_work(harness: Harness) -> None:
    game = harness.game(options={"turns": 1})
    decision = harness.submit(game, 0, 1, 2)
    turns.resolve(game, decision)
    assert harness.context.commands.game(game).status == "closed"
    for job in (turns.resolve, turns.play_vacant_seats, deadlines.lapse):
        assert job(game, decision) == turns.GONE
    assert harness.passed() == 0


def test_a_table_that_nobody_starts_is_closed_after_two_weeks(harness: Harness) -> None:
    game = new_game_id()
    harness.context.commands.open(game, "orders@1", 3, {})
    harness.later(13 * DAY)
    harness.context.commands.handle(game, Join(0, "p0"))
    assert harness.passed() == 0
    harness.later(14 * DAY - 1)
    assert harness.passed() == 0
    assert turns.close_unstarted(game, "0-0") == turns.EARLY
    with pytest.raises(RuleError, match="not_due"):
        harness.context.commands.handle(game, Close("abandoned", "clock"))
    harness.later(1)
    assert harness.passed() == 1
    harness.worked()
    ending = Ending("abandoned", "clock", finished=False)
    assert harness.context.commands.game(game).ending == ending
    found = harness.reader.find_summary(game)
    assert found is not None
    assert found["status"] == "open"
    assert harness.passed() == 0
    found = harness.reader.find_summary(game)
    assert found is not None
    assert found["ending"] == {
        "reason": "abandoned",
        "by": "clock",
        "finished": False,
    }
    assert turns.close_unstarted(game, "0-0") == turns.GONE
    assert audits.audit_game(harness.context, game)["verified"] is True


def test_nothing_in_redis_is_secret_or_pickled(harness: Harness) -> None:
    game = harness.game()
    harness.context.commands.handle(
        game, Play(0, [{"type": "order", "to": "t07", "units": 3}], decision=harness.decision(game))
    )
    decision = harness.submit(game, 0, 1, 2)
    harness.passed()
    audit = harness.ask("audit", game)
    harness.reconciler.pass_once()
    raw = Redis.from_url(harness.url)
    held = [json.loads(zlib.decompress(cast("bytes", raw.hget(key, "data")))) for key in raw.keys("rq:job:*")]
    raw.close()
    assert sorted(call[0] for call in held) == ["audit", "resolve"]
    assert sorted(call[2] for call in held) == sorted([[audit], [game, decision]])
