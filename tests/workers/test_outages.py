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
from tests.workers.conftest import House
from workers.jobs import audits, deadlines, turns
from workers.maintenance.outage_recovery import OutageRecovery
from workers.projector_process import ProjectorLoop

MINUTE = 60_000
PACE: dict[str, Any] = {"seconds": {"turn": 120}, "grace": 30}


def up(house: House) -> None:
    """Somebody who asks is answered, and a node pumps for a moment."""
    house.crew.heartbeat.beat(house.crew.clock())
    pumping = ProjectorLoop(house.crew, house.bell, house.reconciler)
    pumping.catch_up()
    pumping._outage_recovery.recover()
    pumping.catch_up()


def extensions(house: House, game: str) -> list[int]:
    """By how much deadlines were moved, ms."""
    records = [r for r in house.crew.ledger.read(game) if r.kind == "ruled"]
    assert all(r.public["by"] == "clock" and r.body["act"] == "extend" for r in records)
    return [r.body["ms"] for r in records]


def due(house: House, game: str) -> int:
    found = house.reader.find_summary(game)
    assert found is not None
    assert found["due"] is not None
    return found["due"]


def test_missed_deadline_moves_by_outage_and_grace(house: House) -> None:
    game = house.game(pace=PACE)
    decision, began = house.decision(game), house.crew.clock()
    up(house)
    house.down(10 * MINUTE)
    up(house)
    assert extensions(house, game) == [10 * MINUTE + 30_000]
    assert due(house, game) == began + 2 * MINUTE + 30_000 + 10 * MINUTE + 30_000
    assert deadlines.lapse(game, decision) == turns.EARLY
    house.later(3 * MINUTE)
    assert deadlines.lapse(game, decision) == "done"
    assert audits.audit_game(house.crew, game)["verified"] is True


def test_it_is_told_to_the_table(house: House) -> None:
    game = house.game(pace=PACE)
    up(house)
    house.down(10 * MINUTE)
    up(house)
    entry = house.reader.read_timeline(game, "public", after=5)[-1]
    assert entry["by"] == "clock"
    assert (entry["kind"], entry["body"]["act"]) == ("ruled", "extend")


def test_what_was_due_before_or_is_not_due_yet_stays(house: House) -> None:
    missed, soon, later = house.game(pace=PACE), "", ""
    house.later(2 * MINUTE + 30_000)
    soon = house.game(pace=PACE)
    later = house.game(pace={"seconds": {"turn": 3600}})
    none = house.game()
    up(house)
    house.down(10 * MINUTE)
    up(house)
    assert [len(extensions(house, g)) for g in (missed, soon, later, none)] == [0, 1, 0, 0]


def test_less_time_than_the_outage_took_is_given_back(house: House) -> None:
    """A player who could not be reached for ten minutes of twelve has lost them, though two are left."""
    short, long = house.game(pace={"seconds": {"turn": 720}}), house.game(pace={"seconds": {"turn": 3600}})
    up(house)
    house.down(10 * MINUTE)
    up(house)
    assert [extensions(house, game) for game in (short, long)] == [[10 * MINUTE], []]


def test_nobody_is_given_more_time_than_has_passed(house: House) -> None:
    """Where the last beat is that of a machine with a wrong clock, half a century was silent."""
    up(house)
    game = house.game(pace=PACE)
    house.down(5 * MINUTE)
    house.crew.ledger.execute("UPDATE heartbeat SET at = 1000")
    up(house)
    assert extensions(house, game) == [5 * MINUTE + 30_000]


def test_a_deadline_in_whose_grace_the_service_went_down_moves(house: House) -> None:
    game = house.game(pace=PACE)
    house.later(2 * MINUTE + 10_000)
    up(house)
    house.down(10 * MINUTE)
    up(house)
    assert len(extensions(house, game)) == 1


def test_a_bank_that_was_running_is_not_charged_for_the_outage(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 120}, "bank": 600})
    house.later(3 * MINUTE)
    up(house)
    house.down(10 * MINUTE)
    up(house)
    found = house.reader.find_summary(game)
    assert found is not None
    assert {a["bank"] for a in found["accounts"]} == {540_000}, "a minute was gone before it"
    assert found["due"] == 1_000_000 + 2 * MINUTE + 10 * MINUTE + 10 * MINUTE


def test_a_short_silence_is_none(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 10}})
    up(house)
    house.down(MIN_OUTAGE)
    up(house)
    assert extensions(house, game) == []


def test_one_node_that_is_up_is_enough(house: House) -> None:
    """Another one that starts finds the beats of the first."""
    game = house.game(pace={"seconds": {"turn": 300}})
    other = OutageRecovery(house.crew, Reader(house.crew.views), lambda: None)
    for _ in range(30):
        up(house)
        house.down(MIN_OUTAGE // 2)
    other.recover()
    assert extensions(house, game) == []


def test_who_is_killed_in_middle_is_followed_by_the_same_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    games = [house.game(pace=PACE) for _ in range(3)]
    up(house)
    house.down(10 * MINUTE)
    real, left = house.crew.commands.handle, [2]

    def deadly(*args: Any, **more: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(house.crew.commands, "handle", deadly)
        with pytest.raises(KeyboardInterrupt):
            up(house)
    house.later(MINUTE)
    up(house)
    assert sorted(ms for g in games for ms in extensions(house, g))[:3] == [10 * MINUTE + 30_000] * 3
    up(house)
    assert [len(extensions(house, g)) for g in games] == [1, 1, 1]


def test_deadline_moved_by_another_measure_is_not_moved_again(house: House) -> None:
    """By who was killed after it: until the next comes, an interruption may have begun its clock anew."""
    game = house.game(pace=PACE)
    decision = house.decision(game)
    up(house)
    began = house.crew.clock()
    house.down(10 * MINUTE)
    house.crew.heartbeat.beat(house.crew.clock())
    house.crew.commands.handle(
        game, Extend(decision, 5 * MINUTE, "clock"), GameConditions(idempotency_key=f"outage-{began}-{decision}")
    )
    up(house)
    assert extensions(house, game) == [5 * MINUTE]
    assert house.crew.heartbeat.list_unresolved() == []


def test_while_the_store_is_away_an_outage_stays_unsettled(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    game = house.game(pace=PACE)
    up(house)
    house.down(10 * MINUTE)

    def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as broken:
        broken.setattr(house.crew.ledger, "append", away)
        with pytest.raises(StoreUnavailable):
            up(house)
    up(house)
    assert len(extensions(house, game)) == 1


def test_whoever_has_answered_meanwhile_needs_no_more_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The views still show the decision as open when the deadlines are moved."""
    game = house.game(pace=PACE)
    up(house)
    house.down(10 * MINUTE)
    house.submit(game, 0, 1, 2)
    house.crew.heartbeat.beat(house.crew.clock())
    watch = OutageRecovery(house.crew, house.reader, lambda: None)
    watch.recover()
    assert extensions(house, game) == []


def test_the_first_start_of_all_is_no_outage(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 1}})
    house.down(10 * MINUTE)
    up(house)
    assert extensions(house, game) == []
    assert house.crew.heartbeat.deadlines_valid_until() == house.crew.clock()


def test_who_is_stopped_before_views_are_read_leaves_it_to_next(house: House) -> None:
    game = house.game(pace=PACE)
    up(house)
    house.down(10 * MINUTE)
    other = house.game(pace={"seconds": {"turn": 3600}})
    house.crew.heartbeat.beat(house.crew.clock())
    stopped = ProjectorLoop(house.crew, house.bell, house.reconciler)
    stopped.stop()
    stopped.run_once()
    assert extensions(house, game) == []
    ProjectorLoop(house.crew, house.bell, house.reconciler).run_once()
    assert [len(extensions(house, g)) for g in (game, other)] == [1, 0]


class TestNobodyIsAnswered:
    """Deadlines that pass meanwhile are not played: who wanted to answer in time could not."""

    def test_a_deadline_after_the_last_answer_is_not_played(self, house: House) -> None:
        game = house.game(pace={"seconds": {"turn": 60}})
        decision = house.decision(game)
        house.later(MINUTE - 1)
        house.down(1)
        assert house.passed() == 0
        assert deadlines.lapse(game, decision) == turns.EARLY
        house.down(MINUTE)
        assert house.passed() == 0
        assert deadlines.lapse(game, decision) == turns.EARLY
        assert house.kinds(game) == []

    def test_one_that_passed_before_is(self, house: House) -> None:
        game = house.game(pace={"seconds": {"turn": 60}})
        house.later(MINUTE)
        house.down(10 * MINUTE)
        assert house.passed() == 1
        house.worked()
        assert house.kinds(game)[0] == "lapsed"

    def test_a_short_pause_only_puts_it_off(self, house: House) -> None:
        game = house.game(pace={"seconds": {"turn": 60}})
        house.later(MINUTE - 1)
        house.down(MIN_OUTAGE)
        house.crew.heartbeat.beat(house.crew.clock())
        assert house.passed() == 1
        house.worked()
        assert house.kinds(game)[0] == "lapsed"

    def test_turns_are_resolved_and_empty_seats_played_for(self, house: House) -> None:
        """Nobody is kept from anything by that."""
        game = house.game()
        house.submit(game, 0, 1, 2)
        house.down(10 * MINUTE)
        assert house.passed() == 1
        house.worked()
        assert house.kinds(game)[-1] == "resolved"

    def test_until_an_outage_is_settled_nothing_later_is_played(self, house: House) -> None:
        """Whoever beats first has written it down before: no worker is faster than the one that moves deadlines."""
        game = house.game(pace={"seconds": {"turn": 60}})
        decision = house.decision(game)
        house.later(1)
        house.down(10 * MINUTE)
        house.crew.heartbeat.beat(house.crew.clock())
        assert deadlines.lapse(game, decision) == turns.EARLY
        assert house.passed() == 0
        up(house)
        assert extensions(house, game) == [10 * MINUTE]
        house.later(MINUTE)
        assert house.passed() == 1

    def test_a_beat_that_is_cut_off_in_the_middle_has_not_been(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Silence and beat are one transaction."""
        game = house.game(pace={"seconds": {"turn": 60}})
        house.later(1)
        house.down(10 * MINUTE)
        real = house.crew.ledger.run_in_append_order

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
            patched.setattr(house.crew.ledger, "run_in_append_order", deadly)
            with pytest.raises(KeyboardInterrupt):
                house.crew.heartbeat.beat(house.crew.clock())
        assert house.crew.heartbeat.list_unresolved() == []
        house.down(MIN_OUTAGE)
        up(house)
        assert extensions(house, game) == [10 * MINUTE + MIN_OUTAGE]
        assert house.crew.heartbeat.list_unresolved() == []

    def test_of_two_that_beat_at_once_one_writes_it_down(self, house: House) -> None:
        house.later(1)
        house.down(10 * MINUTE)
        for _ in range(2):
            house.crew.heartbeat.beat(house.crew.clock())
        assert len(house.crew.heartbeat.list_unresolved()) == 1

    def test_a_clock_that_goes_back_a_little_changes_nothing(self, house: House) -> None:
        house.later(MINUTE)
        now = house.crew.clock()
        house.down(-MIN_OUTAGE)
        house.crew.heartbeat.beat(house.crew.clock())
        assert house.crew.heartbeat.deadlines_valid_until() == now
        assert house.crew.heartbeat.list_unresolved() == []

    def test_a_beat_that_comes_late_changes_nothing(self, house: House) -> None:
        """Of a process that does not know yet that time has leapt."""
        house.later(MINUTE)
        now = house.crew.clock()
        house.crew.heartbeat.beat(now - 60 * MINUTE)
        assert house.crew.heartbeat.deadlines_valid_until() == now
        assert house.crew.heartbeat.list_unresolved() == []

    def test_it_lasts_until_the_store_has_taken_the_beat(self, house: House) -> None:
        house.later(1)
        house.down(MINUTE)
        asked = house.crew.clock()
        house.crew.heartbeat.beat(asked, lambda: asked + LONGEST_ANSWER)
        assert house.crew.heartbeat.list_unresolved() == [(asked - MINUTE, asked + LONGEST_ANSWER)]

    def test_who_would_be_answered_too_late_makes_no_beat(self, house: House) -> None:
        """The store took a move's place in the queue for so long that nobody would have waited."""
        house.later(MINUTE)
        asked = house.crew.clock()
        house.crew.heartbeat.beat(asked + 1, lambda: asked + 1 + LONGEST_ANSWER + 1)
        assert house.crew.heartbeat.deadlines_valid_until() == asked
        house.crew.heartbeat.beat(asked + 1, lambda: asked + 1 + LONGEST_ANSWER)
        assert house.crew.heartbeat.deadlines_valid_until() == asked + 1

    def test_a_ledger_that_takes_no_move_takes_no_beat(self, house: House) -> None:
        """Behind the lock of another writer; as long as that holds, nobody is answered."""
        house.later(MINUTE)
        asked = house.crew.clock()
        entered, leave = threading.Event(), threading.Event()

        def hold(_: object) -> None:
            entered.set()
            leave.wait(10)

        holder = threading.Thread(target=lambda: house.crew.ledger.run_in_append_order(hold))
        holder.start()
        assert entered.wait(10)
        began = time.monotonic()

        def beat() -> None:
            with suppress(StoreUnavailable):
                house.crew.heartbeat.beat(asked + 1, lambda: asked + int((time.monotonic() - began) * 1000))

        beater = threading.Thread(target=beat)
        beater.start()
        time.sleep(LONGEST_ANSWER / 1000 + 0.5)
        assert house.crew.heartbeat.deadlines_valid_until() == asked
        leave.set()
        holder.join()
        beater.join()
        assert house.crew.heartbeat.deadlines_valid_until() == asked


def test_seats_that_are_due_later_than_first_are_given_time_too(house: House) -> None:
    """One seat has used up its bank and was due before; the times of the others lay in the outage."""
    game = house.game(pace={"seconds": {"turn": 60}, "bank": 120})
    decision = house.submit(game, 0, 2)
    house.later(MINUTE + 119_000)
    house.submit(game, 1)
    house.passed()
    house.worked()
    assert house.decision(game) != decision, "the next turn"
    house.later(MINUTE + 2_000)
    up(house)
    house.down(10 * MINUTE)
    up(house)
    assert extensions(house, game) == [10 * MINUTE]


def test_time_that_is_given_while_default_is_under_way_is_kept(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The director is faster than a worker that stalls between its look at the clock and its append."""
    game = house.game(pace={"seconds": {"turn": 60}})
    decision = house.decision(game)
    house.later(MINUTE)
    real = house.crew.commands.handle

    def stalled(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(house.crew.commands, "handle", real)
        house.crew.commands.handle(game, Extend(decision, 60 * MINUTE))
        return real(*args, **more)

    monkeypatch.setattr(house.crew.commands, "handle", stalled)
    assert deadlines.lapse(game, decision) == turns.EARLY
    assert house.kinds(game) == ["ruled"]
