"""Deadlines: how long a decision may take, as pure arithmetic on the times of records.

Every frame has a clock of its own. It runs while the frame is the top one and stands while another covers it, so that
an interruption costs nobody time. A frame that asks the same question anew goes on with the clock of the one before.
A rewind starts the clocks of the line anew. All times are ms, points in time since
1970 UTC.

What a seat has of its own, its account, goes on through the whole game, rewinds too: a bank of time that is used up
beyond deadlines, days of vacation, and holds, until somebody sits there again: during both no time of the seat's runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from domain.errors import InvalidTable
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import Meta
from domain.kernel.schema import validators
from domain.kernel.text.message_catalog import Message
from domain.types import MAX_INT, Json, Seat

SECOND = 1000
DAY = 24 * 3600 * SECOND
LONGEST = 400 * 24 * 3600
"""Seconds that a deadline class, a grace or a bank may have."""

LONGEST_DELAY = 24 * 3600
"""Seconds by which a table may be shown later to those who are not at it."""

MOVE = "move"
"""The deadline class of what has no other."""

MOST_DAYS = 100
"""Days of vacation that a seat may have."""


class Clock(NamedTuple):
    """The clock of one frame, or of several after each other that ask the same question."""

    n: int
    """Their `timer`."""
    left: int
    """What it had left when it last started or stopped."""
    since: int | None
    """When it started to run; None while it stands."""

    @property
    def deadline(self) -> int | None:
        """When it runs out; None while it stands."""
        return None if self.since is None else self.since + self.left


@dataclass(frozen=True)
class Pace:
    """Seconds per deadline class, and the grace after a deadline before it is enforced; no class, no deadline."""

    seconds: Mapping[str, int]
    grace: int = 0
    bank: int = 0
    """Seconds that each seat has for the whole game, for when it is late."""
    vacation: int = 0
    """Days of vacation that each seat has for the whole game."""

    def to_json(self) -> dict[str, Json]:
        """As it stands in the record `opened`."""
        own = {"bank": self.bank, "vacation": self.vacation}
        return {"seconds": dict(self.seconds), "grace": self.grace} | {k: v for k, v in own.items() if v}


@dataclass(frozen=True)
class Account:
    """What a seat has left of its own."""

    bank: int = 0
    """ms."""
    days: int = 0
    """Of vacation."""
    rests: tuple[tuple[int, int], ...] = ()
    """Vacations that were taken, begin and end; one after the other."""
    holds: tuple[tuple[int, int], ...] = ()
    """When the seat was held, begin and end; one after the other, also during vacations."""

    def rested(self, begin: int, end: int) -> int:
        """How much of that time does not run for the seat: vacations and holds."""
        spans = _union(self.rests, self.holds) if self.holds else self.rests
        return sum(max(0, min(end, until) - max(begin, since)) for since, until in spans)

    @property
    def back(self) -> int:
        """When the last vacation ends."""
        return self.rests[-1][1] if self.rests else 0

    @property
    def held(self) -> int:
        """When the last hold ends."""
        return self.holds[-1][1] if self.holds else 0


def _union(*kinds: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same time in spans that do not overlap."""
    out: list[tuple[int, int]] = []
    for since, until in sorted(chain(*kinds)):
        if out and since <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], until)
        else:
            out.append((since, until))
    return out


NO_PACE = Pace({})


def pace_of(meta: Meta, doc: Json) -> Pace:
    """A preset's name, or `{"seconds": {class: n}, "grace", "bank", "vacation"}`; None or `none` for no deadlines.

    Raises InvalidTable with a pointer. Classes that are not named have no deadline.
    """
    if doc is None or doc == "none":
        return NO_PACE
    if isinstance(doc, str):
        if doc not in meta.paces:
            raise InvalidTable(validators.expected(validators.one_of(["none", *meta.paces])), "/pace")
        return Pace(meta.paces[doc])
    if not isinstance(doc, dict) or set(doc) - _LIMITS.keys() - {"seconds"} or not isinstance(doc.get("seconds"), dict):
        raise InvalidTable(validators.expected(Message("a preset, or an object with `seconds`")), "/pace")
    for name, value in doc["seconds"].items():
        if name not in (classes := sorted({*meta.clocks.values(), MOVE})):
            raise InvalidTable(validators.expected(validators.one_of(classes)), f"/pace/seconds/{name}")
        _whole(value, 1, LONGEST, f"/pace/seconds/{name}")
    own = {name: _whole(doc.get(name, 0), 0, most, f"/pace/{name}") for name, most in _LIMITS.items()}
    return Pace(doc["seconds"], **own)


_LIMITS = {"grace": LONGEST, "bank": LONGEST, "vacation": MOST_DAYS}


def _whole(value: Json, lo: int, hi: int, at: str) -> int:
    if type(value) is not int or not lo <= value <= hi:
        raise InvalidTable(validators.expected(Message("a whole number from {lo} to {hi}", lo=lo, hi=hi)), at)
    return value


def class_of(meta: Meta, frame: Frame) -> str:
    """The deadline class of a frame."""
    return meta.clocks.get(frame.kind, MOVE)


def tick(
    meta: Meta,
    pace: Pace,
    clocks: tuple[Clock, ...],
    frames: tuple[Frame, ...],
    at: int,
    accounts: Sequence[Account] = (),
) -> tuple[Clock, ...]:
    """The clocks after a record at that time has left these frames."""
    if not frames:
        return ()
    known = {clock.n: clock for clock in clocks}
    top, classes, limits = frames[-1].timer, meta.clocks, pace.seconds
    out = []
    for frame in frames:  # at every second record: no more is asked than must be
        timer = frame.timed_as or frame.n
        clock = known.get(timer)
        if clock is None and not frame.owing:
            continue
        seconds = limits.get(classes.get(frame.kind, MOVE))
        if seconds is None:
            continue
        since = at if timer == top else None
        if clock is None:
            clock = Clock(timer, min(seconds * SECOND, MAX_INT), since)
        elif since is None:
            clock = _stop(clock, at, accounts, frame)
        elif clock.since is None:
            clock = Clock(timer, clock.left, at)
        out.append(clock)
    return tuple(out)


def moved(clocks: tuple[Clock, ...], n: int, ms: int) -> tuple[Clock, ...]:
    """The clocks after the deadline of the frames with timer `n` was moved."""
    return tuple(c._replace(left=max(c.left + ms, 0)) if c.n == n else c for c in clocks)


def shifted(clocks: tuple[Clock, ...], ms: int) -> tuple[Clock, ...]:
    """The clocks when time itself has been set forward by so much: what has passed on them stays what it was."""
    return tuple(c._replace(since=c.since + ms) if c.since is not None else c for c in clocks)


def _stop(clock: Clock, at: int, accounts: Sequence[Account], frame: Frame) -> Clock:
    """Who was on vacation meanwhile has lost no time, and nobody else who is waited for has either."""
    if clock.since is None:
        return clock
    # Who owes a secret decision must not show in the time that is left of it.
    awaited = frame.asked if frame.secret else frame.owing
    rested = max((_of(accounts, seat).rested(clock.since, at) for seat in awaited), default=0)
    return Clock(clock.n, max(clock.left - (at - clock.since - rested), 0), None)


def _of(accounts: Sequence[Account], seat: Seat) -> Account:
    return accounts[seat] if accounts else Account()


def running(clocks: tuple[Clock, ...], frames: tuple[Frame, ...]) -> Clock | None:
    """The clock of the top frame."""
    if clocks and frames:
        timer = frames[-1].timer
        for clock in clocks:
            if clock.n == timer and clock.since is not None:
                return clock
    return None


# --- what is a seat's own --------------------------------------------------------------------------------------


def accounts_of(pace: Pace, seats: int) -> tuple[Account, ...]:
    """What the seats have when the game is opened."""
    return (Account(pace.bank * SECOND, pace.vacation),) * seats


def deadline_of(clock: Clock, account: Account) -> int | None:
    """The deadline as it is for one seat: its vacations and holds since the clock started do not count."""
    if clock.since is None or clock.deadline is None:
        return None
    paused = account.rested(clock.since, MAX_INT)
    return max(clock.deadline + paused, account.back, account.held) if paused else clock.deadline


def dues(
    pace: Pace,
    clocks: tuple[Clock, ...],
    frames: tuple[Frame, ...],
    seats: Iterable[Seat],
    accounts: Sequence[Account] = (),
    at: int = 0,
    *,
    alone: bool = False,
) -> dict[Seat, int]:
    """When the default of each of these seats is played: once both the grace and its bank have run out.

    `at` is the time of the last record, up to which the banks were charged. Whoever decides in secret has no use of a
    bank: what is left of it would tell who has answered. For the same reason nobody's default is played before that of
    all who were asked may be, whoever is on vacation; with `alone` each seat's own time is told.
    """
    clock = running(clocks, frames)
    if clock is None:
        return {}
    together = frames[-1].secret and not alone
    own = {s: _due(pace, clock, frames[-1], _of(accounts, s), at) for s in (frames[-1].asked if together else seats)}
    return dict.fromkeys(seats, max(own.values(), default=0)) if together else own


def _due(pace: Pace, clock: Clock, frame: Frame, account: Account, at: int) -> int:
    """Of one seat, by a clock that runs."""
    deadline = deadline_of(clock, account) or 0
    late = max(deadline, at) + account.bank if account.bank and not frame.secret else deadline
    return max(deadline + pace.grace * SECOND, late)


def due_at(
    pace: Pace, clocks: tuple[Clock, ...], frames: tuple[Frame, ...], accounts: Sequence[Account] = (), at: int = 0
) -> int | None:
    """When the first default of the top frame is played; None for never."""
    owing = frames[-1].owing if frames else ()
    return min(dues(pace, clocks, frames, owing, accounts, at).values(), default=None)


def charge(
    accounts: tuple[Account, ...], clocks: tuple[Clock, ...], frames: tuple[Frame, ...], since: int, at: int
) -> tuple[Account, ...]:
    """The accounts at that time, when these frames have stood since the record before."""
    clock = running(clocks, frames)
    if clock is None or frames[-1].secret:
        return accounts
    return tuple(_charged(a, clock, since, at) if s in frames[-1].owing else a for s, a in enumerate(accounts))


def _charged(account: Account, clock: Clock, since: int, at: int) -> Account:
    late = at - max(since, deadline_of(clock, account) or 0)
    return replace(account, bank=max(account.bank - late, 0)) if late > 0 and account.bank else account


def rest(account: Account, days: int, at: int) -> Account:
    """A vacation of whole days, from now on or from the end of the one before."""
    begin = max(at, account.back)
    return replace(account, days=account.days - days, rests=(*account.rests, (begin, begin + days * DAY)))


def shift(account: Account, ms: int) -> Account:
    """The account when time itself has been set forward by so much: spans lie where they lay, seen from the clocks."""
    rests = tuple((begin + ms, end + ms) for begin, end in account.rests)
    return replace(account, rests=rests, holds=tuple((begin + ms, end + ms) for begin, end in account.holds))


def hold(account: Account, seconds: int, at: int) -> Account:
    """Held from now on for so long, whatever was said before; 0 ends a hold that lasts."""
    *before, last = account.holds or ((at, at),)
    begin = last[0] if last[1] > at else at
    kept = account.holds if last[1] <= at else tuple(before)
    until = at + seconds * SECOND
    return replace(account, holds=(*kept, (begin, until)) if until > begin else kept)
