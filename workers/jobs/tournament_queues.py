"""Queues of ladders and arenas: the tables now due."""

from __future__ import annotations

from domain.errors import GameDamaged, RuleError, UnknownTournament
from workers.context import current_context
from workers.jobs.turns import DONE, GONE


def serve_queue(tournament: str, _: str) -> str:
    """Make the tables now due from the queue of a tournament."""
    context = current_context()
    try:
        context.tournament_tables.serve_queue(tournament)
    except (GameDamaged, RuleError, UnknownTournament):
        return GONE
    version = context.ledger.version(tournament)
    context.notify_appended(context.ledger.position(tournament, version) or 0)
    return DONE
