"""The card of an entrant of a tournament, with each figure of the points; and who has met whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from api.schemas.tournament_responses import (
    EntrantCardDoc,
    EntrantPointsDoc,
    EntrantTableDoc,
    MeetingDoc,
    OpponentDoc,
    ToldPartDoc,
)
from domain.kernel.text.message_catalog import load_texts
from domain.tournaments.aggregate.point_parts import PartsReader, describe_part, describe_total
from domain.tournaments.aggregate.stage import PodTable
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.results import TableResult
from domain.tournaments.ties import TieBreaks

Names = Mapping[str, str]
"""Player -> name."""


def label_entrants(t: Tournament, names: Names) -> dict[str, str]:
    """Return the names of the entrants by their numbers, if given."""
    return {str(number): names[each.player] for number, each in enumerate(t.entrants) if each.player in names}


def build_points(t: Tournament, stage: int, ties: TieBreaks, entrant: int, lang: str) -> EntrantPointsDoc:
    """Return the points of an entrant by their parts, each with its sentence."""
    texts, tally = load_texts("domain.tournaments", lang), ties.tally
    parts = PartsReader(t, stage, tally).list_parts(entrant)
    told: list[ToldPartDoc] = [{**part, "sentence": describe_part(part, texts)} for part in parts]
    is_inside = entrant not in tally.stage.outsiders
    return {
        "entrant": entrant,
        "place": ties.places[entrant],
        "ticks": tally.totals[entrant],
        "parts": told,
        "sentence": describe_total(tally, entrant, texts) if is_inside else "",
    }


def build_card(t: Tournament, stage: int, ties: TieBreaks, entrant: int, names: Names, lang: str) -> EntrantCardDoc:
    """Return the card of an entrant in a stage."""
    person = t.entrants[entrant]
    tables = PartsReader(t, stage, ties.tally).list_tables(entrant)
    labels, opponents = label_entrants(t, names), _list_opponents(tables, entrant)
    wanted = {entrant, *(each["entrant"] for each in opponents)}
    return {
        **build_points(t, stage, ties, entrant, lang),
        "tournament": t.id,
        "version": t.version,
        "stage": stage,
        "player": person.player,
        "withdrawn": person.withdrawn,
        "excluded": person.excluded,
        "names": {number: name for number, name in labels.items() if int(number) in wanted},
        "tables": [_table_to_json(t, stage, table, entrant) for table in tables],
        "opponents": opponents,
        "places": [
            next((row["place"] for row in ranking["standings"] if row["entrant"] == entrant), None)
            for ranking in t.stages[stage - 1].rankings
        ],
    }


def _table_to_json(t: Tournament, stage: int, table: TableResult, entrant: int) -> EntrantTableDoc:
    played = t.stages[stage - 1].tables.get((table.round, table.pod), PodTable(()))
    return {
        "table": table.name,
        "round": table.round,
        "game": played.game or None,
        "elsewhere": played.elsewhere,
        "seat": table.entrants.index(entrant),
        "entrants": list(table.entrants),
        "places": list(table.places),
        "points": list(table.points),
        "annulled": table.annulled,
    }


def _list_opponents(tables: Sequence[TableResult], entrant: int) -> list[OpponentDoc]:
    met: dict[int, list[str]] = {}
    for table in tables:
        for other in table.entrants:
            if other is not None and other != entrant:
                met.setdefault(other, []).append(table.name)
    return [{"entrant": other, "tables": met[other]} for other in sorted(met)]


def list_meetings(tables: Sequence[TableResult]) -> list[MeetingDoc]:
    """Return each pair of entrants who sat at one table, annulled ones too, with the tables."""
    met: dict[tuple[int, int], list[str]] = {}
    for table in tables:
        people = sorted(entrant for entrant in table.entrants if entrant is not None)
        for pair in combinations(people, 2):
            met.setdefault(pair, []).append(table.name)
    return [{"a": one, "b": other, "tables": met[one, other]} for one, other in sorted(met)]
