"""Pages that explain an event: an entrant with each figure of the points, and who has met whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlencode

from flask import Response, request

from api.pages.common.in_process import read_document
from api.pages.common.numbers import parse_number
from api.pages.common.session import render_games_page
from api.pages.tournaments.tournament_pages import load_tournament
from api.schemas.tournament_responses import EntrantCardDoc, ExplanationDoc, MeetingsDoc, StandingsDoc
from domain.tournaments.aggregate.tournament import MAX_NUMBER

MOST_IN_SQUARE = 40
"""Most entrants of a cross table; more of them have a list each."""


def show_entrant(tournament: str, entrant: int) -> Response:
    """Show an entrant: points by their parts, tables, opponents, and places after each round."""
    page = load_tournament(tournament)
    query = read_view()
    path = f"/tournaments/{tournament}/entrants/{entrant}?{urlencode(_to_query(query))}"
    card = read_document(EntrantCardDoc, path)
    neighbours = _list_neighbours(tournament, entrant, query) if card["parts"] else []
    return render_games_page("tournament_entrant", page=page, card=card, query=query, neighbours=neighbours)


def _list_neighbours(tournament: str, entrant: int, query: dict[str, int]) -> list[tuple[int, int]]:
    """Return an entrant with the one before in the standings, and with the one behind: the better place first."""
    found = read_document(StandingsDoc, f"/tournaments/{tournament}/standings?{urlencode(_to_query(query))}")
    order = [row["entrant"] for row in found["standings"]]
    return [pair for pair in pairwise(order) if entrant in pair]


def read_view() -> dict[str, int]:
    """Return stage and round of the standings that are looked at, if the address names them."""
    found = {name: parse_number(request.args.get(name, ""), 999) or 0 for name in ("stage", "after")}
    return {name: value for name, value in found.items() if value}


def _to_query(view: dict[str, int]) -> dict[str, int]:
    return {{"after": "after_round"}.get(name, name): value for name, value in view.items()}


@dataclass(frozen=True)
class CrossTable:
    """Meetings of all entrants, in order of the standings."""

    entrants: Sequence[int]
    tables: dict[tuple[int, int], list[str]]

    @property
    def is_square(self) -> bool:
        """Return True if it is small enough for a column to each entrant."""
        return len(self.entrants) <= MOST_IN_SQUARE

    def list_tables(self, one: int, other: int) -> list[str]:
        """Return the tables that two have shared."""
        return self.tables.get((min(one, other), max(one, other)), [])

    def list_met(self, entrant: int) -> list[tuple[int, list[str]]]:
        """Return the opponents of an entrant, with the tables."""
        return [
            (other, found)
            for other in self.entrants
            if other != entrant and (found := self.list_tables(entrant, other))
        ]


def show_meetings(tournament: str) -> Response:
    """Show who has met whom."""
    page, view = load_tournament(tournament), read_view()
    stage = f"?stage={view['stage']}" if "stage" in view else ""
    met = read_document(MeetingsDoc, f"/tournaments/{tournament}/meetings{stage}")
    standings = read_document(StandingsDoc, f"/tournaments/{tournament}/standings{stage}")["standings"]
    ranked = [row["entrant"] for row in standings]
    order = [*ranked, *(entrant for entrant in met["entrants"] if entrant not in ranked)]
    table = CrossTable(order, {(each["a"], each["b"]): each["tables"] for each in met["meetings"]})
    return render_games_page("tournament_meetings", wide=True, page=page, cross=table)


def explain_places(tournament: str) -> Response:
    """Show why one entrant stands before another, of all with a place: those who have left too."""
    page, view = load_tournament(tournament), read_view()
    query, path = _to_query(view), f"/tournaments/{tournament}"
    pair = {name: parse_number(request.args.get(name, ""), MAX_NUMBER) or 0 for name in ("a", "b")}
    ranked = read_document(StandingsDoc, f"{path}/standings?{urlencode(query)}")["standings"]
    told = None
    if pair["a"] != pair["b"]:
        told = read_document(ExplanationDoc, f"{path}/explain?{urlencode(pair | query)}")
    entrants = sorted(row["entrant"] for row in ranked)
    return render_games_page("tournament_places", page=page, pair=pair, told=told, entrants=entrants, view=view)
