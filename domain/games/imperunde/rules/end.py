"""IMP-12: the goal, the turn limit, and leaving seats."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Literal

from domain.games.imperunde.facts.turn import GameWon
from domain.games.imperunde.state import D, ImpeRunde, worth
from domain.types import Seat


class GameEnded(Exception):
    """The game has just ended, with everything in progress (IMP-12.1). Never leaves the ruleset."""


def rank_key(s: ImpeRunde, seat: Seat) -> tuple[int, ...]:
    """IMP-12.4: the figures for the ranking, greatest first."""
    at = s.order.index(seat) if seat in s.order else seat
    nation = s.nations[seat]
    return int(s.winner == seat), s.posts(seat), -nation.debt, nation.surplus, worth(s, seat), -at


def ranking(s: ImpeRunde) -> list[Seat]:
    """IMP-12.4: all seats, first to last."""
    return sorted(s.everybody, key=lambda seat: rank_key(s, seat), reverse=True)


def check_win(d: D) -> None:
    """IMP-12.1, IMP-12.2: a seat without debt and with enough posts wins at once."""
    s = d.state
    able = [seat for seat in s.everybody if not s.nations[seat].debt and s.posts(seat) >= s.goal]
    if able:
        place = {seat: -i for i, seat in enumerate(s.order)}
        win(d, max(able, key=lambda x: (s.posts(x), s.nations[x].surplus, place.get(x, -x))), "goal")


def win(d: D, seat: Seat, reason: Literal["goal", "turn_limit"]) -> None:
    """IMP-12.1, IMP-12.3: the game ends with a winner."""
    d.add(GameWon(seat, reason))
    finish(d)


def finish(d: D) -> None:
    """IMP-12.1: pending decisions lapse."""
    d.finish()
    raise GameEnded


def check_turn_limit(d: D) -> None:
    """IMP-12.3: after the last turn the first of the ranking wins."""
    if d.state.turn_limit and d.state.turn >= d.state.turn_limit:
        win(d, ranking(d.state)[0], "turn_limit")


Answer = Callable[[D, Seat], None]


def until_the_end(act: Callable[..., None], answer: Answer) -> Callable[..., None]:
    """Return the handler, cut short at the end of the game; then vacant seats answer if due (IMP-11.10)."""

    @functools.wraps(act)
    def handler(d: D, *args: object) -> None:
        try:
            act(d, *args)
            _answer_for_vacant(d, answer)
        except GameEnded:
            return

    return handler


def _answer_for_vacant(d: D, answer: Answer) -> None:
    while d.state.frames:
        absent = [seat for seat in d.state.top.owing if seat in d.state.vacant]
        if not absent:
            return
        answer(d, absent[0])


def vacated(d: D, seat: Seat) -> None:
    """IMP-11.10: without a player left, the game ends without a winner."""
    if not d.state.present:
        finish(d)
