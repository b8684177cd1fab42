"""A seat's own time: a bank for when it is late, and days of vacation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidTable
from domain.kernel.game.deadlines import (
    DAY,
    FrameClock,
    TimeBank,
    TimeControl,
    charge_time_banks,
    due_times,
    first_due_time,
    hold_seat,
    initial_time_banks,
    parse_time_control,
    seat_deadline,
    shift_clocks,
    shift_time_bank,
    take_vacation,
    tick,
)
from domain.kernel.rules.flow import Frame
from tests.kernel.flows import windows

META = windows.RULESET.meta
PACE = TimeControl({"move": 60, "window": 15}, grace=5, bank=100, vacation=3)
BOTH = Frame(1, "turn", (0, 1), (0, 1))
SECRET = replace(BOTH, n=2, kind="window", secret=True)


@dataclass
class Table:
    """A game of two whose records say only when they came and what stands after them."""

    frames: tuple[Frame, ...] = (BOTH,)
    at: int = 0
    accounts: tuple[TimeBank, ...] = field(default_factory=lambda: initial_time_banks(PACE, 2))
    clocks: tuple[FrameClock, ...] = ()

    def __post_init__(self) -> None:
        self.clocks = tick(META, PACE, (), self.frames, self.at, self.accounts)

    def record(self, at: int, *frames: Frame) -> None:
        """At that time, in seconds."""
        self.accounts = charge_time_banks(self.accounts, self.clocks, self.frames, self.at, at * 1000)
        self.at, self.frames = at * 1000, frames or self.frames
        self.clocks = tick(META, PACE, self.clocks, self.frames, self.at, self.accounts)

    def rest(self, at: int, seat: int, days: int) -> None:
        self.record(at)
        rested = take_vacation(self.accounts[seat], days, self.at)
        self.accounts = tuple(rested if s == seat else a for s, a in enumerate(self.accounts))

    def banks(self) -> list[int]:
        return [a.bank // 1000 for a in self.accounts]

    def due(self) -> dict[int, int]:
        """In seconds."""
        found = due_times(PACE, self.clocks, self.frames, self.frames[-1].owing, self.accounts, self.at)
        return {seat: at // 1000 for seat, at in found.items()}


class TestBank:
    def test_the_default_waits_until_grace_and_bank_have_run_out(self) -> None:
        """60 s for the move, then 100 s of the bank, which is longer than the 5 s of grace."""
        assert Table().due() == {0: 160, 1: 160}
        empty = Table(accounts=(TimeBank(3_000), TimeBank()))
        assert empty.due() == {0: 65, 1: 65}, "a bank of 3 s ends within the grace"

    def test_only_time_beyond_deadline_is_taken_from_those_who_owe(self) -> None:
        table = Table()
        table.record(40, replace(BOTH, owing=(1,), done=(0,)))
        assert table.banks() == [100, 100]
        table.record(90, Frame(3, "turn", (0,), (0,)))
        assert table.banks() == [100, 70]
        assert table.due() == {0: 90 + 60 + 100}

    def test_records_of_others_in_between_change_nothing(self) -> None:
        """When the default is played stands from the beginning, however often the bank is looked at."""
        table = Table()
        for at in (10, 61, 80, 81, 159):
            table.record(at)
            assert table.due() == {0: 160, 1: 160}
        assert table.banks() == [1, 1]
        table.record(500)
        assert table.banks() == [0, 0]

    def test_a_bank_goes_on_through_a_question_that_is_asked_anew(self) -> None:
        table = Table()
        table.record(100, replace(BOTH, n=7, timed_as=1))
        assert table.banks() == [60, 60]
        assert table.due() == {0: 160, 1: 160}

    def test_who_decides_in_secret_has_no_use_of_it(self) -> None:
        """What is left of it would tell who has answered."""
        table = Table((SECRET,))
        assert table.due() == {0: 20, 1: 20}
        table.record(19, replace(SECRET, owing=(1,), done=(0,)))
        assert table.banks() == [100, 100]

    def test_without_a_clock_nothing_is_taken(self) -> None:
        accounts = initial_time_banks(PACE, 2)
        assert charge_time_banks(accounts, (), (BOTH,), 0, 10**9) == accounts
        assert charge_time_banks(accounts, (), (), 0, 10**9) == accounts


class TestVacation:
    def test_no_time_of_the_seat_runs_while_the_others_go_on(self) -> None:
        """20 s of 60 are gone when it leaves; 40 are left when it is back."""
        table = Table()
        table.rest(20, 0, 1)
        assert table.due() == {0: DAY // 1000 + 160, 1: 160}
        table.record(150)
        assert table.banks() == [100, 10]

    def test_taken_in_bank_time_it_stops_the_bank(self) -> None:
        table = Table()
        table.rest(100, 0, 2)
        assert table.banks() == [60, 60]
        back = 100 + 2 * DAY // 1000
        assert table.due()[0] == back + 60
        table.record(back)
        assert table.banks()[0] == 60
        table.record(back + 20)
        assert table.banks()[0] == 40

    def test_decision_that_begins_meanwhile_begins_when_it_is_back(self) -> None:
        table = Table()
        table.rest(0, 0, 1)
        table.record(30, Frame(5, "turn", (0, 1), (0, 1)))
        assert table.due() == {0: DAY // 1000 + 160, 1: 30 + 160}

    def test_a_second_one_follows_the_first(self) -> None:
        table = Table()
        table.rest(10, 0, 1)
        table.rest(20, 0, 2)
        assert table.accounts[0].days == 0
        assert table.accounts[0].vacations == ((10_000, 10_000 + DAY), (10_000 + DAY, 10_000 + 3 * DAY))
        assert table.due()[0] == 3 * DAY // 1000 + 160

    def test_two_with_time_between_count_both(self) -> None:
        table = Table()
        table.rest(10, 0, 1)
        later = 10 + DAY // 1000 + 20
        table.rest(later, 0, 1)
        assert table.due()[0] == 160 + 2 * DAY // 1000

    def test_time_left_of_secret_decision_does_not_tell_who_owes_it(self) -> None:
        """A vacation counts for all who were asked, whether they have answered or not."""
        left = set()
        for owing in ((0,), (1,)):
            table = Table((SECRET,))
            table.rest(1, 0, 1)
            table.record(2, replace(SECRET, owing=owing), replace(BOTH, n=9))
            left.add(table.clocks[0])
        assert len(left) == 1

    def test_secret_decision_has_no_default_before_all_are_due(self) -> None:
        """Or the record would tell that this seat, which is not on vacation, had not answered."""
        table = Table((SECRET,))
        table.rest(1, 0, 1)
        assert table.due() == {0: DAY // 1000 + 20, 1: DAY // 1000 + 20}
        table.record(2, replace(SECRET, owing=(1,), done=(0,)))
        assert table.due() == {1: DAY // 1000 + 20}

    def test_an_interruption_in_the_middle_costs_it_nothing(self) -> None:
        """10 s are gone when it leaves; an hour later a window covers the decision."""
        alone = Frame(1, "turn", (0,), (0,))
        table = Table((alone,))
        table.rest(10, 0, 1)
        table.record(3610, alone, replace(SECRET, asked=(1,), owing=(1,)))
        table.record(3620, alone)
        assert table.due() == {0: 10 + DAY // 1000 + 50 + 100}


EVENTS = st.lists(
    st.tuples(
        st.integers(0, 3 * DAY // 1000),
        st.sampled_from(["answer", "cover", "uncover", "again", "rest", "nothing"]),
        st.integers(0, 1),
    ),
    max_size=25,
)


def play(events: Sequence[tuple[int, str, int]]) -> list[tuple[tuple[TimeBank, ...], dict[int, int]]]:
    """What the accounts are, and when the defaults are due, after each record."""
    table, out, now, n = Table(), [], 0, 10
    for seconds, what, seat in events:
        now += seconds
        top = table.frames[-1]
        if what == "rest" and table.accounts[seat].days:
            table.rest(now, seat, 1)
        elif what == "answer" and seat in top.owing and len(top.owing) > 1:
            table.record(now, *table.frames[:-1], replace(top, owing=(1 - seat,), done=(seat,)))
        elif what == "cover" and len(table.frames) < 3:
            table.record(now, *table.frames, Frame(n, "turn", (0, 1), (0, 1)))
        elif what == "uncover" and len(table.frames) > 1:
            table.record(now, *table.frames[:-1])
        elif what == "again":
            table.record(now, *table.frames[:-1], Frame(n, "turn", (0, 1), (0, 1)))
        else:
            table.record(now)
        n += 1
        out.append((table.accounts, table.due()))
    return out


@given(EVENTS)
def test_nothing_is_ever_negative_and_records_decide_all(
    events: list[tuple[int, str, int]],
) -> None:
    before = initial_time_banks(PACE, 2)
    for accounts, _ in play(events):
        for was, now in zip(before, accounts, strict=True):
            assert 0 <= now.bank <= was.bank
            assert 0 <= now.days <= was.days
            assert now.days + len(now.vacations) == PACE.vacation
        before = accounts
    assert play(events) == play(events)


@given(EVENTS, st.integers(1, 400))
def test_a_record_that_changes_nothing_moves_nobodys_time(events: list[tuple[int, str, int]], later: int) -> None:
    """However often others act before a default is due: it is due when it was."""
    table, now = Table(), 0
    for seconds, what, seat in events:
        now += seconds
        if what == "rest" and table.accounts[seat].days:
            table.rest(now, seat, 1)
    dues_ = table.due()
    if all(at > now + later for at in dues_.values()):
        table.record(now + later)
        assert table.due() == dues_


class TestPace:
    def test_bank_and_vacation_are_part_of_it(self) -> None:
        doc = {"seconds": {"move": 60}, "grace": 1, "bank": 600, "vacation": 7}
        assert parse_time_control(META, doc).to_json() == doc
        assert initial_time_banks(parse_time_control(META, doc), 3) == (TimeBank(600_000, 7),) * 3

    @pytest.mark.parametrize(
        ("more", "pointer"),
        [({"bank": -1}, "/pace/bank"), ({"bank": 1.5}, "/pace/bank"), ({"vacation": 101}, "/pace/vacation")],
    )
    def test_what_makes_no_sense_is_named(self, more: dict[str, float], pointer: str) -> None:
        with pytest.raises(InvalidTable) as caught:
            parse_time_control(META, {"seconds": {"move": 1}} | more)
        assert caught.value.pointer == pointer

    def test_the_deadline_of_a_clock_that_stands_is_none(self) -> None:
        assert seat_deadline(FrameClock(1, 5, None), TimeBank()) is None
        assert first_due_time(PACE, (FrameClock(1, 5, None),), (BOTH,), initial_time_banks(PACE, 2)) is None


class TestHolds:
    def test_no_time_of_a_held_seat_runs(self) -> None:
        """Whether there is a vacation meanwhile or not: the same time is not counted twice."""
        clock = FrameClock(1, 60_000, 0)
        held = hold_seat(TimeBank(days=1), 100, 10_000)
        assert (held.hold_end, seat_deadline(clock, held)) == (110_000, 160_000)
        assert seat_deadline(clock, take_vacation(held, 1, 20_000)) == 60_000 + DAY + 10_000
        assert seat_deadline(clock, hold_seat(held, 0, 30_000)) == 80_000

    def test_a_hold_is_made_longer_or_shorter_from_now_on(self) -> None:
        held = hold_seat(hold_seat(TimeBank(), 100, 0), 10, 50_000)
        assert held.holds == ((0, 60_000),)
        assert hold_seat(held, 10, 60_000).holds == ((0, 60_000), (60_000, 70_000))
        assert hold_seat(held, 0, 60_000) == held
        assert hold_seat(TimeBank(), 0, 5) == TimeBank()

    @given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.booleans()), max_size=8))
    def test_what_does_not_run_is_the_time_of_any_of_them(self, steps: list[tuple[int, int, bool]]) -> None:
        account, now = TimeBank(days=100), 0
        for pause, long, away in steps:
            now += pause * 1000
            account = replace(account, vacations=(*account.vacations, (now, now + long * 1000))) if away else account
            account = account if away else hold_seat(account, long, now)
        seconds = {t for a, b in (*account.vacations, *account.holds) for t in range(a // 1000, b // 1000)}
        assert account.paused_ms(0, 10**9) == len(seconds) * 1000


class TestShift:
    """Time itself is set forward: all that is due is due as much later, and nothing else is changed."""

    @given(
        st.integers(0, 200),
        st.integers(0, 200),
        st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=3),
        st.integers(1, 10**6),
    )
    def test_what_is_left_stays(self, passed: int, later: int, spans: list[tuple[int, int]], ms: int) -> None:
        table = Table()
        holds = tuple((min(a, b) * 1000, max(a, b) * 1000) for a, b in sorted(spans))
        table.accounts = tuple(replace(a, holds=holds) for a in table.accounts)
        table.record(passed)
        before = due_times(PACE, table.clocks, table.frames, (0, 1), table.accounts, table.at)
        clocks, accounts = shift_clocks(table.clocks, ms), tuple(shift_time_bank(a, ms) for a in table.accounts)
        after = due_times(PACE, clocks, table.frames, (0, 1), accounts, table.at + ms)
        assert after == {seat: due + ms for seat, due in before.items()}
        late = table.at + later * 1000
        charged = charge_time_banks(table.accounts, table.clocks, table.frames, table.at, late)
        assert [a.bank for a in charge_time_banks(accounts, clocks, table.frames, table.at + ms, late + ms)] == [
            a.bank for a in charged
        ]

    def test_a_clock_that_stands_has_as_much_left(self) -> None:
        assert shift_clocks((FrameClock(1, 5000, None), FrameClock(2, 7, 1000)), 50) == (
            FrameClock(1, 5000, None),
            FrameClock(2, 7, 1050),
        )
