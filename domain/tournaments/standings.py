"""Standings of a stage as documents, and the digest that keeps an official place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NotRequired, TypedDict

from domain.kernel.schema.canonical_json import digest
from domain.tournaments.explain import value_to_text
from domain.tournaments.ties import SHARED, TieBreaks
from domain.types import Doc, Json


class TournamentStandingDoc(TypedDict):
    place: int
    entrant: int
    ticks: Annotated[int, "1 point is 5040 ticks."]
    tables: int
    credits: list[int]
    missed: int
    handicap: NotRequired[Annotated[int, "Ticks from bids for seats, within `ticks`."]]
    ties: Annotated[dict[str, str], "Rule -> exact value."]


def _number(entrant: int) -> Json:
    return entrant


def list_standings(ties: TieBreaks, label: Callable[[int], Json] = _number) -> list[TournamentStandingDoc]:
    """Return a document for each entrant, in order of places, with the values of the rules for all entrants."""
    everybody, handicaps = ties.tally.members, ties.tally.handicaps
    steps = [ties.apply(rule, everybody) for rule in ties.rules if rule not in ("direct", SHARED)]
    standings: list[TournamentStandingDoc] = []
    for entrant in (entrant for group in ties.ranking for entrant in group):
        row: TournamentStandingDoc = {
            "place": ties.places[entrant],
            "entrant": label(entrant),
            "ticks": ties.tally.totals[entrant],
            "tables": len(ties.tally.values[entrant]),
            "credits": list(ties.tally.credits[entrant]),
            "missed": ties.tally.missed[entrant],
            "ties": {step.rule: value_to_text(ties, step, entrant) for step in steps if not step.skipped},
        }
        if handicaps:
            row["handicap"] = handicaps[entrant]
        standings.append(row)
    return standings


def build_ranking(ties: TieBreaks, stage: int, round_: int) -> Doc:
    """Return the body of a `ranked` record: the list after a round, and its digest."""
    standings = list_standings(ties)
    return {"stage": stage, "round": round_, "standings": standings, "digest": digest(standings)}
