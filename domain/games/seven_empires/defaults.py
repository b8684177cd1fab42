"""SE7-16: moves played for a seat after its deadline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from domain.games.common.checks import is_legal
from domain.games.seven_empires import choices, frames
from domain.games.seven_empires.data import CARDS, DATA_ORDER, EMPIRES, UNITS
from domain.games.seven_empires.moves import (
    AnswerPassage,
    AttackDeploy,
    BuildCity,
    BuildPalace,
    ChooseAction,
    ChooseDefender,
    Delegate,
    Deploy,
    DraftInfluence,
    EndMovement,
    PlaceEventUnit,
    ReduceRegion,
    TakeInfluence,
    TakeWorker,
)
from domain.games.seven_empires.rules import attack, building, deploying, hourglass, palaces
from domain.games.seven_empires.state import Seven
from domain.games.seven_empires.value_objects import Placing
from domain.kernel.rules.flow import Decision
from domain.kernel.schema.declarations import Move
from domain.types import Seat

SAFE = ("build_deploy", "palace", "empire")
"""Default actions; one of them is always free."""
FALLS = ("infantry", "two_master", "artillery", "three_master")
"""SE7-16.1: the order for choosing a defender, and for removing excess units."""


def default(s: Seven, decision: Decision, seat: Seat) -> Move:
    """SE7-16: the default of every decision."""
    return DEFAULTS[decision.kind](s, seat)


def _draft(s: Seven, seat: Seat) -> Move:
    return DraftInfluence(choices.draftable(s, seat)[0])


def _choose_empire(s: Seven, seat: Seat) -> Move:
    about = s.top.context(frames.ChooseEmpire)
    empire = about.empires[0]
    return Delegate(empire, None) if about.mode == "delegation" else _action(s, empire)


def _action(s: Seven, empire: str) -> Move:
    free = choices.actions(s, empire)
    return ChooseAction(empire, next(action for action in SAFE if action in free))


def _deploy(s: Seven, seat: Seat) -> Move:
    units = [
        Placing(region, unit)
        for unit, regions in deploying.makers(s, s.acting).items()
        for region in regions[: s.supply(s.acting, unit)]
    ]
    return Deploy("each_city", sorted(units, key=lambda p: DATA_ORDER[p.region]))


def _attack_deploy(s: Seven, seat: Seat) -> Move:
    units: list[Placing] = []
    for _ in range(attack.number_due(s, s.acting)):
        units.append(_first_placing(s, Counter(p.unit for p in units)))
    return AttackDeploy(units)


def _first_placing(s: Seven, before: Counter[str]) -> Placing:
    every = (Placing(region, unit) for unit in UNITS for region in s.free_cities(s.acting))
    return next(p for p in every if is_legal(attack.check_placing, s, p, before))


def _defender(s: Seven, seat: Seat) -> Move:
    left = s.top.context(frames.Counterfight).units
    return ChooseDefender(next(unit for unit in FALLS if unit in left))


def _reduction(s: Seven, seat: Seat) -> Move:
    about = s.top.context(frames.Reduction)
    there = s.units_of(about.region, about.empire)
    every = [unit for unit in FALLS for _ in range(there.get(unit, 0))]
    return ReduceRegion(about.region, every[: about.excess])


def _influence(s: Seven, seat: Seat) -> Move:
    tops = {CARDS[pile[0]].empire: CARDS[pile[0]].value for e in EMPIRES if (pile := s.pile(e))}
    return TakeInfluence(max(tops, key=lambda empire: tops[empire]))


def _event_unit(s: Seven, seat: Seat) -> Move:
    about = s.top.context(frames.TileUnit)
    return PlaceEventUnit(about.queue[0], hourglass.places(s, about.queue[0], about.tile)[0])


DEFAULTS: dict[str, Callable[[Seven, Seat], Move]] = {
    "draft": _draft,
    "choose_empire": _choose_empire,
    "choose_delegated_action": lambda s, seat: _action(s, s.top.context(frames.ChooseDelegatedAction).empire),
    "build": lambda s, seat: BuildCity(building.buildable(s, s.acting)[0]),
    "deploy": _deploy,
    "palace": lambda s, seat: BuildPalace(palaces.growable(s, s.acting)[0]),
    "attack_deploy": _attack_deploy,
    "movement": lambda s, seat: EndMovement(),
    "passage": lambda s, seat: AnswerPassage(False),
    "counterfight": _defender,
    "reduction": _reduction,
    "tile_influence": _influence,
    "tile_worker": lambda s, seat: TakeWorker(s.workers()[0]),
    "tile_unit": _event_unit,
}
