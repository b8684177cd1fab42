"""Vacate the seats of a banned or erased account, withdraw it from tournaments, and end its roles as an officer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from api.routes.leaving import hold_seconds
from api.services import services
from domain.command_handler import GameConditions
from domain.errors import NotSeated, RuleError
from domain.kernel.game.director_commands import Depute
from domain.kernel.game.officers import Officer
from domain.kernel.game.table_commands import Leave
from domain.kernel.records.record import Record
from domain.service.database import Statement

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


def leave_tournaments(players: Sequence[str]) -> None:
    """Withdraw these players from all tournaments, and end their offices there; it can be called again.

    Nobody draws them then. A draw looks once more, for somebody who has entered meanwhile.
    """
    s = services()
    for tournament in s.reader.list_open_tournaments():
        if position := s.tournament_tables.leave(tournament, players):
            s.notify_appended(position)


def vacate_gone_players(game: str) -> None:
    """Vacate the seats of accounts banned or erased while a ruling was pending, when nobody could leave."""
    s = services()
    found = {
        player: s.account_store.accounts.find_holder(player) for player in s.seat_tokens.list_account_players(game)
    }
    gone = {player for player, account in found.items() if account is None or account.state == "banned"}
    if gone:
        _leave_seats(game, gone)


def give_up_offices(players: Sequence[str]) -> None:
    """End all roles of these players as officers, except ownership; it can be called again after an interruption."""
    s = services()
    for game, player, _ in s.seat_tokens.officers.list_by_player(players):
        office = s.commands.game(game).lasting.staff.office_of(player)
        if office is None or office == "owner":
            continue
        rows = s.seat_tokens.officers.dismiss(game, player)
        conditions = GameConditions(author=Officer(player, office), extra_statements=partial(_return_rows, rows))
        with suppress(RuleError):  # closed meanwhile
            stored = s.commands.handle(game, Depute(player, "none"), conditions)
            s.notify_appended(stored.position)


def _leave_seats(game: str, players: set[str]) -> int:
    """Vacate the players' seats in one game, and return their number."""
    s, left = services(), 0
    for seat, player in sorted(s.commands.game(game).players.items()):
        if player.id not in players:
            continue
        hold = hold_seconds(s.commands.game(game), seat, None, directed=False)
        rows = s.seat_tokens.revoke(game, seat)
        conditions = GameConditions(seat_guard=(seat, player.id), extra_statements=partial(_return_rows, rows))
        try:
            stored = s.commands.handle(game, Leave(seat, hold), conditions)
        except (RuleError, NotSeated):  # closed or taken over meanwhile
            continue
        s.notify_appended(stored.position)
        left += 1
    return left


def _return_rows(rows: Sequence[Statement], _: Record) -> Sequence[Statement]:
    return rows
