"""Stakes in tournaments: entrants, their substitutes and people related to them decide nothing there as officers."""

from __future__ import annotations

from collections.abc import Sequence

from api.services import services
from domain.tournaments.aggregate.tournament import Tournament


def list_related(account: str) -> tuple[str, ...]:
    """Return the player ids of the people to whom an account has declared a relation; none of hidden seats."""
    store = services().account_store
    return tuple(sorted(store.accounts.list_shown_alike(store.social_graph.list_relations(account))))


def has_stake_in_stage(t: Tournament, players: Sequence[str], stage: int = 0) -> bool:
    """Return whether a person with these player ids has a stake in a stage, by default the current one."""
    accounts = (services().account_store.accounts.find_by_player(player) for player in players)
    related = next((list_related(account.id) for account in accounts if account), ())
    return t.has_stake(stage or len(t.stages), (*players, *related))


def has_stake_in_event(game: str, players: Sequence[str]) -> bool:
    """Return whether a person with these player ids has a stake in the stage to which a table belongs.

    After the end of a tournament no place moves.
    """
    place = services().reader.find_tournament(game) if players else None
    if place is None:
        return False
    t = services().tournaments.load(place.tournament)
    return not t.is_over and has_stake_in_stage(t, players, place.stage)
