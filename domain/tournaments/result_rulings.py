"""Rulings on results: annulled tables, new places, excluded entrants. Each returns a new stage; draws stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from domain.errors import TournamentError
from domain.tournaments.results import AVERAGE, VOID, Stage, TableResult

KEEP, LAST = "keep", "last"


def find_table(stage: Stage, name: str) -> TableResult:
    """Return the table `round.pod`; raise TournamentError without one."""
    for table in stage.tables:
        if table.name == name:
            return table
    raise TournamentError("unknown_table", f"there is no table {name}")


def _replace_table(stage: Stage, old: TableResult, new: TableResult) -> Stage:
    return replace(stage, tables=tuple(new if table is old else table for table in stage.tables))


def annul(stage: Stage, name: str, how: str) -> Stage:
    """Return the stage with a table out of the count: `void` as if not played, `average` with a credit for it."""
    if how not in (VOID, AVERAGE):
        raise TournamentError("annul_invalid", f"{how!r} is none of {VOID}, {AVERAGE}")
    table = find_table(stage, name)
    return _replace_table(stage, table, replace(table, annulled=how))


def restore(stage: Stage, name: str) -> Stage:
    """Return the stage with an annulled table back in the count."""
    table = find_table(stage, name)
    return _replace_table(stage, table, replace(table, annulled=""))


def place(stage: Stage, name: str, places: Sequence[int]) -> Stage:
    """Return the stage with new places at a table, by seat."""
    table = find_table(stage, name)
    return _replace_table(stage, table, replace(table, places=tuple(places)))


def penalise(stage: Stage, penalties: Mapping[int, int]) -> Stage:
    """Return the stage with these ticks subtracted, by entrant."""
    return replace(stage, penalties=dict(penalties)) if penalties else stage


def exclude(stage: Stage, entrant: int, results: str) -> Stage:
    """Return the stage without an entrant's results: `keep` them, `void` the tables, or place the entrant `last`.

    Game points stay as they are.
    """
    if results not in (KEEP, VOID, LAST):
        raise TournamentError("exclude_invalid", f"{results!r} is none of {KEEP}, {VOID}, {LAST}")
    if results == KEEP:
        return stage
    tables = []
    for table in stage.tables:
        if entrant not in table.entrants:
            tables.append(table)
        elif results == VOID:
            tables.append(replace(table, annulled=VOID))
        else:
            tables.append(replace(table, places=place_last(table.places, table.entrants.index(entrant))))
    return replace(stage, tables=tuple(tables))


def place_last(places: tuple[int, ...], seat: int) -> tuple[int, ...]:
    """Return the places with one seat alone in the last one; the seats behind it move up."""
    if not places:
        return places
    rest = [place for other, place in enumerate(places) if other != seat]
    return tuple(
        len(places) if other == seat else 1 + sum(before < place for before in rest)
        for other, place in enumerate(places)
    )
