"""Requests of agents: a program says so by a header, and the terms of an event may refuse it.

Behind a person's own token nobody can tell who acts: honest programs send it, `annals mcp` and `/mcp` among them.
"""

from __future__ import annotations

from api.http.problems import Problem
from api.services import services
from domain.service.database import Statement
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.terms import NO_BOTS
from domain.types import Doc, Seat
from projections.game_documents import SeatDoc, SummaryDoc


def refuse_agent(headers: Doc, game: str) -> None:
    """Raise Problem if an agent asks at a table of an event without programs."""
    if headers["agent"] and (place := services().reader.find_tournament(game)) is not None:
        refuse_agent_in_event(headers, services().tournaments.load(place.tournament))


def refuse_agent_in_event(headers: Doc, tournament: Tournament) -> None:
    """Raise Problem if an agent asks in an event without programs."""
    if headers["agent"] and tournament.terms.bots == NO_BOTS:
        raise Problem("programs_not_allowed")


def mark_seat(headers: Doc, game: str, seat: Seat, player: str) -> list[Statement]:
    """Return statements to mark a player's seat as an agent's; none for other callers."""
    return [services().seat_tokens.agent_seats.mark(game, seat, player)] if headers["agent"] else []


def add_agents(doc: SummaryDoc) -> SummaryDoc:
    """Return a summary with the marks of seats played by agents."""
    marked = services().seat_tokens.agent_seats.list_players(doc["game"])
    return {**doc, "seats": [_add_mark(each, marked) for each in doc["seats"]]} if marked else doc


def _add_mark(seat: SeatDoc, marked: dict[Seat, str]) -> SeatDoc:
    return {**seat, "agent": True} if seat["player"] and marked.get(seat["seat"]) == seat["player"] else seat
