"""Standings on the page of a tournament: every figure as text, made once for each language."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from api.documents.entrant_points import build_points
from api.documents.standings_memory import KEPT, StandingsKey, find_standings, find_ties, make_key
from api.schemas.tournament_responses import EntrantPointsDoc
from api.services import services
from domain.kernel.text.message_catalog import load_texts
from domain.tournaments.aggregate.point_parts import write_points
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.explain import DECIMALS
from domain.types import Json

UNFOLDED = 64
"""Most entrants of standings to unfold in place; of more, the parts stand on the page of each."""

_HEX_SHOWN = 8
"""Digits of a draw: they tell its entrants apart."""

_COUNTS = ("wins", "lapses", "reached", "finish")
"""Rules with counts as values; a shared first place is a part of one."""

_WITHOUT_COLUMN = ("points", "direct", "shared")


@dataclass(frozen=True)
class StandingRow:
    """An entrant in standings. `parts` is None where they stand on the entrant's page."""

    place: int
    entrant: int
    points: str
    tables: int
    ties: Sequence[str]
    parts: EntrantPointsDoc | None


@dataclass(frozen=True)
class StandingsShown:
    """Standings of a stage, official ones after a round or those as of now."""

    rows: Sequence[StandingRow]
    rules: Sequence[str]
    """Rules for ties with a column."""
    running: int
    """Number of tables without a result."""
    unranked: Sequence[int]
    """Entrants of a ladder or arena without a place."""
    rendered: dict[Hashable, str] = field(default_factory=dict, compare=False)
    """The rows as they were rendered last, by all that they depend on besides."""


def show_standings(now: Tournament, stage: int, after: int, lang: str) -> StandingsShown | None:
    """Return the standings of a stage after a round, or (0) as of now; None before the stage begins."""
    t = services().tournaments.load_ranked(now.id, stage, after) if after else now
    if t is None or stage > len(t.stages):
        return None
    return _make_standings(make_key(t, stage, after or None), lang)


@functools.lru_cache(KEPT)
def _make_standings(key: StandingsKey, lang: str) -> StandingsShown:
    ties, texts = find_ties(key), load_texts("domain.tournaments", lang)
    official: Sequence[Mapping[str, Json]] = (
        key.t.stages[key.stage - 1].rankings[key.after - 1]["standings"] if key.after else find_standings(key)
    )
    rules = [rule for rule in key.t.terms.stages[key.stage - 1].ties if rule not in _WITHOUT_COLUMN]
    is_unfolded = len(official) <= UNFOLDED
    rows = [
        StandingRow(
            row["place"],
            row["entrant"],
            write_points(row["ticks"], texts),
            row["tables"],
            [_write_tie(row["ties"].get(rule, ""), rule in _COUNTS, lang) for rule in rules],
            build_points(key.t, key.stage, ties, row["entrant"], lang) if is_unfolded else None,
        )
        for row in official
    ]
    tally = ties.tally
    unranked = [*tally.unranked] if tally.stage.window and not key.after else []
    return StandingsShown(rows, rules, 0 if key.after else len(tally.running), unranked)


@functools.lru_cache(10_000)
def _write_tie(value: str, is_count: bool, lang: str) -> str:
    """Return the value of a tie-break: a number, an exact fraction as a decimal, or the digits of a draw.

    Kept: a result changes few of 1,200 values, and to write all took a fifth of the first view after it.
    """
    with suppress(ValueError, ZeroDivisionError):
        number = Fraction(value)
        if is_count and number.denominator == 1:
            return str(number)
        return load_texts("domain.tournaments", lang).grammar.decimal(number, DECIMALS)
    return value[:_HEX_SHOWN]
