"""Figures of an event of 200: its page of standings, and a draw with all that stores and checks it."""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
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
from tests.perf.figures import Figure, processor_seconds
from tests.perf.tournaments import draw_alone
from tests.tournaments.aggregates import TERMS, tournament_id

EACH, FIRST = "<= 12 x bare", "<= 60 x bare"
"""Budgets of a view of the page, and of the first one of its process after a record: that computes the standings."""

EMPTY = "an empty request"

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
        view, empty = (partial(_read, site, path) for path in (f"/tournaments/{tournament_id()}", "/healthz"))
        where = f"{hall.entrants} entrants, {hall.rounds} rounds, in this process, SQLite, time of the processor"
        cold = _processor_ms(view)
        yield _page("before a draw", where, *_alternate(view, empty, hall.count))
        drawn, alone, after_draw = list[float](), list[float](), list[tuple[float, float]]()
        draw(site, hall.rounds + 1)
        for _ in range(hall.draws):
            alone.append(_processor_ms(partial(draw_alone, hall.entrants)))
            drawn.append(_processor_ms(partial(draw, site, hall.rounds + 1, has_reason=True)))
            after_draw.append((_processor_ms(view), _processor_ms(empty)))
        yield _page("with a drawn round", where, *_alternate(view, empty, hall.count))
        yield _page("first view after a draw", where, *zip(*after_draw, strict=True), budget=FIRST)
        games, after_result = list(add_tables(site, hall.rounds + 1)), list[tuple[float, float]]()
        yield _page("with tables in play", where, *_alternate(view, empty, hall.count))
        for report in games[: hall.count]:
            site.services.tournaments.handle(tournament_id(), report)
            after_result.append((_processor_ms(view), _processor_ms(empty)))
        first = _page("first view after a result", where, *zip(*after_result, strict=True), budget=FIRST)
        yield first
        yield Figure("page of standings, first view of a process", where, cold, "ms", "", first.bare, EMPTY)
        ours, bare = statistics.median(drawn), statistics.median(alone)
        yield Figure("draw through the handler, p50", where, ours, "ms", "<= 1.5 x bare", bare, "the sums alone")


def _page(what: str, where: str, ours: Sequence[float], empty: Sequence[float], *, budget: str = EACH) -> Figure:
    """Return the least time of views of the page, and of the empty requests in turn with them."""
    return Figure(f"page of standings, {what}", where, min(ours), "ms", budget, min(empty), EMPTY)


def _processor_ms(work: Callable[[], None]) -> float:
    return 1000 * processor_seconds(work)


def _alternate(one: Callable[[], None], other: Callable[[], None], count: int) -> list[list[float]]:
    """Return the times of both, each `count` times in turn, ms."""
    taken = [(_processor_ms(one), _processor_ms(other)) for _ in range(count)]
    return [[*each] for each in zip(*taken, strict=True)]


def _read(site: Site, path: str) -> None:
    answer = site.client.get(path)
    assert answer.status_code == 200, answer.text


def draw(site: Site, round_: int, *, has_reason: bool = False) -> None:
    """Draw a round, or draw it again."""
    site.services.tournaments.handle(tournament_id(), Draw(1, round_, has_reason), REASON)


def play(site: Site, hall: Hall) -> None:
    """Play rounds of an event with results by chance."""
    handler, made = site.services.tournaments, tournament_id()
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
        for report in add_tables(site, round_):
            handler.handle(made, report)
        handler.handle(made, Rank(1, round_), REASON)


def add_tables(site: Site, round_: int) -> Iterator[Report]:
    """Make the tables of a round, and give a result by chance of each."""
    handler, chance, made = site.services.tournaments, random.Random(round_), tournament_id()
    for pod, entrants in enumerate(handler.load(made).play.rounds[round_ - 1].pods, 1):
        game, points = new_game_id(), tuple(chance.sample(range(60), len(entrants)))
        handler.handle(made, AddTable(1, round_, pod, game, entrants))
        yield Report(1, round_, pod, game, 9, "0" * 64, rank_points(points), points)
