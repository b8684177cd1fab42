"""Deadlines at an hour of the day: at least the time of the class, on a working day, with the offsets of the pace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidTable, RuleError
from domain.kernel.game.daily_hour import DailyHour, parse_daily_hour
from domain.kernel.game.deadlines import parse_time_control, shift_clocks, tick
from domain.kernel.game.director_commands import Extend, Hold, Rewind, SetPace, Shift
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.pause_commands import PauseGame, ResumeGame
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.table_commands import Start
from domain.kernel.rules.flow import Frame
from tests.template import RULESET

SEED = b"a table by the hour, a fixed seed"
TAKE = {"type": "take", "count": 1}
PARIS = ZoneInfo("Europe/Paris")
LEAST = 12 * 3600


def ms(text: str) -> int:
    """A time in Paris: `2026-03-28 20:00`."""
    return round(datetime.fromisoformat(text).replace(tzinfo=PARIS).timestamp() * 1000)


OFFSETS = [
    [ms("2026-01-01 00:00"), 3600],
    [ms("2026-03-29 03:00"), 7200],
    [round(datetime(2026, 10, 25, 1, tzinfo=UTC).timestamp() * 1000), 3600],
]
DAILY = {"hour": "20:00", "zone": "Europe/Paris", "days_off": [6, 7], "offsets": OFFSETS}


def make_hour(hour: str = "20:00", days_off: tuple[int, ...] = (6, 7)) -> DailyHour:
    return parse_daily_hour({**DAILY, "hour": hour, "days_off": list(days_off)})


def open_game(at: str = "2026-03-23 09:00", **pace: Any) -> InMemoryGame[Any]:
    """A game of two begun on a Monday morning, with twelve hours for each move."""
    game = InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": LEAST}, "daily": DAILY, **pace}, start=False)
    game.now = ms(at)
    game.execute(Start())
    game.now = ms(at)
    return game


def deadline(game: InMemoryGame[Any]) -> str:
    """The deadline of the open decision, in Paris."""
    assert game.game.deadline is not None
    assert game.game.deadline == fold(RULESET, game.records).deadline, "the log alone tells it"
    return f"{datetime.fromtimestamp(game.game.deadline / 1000, PARIS):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("hour", "at", "expected"),
    [
        ("20:00", "2026-03-23 20:00", "2026-03-23 20:00"),  # the hour itself
        ("20:00", "2026-03-23 20:01", "2026-03-24 20:00"),
        ("20:00", "2026-03-27 20:01", "2026-03-30 20:00"),  # Friday: after the weekend, and in summer time
        ("20:00", "2026-10-23 20:01", "2026-10-26 20:00"),  # in winter time
        ("20:00", "2031-07-07 10:00", "2031-07-07 21:00"),  # after the table's end: winter time stays
    ],
)
def test_the_hour_follows_the_clocks_of_the_zone(hour: str, at: str, expected: str) -> None:
    assert make_hour(hour).next_time(ms(at)) == ms(expected)


def test_an_hour_that_is_skipped_or_comes_twice_is_one_time() -> None:
    """Half past two does not come on 29 March: half past three. On 25 October it comes twice: the first time."""
    hour = make_hour("02:30", ())
    assert hour.next_time(ms("2026-03-28 12:00")) == ms("2026-03-29 03:30")
    first = hour.next_time(ms("2026-10-24 12:00"))
    assert datetime.fromtimestamp(first / 1000, UTC) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert hour.next_time(first + 1) == ms("2026-10-26 02:30")


@given(
    at=st.integers(ms("2026-01-02 00:00"), ms("2027-01-02 00:00")),
    minute=st.integers(0, 24 * 60 - 1),
    days_off=st.sets(st.integers(1, 7), max_size=6),
)
def test_it_is_first_such_time_that_calendar_of_the_zone_has(at: int, minute: int, days_off: set[int]) -> None:
    hour = make_hour(f"{minute // 60:02}:{minute % 60:02}", tuple(days_off))
    day = datetime.fromtimestamp(at / 1000, PARIS).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    days = [day + timedelta(days=n, minutes=minute) for n in range(-1, 9)]
    times = [
        round(local.replace(tzinfo=PARIS).timestamp() * 1000) for local in days if local.isoweekday() not in days_off
    ]
    assert hour.next_time(at) == min(time for time in times if time >= at)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"hour": "24:00"}, "/pace/daily/hour"),
        ({"hour": "8:00"}, "/pace/daily/hour"),
        ({"hour": "20:00\n"}, "/pace/daily/hour"),
        ({"zone": ""}, "/pace/daily/zone"),
        ({"days_off": [0]}, "/pace/daily/days_off"),
        ({"days_off": [True]}, "/pace/daily/days_off"),
        ({"days_off": [6, 6]}, "/pace/daily/days_off"),
        ({"days_off": [1, 2, 3, 4, 5, 6, 7]}, "/pace/daily/days_off"),
        ({"offsets": []}, "/pace/daily/offsets"),
        ({"offsets": [[5, 0], [5, 0]]}, "/pace/daily/offsets"),
        ({"offsets": [[5, 90_000]]}, "/pace/daily/offsets"),
        ({"offsets": [[5.0, 0]]}, "/pace/daily/offsets"),
        ({"offsets": [[n, 0] for n in range(101)]}, "/pace/daily/offsets"),
        ({"minute": 3}, "/pace/daily"),
    ],
)
def test_an_hour_that_makes_no_sense_is_named(change: Any, pointer: str) -> None:
    with pytest.raises(InvalidTable) as error:
        parse_time_control(RULESET.meta, {"seconds": {"move": 60}, "daily": {**DAILY, **change}})
    assert error.value.pointer == pointer


class TestGame:
    """Everything that gives or takes time, at a table by the hour."""

    def test_decision_is_due_at_the_first_hour_after_its_least_time(self) -> None:
        game = open_game("2026-03-23 07:59")
        assert deadline(game) == "2026-03-23 20:00"
        game.now = ms("2026-03-23 08:01")
        game.play(0, TAKE)
        assert deadline(game) == "2026-03-24 20:00"
        game.now = ms("2026-03-27 09:00")
        game.play(1, TAKE)
        assert deadline(game) == "2026-03-30 20:00", "the weekend is off, and summer time begins"

    def test_an_interruption_leaves_the_least_time_and_gives_no_day(self) -> None:
        """Of twelve hours eleven are left. Only an interruption that goes on beyond the hour moves it."""
        meta, pace = RULESET.meta, parse_time_control(RULESET.meta, {"seconds": {"move": LEAST}, "daily": DAILY})
        turn, other = Frame(1, "turn", (0,), (0,)), Frame(2, "turn", (1,), (1,))
        clocks = tick(meta, pace, (), (turn,), ms("2026-03-23 09:00"))
        stopped = tick(meta, pace, clocks, (turn, other), ms("2026-03-23 10:00"))
        for end, expected in (("2026-03-24 08:59", "2026-03-24 20:00"), ("2026-03-24 09:01", "2026-03-25 20:00")):
            (clock,) = tick(meta, pace, stopped, (turn,), ms(end))
            assert clock.deadline == ms(expected)

    def test_grace_and_bank_come_after_the_hour(self) -> None:
        game = open_game(grace=600, bank=3600)
        assert game.game.due_times([0]) == {0: ms("2026-03-24 21:00")}

    @pytest.mark.parametrize("hours", [1, -1])
    def test_an_extension_moves_it_exactly(self, hours: int) -> None:
        """Also a whole day off, if an officer says so; and an outage gives no day for a minute."""
        game = open_game()
        game.extend(hours * 3_600_000)
        assert deadline(game) == f"2026-03-24 {20 + hours}:00"

    def test_an_extension_until_a_time_ends_then(self) -> None:
        game = open_game()
        game.execute(Extend(game.decisions()[0].id, until=ms("2026-03-28 12:34")))
        assert deadline(game) == "2026-03-28 12:34"

    def test_a_clock_set_forward_moves_it_exactly(self) -> None:
        game = open_game()
        game.now += 3 * 3_600_000
        game.execute(Shift(3 * 3_600_000))
        assert deadline(game) == "2026-03-24 23:00"

    def test_pause_moves_it_to_first_hour_after_pause_and_minimum(self) -> None:
        """A deadline that has passed before, in a bank, gets no new hour."""
        (clock,) = open_game().game.reversible.clocks
        begin, hour = ms("2026-03-24 19:00"), 3_600_000
        for hours, expected in ((0.5, "2026-03-24 20:00"), (1, "2026-03-25 20:00"), (80, "2026-03-30 20:00")):
            length = round(hours * hour)
            (paused,) = shift_clocks((clock,), length, begin + length)
            assert paused.deadline == ms(expected)
            (resumed,) = shift_clocks((paused,), -length // 2, begin + length // 2)
            (anew,) = shift_clocks((clock,), length // 2, begin + length // 2)
            assert resumed.deadline == anew.deadline, "a pause that ends early is a shorter pause"
        (late,) = shift_clocks((clock,), hour, ms("2026-03-24 22:30"))
        assert late.deadline == ms("2026-03-24 21:00")

    def test_a_vacation_or_a_hold_ends_at_an_hour_after_it(self) -> None:
        game = open_game(vacation=3)
        game.execute(Rest(0, 1))
        assert game.game.due_times([0]) == {0: ms("2026-03-25 20:00")}, "twelve hours of Tuesday end after the hour"
        game.now = ms("2026-03-24 19:00")
        game.execute(Hold(0, until=ms("2026-03-25 20:30")))
        assert game.game.due_times([0]) == {0: ms("2026-03-26 20:00")}

    def test_leaving_for_two_seconds_at_the_hour_gives_two_seconds(self) -> None:
        """As it was found: on a Friday it gave three days. Away for an hour before it, a player gains nothing."""
        for before, away, gained in ((1_000, 2_000, 2_000), (7_200_000, 3_600_000, 0)):
            game = open_game("2026-03-27 07:00")
            game.now = ms("2026-03-27 20:00") - before
            game.leave(0, hold=7_200)
            game.now = game.game.time + away
            game.join(0, "p0")
            assert game.game.due_times([0]) == {0: ms("2026-03-27 20:00") + gained}

    def test_a_free_undo_gives_no_day(self) -> None:
        """The decision has the time that it had, to the second, and not the next hour."""
        game = open_game()
        start = game.game.version
        game.now = ms("2026-03-24 19:59")
        game.play(0, TAKE)
        game.now += 30_000
        game.execute(Rewind(start, "seat", 0))
        assert game.game.deadline == game.game.time + 60_000
        game.now = ms("2026-03-24 20:02")
        game.play(0, TAKE)
        with pytest.raises(RuleError, match="no_time_left"):
            game.execute(Rewind(start, "seat", 0))

    def test_officers_rewind_gives_time_that_was_left_and_then_hour(self) -> None:
        game = open_game()
        start = game.game.version
        game.play(0, TAKE)
        game.now = ms("2026-03-25 12:00")
        game.execute(Rewind(start))
        assert deadline(game) == "2026-03-27 20:00", "35 hours from Wednesday noon"

    def test_the_players_may_agree_on_an_hour_and_on_none(self) -> None:
        game = open_game()
        game.execute(SetPace({"seconds": {"move": 3600}}))
        assert deadline(game) == "2026-03-23 10:00"
        game.execute(SetPace({"seconds": {"move": 3600}, "daily": DAILY}))
        assert deadline(game) == "2026-03-23 20:00"
        assert game.records[-1].body["pace"]["daily"] == DAILY


def test_hour_that_falls_into_pause_becomes_first_one_after_it() -> None:
    game = open_game()
    assert deadline(game) == "2026-03-24 20:00"
    game.now = ms("2026-03-24 19:00")
    game.execute(PauseGame())
    game.now = ms("2026-03-24 20:30")
    game.execute(ResumeGame())
    assert deadline(game) == "2026-03-25 20:00"
