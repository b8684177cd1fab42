"""The last turn of a table with a time limit: the term `last_turn` lets it be played to its end.

A turn is the smallest numbered part of the chronicle: a round where the game numbers rounds, else a turn.
"""

from __future__ import annotations

from typing import NamedTuple

from domain.kernel.game.deadlines import SECOND
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import MAX_INT


class TurnNumber(NamedTuple):
    """Place of a turn in its game."""

    turn: int
    round: int


def number_turn(rules: AnyRuleset, state: State) -> TurnNumber:
    """Return the place of the current turn."""
    chapter = rules.chapter(state)
    return TurnNumber(chapter.turn, chapter.round)


def find_last_turn(rules: AnyRuleset, game: AnyGame, at: int) -> tuple[int, int] | None:
    """Return the turn of the game's time limit, as known at a record's time; None before it."""
    if "last_turn" not in game.terms or game.timing.last_turn is not None:
        return game.timing.last_turn
    end = game.limit_end
    return None if end is None or at < end else number_turn(rules, game.state)


def is_last_turn_over(rules: AnyRuleset, game: AnyGame) -> bool:
    """Return True beyond the turn of the game's time limit."""
    last = game.timing.last_turn
    return last is not None and game.status == "running" and number_turn(rules, game.state) > last


def find_adjournment(rules: AnyRuleset, game: AnyGame) -> int | None:
    """Return the time of adjournment by the clock, ms: at its limit, or after its last turn.

    A last turn that does not end ends with its longest time. None without a limit, or while no clock runs.
    """
    end = game.limit_end
    if end is None:
        return None
    over_at = game.time if is_last_turn_over(rules, game) else MAX_INT
    return max(end, min(end + int(game.terms.get("last_turn") or 0) * SECOND, over_at))
