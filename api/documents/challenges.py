"""Challenges that wait for a person's answer, as the person is shown them."""

from __future__ import annotations

from collections.abc import Sequence

from api.services import Doc, Services


def asked(s: Services, players: Sequence[str], account: str) -> Doc:
    """The tables to which whoever has these ids is asked, without what people ask whom the account blocks."""
    away = {player for player, _ in s.people.circle.blocks(account)} if account else set()
    found = [c for c in s.people.circle.challenges(players) if not away & set(_persons(s, c.by))]
    names, cards = s.access.names([c.by for c in found]), s.access.cards([c.game for c in found])
    shown = [
        {
            "game": c.game,
            "title": cards.get(c.game, ("", ""))[0],
            "seat": c.seat,
            "by": c.by,
            "name": names.get(c.by),
            "at": c.at,
            "until": c.until,
        }
        for c in found
    ]
    return {"items": shown}


def _persons(s: Services, player: str) -> list[str]:
    """All ids of the person behind one of them."""
    account = s.people.accounts.playing(player)
    return s.people.accounts.players(account.id) if account else [player]
