"""Deadlines that passed while no node was up are moved by the outage and the grace, once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from domain.command_handler import GameConditions
from domain.errors import StoreUnavailable
from domain.kernel.game.director_commands import Extend
from domain.service.database import Execute
from domain.service.heartbeat import LONGEST_ANSWER, MIN_OUTAGE
from projections.reader import Reader
from tests.workers.conftest import Harness
from workers.jobs import audits, deadlines, turns
from workers.maintenance.outage_recovery import OutageRecovery
from workers.projector_process import ProjectorLoop

MINUTE = 60_000
PACE: dict[str, Any] = {"seconds": {"turn": 120}, "grace": 30}


def up(harness: Harness) -> None:
    """Somebody who asks is answered, and a node pumps for a moment."""
    harness.context.heartbeat.beat(harness.context.clock())
    pumping = ProjectorLoop(harness.context, harness.signals, harness.reconciler)
    pumping.catch_up()
    pumping._outage_recovery.recover()
    pumping.catch_up()


def extensions(harness: Harness, game: str) -> list[int]:
    """By how much deadlines were moved, ms."""
    records = [r for r in harness.context.ledger.read(game) if r.kind == "ruled"]
    assert all(r.public["by"] == "clock" and r.body["act"] == "extend" for r in records)
    return [r.body["ms"] for r in records]


def due(harness: Harness, game: str) -> int:
    found = harness.reader.find_summary(game)
    assert found is not None
    assert found["due"] is not None
    return found["due"]


def test_missed_deadline_moves_by_outage_and_grace(harness: Harness) -> None:
    game = harness.game(pace=PACE)
    decision, began = harness.decision(game), harness.context.clock()
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    assert extensions(harness, game) == [10 * MINUTE + 30_000]
    assert due(harness, game) == began + 2 * MINUTE + 30_000 + 10 * MINUTE + 30_000
    assert deadlines.lapse(game, decision) == turns.EARLY
    harness.later(3 * MINUTE)
    assert deadlines.lapse(game, decision) == "done"
    assert audits.audit_game(harness.context, game)["verified"] is True


def test_it_is_told_to_the_table(harness: Harness) -> None:
    game = harness.game(pace=PACE)
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    entry = harness.reader.read_timeline(game, "public", after=5)[-1]
    assert entry["by"] == "clock"
    assert (entry["kind"], entry["body"]["act"]) == ("ruled", "extend")


def test_what_was_due_before_or_is_not_due_yet_stays(harness: Harness) -> None:
    missed, soon, later = harness.game(pace=PACE), "", ""
    harness.later(2 * MINUTE + 30_000)
    soon = harness.game(pace=PACE)
    later = harness.game(pace={"seconds": {"turn": 3600}})
    none = harness.game()
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    assert [len(extensions(harness, g)) for g in (missed, soon, later, none)] == [0, 1, 0, 0]


def test_less_time_than_the_outage_took_is_given_back(harness: Harness) -> None:
    """A player who could not be reached for ten minutes of twelve has lost them, though two are left."""
    short, long = harness.game(pace={"seconds": {"turn": 720}}), harness.game(pace={"seconds": {"turn": 3600}})
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    assert [extensions(harness, game) for game in (short, long)] == [[10 * MINUTE], []]


def test_nobody_is_given_more_time_than_has_passed(harness: Harness) -> None:
    """Where the last beat is that of a machine with a wrong clock, half a century was silent."""
    up(harness)
    game = harness.game(pace=PACE)
    harness.down(5 * MINUTE)
    harness.context.ledger.execute("UPDATE heartbeat SET at = 1000")
    up(harness)
    assert extensions(harness, game) == [5 * MINUTE + 30_000]


def test_a_deadline_in_whose_grace_the_service_went_down_moves(harness: Harness) -> None:
    game = harness.game(pace=PACE)
    harness.later(2 * MINUTE + 10_000)
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    assert len(extensions(harness, game)) == 1


def test_a_bank_that_was_running_is_not_charged_for_the_outage(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 120}, "bank": 600})
    harness.later(3 * MINUTE)
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    found = harness.reader.find_summary(game)
    assert found is not None
    assert {a["bank"] for a in found["accounts"]} == {540_000}, "a minute was gone before it"
    assert found["due"] == 1_000_000 + 2 * MINUTE + 10 * MINUTE + 10 * MINUTE


def test_a_short_silence_is_none(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 10}})
    up(harness)
    harness.down(MIN_OUTAGE)
    up(harness)
    assert extensions(harness, game) == []


def test_one_node_that_is_up_is_enough(harness: Harness) -> None:
    """Another one that starts finds the beats of the first."""
    game = harness.game(pace={"seconds": {"turn": 300}})
    other = OutageRecovery(harness.context, Reader(harness.context.views), lambda: None)
    for _ in range(30):
        up(harness)
        harness.down(MIN_OUTAGE // 2)
    other.recover()
    assert extensions(harness, game) == []


def test_who_is_killed_in_middle_is_followed_by_the_same_again(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [harness.game(pace=PACE) for _ in range(3)]
    up(harness)
    harness.down(10 * MINUTE)
    real, left = harness.context.commands.handle, [2]

    def deadly(*args: Any, **more: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(harness.context.commands, "handle", deadly)
        with pytest.raises(KeyboardInterrupt):
            up(harness)
    harness.later(MINUTE)
    up(harness)
    assert sorted(ms for g in games for ms in extensions(harness, g))[:3] == [10 * MINUTE + 30_000] * 3
    up(harness)
    assert [len(extensions(harness, g)) for g in games] == [1, 1, 1]


def test_deadline_moved_by_another_measure_is_not_moved_again(harness: Harness) -> None:
    """By who was killed after it: until the next comes, an interruption may have begun its clock anew."""
    game = harness.game(pace=PACE)
    decision = harness.decision(game)
    up(harness)
    began = harness.context.clock()
    harness.down(10 * MINUTE)
    harness.context.heartbeat.beat(harness.context.clock())
    harness.context.commands.handle(
        game, Extend(decision, 5 * MINUTE, "clock"), GameConditions(idempotency_key=f"outage-{began}-{decision}")
    )
    up(harness)
    assert extensions(harness, game) == [5 * MINUTE]
    assert harness.context.heartbeat.list_unresolved() == []


def test_while_the_store_is_away_an_outage_stays_unsettled(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    game = harness.game(pace=PACE)
    up(harness)
    harness.down(10 * MINUTE)

    def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as broken:
        broken.setattr(harness.context.ledger, "append", away)
        with pytest.raises(StoreUnavailable):
            up(harness)
    up(harness)
    assert len(extensions(harness, game)) == 1


def test_whoever_has_answered_meanwhile_needs_no_more_time(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """The views still show the decision as open when the deadlines are moved."""
    game = harness.game(pace=PACE)
    up(harness)
    harness.down(10 * MINUTE)
    harness.submit(game, 0, 1, 2)
    harness.context.heartbeat.beat(harness.context.clock())
    watch = OutageRecovery(harness.context, harness.reader, lambda: None)
    watch.recover()
    assert extensions(harness, game) == []


def test_the_first_start_of_all_is_no_outage(harness: Harness) -> None:
    game = harness.game(pace={"seconds": {"turn": 1}})
    harness.down(10 * MINUTE)
    up(harness)
    assert extensions(harness, game) == []
    assert harness.context.heartbeat.deadlines_valid_until() == harness.context.clock()


def test_who_is_stopped_before_views_are_read_leaves_it_to_next(harness: Harness) -> None:
    game = harness.game(pace=PACE)
    up(harness)
    harness.down(10 * MINUTE)
    other = harness.game(pace={"seconds": {"turn": 3600}})
    harness.context.heartbeat.beat(harness.context.clock())
    stopped = ProjectorLoop(harness.context, harness.signals, harness.reconciler)
    stopped.stop()
    stopped.run_once()
    assert extensions(harness, game) == []
    ProjectorLoop(harness.context, harness.signals, harness.reconciler).run_once()
    assert [len(extensions(harness, g)) for g in (game, other)] == [1, 0]


class TestNobodyIsAnswered:
    """Deadlines that pass meanwhile are not played: who wanted to answer in time could not."""

    def test_a_deadline_after_the_last_answer_is_not_played(self, harness: Harness) -> None:
        game = harness.game(pace={"seconds": {"turn": 60}})
        decision = harness.decision(game)
        harness.later(MINUTE - 1)
        harness.down(1)
        assert harness.passed() == 0
        assert deadlines.lapse(game, decision) == turns.EARLY
        harness.down(MINUTE)
        assert harness.passed() == 0
        assert deadlines.lapse(game, decision) == turns.EARLY
        assert harness.kinds(game) == []

    def test_one_that_passed_before_is(self, harness: Harness) -> None:
        game = harness.game(pace={"seconds": {"turn": 60}})
        harness.later(MINUTE)
        harness.down(10 * MINUTE)
        assert harness.passed() == 1
        harness.worked()
        assert harness.kinds(game)[0] == "lapsed"

    def test_a_short_pause_only_puts_it_off(self, harness: Harness) -> None:
        game = harness.game(pace={"seconds": {"turn": 60}})
        harness.later(MINUTE - 1)
        harness.down(MIN_OUTAGE)
        harness.context.heartbeat.beat(harness.context.clock())
        assert harness.passed() == 1
        harness.worked()
        assert harness.kinds(game)[0] == "lapsed"

    def test_turns_are_resolved_and_empty_seats_played_for(self, harness: Harness) -> None:
        """Nobody is kept from anything by that."""
        game = harness.game()
        harness.submit(game, 0, 1, 2)
        harness.down(10 * MINUTE)
        assert harness.passed() == 1
        harness.worked()
        assert harness.kinds(game)[-1] == "resolved"

    def test_until_an_outage_is_settled_nothing_later_is_played(self, harness: Harness) -> None:
        """Whoever beats first has written it down before: no worker is faster than the one that moves deadlines."""
        game = harness.game(pace={"seconds": {"turn": 60}})
        decision = harness.decision(game)
        harness.later(1)
        harness.down(10 * MINUTE)
        harness.context.heartbeat.beat(harness.context.clock())
        assert deadlines.lapse(game, decision) == turns.EARLY
        assert harness.passed() == 0
        up(harness)
        assert extensions(harness, game) == [10 * MINUTE]
        harness.later(MINUTE)
        assert harness.passed() == 1

    def test_a_beat_that_is_cut_off_in_the_middle_has_not_been(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Silence and beat are one transaction."""
        game = harness.game(pace={"seconds": {"turn": 60}})
        harness.later(1)
        harness.down(10 * MINUTE)
        real = harness.context.ledger.run_in_append_order

        def deadly(work: Callable[[Execute], None]) -> None:
            def cut(execute: Execute) -> None:
                def once(statement: str, params: Any) -> Any:
                    found = execute(statement, params)
                    if "INTO silences" in statement:
                        raise KeyboardInterrupt
                    return found

                work(once)

            real(cut)

        with monkeypatch.context() as patched:
            patched.setattr(harness.context.ledger, "run_in_append_order", deadly)
            with pytest.raises(KeyboardInterrupt):
                harness.context.heartbeat.beat(harness.context.clock())
        assert harness.context.heartbeat.list_unresolved() == []
        harness.down(MIN_OUTAGE)
        up(harness)
        assert extensions(harness, game) == [10 * MINUTE + MIN_OUTAGE]
        assert harness.context.heartbeat.list_unresolved() == []

    def test_of_two_that_beat_at_once_one_writes_it_down(self, harness: Harness) -> None:
        harness.later(1)
        harness.down(10 * MINUTE)
        for _ in range(2):
            harness.context.heartbeat.beat(harness.context.clock())
        assert len(harness.context.heartbeat.list_unresolved()) == 1

    def test_a_clock_that_goes_back_a_little_changes_nothing(self, harness: Harness) -> None:
        harness.later(MINUTE)
        now = harness.context.clock()
        harness.down(-MIN_OUTAGE)
        harness.context.heartbeat.beat(harness.context.clock())
        assert harness.context.heartbeat.deadlines_valid_until() == now
        assert harness.context.heartbeat.list_unresolved() == []

    def test_a_beat_that_comes_late_changes_nothing(self, harness: Harness) -> None:
        """Of a process that does not know yet that time has leapt."""
        harness.later(MINUTE)
        now = harness.context.clock()
        harness.context.heartbeat.beat(now - 60 * MINUTE)
        assert harness.context.heartbeat.deadlines_valid_until() == now
        assert harness.context.heartbeat.list_unresolved() == []

    def test_it_lasts_until_the_store_has_taken_the_beat(self, harness: Harness) -> None:
        harness.later(1)
        harness.down(MINUTE)
        asked = harness.context.clock()
        harness.context.heartbeat.beat(asked, lambda: asked + LONGEST_ANSWER)
        assert harness.context.heartbeat.list_unresolved() == [(asked - MINUTE, asked + LONGEST_ANSWER)]

    def test_who_would_be_answered_too_late_makes_no_beat(self, harness: Harness) -> None:
        """The store took a move's place in the queue for so long that nobody would have waited."""
        harness.later(MINUTE)
        asked = harness.context.clock()
        harness.context.heartbeat.beat(asked + 1, lambda: asked + 1 + LONGEST_ANSWER + 1)
        assert harness.context.heartbeat.deadlines_valid_until() == asked
        harness.context.heartbeat.beat(asked + 1, lambda: asked + 1 + LONGEST_ANSWER)
        assert harness.context.heartbeat.deadlines_valid_until() == asked + 1

    def test_a_ledger_that_takes_no_move_takes_no_beat(self, harness: Harness) -> None:
        """Behind the lock of another writer; as long as that holds, nobody is answered."""
        harness.later(MINUTE)
        asked = harness.context.clock()
        entered, leave = threading.Event(), threading.Event()

        def hold(_: object) -> None:
            entered.set()
            leave.wait(10)

        holder = threading.Thread(target=lambda: harness.context.ledger.run_in_append_order(hold))
        holder.start()
        assert entered.wait(10)
        began = time.monotonic()

        def beat() -> None:
            with suppress(StoreUnavailable):
                harness.context.heartbeat.beat(asked + 1, lambda: asked + int((time.monotonic() - began) * 1000))

        beater = threading.Thread(target=beat)
        beater.start()
        time.sleep(LONGEST_ANSWER / 1000 + 0.5)
        assert harness.context.heartbeat.deadlines_valid_until() == asked
        leave.set()
        holder.join()
        beater.join()
        assert harness.context.heartbeat.deadlines_valid_until() == asked


def test_seats_that_are_due_later_than_first_are_given_time_too(harness: Harness) -> None:
    """One seat has used up its bank and was due before; the times of the others lay in the outage."""
    game = harness.game(pace={"seconds": {"turn": 60}, "bank": 120})
    decision = harness.submit(game, 0, 2)
    harness.later(MINUTE + 119_000)
    harness.submit(game, 1)
    harness.passed()
    harness.worked()
    assert harness.decision(game) != decision, "the next turn"
    harness.later(MINUTE + 2_000)
    up(harness)
    harness.down(10 * MINUTE)
    up(harness)
    assert extensions(harness, game) == [10 * MINUTE]


def test_time_that_is_given_while_default_is_under_way_is_kept(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The director is faster than a worker that stalls between its look at the clock and its append."""
    game = harness.game(pace={"seconds": {"turn": 60}})
    decision = harness.decision(game)
    harness.later(MINUTE)
    real = harness.context.commands.handle

    def stalled(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(harness.context.commands, "handle", real)
        harness.context.commands.handle(game, Extend(decision, 60 * MINUTE))
        return real(*args, **more)

    monkeypatch.setattr(harness.context.commands, "handle", stalled)
    assert deadlines.lapse(game, decision) == turns.EARLY
    assert harness.kinds(game) == ["ruled"]
