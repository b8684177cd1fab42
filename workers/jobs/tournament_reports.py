"""Reports of results: places and points of closed games, for the standings of their tournament."""

from __future__ import annotations

from domain.errors import GameDamaged, RuleError, UnknownTournament
from projections.reader import Reader
from workers.context import current_context
from workers.jobs.turns import DONE, GONE


def report_table(game: str, _: str) -> str:
    """Report the result of a table, once spectators know it."""
    context, reader = current_context(), Reader(current_context().views)
    found = reader.find_tournament(game)
    if found is None:
        return GONE
    try:
        pods = context.tournament_tables.report_results(*found[:3], reader.list_places, found.pod)
    except (GameDamaged, RuleError, UnknownTournament):
        return GONE
    if pods:
        version = context.ledger.version(found.tournament)
        context.notify_appended(context.ledger.position(found.tournament, version) or 0)
    return DONE
