"""Tournaments as aggregates, for tests: terms, ids and people."""

from __future__ import annotations

from typing import Any

from domain.tournament_handler import TournamentHandler
from domain.tournaments.draw import commit_nonce
from domain.tournaments.event import Tournament
from domain.tournaments.event_commands import CheckIn, CloseCheckIn, Draw, Enter, OpenCheckIn, ShowNonce

TERMS: dict[str, Any] = {
    "ruleset": "orders@1",
    "least": 3,
    "most": 3,
    "preferred": 3,
    "options": {},
    "table": {"pace": None, "undo": "free", "listing": "public"},
    "listing": "public",
    "stages": [{"format": "league", "rounds": 2}],
    "reveal": 60,
}


def tournament_id(number: int = 1) -> str:
    """Return an id in the form of those of tournaments."""
    return f"00000000-0000-8000-8000-{number:012x}"


def drawn(handler: TournamentHandler, people: int = 9, tournament: str = "", **terms: Any) -> Tournament:
    """Return a tournament after its draw; every third entrant has sent a nonce."""
    made = tournament or tournament_id()
    handler.open(made, "organiser", {**TERMS, **terms})
    for entrant in range(people):
        handler.handle(made, Enter(f"p{entrant}"))
    handler.handle(made, OpenCheckIn())
    for entrant in range(people):
        handler.handle(made, CheckIn((f"p{entrant}",), "" if entrant % 3 else commit_nonce(f"wind {entrant}")))
    handler.handle(made, CloseCheckIn())
    for entrant in range(0, people, 3):
        handler.handle(made, ShowNonce((f"p{entrant}",), f"wind {entrant}"))
    handler.handle(made, Draw(1, 1))
    return handler.load(made)
