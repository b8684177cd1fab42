"""The rules, one module per chapter of the rules page: the handlers of moves, and the continuations of frames.

Where to look:
- points of power: ending.py score
- conquest: attack.py
- battles: fights.py
"""

from __future__ import annotations

from collections.abc import Callable

from domain.games.seven_empires import moves
from domain.games.seven_empires.rules import (
    armies,
    attack,
    building,
    decades,
    delegation,
    deploying,
    fights,
    fleets,
    hourglass,
    movement,
    palaces,
    reductions,
    setup,
    turns,
)
from domain.games.seven_empires.state import D, Seven
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import Handler, on

HANDLERS: dict[str, Handler[Seven]] = dict(
    (
        on(moves.DraftInfluence, setup.do_draft),
        on(moves.ChooseAction, turns.do_choose),
        on(moves.Delegate, delegation.do_delegate),
        on(moves.BuildCity, building.do_build),
        on(moves.Deploy, deploying.do_deploy),
        on(moves.BuildPalace, palaces.do_palace),
        on(moves.AttackDeploy, attack.do_attack_deploy),
        on(moves.MoveShip, fleets.do_ship),
        on(moves.MoveLand, armies.do_army),
        on(moves.EndMovement, movement.do_end),
        on(moves.AnswerPassage, armies.do_answer),
        on(moves.ChooseDefender, fights.do_defend),
        on(moves.ReduceRegion, reductions.do_reduce),
        on(moves.TakeInfluence, hourglass.do_take_influence),
        on(moves.TakeWorker, hourglass.do_take_worker),
        on(moves.PlaceEventUnit, hourglass.do_place),
    )
)
"""Move type -> handler."""

CONTINUATIONS: dict[str, Callable[[D, Frame], None]] = {
    "decade": decades.go_decade,
    "hourglass": hourglass.go_hourglass,
}
"""Frame kind -> continuation, for frames owing no answer."""
