"""Chances in a closed game: the positions of its turns are played on by the heuristic, with other dice.

Estimates for players by the heuristic, not for people. The dice of the game itself are not
used again: they are in the log, and would tell the end.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from domain.kernel.game.game_fold import active_versions
from domain.kernel.narration.chapters import fold_steps
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S, assign
from domain.kernel.rules.ruleset import Chapter, Ruleset
from domain.rollouts import heuristic_proposals, rollout
from domain.types import DIRECTOR, Doc, Seat

VARIETY, VARIED = 0.25, 3
"""How often a seat does not play the heuristic's best proposal, but any of so many."""

FAIR_GAMES = 2.0
"""Weight of the fair share beside the games played on: few games are no certainty."""


@dataclass(frozen=True)
class Endings:
    """Endings of games that were played on from one position."""

    firsts: tuple[float, ...]
    """Seat -> its share of the first places, 0 to 1; a shared first place counts as its part. The sum is 1."""
    chances: tuple[float, ...]
    """Seat -> estimate of its chance of the first place: these shares, with the fair share as some further games."""
    points: tuple[tuple[int, ...], ...]
    """Seat -> its points in each game, ascending."""


@dataclass(frozen=True)
class Swing:
    """A change of a seat's chance between two positions."""

    seat: int
    change: float
    """-1 to 1."""
    start: int
    """Version of the position before."""
    end: int


def varied_proposals(rules: Ruleset[S], state: S, seat: Seat, rng: random.Random) -> Iterator[Doc]:
    """Yield the heuristic's proposals, sometimes with the first ones shuffled: people do not all play alike."""
    proposals = heuristic_proposals(rules, state, seat, rng)
    if rng.random() < VARIETY:
        first = list(islice(proposals, VARIED))
        rng.shuffle(first)
        yield from first
    yield from proposals


def play_on(rules: Ruleset[S], state: S, games: int, seed: int) -> Endings:
    """Return the endings of games played on from a position. The same seed gives the same endings."""
    seats = len(rules.scores(assign(state, over=True)))
    firsts, points = [0.0] * seats, [list[int]() for _ in range(seats)]
    for number in range(games):
        rng = random.Random(f"{seed} {number}")  # noqa: S311 - no secret
        lines = rules.scores(assign(rollout(rules, state, varied_proposals, rng), over=True))
        winners = [line.seat for line in lines if line.place == 1]
        for line in lines:
            points[line.seat].append(line.points)
            firsts[line.seat] += (line.seat in winners) / len(winners)
    chances = tuple((each + FAIR_GAMES / seats) / (games + FAIR_GAMES) for each in firsts)
    return Endings(tuple(each / games for each in firsts), chances, tuple(tuple(sorted(each)) for each in points))


def list_turn_starts(rules: Ruleset[S], records: Sequence[Record]) -> Iterator[tuple[int, Chapter, S]]:
    """Yield version, chapter and state of the first position of each turn that was not taken back.

    `records` are those of a closed game, with all that was hidden.
    """
    active, last = set(active_versions(records)), -1
    for record, state in fold_steps(rules, records, DIRECTOR)[1]:
        if record.version not in active or not state.frames or state.over:
            continue
        chapter = rules.chapter(state)
        if chapter.turn != last:
            last = chapter.turn
            yield record.version, chapter, state


def list_swings(rows: Sequence[tuple[int, Sequence[float]]], most: int = 5) -> list[Swing]:
    """Return the largest changes of chances between neighbouring rows of version and chances, the largest first."""
    found = [
        Swing(seat, after - before, start, end)
        for (start, old), (end, new) in pairwise(rows)
        for seat, (before, after) in enumerate(zip(old, new, strict=True))
    ]
    return sorted((each for each in found if each.change), key=lambda each: -round(abs(each.change), 6))[:most]
