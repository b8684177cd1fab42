"""Figures of an event of 200: its page of standings, and a draw with all that stores and checks it."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from domain.command_handler import new_game_id
from domain.ruleset_registry import load_shipped
from domain.tournament_handler import TournamentConditions
from domain.tournaments.aggregate.basic_commands import CheckIn, CloseCheckIn, Draw, Enter, OpenCheckIn
from domain.tournaments.aggregate.result_commands import AddTable, Rank, Report
from domain.tournaments.scoring import rank_points
from tests.api.conftest import Site, make_site
from tests.perf.figures import Figure, seconds
from tests.perf.tournaments import draw_alone
from tests.tournaments.aggregates import TERMS, tournament_id

REASON = TournamentConditions(reason="0" * 8)


@dataclass(frozen=True)
class Hall:
    """What is measured."""

    entrants: int = 200
    rounds: int = 4
    count: int = 30
    """Views of the page."""
    draws: int = 5


def figures(hall: Hall) -> Iterator[Figure]:
    """In this process: the page beside a request that has nothing to do, and the draw beside its sums."""
    with (
        tempfile.TemporaryDirectory(prefix="annals-perf-") as folder,
        closing(make_site(Path(folder), load_shipped())) as site,
    ):
        play(site, hall)
        site.ring()
        page = f"/tournaments/{tournament_id()}"
        view, empty = (lambda path=path: _read(site, path) for path in (page, "/healthz"))
        first = _processor_ms(view)
        ours, nothing = (min(each) for each in zip(*_alternate(view, empty, hall.count), strict=True))
        where = f"{hall.entrants} entrants, {hall.rounds} rounds, in this process, SQLite, time of the processor"
        limit = "an empty request"
        yield Figure("page of standings, best", where, ours, "ms", "<= 12 x bare", nothing, limit)
        yield Figure("page of standings, first view", where, first, "ms", "<= 12 x bare", nothing, limit)
        drawn, alone = list[float](), list[float]()
        draw(site, hall.rounds + 1)
        again = list[float]()
        for _ in range(hall.draws):
            alone.append(1000 * seconds(lambda: draw_alone(hall.entrants)))
            drawn.append(1000 * seconds(partial(draw, site, hall.rounds + 1, has_reason=True)))
            again.append(_processor_ms(view))
        yield Figure(
            "page of standings, best first view after a draw", where, min(again), "ms", "<= 100 x bare", nothing, limit
        )
        ours, bare = statistics.median(drawn), statistics.median(alone)
        yield Figure("draw through the handler, p50", where, ours, "ms", "<= 1.5 x bare", bare, "the sums alone")


def _processor_ms(work: Callable[[], None]) -> float:
    """Return the time of the processor: a busy machine has no part in it."""
    begin = time.process_time()
    work()
    return 1000 * (time.process_time() - begin)


def _alternate(one: Callable[[], None], other: Callable[[], None], count: int) -> list[tuple[float, float]]:
    return [(_processor_ms(one), _processor_ms(other)) for _ in range(count)]


def _read(site: Site, path: str) -> None:
    answer = site.client.get(path)
    assert answer.status_code == 200, answer.text


def draw(site: Site, round_: int, *, has_reason: bool = False) -> None:
    """Draw a round, or draw it again."""
    site.services.tournaments.handle(tournament_id(), Draw(1, round_, has_reason), REASON)


def play(site: Site, hall: Hall) -> None:
    """Play rounds of an event with results by chance."""
    handler, chance, made = site.services.tournaments, random.Random(1), tournament_id()
    sizes = {
        "ruleset": "age_of_reason@1",
        "least": 3,
        "most": 5,
        "preferred": 5,
        "capacity": hall.entrants,
        "reveal": 0,
    }
    stages = [{"format": "swiss", "rounds": hall.rounds + 2}]
    handler.open(made, "organiser", {**TERMS, **sizes, "stages": stages})
    for entrant in range(hall.entrants):
        handler.handle(made, Enter(f"p{entrant}"))
    handler.handle(made, OpenCheckIn(), REASON)
    for entrant in range(hall.entrants):
        handler.handle(made, CheckIn((f"p{entrant}",)))
    handler.handle(made, CloseCheckIn(), REASON)
    for round_ in range(1, hall.rounds + 1):
        draw(site, round_)
        for pod, entrants in enumerate(handler.load(made).play.rounds[round_ - 1].pods, 1):
            game, points = new_game_id(), tuple(chance.sample(range(60), len(entrants)))
            handler.handle(made, AddTable(1, round_, pod, game, entrants))
            handler.handle(made, Report(1, round_, pod, game, 9, "0" * 64, rank_points(points), points))
        handler.handle(made, Rank(1, round_), REASON)
