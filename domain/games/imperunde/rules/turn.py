"""IMP-6: the turn. The lowest frame of a game names the next step."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.imperunde import frames
from domain.games.imperunde.data import UNITS
from domain.games.imperunde.facts.money import InvestmentsEnded, PostsSettled
from domain.games.imperunde.facts.movement import PartEnded, PartStarted, PinsRemoved
from domain.games.imperunde.facts.turn import OrderFixed, PhaseStarted, TurnStarted
from domain.games.imperunde.rules import budget, cleanup, diplomacy, events, setup, sinking
from domain.games.imperunde.rules.dice import highest
from domain.games.imperunde.rules.end import check_turn_limit
from domain.games.imperunde.rules.windows import open_window
from domain.games.imperunde.state import D
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import Move
from domain.types import Seat

Step = Callable[[D, int], None]


def go_game(d: D, frame: Frame) -> None:
    """Do the next step."""
    game = frame.context(frames.Game)
    STEPS[game.step](d, game.at)


def _then(d: D, step: frames.StepName, at: int = 0) -> None:
    """Note the next step, before this one asks anybody."""
    d.note(step=step, at=at)


def _by_seat(step: frames.StepName, after: frames.StepName, ask: Callable[[D, Seat], None]) -> Step:
    """Return a step taken by every seat in turn order."""

    def run(d: D, at: int) -> None:
        if at == d.state.seats:
            return _then(d, after)
        _then(d, step, at + 1)
        return ask(d, d.state.order[at])

    return run


def _window(phase: int, after: frames.StepName) -> Step:
    """Return a phase starting with an open window for all seats (IMP-11.3)."""

    def run(d: D, _: int) -> None:
        _start(d, phase)
        _then(d, after)
        open_window(d, frames.OpenWindow(tuple(d.state.everybody), phase))

    return run


def _start(d: D, phase: int) -> None:
    d.add(PhaseStarted(phase))


# --- steps ---------------------------------------------------------------------------------------------------


def _turn(d: D, _: int) -> None:
    """IMP-6.1: first player and direction."""
    turn = d.state.turn + 1
    d.add(TurnStarted(turn))
    first, seats = highest(d, list(d.state.everybody)), d.state.seats
    way = 1 if turn % 2 else -1
    d.add(OrderFixed([(first + way * i) % seats for i in range(seats)]))
    _start(d, 2)
    diplomacy.start(d)
    _then(d, "revenue")
    diplomacy.ask_talks(d)


def _revenue(d: D, _: int) -> None:
    """IMP-6.3.1: the revenue window."""
    _start(d, 3)
    _then(d, "budget")
    open_window(d, frames.OpenWindow(tuple(d.state.everybody), 3))


def _budget(d: D, _: int) -> None:
    """IMP-6.3.2, IMP-6.3.3."""
    budget.compute(d)
    _then(d, "apply")
    d.ask(frames.Budget(), *d.state.everybody)


def _apply(d: D, _: int) -> None:
    """IMP-6.3.4."""
    budget.apply(d)
    _then(d, "invest_window")


def _settle(d: D, _: int) -> None:
    """IMP-6.4.6: posts cease to be fresh."""
    d.add(PostsSettled())
    _then(d, "cleanup_window")


def _cleanup(d: D, _: int) -> None:
    """IMP-6.5."""
    _then(d, "move_start")
    cleanup.start(d)


def _move_start(d: D, _: int) -> None:
    _start(d, 6)
    _then(d, "move_window")


def _move_window(d: D, at: int) -> None:
    """IMP-6.6.1: before a seat's part an open window asks the others."""
    if at == d.state.seats:
        return _then(d, "unpin")
    seat = d.state.order[at]
    _then(d, "movement", at)
    open_window(d, frames.OpenWindow([s for s in d.state.everybody if s != seat], 6, seat))
    return None


def _movement(d: D, at: int) -> None:
    """IMP-6.6.2: the seat's units get their moves."""
    _then(d, "move_window", at + 1)
    seat = d.state.order[at]
    land = {u.id: u.moves for u in UNITS.values() if u.kind == "army"}
    d.add(PartStarted(seat, land, UNITS["frigate"].moves))
    sinking.sink_for_active(d)
    d.ask(frames.Movement(), seat)


def _unpin(d: D, _: int) -> None:
    """IMP-6.6.5."""
    d.add(PinsRemoved())
    _then(d, "embark_window")


def _events(d: D, _: int) -> None:
    _then(d, "turn_end")
    events.start(d)


def _turn_end(d: D, _: int) -> None:
    """IMP-6.6.5, IMP-12.3."""
    d.add(PinsRemoved())
    check_turn_limit(d)
    _then(d, "turn")


STEPS: dict[frames.StepName, Step] = {
    "fleet": _by_seat("fleet", "colony", setup.ask_fleet),
    "colony": setup.next_colony,
    "turn": _turn,
    "revenue": _revenue,
    "budget": _budget,
    "apply": _apply,
    "invest_window": _window(4, "investment"),
    "investment": _by_seat("investment", "settle", lambda d, seat: d.ask(frames.Investment(), seat)),
    "settle": _settle,
    "cleanup_window": _window(5, "cleanup"),
    "cleanup": _cleanup,
    "move_start": _move_start,
    "move_window": _move_window,
    "movement": _movement,
    "unpin": _unpin,
    "embark_window": _window(7, "embarkation"),
    "embarkation": _by_seat("embarkation", "event_window", lambda d, seat: d.ask(frames.Embarkation(), seat)),
    "event_window": _window(8, "events"),
    "events": _events,
    "turn_end": _turn_end,
}


def do_end(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """IMP-6.4.1, IMP-6.6.3, IMP-6.7.1, IMP-10.7: the seat has done with its part."""
    if frame.kind == "investment":
        d.add(InvestmentsEnded(seat, d.state.nations[seat].available))
    if frame.kind in ("movement", "fair_wind"):
        d.add(PartEnded(seat))
    d.mark_answered(seat, end=True)
