"""A figure, how it is taken, and how it is told."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from domain.types import Json
from tests.perf.pace import pace

TURNS = 3
"""How often ours and the bare limit are taken in turn, at least; the median counts."""

QUIET = 1.2
"""By how much the machine may be slower than in its quickest moment, for neighbours to be no part of a figure."""

LONGEST = 12.0
"""Seconds for which each is taken at most, until there are TURNS in quiet moments."""

LONG = 3.0
"""Seconds for which each is taken: of what takes milliseconds, three would lie in one slow moment."""

MACHINE, NEAR = "two cores at pace 1", 1.1
"""Machine of the budgets in seconds or per second, and the slowest pace at which they are judged."""

TOGETHER = 0.01
"""Seconds within which a figure follows another one that was taken with it."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    where: str
    """Position: game, seats, version, and whatever else it depends on."""
    value: float
    unit: str
    budget: str
    bare: float | None = None
    """What the machine alone takes, in the same unit."""
    limit: str = ""
    """What the bare figure is of."""
    pace: float | None = None
    """What the machine took, when this was taken, for what takes 1 on the day of the budgets; None if nobody looked."""
    bare_pace: float | None = None
    """The same of the bare figure, where that keeps fewer cores busy: both are compared at pace 1."""

    @property
    def ratio(self) -> float | None:
        """Ours for each of the bare limit."""
        if not self.bare:
            return None
        if self.bare_pace:
            return self.fair / at_one(self.bare, self.unit, self.bare_pace)
        return self.value / self.bare

    @property
    def fair(self) -> float:
        """Ours as it would be on the day of the budgets."""
        return at_one(self.value, self.unit, self.pace or 1.0)

    @property
    def holds(self) -> bool | None:
        """Whether it keeps to its budget; None without one.

        A ratio or a size is judged everywhere. What can only be a time or a rate is judged at the pace of MACHINE:
        to divide by another pace would flatter.
        """
        found = re.match(r"([<>])= ([\d.]+)( x | times)?", self.budget)
        is_timed = self.unit in ("ms", "s") or self.unit.startswith("/s")
        if found is None or (is_timed and not found[3] and not 1 / NEAR <= (self.pace or 1) <= NEAR):
            return None
        ours = self.ratio if found[3] else self.value
        return ours is not None and (ours <= float(found[2]) if found[1] == "<" else ours >= float(found[2]))

    def to_json(self) -> dict[str, Json]:
        """As a document."""
        return {**self.__dict__, "ratio": self.ratio, "fair": self.fair, "holds": self.holds}

    @property
    def key(self) -> tuple[str, str]:
        """Which figure it is: the same in another run, unless its position came out otherwise."""
        return self.what, self.where

    def line(self, old: float | None = None) -> str:
        """As a row of a table in Markdown; `old` is what it was in another run."""
        bare = "" if self.bare is None else f"{_short(self.bare)} {self.unit} ({self.limit})"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        verdict = {None: "not judged" if self.budget else "", True: "yes", False: "**no**"}[self.holds]
        ours = f"| {self.what} | {self.where} | {_short(self.value)} {self.unit} | {bare} | {ratio} |"
        row = f"{ours} {self.pace or 1:.2f} | {_short(self.fair)} | {self.budget} | {verdict} |"
        return row if not old else f"{row} {self.value / old:.2f} |"


def at_one(value: float, unit: str, pace: float) -> float:
    """What was taken at that pace, as it would be on the day of the budgets."""
    if unit in ("ms", "s"):
        return value / pace
    return value * pace if unit.startswith("/s") else value


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def head(*, compared: bool = False) -> str:
    """The two rows above them."""
    names = ["quantity", "position", "ours", "bare limit", "ratio", "pace", "at pace 1", "budget", "holds"]
    names += ["before"] if compared else []
    return f"| {' | '.join(names)} |\n|{' --- |' * len(names)}"


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def processor_seconds(work: Callable[[], object]) -> float:
    """How long it keeps the processor: a busy machine has little part in it."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


WARM = 2
"""Times that both are done before they are timed."""


class Turn(NamedTuple):
    """What was taken in one turn: what else the machine does meets all of it."""

    ours: float
    """ms."""
    bare: float
    """ms, the mean of before and after."""
    pace: float


def in_turn(
    bare: Callable[[], object], *ours: Callable[[], object], least: float = LONG, longest: float = LONGEST
) -> list[Turn]:
    """Each of ours between two of the bare limit, and the machine's pace, in turn.

    Of the quiet turns of each that in which it took the median for that pace. Twice before each turn: what the pace was
    taken with has left caches and memory to nobody. Taken until enough turns of each were quiet, for `least` seconds
    each, and `longest` at most.
    """
    taken: list[list[Turn]] = [[] for _ in ours]
    begun, before = time.perf_counter(), _looked()
    while True:
        moments = [_one(bare, each) for each in ours]
        after = _looked()
        for turns, (own, limit) in zip(taken, moments, strict=True):
            turns.append(Turn(own, limit, (before + after) / 2))
        before, enough = after, min(len(_quiet(turns)) for turns in taken) >= TURNS
        spent = (time.perf_counter() - begun) / len(ours)
        if min(map(len, taken)) >= TURNS and spent > (least if enough else longest):
            return [_median(_quiet(turns) or turns, lambda turn: turn.ours / turn.pace) for turns in taken]


def _one(bare: Callable[[], object], own: Callable[[], object]) -> tuple[float, float]:
    """Ms of both."""
    for _ in range(WARM):
        bare()
        own()
    before, found, after = seconds(bare), seconds(own), seconds(bare)
    return 1000 * found, 500 * (before + after)


class Take(NamedTuple):
    """What was taken once."""

    value: float
    pace: float


def in_a_row(work: Callable[[], float], turns: int = TURNS, *, cores: int = 1, unit: str = "/s") -> Take:
    """What it gives, and the machine's pace: of so many quiet takes that with the median at pace 1.

    `cores`: how many it keeps busy; the pace is that of so many processes at once. At most twice as many are taken.
    """
    taken: list[Take] = []
    before = _looked(cores)
    while len(taken) < (turns if len(_unhindered(taken, cores)) >= turns else 2 * turns):
        found, after = work(), _looked(cores)
        taken.append(Take(found, (before + after) / 2))
        before = after
    return _median(_unhindered(taken, cores) or taken, lambda take: at_one(take.value, unit, take.pace))


_quickest: dict[int, float] = {}
"""Cores that are busy -> the least pace that this process has met."""

T = TypeVar("T", Turn, Take)


def _median(taken: Sequence[T], key: Callable[[T], float]) -> T:
    return sorted(taken, key=key)[len(taken) // 2]


def _looked(cores: int = 1) -> float:
    """The machine's pace now."""
    found = pace(cores)
    _quickest[cores] = min(found, _quickest.get(cores, found))
    return found


def _unhindered(taken: Sequence[T], cores: int = 1) -> list[T]:
    """Those at whose moment nobody else was busy, by the pace."""
    return [each for each in taken if each.pace <= QUIET * _quickest[cores]]


def _quiet(taken: Sequence[Turn]) -> list[Turn]:
    """And by the bare limit: others hinder what fills memory more than they do the pace's work."""
    least = min((turn.bare for turn in taken), default=0.0)
    return [turn for turn in _unhindered(taken) if turn.bare <= QUIET * least]


def paced(figures: Iterator[Figure]) -> Iterator[Figure]:
    """Figures with the machine's pace before and after each, unless it was taken in turn with it."""
    before = now = pace()
    while True:
        begun = time.perf_counter()
        figure = next(figures, None)
        if figure is None:
            return
        if time.perf_counter() - begun > TOGETHER:
            after = pace()
            before, now = after, (before + after) / 2
        yield replace(figure, pace=now) if figure.pace is None else figure


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]
