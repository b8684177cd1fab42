"""SOE-7.1 to SOE-7.3: rounds, turns, and when they end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import CONSTANTS, TILES
from domain.games.struggle_of_empires.facts.sequence import Action, ActionTaken, RoundEnded, TurnEnded, TurnStarted
from domain.games.struggle_of_empires.moves import Pass
from domain.games.struggle_of_empires.state import D, Struggle
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, Move
from domain.types import Seat

M = TypeVar("M", bound=Move)


def start_turn(d: D, seat: Seat) -> None:
    """SOE-7.1.1: two actions for the next seat in turn order."""
    d.add(TurnStarted(seat, CONSTANTS["actions_per_turn"]))
    d.ask(frames.Turn(), seat)


def end_round(d: D) -> None:
    """SOE-9.2.4: bans end with the round."""
    d.add(RoundEnded(d.state.round))


def take_action(d: D, action: Action, moves: int = 0, militia: int = 0) -> None:
    """SOE-7.2.1: one action less; open moves are closed."""
    turn = d.state.acting
    d.add(ActionTaken(turn.seat, action, turn.actions_left - 1, moves or UNSET, militia or UNSET))


def in_turn(act: Callable[[D, Frame, Seat, M], None]) -> Callable[[D, Frame, Seat, M], None]:
    """Return the handler of a move with a possible end of the turn after it."""

    def handler(d: D, frame: Frame, seat: Seat, move: M) -> None:
        act(d, frame, seat, move)
        end_turn_if_over(d)

    handler.__doc__ = act.__doc__
    return handler


def end_turn_if_over(d: D) -> None:
    """SOE-7.3.2: the turn ends by itself once nothing is left to decide; never while a combat goes on."""
    if d.state.top.kind == "turn" and is_over(d.state, d.state.acting.seat):
        _end_turn(d, d.state.acting.seat)


def is_over(s: Struggle, seat: Seat) -> bool:
    """SOE-7.3.2: no action, movement, Militia build or free action is left."""
    empire, turn = s.empires[seat], s.acting
    militia = turn.militia_left and empire.population and empire.supply("army")
    free = any(TILES[t.tile].free_action and not t.used for t in empire.tiles)
    return not (turn.actions_left or turn.moves_left or militia or free)


def do_pass(d: D, frame: Frame, seat: Seat, move: Pass) -> None:
    """SOE-7.3.1: always legal; forfeits the rest of the round."""
    _end_turn(d, seat)


def _end_turn(d: D, seat: Seat) -> None:
    d.mark_answered(seat, end=True)
    d.add(TurnEnded(seat))
