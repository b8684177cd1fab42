"""IMP-8.1.2: attacks, from the declaration to the window."""

from __future__ import annotations

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.facts.combat import AttackDeclared, Column
from domain.games.imperunde.moves import Attack
from domain.games.imperunde.rules import combat
from domain.games.imperunde.rules.approach import approach
from domain.games.imperunde.rules.attack_checks import check_attack
from domain.games.imperunde.rules.sinking import sink_for_active
from domain.games.imperunde.state import D
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def do_attack(d: D, frame: Frame, seat: Seat, move: Attack) -> None:
    """IMP-8.1.2: the earlier steps are made, then the combat begins with its window."""
    groups, target = check_attack(d.state, seat, move), move.target
    units = [
        Column(x.unit, x.count, x.moves_left, x.pinned, path=g.path)
        for g in groups
        for x in unit_stacks.to_facts(g.lots)
    ]
    d.add(AttackDeclared(seat, target, units))
    staged = approach(d, seat, groups)
    if not staged:
        return sink_for_active(d)
    return combat.start_by_seat(d, seat, target, staged, move.pass_window is True)
