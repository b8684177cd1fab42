"""The time of the service rises, whatever is done to the clocks of its machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from domain.ledger import Ledger
from domain.service.heartbeat import MIN_OUTAGE, Heartbeat
from domain.service.service_clock import (
    FRESH,
    STEP,
    ClockJump,
    ClockRows,
    Machine,
    ServiceClock,
    boot_id,
    up_clock,
    wall_clock,
)
from tests.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

HOUR = 3600_000
NOON = 1_000_000_000_000


STARTED: list[ServiceClock] = []


@dataclass
class Host:
    """A machine whose clock somebody sets."""

    ledger: Ledger
    name: str = "one"
    wall: int = NOON
    up: int = 50_000
    made: list[ServiceClock] = field(default_factory=list)

    def start(self, *, alone: bool = True) -> ServiceClock:
        """A process of the service."""
        clock = ServiceClock(self.ledger, lambda: self.wall, lambda: self.up, self.name, name=self.name, alone=alone)
        clock.sync()
        self.made.append(clock)
        STARTED.append(clock)
        return clock

    def passes(self, ms: int) -> None:
        """Time, in which every process looks at the rows."""
        self.wall += ms
        self.up += ms
        for clock in self.made:
            clock.sync()

    def sets(self, ms: int) -> None:
        """The clock."""
        self.wall += ms
        for clock in self.made:
            clock.sync()


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    url = f"sqlite:///{tmp_path / 'ledger'}" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    ledger = Ledger.open(url)
    ledger.migrate()
    Heartbeat(ledger).migrate()
    yield ledger
    while STARTED:  # a thread that goes on would disturb the tests after this one
        STARTED.pop().close()
    ledger.close()


@pytest.fixture
def host(ledger: Ledger) -> Host:
    return Host(ledger)


def leaps(ledger: Ledger) -> list[ClockJump]:
    return ClockRows(ledger).list_unsettled()


def leap(host: Host) -> None:
    """Every game has its record: time leaps, and every process learns of it."""
    (found,) = leaps(host.ledger)
    ClockRows(host.ledger).apply_jump(found, 0, host.made[0]() + found.ms)
    for clock in host.made:
        clock.sync()


def test_it_is_that_of_the_machine(host: Host) -> None:
    clock = host.start()
    for _ in range(10):
        host.passes(700)
        assert clock() == host.wall


@pytest.mark.parametrize("ms", [STEP, 1, -1, -STEP])
def test_a_small_step_is_followed(host: Host, ms: int) -> None:
    clock = host.start()
    host.sets(ms)
    before = clock()
    host.passes(FRESH * 10)
    assert clock() == host.wall >= before
    assert ClockRows(host.ledger).count_jumps() == 0


class TestForward:
    def test_time_goes_on_as_before_until_it_leaps(self, host: Host) -> None:
        clock = host.start()
        host.passes(1000)
        host.sets(HOUR)
        host.passes(1000)
        assert clock() == NOON + 2000
        leap(host)
        assert clock() == host.wall == NOON + HOUR + 2000

    def test_all_processes_leap_and_one_notes_it(self, host: Host) -> None:
        clocks = [host.start() for _ in range(3)]
        host.sets(HOUR)
        host.passes(FRESH + 1)
        assert [(found.began, found.ms) for found in leaps(host.ledger)] == [(NOON, HOUR)]
        leap(host)
        host.passes(FRESH + 1)
        assert {clock() for clock in clocks} == {host.wall}
        assert ClockRows(host.ledger).count_jumps() == 1

    def test_who_starts_meanwhile_goes_by_the_others(self, host: Host) -> None:
        host.start()
        host.sets(HOUR)
        host.passes(300)
        assert host.start()() == NOON + 300
        assert ClockRows(host.ledger).count_jumps() == 1

    def test_it_is_noticed_also_if_it_was_set_while_nobody_was_up(self, host: Host) -> None:
        """As long as the machine itself was."""
        host.start()
        host.made.clear()
        host.passes(600_000)
        host.sets(HOUR)
        clock = host.start()
        assert clock() == NOON + 600_000
        assert [found.ms for found in leaps(host.ledger)] == [HOUR]

    def test_two_at_once_are_two(self, host: Host) -> None:
        host.start()
        for _ in range(2):
            host.sets(HOUR)
        assert [found.ms for found in leaps(host.ledger)] == [HOUR, HOUR]

    def test_it_is_no_outage(self, host: Host) -> None:
        clock, outages = host.start(), Heartbeat(host.ledger)
        outages.beat(clock())
        host.sets(HOUR)
        assert outages.deadlines_valid_until() == NOON, "no default after that until it is settled"
        host.passes(500)
        outages.beat(clock())
        leap(host)
        host.passes(500)
        outages.beat(clock())
        assert outages.list_unresolved() == []
        assert outages.deadlines_valid_until() == NOON
        ClockRows(host.ledger).mark_settled(ClockJump(NOON, HOUR, True, 0, 0))
        assert outages.deadlines_valid_until() == clock()

    def test_a_process_that_does_not_know_yet_beats_in_vain(self, host: Host) -> None:
        clock, outages = host.start(), Heartbeat(host.ledger)
        outages.beat(clock())
        host.sets(HOUR)
        (found,) = leaps(host.ledger)
        ClockRows(host.ledger).apply_jump(found, 0, 0)
        outages.beat(clock() + 100)
        assert outages.last_beat() == NOON + HOUR

    def test_a_leap_that_is_made_twice_is_made_once(self, host: Host) -> None:
        clock = host.start()
        host.sets(HOUR)
        (found,) = leaps(host.ledger)
        for _ in range(2):
            ClockRows(host.ledger).apply_jump(found, 0, 0)
        host.passes(1)
        assert clock() == host.wall


class TestBack:
    def test_time_goes_on_slower_until_it_is_caught_up(self, host: Host) -> None:
        clock = host.start()
        host.passes(1000)
        host.sets(-HOUR)
        assert clock() == NOON + 1000
        host.passes(1000)
        assert clock() == NOON + 1900
        for _ in range(60 * 10 - 1):
            host.passes(60_000)
        assert clock() > host.wall
        host.passes(60_000)
        assert clock() == host.wall

    def test_it_goes_on_from_there_after_a_restart(self, host: Host) -> None:
        host.start()
        host.passes(HOUR)
        host.sets(-HOUR)
        host.made.clear()
        host.passes(10_000)
        assert host.start()() == NOON + HOUR + 9_000

    def test_also_after_one_of_the_machine(self, host: Host) -> None:
        """It begins with a wrong clock, and counts its own time from zero."""
        host.start()
        host.passes(HOUR)
        host.made.clear()
        host.name, host.up, host.wall = "one, later", 0, NOON
        clock = host.start()
        assert clock() == NOON + HOUR
        host.passes(1000)
        assert clock() == NOON + HOUR + 900

    def test_forward_and_back_and_forward_is_forward_once(self, host: Host) -> None:
        clock = host.start()
        host.sets(HOUR)
        leap(host)
        ClockRows(host.ledger).mark_settled(ClockJump(NOON, HOUR, True, 0, 0))
        host.sets(-HOUR)
        assert clock() == NOON + HOUR
        host.sets(HOUR)
        assert clock() == NOON + HOUR
        assert (leaps(host.ledger), ClockRows(host.ledger).count_jumps()) == ([], 1)

    def test_forward_clock_put_right_before_the_leap_leaps_anyway(self, host: Host) -> None:
        """Games have their records of it."""
        clock = host.start()
        host.sets(HOUR)
        host.sets(-HOUR)
        leap(host)
        assert clock() == NOON + HOUR

    def test_it_never_goes_back_between_two_looks(self, host: Host) -> None:
        clock = host.start()
        host.wall += STEP
        before = clock()
        host.wall -= STEP
        assert clock() == before


class TestMachines:
    def test_one_that_is_behind_follows(self, host: Host) -> None:
        other = Host(host.ledger, "two", NOON - HOUR, 7)
        host.start()
        clock = other.start(alone=False)
        host.passes(FRESH + 1)
        other.passes(FRESH + 1)
        assert clock() == NOON + FRESH + 1
        assert sorted(m.offset for m in ClockRows(host.ledger).list_machines()) == [0, HOUR]

    def test_one_ahead_of_service_that_is_up_follows_as_well(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        clock, outages = host.start(), Heartbeat(host.ledger)
        outages.beat(clock())

        asking, sleep = threading.get_ident(), time.sleep

        def beat(seconds: float) -> None:
            if threading.get_ident() != asking:  # other tests may have left threads that nap
                return sleep(seconds)
            host.passes(100)
            outages.beat(clock())
            return None

        monkeypatch.setattr("domain.service.service_clock.time.sleep", beat)
        late = Host(host.ledger, "two", NOON + HOUR, 7).start(alone=False)
        assert late() == clock() == NOON + 100
        assert (outages.list_unresolved(), leaps(host.ledger)) == ([], [])
        assert sorted(m.offset for m in ClockRows(host.ledger).list_machines()) == [100 - HOUR, 0]

    def test_one_that_follows_an_outage_of_all_goes_by_its_clock(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        host.start()
        monkeypatch.setattr("domain.service.service_clock.OTHERS", 0.05)
        assert Host(host.ledger, "two", NOON + HOUR, 7).start(alone=False)() == NOON + HOUR

    def test_one_that_is_set_forward_takes_all_along(self, host: Host) -> None:
        other = Host(host.ledger, "two", NOON, 7)
        host.start()
        clock = other.start(alone=False)
        host.sets(HOUR)
        leap(host)
        other.passes(0)
        assert clock() == NOON + HOUR
        assert leaps(host.ledger)[0].is_done

    def test_those_that_have_gone_are_forgotten(self, host: Host) -> None:
        Host(host.ledger, "two", NOON, 7).start()
        host.wall += 100 * 24 * HOUR
        host.start()
        assert ClockRows(host.ledger).list_machines()[0].offset == 0
        assert len(host.ledger.execute("SELECT * FROM clocks")) == 1


def test_without_a_store_it_is_that_of_the_machine(tmp_path: Path) -> None:
    """Until there is one: then what it has told by itself is forgotten."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger'}")
    host = Host(ledger)
    clock = ServiceClock(ledger, lambda: host.wall, lambda: host.up, "one")
    assert clock() == NOON
    clock.close()


def test_a_machine_counts_the_time_since_it_was_started() -> None:
    assert boot_id() == boot_id() != ""
    assert 0 < up_clock() <= up_clock()
    assert wall_clock() > NOON


def test_an_outage_is_one_as_before(host: Host) -> None:
    clock, outages = host.start(), Heartbeat(host.ledger)
    outages.beat(clock())
    host.passes(MIN_OUTAGE + 1)
    outages.beat(clock())
    assert outages.list_unresolved() == [(NOON, NOON + MIN_OUTAGE + 1)]
    assert leaps(host.ledger) == []
    assert ClockRows(host.ledger).list_machines() == [Machine(ClockRows(host.ledger).list_machines()[0].name, 0)]
