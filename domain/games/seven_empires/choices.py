"""Move builder: the moves accepted by `decide`, asked for one field at a time.

Every offer has passed the checks of a move. Lists of units come in one order, but for the two of an attack, placed one
after the other, and a path crosses no sea twice: every effect of a legal move is reached.
"""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.checks import is_legal
from domain.games.seven_empires import choices_movement, choices_units, frames
from domain.games.seven_empires.data import ACTIONS, CITIES, EMPIRES, SUBSTITUTE
from domain.games.seven_empires.moves import (
    AnswerPassage,
    BuildCity,
    BuildPalace,
    ChooseAction,
    ChooseDefender,
    Delegate,
    DraftInfluence,
    PlaceEventUnit,
    TakeInfluence,
    TakeWorker,
)
from domain.games.seven_empires.rules import building, delegation, draft, hourglass, palaces, turns
from domain.games.seven_empires.state import Seven
from domain.games.seven_empires.value_objects import Placing
from domain.kernel.rules.choices import Builder, Choice, one
from domain.kernel.rules.ruleset import memo
from domain.types import Json, Seat


def build(s: Seven, seat: Seat) -> Builder:
    """Return the builder of the open decision."""
    return BUILDERS[s.top.kind](s, seat)


# --- draft and turn -------------------------------------------------------------------------------------------


def draftable(s: Seven, seat: Seat) -> list[str]:
    """SE7-2.9, SE7-2.10: empires with a card for the seat to take."""
    return [empire for empire in EMPIRES if is_legal(draft.check_draft, s, seat, DraftInfluence(empire))]


def _draft(s: Seven, seat: Seat) -> Builder:
    return DraftInfluence((yield one("empire", draftable(s, seat))))


def actions(s: Seven, empire: str) -> list[str]:
    """SE7-4.4: actions with their markers on the tray."""
    return [action for action in ACTIONS if is_legal(turns.check_marker, s, empire, action)]


def _choose_empire(s: Seven, seat: Seat) -> Builder:
    about = s.top.context(frames.ChooseEmpire)
    empire = yield one("empire", about.empires)
    if about.mode == "delegation":
        return (yield from _delegate(s, empire))
    return ChooseAction(empire, (yield one("action", actions(s, empire))))


def _delegated_action(s: Seven, seat: Seat) -> Builder:
    empire = s.top.context(frames.ChooseDelegatedAction).empire
    return ChooseAction(empire, (yield one("action", actions(s, empire))))


def compensations(s: Seven) -> dict[str, Placing]:
    """SE7-4.6: city region -> units deployable there, in data order."""

    def find() -> dict[str, Placing]:
        offered = (p for region in CITIES for p in _products(s, region))
        return {p.region: p for p in offered if is_legal(delegation.check_compensation, s, p)}

    return memo(s, "compensations", find)


def _products(s: Seven, region: str) -> list[Placing]:
    if not s.level(region):
        return []
    primary = s.product(region)
    return [Placing(region, unit) for unit in (primary, SUBSTITUTE.get(primary)) if unit]


def _delegate(s: Seven, empire: str) -> Builder:
    offered = compensations(s)
    region = yield one("deploy", [None, *offered])
    return Delegate(empire, offered[region] if region else None)


# --- one region, or one word ------------------------------------------------------------------------------------


def _build_city(s: Seven, seat: Seat) -> Builder:
    return BuildCity((yield one("region", building.buildable(s, s.acting))))


def _build_palace(s: Seven, seat: Seat) -> Builder:
    return BuildPalace((yield one("region", palaces.growable(s, s.acting))))


def _passage(s: Seven, seat: Seat) -> Builder:
    return AnswerPassage((yield one("grant", [False, True])))


def _counterfight(s: Seven, seat: Seat) -> Builder:
    return ChooseDefender((yield one("unit", s.top.context(frames.Counterfight).units)))


def _influence(s: Seven, seat: Seat) -> Builder:
    return TakeInfluence((yield _tops(s)))


def _tops(s: Seven) -> Choice:
    """SE7-11.3: ask for one of the piles with cards left, by empire."""
    values: list[Json] = [empire for empire in EMPIRES if s.pile(empire)]
    return one("empire", values)


def _worker(s: Seven, seat: Seat) -> Builder:
    return TakeWorker((yield one("empire", s.workers())))


def _event_unit(s: Seven, seat: Seat) -> Builder:
    about = s.top.context(frames.TileUnit)
    empire = about.queue[0]
    return PlaceEventUnit(empire, (yield one("region", hourglass.places(s, empire, about.tile))))


BUILDERS: dict[str, Callable[[Seven, Seat], Builder]] = {
    "draft": _draft,
    "choose_empire": _choose_empire,
    "choose_delegated_action": _delegated_action,
    "build": _build_city,
    "deploy": choices_units.deploy,
    "palace": _build_palace,
    "attack_deploy": choices_units.attack_deploy,
    "movement": choices_movement.movement,
    "passage": _passage,
    "counterfight": _counterfight,
    "reduction": choices_units.reduction,
    "tile_influence": _influence,
    "tile_worker": _worker,
    "tile_unit": _event_unit,
}
