"""Standings as they were computed last: they follow from the records alone, so the last hash is their key."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.standings import TournamentStandingDoc, list_standings
from domain.tournaments.ties import TieBreaks

KEPT = 32
"""Number of standings in memory."""


@dataclass(frozen=True)
class StandingsKey:
    """Standings of a stage, after a round or as of now."""

    tournament: str
    head: str
    stage: int
    after: int | None
    t: Tournament = field(compare=False, repr=False)


def make_key(t: Tournament, stage: int, after: int | None = None) -> StandingsKey:
    """Return the key of a tournament's standings."""
    return StandingsKey(t.id, t.hash, stage, after, t)


@functools.lru_cache(KEPT)
def find_ties(key: StandingsKey) -> TieBreaks:
    """Return the order of the entrants, with its values."""
    return TieBreaks(key.t.stage(key.stage, key.after))


@functools.lru_cache(KEPT)
def find_standings(key: StandingsKey) -> list[TournamentStandingDoc]:
    """Return the standings as rows. Do not change them."""
    return list_standings(find_ties(key))
