"""Vacate the seats of a banned or erased account."""

from __future__ import annotations

from collections.abc import Sequence

from api.routes.games import hold_seconds
from api.services import services
from domain.errors import NotSeated, RuleError
from domain.kernel.game.table_commands import Leave

_LIVE = ("open", "running")
_MAX_GAMES = 5000


def leave_all_seats(players: Sequence[str]) -> list[str]:
    """Vacate all seats of these players, held as agreed at each table, and return the affected games.

    It can be called again after an interruption, and then continues.
    """
    s = services()
    roles = s.seat_tokens.list_roles(*players)
    live = {
        doc["game"]
        for status in _LIVE
        for _, doc in s.reader.list_summaries(list(roles), status, limit=_MAX_GAMES, inside=True)
    }
    return sorted(game for game in live if _leave_seats(game, set(players)))


def _leave_seats(game: str, players: set[str]) -> int:
    """Vacate the players' seats in one game, and return their number."""
    s, left = services(), 0
    for seat, player in sorted(s.commands.game(game).players.items()):
        if player.id not in players:
            continue
        now = s.commands.game(game)
        try:
            stored = s.commands.handle(
                game,
                Leave(seat, hold_seconds(now, seat, None, directed=False)),
                seat_guard=(seat, player.id),
                extra_statements=lambda _, seat=seat: s.seat_tokens.revoke(game, seat),  # type: ignore[misc] # a default binds it now
            )
        except (RuleError, NotSeated):  # closed or taken over meanwhile
            continue
        s.notify_appended(stored.position)
        left += 1
    return left
