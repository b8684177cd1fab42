"""Standings, rounds and whole tournaments, computed once.

They follow from the records alone, so the last hash is their key.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.standings import TournamentStandingDoc, list_standings
from domain.tournaments.ties import TieBreaks
from projections.tournament_documents import RoundDoc, TournamentDoc
from projections.tournament_views import build_round, build_tournament, list_amendments

KEPT = 32
"""Number of standings in memory."""

KEPT_DOCUMENTS = 8
"""Number of whole tournaments in memory: one of 200 entrants has 0.2 MB."""


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


@functools.lru_cache(KEPT)
def find_round(key: StandingsKey) -> RoundDoc:
    """Return a round, whose number is `after`. Do not change it.

    Of 40 pods, to build it took a tenth of each view of its page.
    """
    return build_round(key.t, key.stage, key.after or 1)


def find_tournament(t: Tournament, names: Mapping[str, str], texts: Mapping[str, str]) -> TournamentDoc:
    """Return the document of a tournament, as `build_tournament` does. Do not change its parts.

    Of 200 entrants, to build it took an eighth of each view of the page.
    """
    kept = _find_without_words(make_key(t, len(t.stages)))
    return {**kept, "names": dict(names), "amendments": list_amendments(t, texts)}


@functools.lru_cache(KEPT_DOCUMENTS)
def _find_without_words(key: StandingsKey) -> TournamentDoc:
    return build_tournament(key.t, {})
