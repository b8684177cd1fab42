"""IMP-8.3: reinforcements."""

from __future__ import annotations

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import FIGHTERS
from domain.games.imperunde.facts.combat import Reinforced
from domain.games.imperunde.moves import Reinforce
from domain.games.imperunde.rules.approach import approach, charge
from domain.games.imperunde.rules.attack_checks import check_groups, check_paths
from domain.games.imperunde.rules.movement import Group
from domain.games.imperunde.rules.routes import reinforcement_paths
from domain.games.imperunde.rules.sides import side_units
from domain.games.imperunde.state import D, ImpeRunde
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def possible(s: ImpeRunde) -> bool:
    """IMP-8.3.1: the attacker has lost a unit, has fewer than 3, and a unit can come."""
    c = s.fight
    if not (c.supported and c.lost and unit_stacks.total(side_units(s, "attacker")) < FIGHTERS):
        return False
    return bool(reinforcement_paths(s, c.attacker, c.region))


def check_reinforce(s: ImpeRunde, seat: Seat, move: Reinforce) -> list[Group]:
    """IMP-8.3.1: groups as those of an attack; none declines."""
    if not move.groups:
        return []
    check_groups(s, seat, s.fight.region, move.groups, unit_stacks.total(side_units(s, "attacker")))
    return check_paths(s, seat, s.fight.region, move.groups)


def do_reinforce(d: D, frame: Frame, seat: Seat, move: Reinforce) -> None:
    """IMP-8.3.1: they come at once, with storm rolls as in an attack."""
    groups, target = check_reinforce(d.state, seat, move), d.state.fight.region
    d.add(Reinforced(seat, target, [x for g in groups for x in unit_stacks.to_facts(g.lots)]))
    charge(d, seat, target, approach(d, seat, groups))
    d.mark_answered(seat, end=True)
