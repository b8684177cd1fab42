"""SE7-4: choosing an empire and its action."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import ACTIONS
from domain.games.seven_empires.facts.sequence import MarkerPlaced
from domain.games.seven_empires.moves import ChooseAction
from domain.games.seven_empires.rules import attack, building, ending, movement, palaces
from domain.games.seven_empires.rules.checks import known_action, known_empire
from domain.games.seven_empires.rules.modes import choosable
from domain.games.seven_empires.state import D, Seven
from domain.kernel.rules.flow import Frame
from domain.types import Seat

MUST = {
    "monarch": "must_use_own_monarch",
    "influence": "must_use_highest_influence",
    "neutral": "must_use_neutral_empire",
    "delegation": "must_delegate",
}
"""Mode -> refusal code for an empire closed in it."""


def check_choose(s: Seven, seat: Seat, move: ChooseAction) -> None:
    """SE7-15.3: the errors of `choose_action`, in this order."""
    known_empire(move.empire)
    known_action(move.action)
    if s.top.kind == "choose_empire":
        check_empire(s, seat, move.empire)
    else:
        due = s.top.context(frames.ChooseDelegatedAction).empire
        require(move.empire == due, "wrong_empire", "SE7-4.6", empire=due)
    check_marker(s, move.empire, move.action)


def check_empire(s: Seven, seat: Seat, empire: str) -> None:
    """SE7-10.3, SE7-4.2: it has not acted, and the mode allows it."""
    need_waiting(s, empire)
    mode = s.current.mode
    allowed = mode != "delegation" and empire in choosable(s, seat, mode)
    require(allowed, MUST[mode], "SE7-4.2", empire=empire)


def need_waiting(s: Seven, empire: str) -> None:
    """SE7-10.3: an empire acts once in a decade."""
    require(not s.acted(empire), "empire_already_acted", "SE7-10.3", empire=empire)


def check_marker(s: Seven, empire: str, action: str) -> None:
    """SE7-4.4: the marker lies on the tray."""
    slot = s.empires[empire].markers.get(action, "")
    require(not slot, "action_not_available", "SE7-4.4", action=action, slot=slot)


def do_choose(d: D, frame: Frame, seat: Seat, move: ChooseAction) -> None:
    """SE7-4.4: the marker goes to slot I, and the action begins."""
    check_choose(d.state, seat, move)
    action = ACTIONS[ACTIONS.index(move.action)]
    d.mark_answered(seat, end=True)
    d.add(MarkerPlaced(seat, move.empire, action, d.state.current.mode))
    BEGIN[action](d)


def _empire(d: D) -> None:
    """SE7-7.1: as much power as flags."""
    empire = d.state.acting
    ending.score(d, empire, d.state.flags_of(empire), "empire")


BEGIN: dict[str, Callable[[D], None]] = {
    "build_deploy": building.begin,
    "move_fight": movement.begin_all,
    "attack": attack.begin,
    "palace": palaces.begin,
    "empire": _empire,
}
"""Action -> how it begins."""
