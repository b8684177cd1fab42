"""A figure, how it is taken, and how it is told."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain.ids import Json

TURNS = 3
"""How often ours and the bare limit are taken in turn; the median counts."""


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

    @property
    def ratio(self) -> float | None:
        """Ours for each of the bare limit."""
        return None if not self.bare else self.value / self.bare

    def to_json(self) -> dict[str, Json]:
        """As a document."""
        return {**self.__dict__, "ratio": self.ratio}

    @property
    def key(self) -> tuple[str, str]:
        """Which figure it is: the same in another run, unless its position came out otherwise."""
        return self.what, self.where

    def line(self, old: float | None = None) -> str:
        """As a row of a table in Markdown; `old` is what it was in another run."""
        bare = "" if self.bare is None else f"{_short(self.bare)} {self.unit} ({self.limit})"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        row = f"| {self.what} | {self.where} | {_short(self.value)} {self.unit} | {self.budget} | {bare} | {ratio} |"
        return row if not old else f"{row} {self.value / old:.2f} |"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def head(*, compared: bool = False) -> str:
    """The two rows above them."""
    names = ["quantity", "position", "ours", "budget", "bare limit", "ratio", *(["before"] if compared else [])]
    return f"| {' | '.join(names)} |\n|{' --- |' * len(names)}"


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def in_turn(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """Medians in ms of both, taken in turn: what else the machine does meets both."""
    pairs = [(seconds(ours), seconds(bare)) for _ in range(TURNS)]
    return 1000 * statistics.median(a for a, _ in pairs), 1000 * statistics.median(b for _, b in pairs)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]
