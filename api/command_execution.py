"""Execution of commands for the caller of a route."""

from __future__ import annotations

from typing import TypedDict, Unpack

from api import authorization
from api.services import services
from domain.command_handler import CommandResult, ExtraStatements, SeatGuard
from domain.kernel.game.command import Command
from domain.service.request_keys import RequestKey


class Conditions(TypedDict, total=False):
    """Conditions of a command, as of `CommandHandler.handle`."""

    expected: int | None
    seat_guard: SeatGuard | None
    idempotency_key: RequestKey | None
    extra_statements: ExtraStatements


def execute_command(
    game: str, command: Command, *, as_player: bool = False, **conditions: Unpack[Conditions]
) -> CommandResult:
    """Execute a command of the caller. One of a director is refused where a director with a seat must not give it.

    Every route goes this way, so that no command escapes the check. With `as_player` the caller acts on the own seat.
    """
    officer = [] if as_player else authorization.officer_ids(game)
    return services().commands.handle(game, command, officer=officer, **conditions)
