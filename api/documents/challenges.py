"""A person's open challenges."""

from __future__ import annotations

from collections.abc import Sequence

from api.schemas.accounts import MyChallengeDoc, MyChallengesDoc
from api.services import ApiServices


def build_challenges(s: ApiServices, players: Sequence[str], account: str) -> MyChallengesDoc:
    """Return the open challenges of these players, without challenges from people the account blocks."""
    blocked = {player for player, _ in s.account_store.social_graph.list_blocks(account)} if account else set()
    challenges = [
        c for c in s.account_store.social_graph.list_challenges(players) if not blocked & set(_player_ids(s, c.by))
    ]
    names, cards = (
        s.seat_tokens.texts.list_names([c.by for c in challenges]),
        s.seat_tokens.texts.list_cards([c.game for c in challenges]),
    )
    items: list[MyChallengeDoc] = [
        {
            "game": c.game,
            "title": cards.get(c.game, ("", ""))[0],
            "seat": c.seat,
            "by": c.by,
            "name": names.get(c.by),
            "at": c.at,
            "until": c.until,
        }
        for c in challenges
    ]
    return {"items": items}


def _player_ids(s: ApiServices, player: str) -> list[str]:
    """Return all player ids of the person with this id."""
    account = s.account_store.accounts.find_by_player(player)
    return s.account_store.accounts.list_players(account.id) if account else [player]
