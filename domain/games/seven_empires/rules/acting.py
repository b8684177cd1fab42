"""Contexts of an action's questions (SE7-3.4)."""

from __future__ import annotations

from typing import TypeVar

from domain.games.seven_empires import frames
from domain.games.seven_empires.state import D

A = TypeVar("A", bound=frames.Acting)


def ask_actor(d: D, kind: type[A]) -> None:
    """SE7-4.5, SE7-4.6: the actor decides."""
    turn = d.state.current
    d.ask(kind(turn.seat, turn.mode, d.state.acting, turn.action or ""), d.state.actor)
