"""Tie-breaks cost little beside the sums, in the same process: a busy machine slows both."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from domain.tournaments.results import Stage, TableResult, count_ticks
from domain.tournaments.scoring import find_scoring
from domain.tournaments.ties import TieBreaks

KEY = bytes(range(32))


def make_stage(entrants: int, rounds: int) -> Stage:
    """A stage of tables of five with game points."""
    chance, tables = random.Random(1), []
    for round_ in range(1, rounds + 1):
        order = chance.sample(range(entrants), entrants)
        for pod in range(entrants // 5):
            points = tuple(sorted((chance.randrange(60) for _ in range(5)), reverse=True))
            members = tuple(order[5 * pod : 5 * pod + 5])
            tables.append(TableResult(round_, pod + 1, members, (1, 2, 3, 4, 5), points))
    return Stage(entrants, tuple(tables), rounds, key=KEY)


def add_points(stage: Stage) -> list[int]:
    """One pass over the results that only adds points."""
    totals, scoring = [0] * stage.entrants, find_scoring(stage.scoring)
    for table in stage.tables:
        for entrant, ticks in zip(table.entrants, count_ticks(table, scoring, stage.parameters), strict=True):
            if entrant is not None:
                totals[entrant] += ticks
    return totals


def best_time(work: Callable[[], object], times: int) -> float:
    """Seconds of the processor in the fastest run."""
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def test_standings_with_all_ties_cost_less_than_ten_passes() -> None:
    """200 entrants, 10 rounds, the default list of ties."""
    stage = make_stage(200, 10)
    ratio = best_time(lambda: TieBreaks(stage).ranking, 20) / best_time(lambda: add_points(stage), 20)
    assert ratio < 10
