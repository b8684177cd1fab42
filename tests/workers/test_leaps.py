"""A clock that is set forward costs nobody any time: every game that waits for something has a record of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from domain.command_handler import CommandHandler, new_game_id
from domain.errors import StoreUnavailable
from domain.kernel.game.deadlines import DAY
from domain.kernel.game.director_commands import Hold, Rewind
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.table_commands import UNSTARTED_LIMIT_MS, Close, Join
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import dump, parse
from domain.service.service_clock import ADOPTED, FRESH, ServiceClock
from tests.damage import overwrite
from tests.workers.conftest import CATALOGUE, Harness
from tests.workers.test_heartbeat import up
from workers.context import set_context
from workers.jobs import deadlines, turns
from workers.maintenance.clock_jumps import ClockJumpRecovery
from workers.projector_process import ProjectorLoop
from workers.reconciler import Reconciler

MINUTE, HOUR = 60_000, 3_600_000
PACE: dict[str, Any] = {"seconds": {"turn": 120}, "grace": 30}


class Timed(Harness):
    """A harness that goes by the time of the service; `time` holds what the clock of its machine shows."""

    clock: ServiceClock
    booted: int

    def passes(self, ms: int) -> None:
        """Somebody who asks is answered all the while."""
        for left in range(ms, 0, -1000):
            self.time[0] += min(left, 1000)
            self.booted += min(left, 1000)
            self.clock.sync()
            self.context.heartbeat.beat(self.clock())

    def sets(self, ms: int) -> None:
        self.time[0] += ms
        self.clock.sync()

    def turn(self) -> None:
        self.pumping.catch_up()
        self.pumping._outage_recovery.recover()
        self.pumping._clock_jumps.recover()
        self.pumping.catch_up()
        self.clock.sync()

    def leaps(self, ms: int = HOUR) -> None:
        """The clock is set, and that is settled."""
        self.sets(ms)
        self.turn()
        self.passes(ADOPTED)
        self.turn()
        assert self.context.clock_rows.list_unsettled() == []

    def shifts(self, game: str) -> list[int]:
        return [r.body["ms"] for r in self.context.ledger.read(game) if r.body.get("act") == "shift"]

    def due(self, game: str) -> int:
        found = self.reader.find_summary(game)
        assert found is not None
        assert found["due"] is not None
        return found["due"]

    def proves(self, game: str) -> None:
        """Closed, it is as anybody may check it; its records rise in time."""
        if self.context.commands.game(game).status != "closed":
            self.context.commands.handle(game, Close("void", "director"))
        records = self.context.ledger.read(game)
        times = [r.public["at"] for r in records]
        assert times == sorted(times)
        rules = CATALOGUE.get(records[0].body["ruleset"])
        assert verify(rules, parse(dump(records, "public"))).decided == len(records)


@pytest.fixture
def timed(harness: Harness) -> Iterator[Timed]:
    context = harness.context
    made = Timed(context, harness.reader, harness.signals, harness.queues, harness.url, harness.time, harness.rung)
    made.booted = 5
    made.clock = clock = ServiceClock(context.ledger, lambda: made.time[0], lambda: made.booted, "machine", alone=True)
    commands = CommandHandler(context.ledger, CATALOGUE, context.seed_store, clock)
    made.context = replace(context, commands=commands, clock=clock)
    set_context(made.context)
    made.reconciler = Reconciler(made.reader, context.job_requests, context.heartbeat, made.queues, clock)
    made.pumping = ProjectorLoop(made.context, made.signals, made.reconciler)
    clock.sync()
    context.heartbeat.beat(clock())
    yield made
    clock.close()


def test_all_that_runs_moves_with_it_and_nobody_loses_time(timed: Timed) -> None:
    """Also what is far from over."""
    games = [timed.game(pace={"seconds": {"turn": seconds}}) for seconds in (60, 7200)]
    timed.passes(10_000)
    timed.turn()
    before = [timed.due(game) for game in games]
    timed.leaps()
    assert [timed.shifts(game) for game in games] == [[HOUR], [HOUR]]
    assert [timed.due(game) for game in games] == [due + HOUR for due in before]
    decision = timed.decision(games[0])
    timed.passes(50_000 - ADOPTED - 1000)
    assert deadlines.lapse(games[0], decision) == turns.EARLY
    timed.passes(1000)
    assert deadlines.lapse(games[0], decision) == turns.DONE
    for game in games:
        timed.proves(game)


def test_it_is_told_to_the_table(timed: Timed) -> None:
    game = timed.game(pace=PACE)
    timed.leaps()
    entry = timed.reader.read_timeline(game, "public", after=5)[-1]
    assert (entry["kind"], entry["by"]) == ("ruled", "clock")
    assert entry["body"] == {"act": "shift", "ms": HOUR, "reason": "clock_set_forward"}


def test_a_bank_is_charged_for_what_has_passed_and_no_more(timed: Timed) -> None:
    game = timed.game(pace={"seconds": {"turn": 120}, "bank": 600})
    timed.submit(game, 0)
    timed.passes(3 * MINUTE)
    timed.submit(game, 1)
    timed.passes(MINUTE)
    timed.leaps()
    assert [a.bank for a in timed.context.commands.game(game).timing.banks] == [600_000, 540_000, 480_000]
    timed.passes(MINUTE - ADOPTED)
    timed.submit(game, 2)
    assert timed.context.commands.game(game).timing.banks[2].bank == 420_000
    timed.proves(game)


def test_a_vacation_and_a_hold_are_as_long_as_they_were(timed: Timed) -> None:
    game = timed.game(pace={"seconds": {"turn": 120}, "vacation": 3})
    timed.context.commands.handle(game, Rest(0, 1))
    timed.context.commands.handle(game, Hold(1, 7200))
    before = timed.context.commands.game(game)
    timed.passes(MINUTE)
    timed.leaps()
    after = timed.context.commands.game(game)
    assert after.timing.banks[0].vacation_end == before.timing.banks[0].vacation_end + HOUR == 1_000_000 + DAY + HOUR
    assert after.timing.banks[1].hold_end == before.timing.banks[1].hold_end + HOUR
    assert after.due_times([0, 1, 2]) == {seat: due + HOUR for seat, due in before.due_times([0, 1, 2]).items()}
    timed.proves(game)


def test_what_waits_for_no_time_has_no_record_of_it(timed: Timed) -> None:
    game, over = timed.game(), timed.game(pace=PACE)
    timed.context.commands.handle(over, Close("void", "director"))
    timed.leaps()
    assert timed.shifts(game) == timed.shifts(over) == []


def test_a_table_that_is_not_started_is_not_closed_for_it(timed: Timed) -> None:
    game = new_game_id()
    timed.context.commands.open(game, "orders@1", 3)
    timed.leaps(UNSTARTED_LIMIT_MS)
    assert turns.close_unstarted(game, "0-0") == turns.EARLY
    timed.context.commands.handle(game, Join(0, "p0"))
    timed.proves(game)


def test_no_default_is_played_while_it_is_not_settled(timed: Timed) -> None:
    game = timed.game(pace={"seconds": {"turn": 60}})
    decision = timed.decision(game)
    timed.passes(MINUTE - 1000)
    timed.sets(HOUR)
    timed.passes(2000)
    assert deadlines.lapse(game, decision) == turns.EARLY
    timed.turn()
    timed.passes(ADOPTED)
    timed.turn()
    assert deadlines.lapse(game, decision) == turns.DONE


def test_move_before_its_game_has_a_record_is_as_of_then(timed: Timed) -> None:
    game = timed.game(pace=PACE)
    timed.sets(HOUR)
    timed.passes(1000)
    timed.submit(game, 0)
    assert timed.context.commands.game(game).time == 1_001_000
    timed.turn()
    timed.submit(game, 1)
    assert timed.context.commands.game(game).time >= 1_001_000 + HOUR
    timed.passes(ADOPTED)
    timed.turn()
    timed.proves(game)


def test_game_begun_before_time_leaps_has_its_record_after(timed: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def begin(*args: Any) -> None:
        begun.append(timed.game(pace=PACE))
        real(*args)

    clocks = type(timed.context.clock_rows)
    real = clocks.apply_jump
    monkeypatch.setattr(clocks, "apply_jump", begin)
    timed.leaps()
    assert [timed.shifts(game) for game in begun] == [[HOUR]]
    assert timed.context.commands.game(begun[0]).deadline == 1_000_000 + 2 * MINUTE + HOUR
    assert timed.shifts(timed.game(pace=PACE)) == []
    timed.proves(begun[0])


@pytest.mark.parametrize("left", range(4))
def test_who_is_killed_in_middle_is_followed_by_the_same_again(
    timed: Timed, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    """After each of the records, before time leaps."""
    games = [timed.game(pace=PACE) for _ in range(3)]
    real, lives = timed.context.commands.handle, [left]

    def deadly(*args: Any, **more: Any) -> Any:
        if not lives[0]:
            raise KeyboardInterrupt
        lives[0] -= 1
        return real(*args, **more)

    def dead(*_: Any) -> None:
        raise KeyboardInterrupt

    timed.sets(HOUR)
    with monkeypatch.context() as patched:
        patched.setattr(timed.context.commands, "handle", deadly)
        patched.setattr(type(timed.context.clock_rows), "apply_jump", dead)
        with pytest.raises(KeyboardInterrupt):
            timed.turn()
    timed.passes(5000)
    timed.pumping = ProjectorLoop(timed.context, timed.signals, timed.reconciler)
    timed.turn()
    timed.passes(ADOPTED)
    timed.turn()
    assert [timed.shifts(game) for game in games] == [[HOUR]] * 3
    assert {timed.context.commands.game(game).deadline for game in games} == {1_000_000 + 2 * MINUTE + HOUR}
    assert timed.clock() == timed.time[0]


def test_while_the_store_is_away_nothing_leaps(timed: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
    game = timed.game(pace=PACE)

    def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("gone")

    timed.sets(HOUR)
    with monkeypatch.context() as broken:
        broken.setattr(timed.context.ledger, "append", away)
        with pytest.raises(StoreUnavailable):
            timed.turn()
    assert timed.clock() == 1_000_000
    timed.turn()
    assert (timed.shifts(game), timed.clock()) == ([HOUR], timed.time[0])


def test_going_back_behind_it_takes_nothing_back(timed: Timed) -> None:
    game = timed.game(pace={"seconds": {"turn": 120}, "vacation": 1})
    timed.submit(game, 0)
    timed.context.commands.handle(game, Rest(1, 1))
    timed.leaps()
    timed.context.commands.handle(game, Rewind(5))
    after = timed.context.commands.game(game)
    assert after.deadline == timed.clock() + 2 * MINUTE
    assert after.timing.banks[1].vacation_end == 1_000_000 + DAY + HOUR
    timed.proves(game)


def test_forward_and_back_stalls_nothing(timed: Timed) -> None:
    """The hour by which the log is ahead is no hour in which nothing is due."""
    game = timed.game(pace={"seconds": {"turn": 60}})
    timed.leaps()
    timed.sets(-HOUR)
    decision = timed.decision(game)
    timed.passes(70_000)
    timed.turn()
    assert deadlines.lapse(game, decision) == turns.DONE
    assert turns.resolve(game, timed.decision(game)) == turns.DONE
    timed.submit(game, 0)
    timed.proves(game)


def test_a_game_that_is_set_aside_holds_up_nobody(timed: Timed) -> None:
    game, poisoned = timed.game(pace=PACE), timed.game(pace=PACE)
    overwrite(timed.context.ledger, "UPDATE records SET state = ? WHERE originator_version = 2", (b"j{}",))
    timed.pumping.catch_up()
    assert {row["game"] for row in timed.reader.list_quarantined()} == {game, poisoned}
    timed.leaps()


def test_a_game_whose_seed_is_lost_holds_up_nobody(timed: Timed, caplog: pytest.LogCaptureFixture) -> None:
    lost, game = sorted(timed.game(pace=PACE) for _ in range(2))
    timed.pumping.catch_up()
    timed.context.ledger.execute("DELETE FROM seeds WHERE game = ?", (lost,))
    commands = CommandHandler(timed.context.ledger, CATALOGUE, timed.context.seed_store, timed.clock)
    timed.context = replace(timed.context, commands=commands)
    timed.pumping = ProjectorLoop(timed.context, timed.signals, timed.reconciler)
    timed.leaps()
    assert timed.shifts(game) == [HOUR]
    assert f"the clock of {lost} was not moved" in caplog.messages


def test_which_machine_is_wrong_is_said_once(timed: Timed, caplog: pytest.LogCaptureFixture) -> None:
    timed.sets(-HOUR)
    timed.passes(FRESH + 1000)
    leaps = ClockJumpRecovery(timed.context, timed.reader, lambda: None)
    with caplog.at_level(logging.WARNING, "annals.clock"):
        for _ in range(2):
            leaps.recover()
    (said,) = caplog.messages
    assert said.endswith("s behind the service's")


def test_an_outage_is_one_as_before(timed: Timed) -> None:
    game = timed.game(pace=PACE)
    up(timed)
    timed.time[0] += 10 * MINUTE
    timed.booted += 10 * MINUTE
    timed.clock.sync()
    up(timed)
    assert timed.context.commands.game(game).deadline == 1_000_000 + 2 * MINUTE + 10 * MINUTE + 30_000
    assert timed.shifts(game) == []
