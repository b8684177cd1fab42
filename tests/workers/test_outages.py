"""Deadlines that passed while no node was up are moved by the outage and the grace, once."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import StoreUnavailable
from domain.outages import SILENCE
from projections.reader import Reader
from tests.workers.conftest import House
from workers import audits, deadlines
from workers.outages import Watch
from workers.pumping import Pumping

MINUTE = 60_000
PACE: dict[str, Any] = {"seconds": {"turn": 120}, "grace": 30}


def up(house: House) -> None:
    """Somebody who asks is answered, and a node pumps for a moment."""
    house.crew.outages.beat(house.crew.clock())
    pumping = Pumping(house.crew, house.bell, house.reconciler)
    pumping.catch_up()
    pumping._watch.look()
    pumping.catch_up()


def extensions(house: House, game: str) -> list[int]:
    """By how much deadlines were moved, ms."""
    records = [r for r in house.crew.ledger.read(game) if r.kind == "ruled"]
    assert all(r.public["by"] == "clock" and r.body["act"] == "extend" for r in records)
    return [r.body["ms"] for r in records]


def due(house: House, game: str) -> int:
    found = house.reader.game(game)
    assert found is not None
    return int(found["due"])


def test_a_deadline_that_passed_meanwhile_moves_by_the_outage_and_the_grace(house: House) -> None:
    game = house.game(pace=PACE)
    decision, began = house.decision(game), house.crew.clock()
    up(house)
    house.down(10 * MINUTE)
    up(house)
    assert extensions(house, game) == [10 * MINUTE + 30_000]
    assert due(house, game) == began + 2 * MINUTE + 30_000 + 10 * MINUTE + 30_000
    assert deadlines.lapse(game, decision) == deadlines.EARLY
    house.later(3 * MINUTE)
    assert deadlines.lapse(game, decision) == "done"
    assert audits.proved(house.crew, game)["verified"] is True


def test_it_is_told_to_the_table(house: House) -> None:
    game = house.game(pace=PACE)
    up(house)
    house.down(10 * MINUTE)
    up(house)
    entry = house.reader.timeline(game, "public", after=5)[-1]
    assert entry["by"] == "clock"
    assert entry["text"]["en"] == ["The deadline is moved."]


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
    found = house.reader.game(game)
    assert found is not None
    assert {a["bank"] for a in found["accounts"]} == {540_000}, "a minute was gone before it"
    assert found["due"] == 1_000_000 + 2 * MINUTE + 10 * MINUTE + 10 * MINUTE


def test_a_short_silence_is_none(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 10}})
    up(house)
    house.down(SILENCE)
    up(house)
    assert extensions(house, game) == []


def test_one_node_that_is_up_is_enough(house: House) -> None:
    """Another one that starts finds the beats of the first."""
    game = house.game(pace={"seconds": {"turn": 300}})
    other = Watch(house.crew, Reader(house.crew.views), lambda: None)
    for _ in range(30):
        up(house)
        house.down(SILENCE // 2)
    other.look()
    assert extensions(house, game) == []


def test_who_is_killed_in_the_middle_is_followed_by_the_same_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [house.game(pace=PACE) for _ in range(3)]
    up(house)
    house.down(10 * MINUTE)
    real, left = house.crew.commands.extend, [2]

    def deadly(*args: Any, **more: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return real(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(house.crew.commands, "extend", deadly)
        with pytest.raises(KeyboardInterrupt):
            up(house)
    house.later(MINUTE)
    up(house)
    assert sorted(ms for g in games for ms in extensions(house, g))[:3] == [10 * MINUTE + 30_000] * 3
    up(house)
    assert [len(extensions(house, g)) for g in games] == [1, 1, 1]


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
    house.crew.outages.beat(house.crew.clock())
    watch = Watch(house.crew, house.reader, lambda: None)
    watch.look()
    assert extensions(house, game) == []


def test_the_first_start_of_all_is_no_outage(house: House) -> None:
    game = house.game(pace={"seconds": {"turn": 1}})
    house.down(10 * MINUTE)
    up(house)
    assert extensions(house, game) == []
    assert house.crew.outages.answered() == house.crew.clock()


def test_who_is_stopped_before_the_views_are_read_leaves_it_to_the_next(house: House) -> None:
    game = house.game(pace=PACE)
    up(house)
    house.down(10 * MINUTE)
    other = house.game(pace={"seconds": {"turn": 3600}})
    house.crew.outages.beat(house.crew.clock())
    stopped = Pumping(house.crew, house.bell, house.reconciler)
    stopped.stop()
    stopped.turn()
    assert extensions(house, game) == []
    Pumping(house.crew, house.bell, house.reconciler).turn()
    assert [len(extensions(house, g)) for g in (game, other)] == [1, 0]


class TestNobodyIsAnswered:
    """Deadlines that pass meanwhile are not played: who wanted to answer in time could not."""

    def test_a_deadline_after_the_last_answer_is_not_played(self, house: House) -> None:
        game = house.game(pace={"seconds": {"turn": 60}})
        decision = house.decision(game)
        house.later(MINUTE - 1)
        house.down(1)
        assert house.passed() == 0
        assert deadlines.lapse(game, decision) == deadlines.EARLY
        house.down(MINUTE)
        assert house.passed() == 0
        assert deadlines.lapse(game, decision) == deadlines.EARLY
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
        house.down(SILENCE)
        house.crew.outages.beat(house.crew.clock())
        assert house.passed() == 1
        house.worked()
        assert house.kinds(game)[0] == "lapsed"

    def test_turns_are_resolved_and_empty_seats_are_played_for_all_the_same(self, house: House) -> None:
        """Nobody is kept from anything by that."""
        game = house.game()
        house.submit(game, 0, 1, 2)
        house.down(10 * MINUTE)
        assert house.passed() == 1
        house.worked()
        assert house.kinds(game)[-1] == "resolved"

    def test_until_an_outage_is_settled_nothing_after_its_beginning_is_played(self, house: House) -> None:
        """Whoever beats first has written it down before: no worker is faster than the one that moves deadlines."""
        game = house.game(pace={"seconds": {"turn": 60}})
        decision = house.decision(game)
        house.later(1)
        house.down(10 * MINUTE)
        house.crew.outages.beat(house.crew.clock())
        assert deadlines.lapse(game, decision) == deadlines.EARLY
        assert house.passed() == 0
        up(house)
        assert extensions(house, game) == [10 * MINUTE]
        house.later(MINUTE)
        assert house.passed() == 1

    def test_a_beat_that_was_cut_off_after_the_silence_is_finished_by_the_next(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        game = house.game(pace={"seconds": {"turn": 60}})
        house.later(1)
        house.down(10 * MINUTE)
        real = house.crew.ledger.execute

        def deadly(statement: str, params: Any = ()) -> Any:
            found = real(statement, params)
            if "INTO silences" in statement:
                raise KeyboardInterrupt
            return found

        with monkeypatch.context() as patched:
            patched.setattr(house.crew.ledger, "execute", deadly)
            with pytest.raises(KeyboardInterrupt):
                house.crew.outages.beat(house.crew.clock())
        house.down(SILENCE)
        up(house)
        assert extensions(house, game) == [10 * MINUTE]
        assert house.crew.outages.unsettled() == []

    def test_of_two_that_beat_at_once_one_writes_it_down(self, house: House) -> None:
        house.later(1)
        house.down(10 * MINUTE)
        for _ in range(2):
            house.crew.outages.beat(house.crew.clock())
        assert len(house.crew.outages.unsettled()) == 1

    def test_a_clock_that_goes_back_changes_nothing(self, house: House) -> None:
        house.later(MINUTE)
        now = house.crew.clock()
        house.down(-30_000)
        house.crew.outages.beat(house.crew.clock())
        assert house.crew.outages.answered() == now
        assert house.crew.outages.unsettled() == []
