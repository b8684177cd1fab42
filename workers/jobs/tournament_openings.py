"""Repeating events: the next one is opened."""

from __future__ import annotations

from domain import tournament_series
from domain.accounts.account_store import AccountStore
from domain.errors import GameDamaged, StaleVersion, UnknownTournament
from domain.service.seat_tokens import SeatTokens
from workers.context import current_context
from workers.jobs.turns import DONE, GONE


def open_next(tournament: str, _: str) -> str:
    """Open the event after this one."""
    context = current_context()
    ledger, accounts = context.ledger, AccountStore(context.ledger, context.ledger.keys).accounts

    def is_active(player: str) -> bool:
        account = accounts.find_by_player(player)
        return account is not None and account.state == "active"

    try:
        made = tournament_series.open_next(context.tournaments, SeatTokens(ledger, ledger.keys), tournament, is_active)
    except (GameDamaged, StaleVersion, UnknownTournament):
        return GONE
    version = ledger.version(tournament)
    context.notify_appended(ledger.position(tournament, version) or 0)
    return DONE if made else GONE
