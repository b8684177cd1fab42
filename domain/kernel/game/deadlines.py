"""Deadlines: time allowed for a decision, as pure arithmetic on the times of records.

Every frame has a clock of its own. It runs while the frame is the top one and stops while another covers it, so an
interruption costs nobody time. A frame with a repeated question continues the clock of its predecessor. A rewind
restarts all clocks. All times are ms, points in time since 1970 UTC.

At a table with a daily hour the time of a clock is the least time. The deadline is the first such hour after it. A
deadline that was moved, or that a free undo has restored, is bound to no hour.

Each seat's time bank lasts through the whole game, rewinds included: spare time for use beyond deadlines, days of
vacation, and holds, lasting until a player takes the seat again. During vacations and holds no time of the seat runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from domain.errors import InvalidTable
from domain.kernel.game.daily_hour import DailyHour, parse_daily_hour
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import Meta
from domain.kernel.schema import validators
from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, Json, Seat

SECOND = 1000
DAY = 24 * 3600 * SECOND
MAX_SECONDS = 400 * 24 * 3600
"""Longest deadline class, grace or bank, in seconds."""

MAX_DELAY_SECONDS = 24 * 3600
"""Longest delay of a table for viewers away from it, in seconds."""

DEFAULT_CLASS = "move"
"""Deadline class of frames without another."""

MAX_LAST_TURN = 24 * 3600
"""Longest time for the last turn of a table with a time limit, in seconds."""

MAX_VACATION_DAYS = 100
"""Most days of vacation of a seat."""


MAX_MISSES = 1000
"""Largest limit of missed deadlines, on end or altogether."""


class FrameClock(NamedTuple):
    """Clock of one frame, or of consecutive frames with the same question."""

    n: int
    """The frames' `timer`."""
    left: int
    """ms left at the last start or stop."""
    since: int | None
    """Time of the start; None while stopped."""
    daily: DailyHour | None = None
    """Hours of its deadline; None for any."""

    @property
    def deadline(self) -> int | None:
        """Return the time of expiry; None while stopped."""
        return None if self.since is None else self.deadline_after(self.since + self.left)

    def deadline_after(self, at: int) -> int:
        """Return the first time at or after `at` for a deadline."""
        return self.daily.next_time(at) if self.daily else at

    @property
    def without_hour(self) -> FrameClock:
        """Return a clock with the same deadline, bound to no hour; a stopped clock has none, and stays."""
        if self.daily is None or self.since is None or self.deadline is None:
            return self
        return FrameClock(self.n, self.deadline - self.since, self.since)


@dataclass(frozen=True)
class TimeControl:
    """Seconds per deadline class, and the grace before a missed deadline is enforced; no class, no deadline."""

    seconds: Mapping[str, int]
    grace: int = 0
    bank: int = 0
    """Seconds of each seat for the whole game, used up beyond deadlines."""
    vacation: int = 0
    """Days of vacation of each seat for the whole game."""
    daily: DailyHour | None = None
    """Hours at which decisions fall due; None for any."""

    def to_json(self, *, offsets: bool = True) -> dict[str, Json]:
        """Return the form in the record `opened`; without `offsets` that of requests."""
        daily = self.daily and self.daily.to_json(offsets=offsets)
        optional = {"bank": self.bank, "vacation": self.vacation, "daily": daily}
        return {"seconds": dict(self.seconds), "grace": self.grace} | {k: v for k, v in optional.items() if v}


@dataclass(frozen=True)
class TimeBank:
    """Remaining time, vacation and holds of a seat."""

    bank: int = 0
    """ms."""
    days: int = 0
    """Days of vacation."""
    vacations: tuple[tuple[int, int], ...] = ()
    """Begin and end of vacations taken; consecutive."""
    holds: tuple[tuple[int, int], ...] = ()
    """Begin and end of the seat's holds; consecutive, also during vacations."""
    keeps_clocks: bool = False
    """Whether a hold gives no more than its own length. Holds of older records give grace and bank anew after them."""

    def paused_ms(self, begin: int, end: int) -> int:
        """Return the part of the time not running for the seat: vacations and holds."""
        if not self.holds and not self.vacations:
            return 0
        spans = _merge_spans(self.vacations, self.holds) if self.holds else self.vacations
        return sum(max(0, min(end, until) - max(begin, since)) for since, until in spans)

    @property
    def vacation_end(self) -> int:
        """Return the end of the last vacation."""
        return self.vacations[-1][1] if self.vacations else 0

    @property
    def hold_end(self) -> int:
        """Return the end of the last hold."""
        return self.holds[-1][1] if self.holds else 0


def _merge_spans(*spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the same time in spans without overlap."""
    out: list[tuple[int, int]] = []
    for since, until in sorted(chain(*spans)):
        if out and since <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], until)
        else:
            out.append((since, until))
    return out


NO_DEADLINES = TimeControl({})


def parse_time_control(meta: Meta, doc: Json) -> TimeControl:
    """Parse a preset's name, or `{"seconds": {class: n}, "grace", "bank", "vacation", "daily"}`.

    None and `none` mean no deadlines. Classes without an entry have none. Raise InvalidTable with a pointer.
    """
    if doc is None or doc == "none":
        return NO_DEADLINES
    if isinstance(doc, str):
        if doc not in meta.paces:
            raise InvalidTable(validators.expected_message(validators.one_of(["none", *meta.paces])), "/pace")
        return TimeControl(meta.paces[doc])
    others = set(doc) - _LIMITS.keys() - {"seconds", "daily"} if isinstance(doc, dict) else {"pace"}
    if not isinstance(doc, dict) or others or not isinstance(doc.get("seconds"), dict):
        raise InvalidTable(validators.expected_message(Message("a preset, or an object with `seconds`")), "/pace")
    for name, value in doc["seconds"].items():
        if name not in (classes := sorted({*meta.clocks.values(), DEFAULT_CLASS})):
            raise InvalidTable(validators.expected_message(validators.one_of(classes)), f"/pace/seconds/{name}")
        _parse_integer(value, 1, MAX_SECONDS, f"/pace/seconds/{name}")
    limits = {name: _parse_integer(doc.get(name, 0), 0, most, f"/pace/{name}") for name, most in _LIMITS.items()}
    return TimeControl(doc["seconds"], **limits, daily=parse_daily_hour(doc["daily"]) if "daily" in doc else None)


_LIMITS = {"grace": MAX_SECONDS, "bank": MAX_SECONDS, "vacation": MAX_VACATION_DAYS}


def _parse_integer(value: Json, lo: int, hi: int, at: str) -> int:
    if type(value) is not int or not lo <= value <= hi:
        raise InvalidTable(validators.expected_message(Message("a whole number from {lo} to {hi}", lo=lo, hi=hi)), at)
    return value


def deadline_class(meta: Meta, frame: Frame) -> str:
    """Return the deadline class of a frame."""
    return meta.clocks.get(frame.kind, DEFAULT_CLASS)


def tick(
    meta: Meta,
    time_control: TimeControl,
    clocks: tuple[FrameClock, ...],
    frames: tuple[Frame, ...],
    at: int,
    time_banks: Sequence[TimeBank] = (),
) -> tuple[FrameClock, ...]:
    """Return the clocks after a record at time `at`, with these frames left open."""
    if not frames:
        return ()
    clocks_by_timer = {clock.n: clock for clock in clocks}
    top, classes, limits = frames[-1].timer, meta.clocks, time_control.seconds
    out = []
    for frame in frames:  # runs at every second record: minimal work
        timer = frame.timed_as or frame.n
        clock = clocks_by_timer.get(timer)
        if clock is None and not frame.owing:
            continue
        seconds = limits.get(classes.get(frame.kind, DEFAULT_CLASS))
        if seconds is None:
            continue
        since = at if timer == top else None
        if clock is None:
            clock = FrameClock(timer, min(seconds * SECOND, MAX_INT), since, time_control.daily)
        elif since is None:
            clock = _stop(clock, at, time_banks, frame)
        elif clock.since is None:
            clock = clock._replace(since=at)
        out.append(clock)
    return tuple(out)


def rewind_clocks(
    clocks: tuple[FrameClock, ...],
    frames: tuple[Frame, ...],
    at: int,
    time_banks: Sequence[TimeBank],
    used: Mapping[Seat, int],
    granted: Mapping[Seat, int],
) -> tuple[tuple[FrameClock, ...], int]:
    """Return the stopped clocks of a rewind's target, and the ms that the top decision has been overdrawn.

    `clocks` and `frames` are those of the target, whose last record came at time `at`. Each decision has the time that
    it had then, longer by `granted`: ms by which deadlines of its seats were moved since. The decision of the top
    frame loses `used`: ms of thinking of the seat that goes back by itself, so going back gives nobody time. Its
    deadline is then bound to no hour, or the next one could give a day. Both maps are by seat.
    """
    top = frames[-1].timer if frames else None
    by_timer = {frame.timer: frame for frame in frames}
    out, overdrawn = [], 0
    for clock in clocks:
        frame = by_timer.get(clock.n)
        if frame is None:
            continue
        extra = max((granted.get(s, 0) for s in frame.asked), default=0)
        left, daily = _stop(clock.without_hour, at, time_banks, frame).left + max(extra, 0), clock.daily
        if clock.n == top:
            left -= max((used.get(s, 0) for s in frame.owing), default=0)
            overdrawn, daily = max(-left, 0), None if used else daily
        out.append(FrameClock(clock.n, max(left, 0), None, daily))
    return tuple(out), overdrawn


def add_thinking_time(
    times: tuple[int, ...],
    clocks: tuple[FrameClock, ...],
    frames: tuple[Frame, ...],
    time_banks: Sequence[TimeBank],
    since: int,
    at: int,
) -> tuple[int, ...]:
    """Return each seat's thinking time, ms: the time in which a running clock waited for it, pauses left out.

    These frames have been open from `since` to `at`. In a secret decision all seats asked count as thinking, or the sum
    would reveal who has answered.
    """
    if at <= since or running_clock(clocks, frames) is None:
        return times
    out = list(times)
    for seat in frames[-1].asked if frames[-1].secret else frames[-1].owing:
        out[seat] += at - since - (time_banks[seat].paused_ms(since, at) if time_banks else 0)
    return tuple(out)


def refill_clock(
    meta: Meta,
    time_control: TimeControl,
    clocks: tuple[FrameClock, ...],
    frame: Frame,
    at: int,
    time_banks: Sequence[TimeBank],
) -> tuple[FrameClock, ...]:
    """Return the clocks with the full time of its class for a frame from time `at` on, unless it has more left."""
    seconds = time_control.seconds.get(deadline_class(meta, frame))
    if seconds is None:
        return clocks
    full = min(seconds * SECOND, MAX_INT)
    return tuple(
        FrameClock(c.n, full, at, time_control.daily)
        if c.n == frame.timer and c.since is not None and _stop(c, at, time_banks, frame).left < full
        else c
        for c in clocks
    )


def move_deadline(clocks: tuple[FrameClock, ...], n: int, ms: int) -> tuple[FrameClock, ...]:
    """Return the clocks with the deadline of the frames with timer `n` moved."""
    return tuple(
        exact._replace(left=max(exact.left + ms, 0)) if (exact := c.without_hour).n == n else c for c in clocks
    )


def shift_clocks(clocks: tuple[FrameClock, ...], ms: int, standstill: int | None = None) -> tuple[FrameClock, ...]:
    """Return the clocks after the service clock was set forward by `ms`: elapsed time stays the same.

    A pause up to the time `standstill` (ms) leaves a daily hour to come in force: the deadline is the first one after
    the pause and the least time.
    """
    return tuple(_shift_clock(clock, ms, standstill) for clock in clocks)


def _shift_clock(clock: FrameClock, ms: int, standstill: int | None) -> FrameClock:
    if clock.since is None:
        return clock
    if standstill is None or (clock.deadline or 0) <= standstill - ms:
        exact = clock.without_hour
        return exact._replace(since=clock.since + ms)
    since = clock.since + ms
    left = max(clock.left, standstill + 1 - since) if clock.daily else clock.left
    return clock._replace(left=left, since=since)


def _stop(clock: FrameClock, at: int, time_banks: Sequence[TimeBank], frame: Frame) -> FrameClock:
    """Stop a clock. Vacations during its run cost no time, neither the absent seat nor the others awaited."""
    if clock.since is None:
        return clock
    # The time left of a secret decision must not reveal the seats owing it.
    awaited = frame.asked if frame.secret else frame.owing
    paused = max((_time_bank_of(time_banks, seat).paused_ms(clock.since, at) for seat in awaited), default=0)
    return clock._replace(left=max(clock.left - (at - clock.since - paused), 0), since=None)


def _time_bank_of(time_banks: Sequence[TimeBank], seat: Seat) -> TimeBank:
    return time_banks[seat] if time_banks else TimeBank()


def running_clock(clocks: tuple[FrameClock, ...], frames: tuple[Frame, ...]) -> FrameClock | None:
    """Return the clock of the top frame, or None."""
    if clocks and frames:
        timer = frames[-1].timer
        for clock in clocks:
            if clock.n == timer and clock.since is not None:
                return clock
    return None


# --- time banks of seats ----------------------------------------------------------------------------------------


def initial_time_banks(time_control: TimeControl, seats: int) -> tuple[TimeBank, ...]:
    """Return the time banks at the opening of the game."""
    return (TimeBank(time_control.bank * SECOND, time_control.vacation),) * seats


def seat_deadline(clock: FrameClock, time_bank: TimeBank) -> int | None:
    """Return the deadline of one seat: its vacations and holds since the clock started do not count.

    A daily hour comes after them, but a hold gives no more than its own time.
    """
    if clock.since is None or clock.deadline is None:
        return None
    paused = time_bank.paused_ms(clock.since, MAX_INT)
    if not paused or clock.daily is None:
        moved = clock.deadline + paused
        is_moved_alone = time_bank.keeps_clocks or not paused
        return moved if is_moved_alone else max(moved, time_bank.vacation_end, time_bank.hold_end)
    rested, least = replace(time_bank, holds=()).paused_ms(clock.since, MAX_INT), clock.since + clock.left
    hour = clock.deadline_after(max(least + rested, time_bank.vacation_end)) if rested else clock.deadline
    later = clock.deadline_after(max(least + paused, time_bank.vacation_end, time_bank.hold_end))
    return min(later, hour + paused - rested)


def due_times(
    time_control: TimeControl,
    clocks: tuple[FrameClock, ...],
    frames: tuple[Frame, ...],
    seats: Iterable[Seat],
    time_banks: Sequence[TimeBank] = (),
    at: int = 0,
    *,
    individually: bool = False,
) -> dict[Seat, int]:
    """Return the time of each seat's default move: after both the grace and its bank have run out.

    `at` is the time of the last record, the end of the time charged to the banks. A secret decision uses no bank, since
    the remainder would reveal the seats with an answer. For the same reason no default is played before those of all
    seats asked are due, vacations included; `individually` returns each seat's own time.
    """
    clock = running_clock(clocks, frames)
    if clock is None:
        return {}
    together = frames[-1].secret and not individually
    times = {
        s: _due_time(time_control, clock, frames[-1], _time_bank_of(time_banks, s), at)
        for s in (frames[-1].asked if together else seats)
    }
    return dict.fromkeys(seats, max(times.values(), default=0)) if together else times


def _due_time(time_control: TimeControl, clock: FrameClock, frame: Frame, time_bank: TimeBank, at: int) -> int:
    """Return the time of one seat, by a running clock; none is within its vacations and holds."""
    deadline = seat_deadline(clock, time_bank) or 0
    resumed = at + time_bank.paused_ms(at, MAX_INT) if time_bank.keeps_clocks else at
    late = max(deadline, resumed) + time_bank.bank if time_bank.bank and not frame.secret else deadline
    due = max(deadline + time_control.grace * SECOND, late)
    return max(due, time_bank.vacation_end, time_bank.hold_end) if time_bank.keeps_clocks else due


def first_due_time(
    time_control: TimeControl,
    clocks: tuple[FrameClock, ...],
    frames: tuple[Frame, ...],
    time_banks: Sequence[TimeBank] = (),
    at: int = 0,
) -> int | None:
    """Return the time of the first default of the top frame; None for never."""
    owing = frames[-1].owing if frames else ()
    return min(due_times(time_control, clocks, frames, owing, time_banks, at).values(), default=None)


def charge_time_banks(
    time_banks: tuple[TimeBank, ...], clocks: tuple[FrameClock, ...], frames: tuple[Frame, ...], since: int, at: int
) -> tuple[TimeBank, ...]:
    """Return the time banks at time `at`, after these frames have been open since the previous record."""
    clock = running_clock(clocks, frames)
    if clock is None or frames[-1].secret:
        return time_banks
    return tuple(_charge(a, clock, since, at) if s in frames[-1].owing else a for s, a in enumerate(time_banks))


def _charge(time_bank: TimeBank, clock: FrameClock, since: int, at: int) -> TimeBank:
    if not time_bank.bank:
        return time_bank
    if time_bank.keeps_clocks:
        late = _overdrawn_ms(clock, time_bank, at) - _overdrawn_ms(clock, time_bank, since)
    else:
        late = at - max(since, seat_deadline(clock, time_bank) or 0)
    return replace(time_bank, bank=max(time_bank.bank - late, 0)) if late > 0 else time_bank


def _overdrawn_ms(clock: FrameClock, time_bank: TimeBank, at: int) -> int:
    """Return the time beyond the seat's deadline up to a time, without vacations and holds."""
    if clock.since is None:
        return 0
    to_come = time_bank.paused_ms(clock.since, MAX_INT) - time_bank.paused_ms(clock.since, at)
    return max(at + to_come - (seat_deadline(clock, time_bank) or 0), 0)


def take_vacation(time_bank: TimeBank, days: int, at: int) -> TimeBank:
    """Add a vacation of whole days, beginning now or at the end of the previous one."""
    begin = max(at, time_bank.vacation_end)
    return replace(time_bank, days=time_bank.days - days, vacations=(*time_bank.vacations, (begin, begin + days * DAY)))


def shift_time_bank(time_bank: TimeBank, ms: int) -> TimeBank:
    """Return the time bank after the service clock was set forward by `ms`.

    Spans keep their place relative to the clocks.
    """
    vacations = tuple((begin + ms, end + ms) for begin, end in time_bank.vacations)
    return replace(
        time_bank, vacations=vacations, holds=tuple((begin + ms, end + ms) for begin, end in time_bank.holds)
    )


def hold_seat(time_bank: TimeBank, seconds: int, at: int) -> TimeBank:
    """Hold from now on for `seconds`, in place of any current hold; 0 ends a current hold."""
    *before, last = time_bank.holds or ((at, at),)
    begin = last[0] if last[1] > at else at
    holds = time_bank.holds if last[1] <= at else tuple(before)
    until = at + seconds * SECOND
    return replace(time_bank, holds=(*holds, (begin, until)) if until > begin else holds)
