"""Results of a stage: tables, byes, penalties, and the ticks and totals from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from domain.compat import cached_property
from domain.tournaments.scoring import Scoring, ScoringParameters, find_scoring
from domain.tournaments.totals import NO_OTHER_TABLE, add_total, count_credit

ZERO, HALF, MEAN = WANTED_BYES = ("zero", "half", "mean")
"""Worth of a wanted bye: nothing, half of the credit for a drawn one, or all of it."""

VOID, AVERAGE = "void", "average"
"""Ways to annul a table: as if not played; with a credit as for a bye."""

DEFAULT_TIES = ("points", "direct", "wins", "beaten", "opponents", "margin", "lapses", "draw")
KNOCKOUT_TIES = ("reached", "finish", *DEFAULT_TIES)


@dataclass(frozen=True, slots=True)
class TableResult:
    """A table of a stage by seat; a seat without an entrant is None. Without places the table is still running."""

    round: int
    pod: int
    entrants: tuple[int | None, ...]
    places: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    alive: tuple[bool, ...] = ()
    solo: int | None = None
    handicaps: tuple[int, ...] = ()
    """Ticks by seat, from bids."""
    absent: frozenset[int] = frozenset()
    """Seats with 0 ticks: their entrant made less than half of the decisions, or left during the game."""
    lapses: tuple[int, ...] = ()
    annulled: str = ""

    @property
    def name(self) -> str:
        """`round.pod`."""
        return f"{self.round}.{self.pod}"


@dataclass(frozen=True)
class CountingWindow:
    """Tables to count in a ladder or arena: of each entrant the last ones since a time."""

    ended: Mapping[tuple[int, int], int]
    """Round and pod -> end, ms since 1970 UTC."""
    since: int
    last: int
    """Most tables of an entrant."""
    least: int
    """Tables needed for a place."""

    def choose(self, tables: Sequence[TableResult]) -> set[int]:
        """Return the indices of an entrant's tables to be counted."""
        timed = [(self.ended[table.round, table.pod], index) for index, table in enumerate(tables)]
        return {index for end, index in sorted(timed)[-self.last :] if end >= self.since}


@dataclass(frozen=True)
class Stage:
    """Options and results of a stage."""

    entrants: int
    tables: tuple[TableResult, ...] = ()
    rounds: int = 0
    """Rounds that have begun."""
    byes: frozenset[tuple[int, int]] = frozenset()
    """(round, entrant)."""
    penalties: Mapping[int, int] = field(default_factory=dict)
    """Entrant -> ticks."""
    scoring: str = "normal"
    parameters: ScoringParameters = field(default_factory=ScoringParameters)
    total: str = "sum"
    ties: tuple[str, ...] = DEFAULT_TIES
    key: bytes = b""
    """Key of the last draw, for the rule `draw`; empty without one."""
    outsiders: frozenset[int] = frozenset()
    """Entrants without a part in the stage, and without a place."""
    window: CountingWindow | None = None
    wanted: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(round, entrant) of the wanted ones among the byes -> `zero`, `half` or `mean` of the credit for a drawn one."""
    counts_missed: bool = False
    """True if rounds missed lower every credit; else, in stored events without this rule, those of a mean alone."""


def count_ticks(table: TableResult, scoring: Scoring, parameters: ScoringParameters) -> list[int]:
    """Return the ticks of each seat of a table, with handicaps, and 0 for an absent entrant."""
    ticks = scoring(table, parameters)
    if table.handicaps:
        ticks = [own + handicap for own, handicap in zip(ticks, table.handicaps, strict=True)]
    if table.absent:
        ticks = [0 if seat in table.absent else own for seat, own in enumerate(ticks)]
    return ticks


class Tally:
    """Ticks of a stage, added up by entrant."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        scoring, parameters = find_scoring(stage.scoring), stage.parameters
        self.tables = [
            (table, count_ticks(table, scoring, parameters))
            for table in stage.tables
            if table.places and not table.annulled
        ]
        """Tables that count, with the ticks of their seats."""
        self.values: list[list[int]] = [[] for _ in range(stage.entrants)]
        """Ticks of each table that counts, by entrant."""
        self.seats: list[list[TableResult]] = [[] for _ in range(stage.entrants)]
        """Tables that count, by entrant."""
        values, seats = self.values, self.seats
        for table, ticks in self.tables:
            for entrant, own in zip(table.entrants, ticks, strict=True):
                if entrant is not None:
                    values[entrant].append(own)
                    seats[entrant].append(table)
        self._credited: list[list[TableResult]] = [[] for _ in range(stage.entrants)]
        """Annulled tables with a credit, by entrant."""
        for table in stage.tables:
            if table.annulled == AVERAGE:
                for entrant in table.entrants:
                    if entrant is not None:
                        self._credited[entrant].append(table)
        self.aside: list[tuple[int, TableResult]] = []
        """Entrants of a ladder or arena with their tables outside the window: they count for the others alone."""
        if stage.window:
            self._apply_window(stage.window)

    def _apply_window(self, window: CountingWindow) -> None:
        for entrant, tables in enumerate(self.seats):
            credited = self._credited[entrant]
            chosen = window.choose([*tables, *credited])
            self._credited[entrant] = [table for n, table in enumerate(credited, len(tables)) if n in chosen]
            chosen &= {*range(len(tables))}
            self.aside += [(entrant, table) for index, table in enumerate(tables) if index not in chosen]
            self.seats[entrant] = [tables[index] for index in sorted(chosen)]
            self.values[entrant] = [self.values[entrant][index] for index in sorted(chosen)]

    @cached_property
    def handicaps(self) -> list[int]:
        """Ticks of handicap in the ticks of each entrant; empty if no table that counts has any."""
        found = [0] * self.stage.entrants
        with_bids = [table for table, _ in self.tables if table.handicaps]
        for table in with_bids:
            for seat, (entrant, handicap) in enumerate(zip(table.entrants, table.handicaps, strict=True)):
                if entrant is not None and seat not in table.absent:
                    found[entrant] += handicap
        return found if with_bids else []

    @cached_property
    def members(self) -> tuple[int, ...]:
        """Entrants with a part in the stage and a place, ascending."""
        least = self.stage.window.least if self.stage.window else 0
        inside = (entrant for entrant in range(self.stage.entrants) if entrant not in self.stage.outsiders)
        return tuple(entrant for entrant in inside if len(self.values[entrant]) >= least)

    @cached_property
    def unranked(self) -> dict[int, int]:
        """Entrants of a ladder or arena with too few tables for a place -> their number."""
        placed = {*self.members, *self.stage.outsiders}
        return {entrant: len(own) for entrant, own in enumerate(self.values) if entrant not in placed}

    @cached_property
    def running(self) -> list[str]:
        """Names of the tables still in play."""
        return [table.name for table in self.stage.tables if not table.places and not table.annulled]

    @cached_property
    def missed(self) -> list[int]:
        """Number of rounds without a table or a bye, by entrant."""
        present: list[set[int]] = [set() for _ in range(self.stage.entrants)]
        for table in self.stage.tables:
            for entrant in table.entrants:
                if entrant is not None:
                    present[entrant].add(table.round)
        for round_, entrant in self.stage.byes:
            present[entrant].add(round_)
        return [self.stage.rounds - len(rounds) for rounds in present]

    @cached_property
    def credits(self) -> list[list[int]]:
        """Credits for byes and annulled tables, by entrant; provisional until the last table has ended."""
        stage = self.stage
        ticks: list[list[int]] = [[] for _ in range(stage.entrants)]
        for round_, entrant in sorted(stage.byes):
            credit = self._credit(entrant, 0)
            ticks[entrant].append({ZERO: 0, HALF: credit // 2}.get(stage.wanted.get((round_, entrant), ""), credit))
        for entrant, tables in enumerate(self._credited):
            if tables:
                ticks[entrant] += [self._credit(entrant, NO_OTHER_TABLE)] * len(tables)
        return ticks

    def _credit(self, entrant: int, without: int) -> int:
        return count_credit(self.values[entrant], self.count_missed(entrant), without)

    def count_missed(self, entrant: int) -> int:
        """Return the number of rounds that count as 0 in the mean behind an entrant's credits."""
        missed = self.missed[entrant] if self.stage.counts_missed or self.stage.total == "mean" else 0
        return missed + sum(worth == ZERO for (_, other), worth in self.stage.wanted.items() if other == entrant)

    @cached_property
    def totals(self) -> list[int]:
        """Total of each entrant in ticks, penalties subtracted last."""
        stage = self.stage
        is_mean = stage.total == "mean"
        totals = [
            add_total(stage.total, values + extra, self.missed[entrant] if is_mean else 0)
            for entrant, (values, extra) in enumerate(zip(self.values, self.credits, strict=True))
        ]
        for entrant, ticks in stage.penalties.items():
            totals[entrant] -= ticks
        return totals
