"""Execution of commands for the caller of a route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from api import event_stakes, officer_rights
from api.http.problems import Problem
from api.services import services
from domain.command_handler import UNCONDITIONAL, CommandResult, GameConditions
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Depute
from domain.service.database import Statement


def execute_command(
    game: str,
    command: Command,
    conditions: GameConditions = UNCONDITIONAL,
    *,
    as_player: bool = False,
    reason: str = "",
    author_ids: Sequence[str] = (),
) -> CommandResult:
    """Execute a command of the caller. One of a director is refused where a director with a seat must not give it.

    Every route goes this way, so that no command escapes the check. With `as_player` the caller acts on the own seat.
    The record names the officer behind it, by default the caller, else the conditions' `author` with these player ids.
    It holds a salted hash of the reason; the text is stored beside it and can be erased. Only officers give reasons.
    """
    s, rows = services(), list[Statement]()
    ids = [] if as_player else author_ids or officer_rights.officer_ids(game)
    in_event = not command.open_to_players and _has_stake_in_event(game, command, ids)
    author = conditions.author or (None if as_player else officer_rights.acting_officer(game))
    if reason:
        if author is None:
            raise Problem("directors_only", "Only a director may send `reason`.")
        hashed, rows = s.seat_tokens.texts.insert_text(author.player, reason)
        author = replace(author, reason=hashed)
    return s.commands.handle(
        game,
        command,
        replace(
            conditions,
            officer=ids,
            plays_in_event=in_event,
            author=author,
            extra_statements=lambda record: [*conditions.extra_statements(record), *rows],
        ),
    )


def _has_stake_in_event(game: str, command: Command, ids: Sequence[str]) -> bool:
    """Return whether an officer with these ids leaves a command to others; anybody may appoint a neutral person."""
    appointed = command.player if isinstance(command, Depute) and command.role != "none" else ""
    if appointed and not event_stakes.has_stake_in_event(game, [appointed]):
        return False
    return event_stakes.has_stake_in_event(game, ids)
