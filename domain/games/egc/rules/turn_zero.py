"""EGC-4.3, EGC-4.4, EGC-7.1: turn zero."""

from __future__ import annotations

from domain.errors import RuleError
from domain.games.egc.data import (
    ALLOCATION,
    ECONOMY,
    HOMES,
    RESEARCH,
    SEATS,
    START_DIVISIONS,
    TECHNOLOGIES,
    army_id,
    by_rank,
)
from domain.games.egc.facts.opening import AllocationFiled, EmpireFounded
from domain.games.egc.facts.relations import MannedSet
from domain.games.egc.facts.sheets import SheetOpened, TurnStarted
from domain.games.egc.moves import AllocateTurnZero
from domain.games.egc.rules.seas import controlled
from domain.games.egc.rules.seats import ask_sheets
from domain.games.egc.rules.setup import starting_points
from domain.games.egc.rules.technology import ranks_of
from domain.games.egc.state import D, empire_of
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def allocate(d: D, frame: Frame, seat: Seat, move: AllocateTurnZero) -> None:
    """EGC-7.1: all 18,000 points; an omitted technology gets none."""
    points = move.points
    if unknown := sorted(set(points) - set(TECHNOLOGIES)):
        raise RuleError("unknown_technology", "EGC-7.0.6", {"technology": unknown[0]})
    if any(n < 0 for n in points.values()):
        raise RuleError("bad_amount", "EGC-7.1")
    if sum(points.values()) != RESEARCH["turn_zero_points"]:
        raise RuleError("turn_zero_total", "EGC-7.1", {"total": sum(points.values())})
    full = {technology: points.get(technology, 0) for technology in TECHNOLOGIES}
    d.add(AllocationFiled(seat, full), (seat,))


def go_turn_zero(d: D, frame: Frame) -> None:
    """EGC-4.4: ranks, first army, treasury and points; then the sheets of turn 1."""
    d.end()
    points = [d.state.sheets[seat].allocation or dict(ALLOCATION) for seat in SEATS]
    revenues = [e.revenue for e in d.state.empires]
    ranks = ranks_of(points, revenues, d.state.tie_order, d.state.in_play())
    for seat in SEATS:
        _found_empire(d, seat, points[seat], ranks[seat], revenues[seat])
    d.add(MannedSet({HOMES[seat]: empire_of(seat) for seat in SEATS}))
    start_turn(d, 1)


def _found_empire(d: D, seat: Seat, points: dict[str, int], ranks: dict[str, int], revenue: int) -> None:
    morale = by_rank("morale_start", ranks["officer_training"])
    training = by_rank("training_start", ranks["land_warfare"])
    fact = EmpireFounded(
        seat,
        points,
        ranks,
        treasury=revenue + ECONOMY["first_turn_bonus"][0],
        diplomacy=starting_points(by_rank("diplomacy_income", ranks["diplomacy"])),
        armies={army_id(seat, 1): (HOMES[seat], START_DIVISIONS, morale, training)},
        next_army=2,
    )
    d.add(fact, (seat,))


def start_turn(d: D, turn: int) -> None:
    """EGC-4.1, P15: new sheets for all active seats."""
    d.add(TurnStarted(turn))
    for seat in d.state.in_play():
        d.add(SheetOpened(seat, controlled(d.state, seat)), (seat,))
    ask_sheets(d, turn)
