"""Repeating events: times by a rule on the clock of a zone, and the event that follows."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from domain.errors import RuleError
from domain.service.recurrence import Recurrence
from domain.tournament_series import plan_schedule
from domain.tournaments.aggregate.basic_commands import CloseTournament
from domain.tournaments.aggregate.schedule_commands import Succeed, Unschedule, find_next_opening, is_successor_due
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from tests.tournaments.aggregates import EventInMemory, tournament_id

SUNDAYS = Recurrence("RRULE:FREQ=WEEKLY;BYDAY=SU", "Europe/Berlin", "2026-03-22T02:30")


def times(recurrence: Recurrence, most: int = 4, after: int = 0) -> list[str]:
    found = islice(recurrence.list_times(after), most)
    return [datetime.fromtimestamp(at / 1000, UTC).strftime("%m-%dT%H:%M") for at in found]


def test_times_keep_the_wall_clock_through_summer_time() -> None:
    """02:30 does not exist on 29 March 2026 in Berlin: it is 03:30 of summer time. In October the first one counts."""
    assert times(SUNDAYS) == ["03-22T01:30", "03-29T01:30", "04-05T00:30", "04-12T00:30"]
    assert times(SUNDAYS, 1, after=2) == ["04-05T00:30"]
    assert times(SUNDAYS._replace(start="2026-10-18T02:30"), 3) == ["10-18T00:30", "10-25T00:30", "11-01T01:30"]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY;COUNT=2", ["03-22T01:30", "03-23T01:30"]),
        ("FREQ=WEEKLY;UNTIL=20260329", ["03-22T01:30", "03-29T01:30"]),
        ("FREQ=WEEKLY;UNTIL=20260329T012959Z", ["03-22T01:30"]),
        ("FREQ=MONTHLY;BYDAY=-2SU;COUNT=2", ["03-22T01:30", "04-19T00:30"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-10;COUNT=1", ["03-22T01:30"]),
        ("FREQ=YEARLY;INTERVAL=9;COUNT=3", ["03-22T01:30", "03-22T01:30"]),
    ],
)
def test_a_rule_ends(rule: str, expected: list[str]) -> None:
    assert times(SUNDAYS._replace(rule=rule), 9) == expected


def test_west_of_greenwich_the_last_event_is_on_its_own_day() -> None:
    """At 20:00 in Los Angeles it is the next day in UTC; a day without a zone is one of the rule's zone."""
    evening = SUNDAYS._replace(zone="America/Los_Angeles", start="2026-03-22T20:00", rule="FREQ=WEEKLY;UNTIL=20260329")
    assert times(evening, 9) == ["03-23T03:00", "03-30T03:00"]
    assert times(evening._replace(rule="FREQ=WEEKLY;UNTIL=20260330T030000Z"), 9) == ["03-23T03:00", "03-30T03:00"]


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "FREQ=HOURLY"},
        {"rule": "FREQ=WEEKLY;BYHOUR=1,2"},
        {"rule": "FREQ=WEEKLY;FREQ=DAILY"},
        {"rule": "FREQ=DAILY;COUNT=2;UNTIL=20270101"},
        {"rule": "FREQ=DAILY;UNTIL=20271399"},
        {"rule": "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"},
        {"rule": "FREQ=WEEKLY;BYDAY=MO"},
        {"rule": "FREQ=WEEKLY;BYDAY=2SU"},
        {"rule": "FREQ=MONTHLY;BYDAY=5SU;BYMONTHDAY=22"},
        {"rule": "FREQ=MONTHLY;BYDAY=2SU"},
        {"rule": "FREQ=MONTHLY;BYMONTHDAY=-1"},
        {"rule": "BYDAY=SU"},
        {"rule": ""},
        {"zone": "Europe/Atlantis"},
        {"zone": "../etc/passwd"},
        {"start": "2026-02-30T10:00"},
        {"start": "9999-12-31T23:59"},
        {"start": "0001-01-01T00:00"},
    ],
)
def test_what_is_no_rule_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(RuleError) as error:
        list(SUNDAYS._replace(**changes).list_times())
    assert error.value.code == "schedule_invalid"


def test_an_event_is_followed_once_when_its_time_has_come() -> None:
    event = EventInMemory()
    event.act(plan_schedule(SUNDAYS))
    at = find_next_opening(event.t)
    assert at == next(SUNDAYS.list_times())
    with pytest.raises(RuleError, match="not_scheduled"):
        event.act(Succeed(tournament_id(2)))
    event.now = at
    assert is_successor_due(event.t, event.now)
    event.act(Succeed(tournament_id(2)))
    for command in (Succeed(tournament_id(3)), plan_schedule(SUNDAYS), Unschedule()):
        with pytest.raises(RuleError, match="next_open"):
            event.act(command)
    event.act(CloseTournament())
    assert find_next_opening(event.t) is None
    assert verify_tournament(parse_export(event.export())) == event.t


def test_the_last_event_has_no_successor_and_a_past_one_no_time() -> None:
    last = EventInMemory()
    last.act(plan_schedule(SUNDAYS._replace(rule="FREQ=DAILY;COUNT=1")))
    assert find_next_opening(last.t) is None
    last.act(Unschedule())
    assert last.t.schedule is None
    last.now = next(SUNDAYS.list_times())
    with pytest.raises(RuleError, match="schedule_invalid"):
        last.act(plan_schedule(SUNDAYS))
