"""IMP-11.9: moves entered by the engine for a vacant seat, or after a missed deadline."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import FIGHTERS, ROLL_ORDER
from domain.games.imperunde.moves import (
    WINDOW_FRAMES,
    Armies,
    ChooseStolenCard,
    ChooseUnits,
    EndEmbarkation,
    EndFairWind,
    EndInvestments,
    EndMovement,
    EquipColony,
    Pass,
    PlaceHomeFleet,
    Ready,
    Reinforce,
    SetBudget,
    VoteGoal,
    Want,
)
from domain.games.imperunde.rules.setup import fleet_zones
from domain.games.imperunde.rules.sides import side_units
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.rules.flow import Decision, Frame
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def default(s: ImpeRunde, decision: Decision, seat: Seat) -> Move:
    """IMP-11.9."""
    return default_move(s, s.top, seat)


def default_move(s: ImpeRunde, frame: Frame, seat: Seat) -> Move:
    """Return the default of the top frame."""
    make = _MADE.get(frame.kind)
    return make(s, frame, seat) if make else _FIXED[frame.kind]


def _fleet(s: ImpeRunde, frame: Frame, seat: Seat) -> Move:
    zone = fleet_zones(s, s.nations[seat].home, seat)[0]
    return PlaceHomeFleet(frigate=zone, ship_of_the_line=zone)


def _fighters(s: ImpeRunde, frame: Frame, seat: Seat) -> Move:
    """Choose the best dice first, pinned ones first."""
    best = sorted(
        side_units(s, frame.context(frames.ChooseUnits).side),
        key=lambda x: (ROLL_ORDER[x.unit], not x.pinned, x.moves_left),
    )
    chosen = unit_stacks.change((), list(unit_stacks.singles(best))[:FIGHTERS])
    return ChooseUnits([Want(x.unit, x.count, x.moves_left) for x in chosen])


_MADE: dict[str, Callable[[ImpeRunde, Frame, Seat], Move]] = {"setup_fleet": _fleet, "choose_units": _fighters}

_FIXED: dict[str, Move] = {
    "setup_colony": EquipColony("armies", units=[Armies("artillery", 1)]),
    "diplomacy": Ready(),
    "goal_vote": VoteGoal(approve=False),
    "budget": SetBudget(repay=0, borrow=0),
    "investment": EndInvestments(),
    "movement": EndMovement(),
    "embarkation": EndEmbarkation(),
    "fair_wind": EndFairWind(),
    "reinforce": Reinforce([]),
    "theft": ChooseStolenCard(None),
    **dict.fromkeys(WINDOW_FRAMES, Pass()),
}
