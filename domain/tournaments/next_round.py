"""The next round of an event from its results: totals, byes, meetings and seats so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from domain.errors import TournamentError
from domain.tournaments.designs import MAX_ROUNDS, count_meetings
from domain.tournaments.draw import draw_order
from domain.tournaments.formats import (
    RoundPlan,
    SwissState,
    draw_swiss_round,
    find_advancing,
    seed_tables,
)
from domain.tournaments.pods import Pair, PairWeights
from domain.tournaments.results import Stage
from domain.tournaments.seats import SeatHistory
from domain.tournaments.sizes import SeatRange
from domain.tournaments.ties import TieBreaks


@dataclass(frozen=True)
class Relations:
    """Pairs to keep apart, and pairs of one club or without a common slot."""

    apart: frozenset[Pair] = frozenset()
    near: frozenset[Pair] = frozenset()


def check_ended(ties: TieBreaks) -> None:
    """Raise TournamentError while a table is running, or if the stage has no room for a round."""
    if ties.tally.running:
        raise TournamentError("round_running", f"there are no results yet: {', '.join(ties.tally.running)}")
    if ties.tally.stage.rounds >= MAX_ROUNDS:
        raise TournamentError("rounds_invalid", f"a stage has at most {MAX_ROUNDS} rounds")


def collect_state(ties: TieBreaks, relations: Relations) -> SwissState:
    """Return the state of a Swiss event. Annulled tables and pods without a table count as meetings."""
    stage, history = ties.tally.stage, SeatHistory()
    pods = [[entrant for entrant in table.entrants if entrant is not None] for table in stage.tables]
    for table in stage.tables:
        history.add({entrant: seat for seat, entrant in enumerate(table.entrants) if entrant is not None})
    weights = PairWeights(relations.apart, relations.near, count_meetings([pods]))
    totals = dict(enumerate(ties.tally.totals))
    return SwissState(totals, Counter(entrant for _, entrant in stage.byes), weights, history)


def draw_next_round(
    key: bytes,
    stage: Stage,
    seats: SeatRange,
    relations: Relations,
    absent: Collection[int] = (),
    volunteers: Collection[int] = (),
) -> RoundPlan:
    """Return the next Swiss round; raise TournamentError while a table is running."""
    ties = TieBreaks(stage)
    check_ended(ties)
    order = draw_order(key, [entrant for entrant in range(stage.entrants) if entrant not in absent])
    return draw_swiss_round(key, order, seats, collect_state(ties, relations), volunteers)


def find_next_seeds(
    ties: TieBreaks, present: Collection[int], resting: Collection[int], first: int, wild_cards: int
) -> list[int]:
    """Return the seeds of a knockout's next round among those present: byes of the last round, then the others.

    At a table without places the first by the standings advance.
    """
    stage = ties.tally.stage
    ranked = [entrant for group in ties.ranking for entrant in group if entrant in present]
    rank = {entrant: i for i, entrant in enumerate(ranked)}
    tables = []
    for table in stage.tables:
        if table.round == stage.rounds:
            has_places = bool(table.places) and not table.annulled
            order = table.places if has_places else [rank.get(e, 0) if e is not None else 0 for e in table.entrants]
            places = zip(table.entrants, order, strict=True)
            tables.append({e: place for e, place in places if e is not None and e in rank})
    playing = {entrant for places in tables for entrant in places}
    standing = [entrant for entrant in ranked if entrant in playing]
    return [e for e in ranked if e in resting] + find_advancing(tables, standing, first, wild_cards)


def advance_round(key: bytes, stage: Stage, seats: SeatRange, first: int, wild_cards: int) -> RoundPlan:
    """Return the next round of a knockout: the first of each table of the last round, and wild cards of that round.

    Seats are given by the cheapest assignment, in the order of a draw.
    """
    ties = TieBreaks(stage)
    check_ended(ties)
    tables = [
        {entrant: place for entrant, place in zip(table.entrants, table.places, strict=True) if entrant is not None}
        for table in stage.tables
        if table.round == stage.rounds
    ]
    playing = {entrant for places in tables for entrant in places}
    standing = [entrant for group in ties.ranking for entrant in group if entrant in playing]
    advancing = find_advancing(tables, standing, first, wild_cards)
    if len(advancing) >= len(playing):
        raise TournamentError("advance_invalid", f"{len(advancing)} of {len(playing)} entrants advance")
    history = collect_state(ties, Relations()).history
    return RoundPlan(history.seat_pods(seed_tables(advancing, seats), draw_order(key, advancing)), [])
