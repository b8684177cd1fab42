"""SE7-8.4, SE7-8.8 to SE7-8.12: fights and counter-fights."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import CITIES, UNITS, Unit
from domain.games.seven_empires.facts.movement import Fought
from domain.games.seven_empires.moves import ChooseDefender
from domain.games.seven_empires.rules.checks import known_units
from domain.games.seven_empires.state import D, Seven, total
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def sink(d: D, unit: Unit, sea: str) -> None:
    """SE7-8.4: both ships are removed, of any types."""
    if found := d.state.foreign(sea, d.state.acting):
        d.add(Fought(sea, d.state.acting, unit, found[0], _present(d.state, sea, found[0])[0], "both_fall"))


def _present(s: Seven, region: str, empire: str) -> list[Unit]:
    """Return the types of an empire's units in a region, in canonical order."""
    there = s.units_of(region, empire)
    return [unit for unit in UNITS if unit in there]


def check_target(s: Seven, region: str, target: str | None) -> None:
    """SE7-8.8: a type present there; it must be named if there are two."""
    found = s.foreign(region, s.acting)
    types = found[1] if found else {}
    if target is None:
        require(len(types) < 2, "target_required", "SE7-8.8", region=region)
    else:
        require(target in types, "target_not_there", "SE7-8.8", region=region, target=target)


def aimed(s: Seven, region: str, target: str | None) -> Unit | None:
    """SE7-8.8: the type to fight; the only one there need not have been named."""
    if target is not None:
        return UNITS[UNITS.index(target)]
    found = s.foreign(region, s.acting)
    return _present(s, region, found[0])[0] if found else None


def survives(unit: str, target: str) -> bool:
    """SE7-8.10: artillery at the end of its move beats one infantry without loss; any other fight costs both."""
    return unit == "artillery" and target == "infantry"


def check_last_city(s: Seven, start: str, unit: str, region: str, target: str | None) -> None:
    """SE7-8.12: an empire's last unoccupied city region may not be occupied."""
    if region not in CITIES or CITIES[region].empire == s.acting:
        return
    last = not s.occupied(region) and _is_last(s, region, start, unit)
    require(not (last and _stays(s, region, unit, target)), "last_city_region", "SE7-8.12", region=region)


def _is_last(s: Seven, region: str, start: str, unit: str) -> bool:
    """SE7-8.12: no other city of this empire is unoccupied, once the moving unit is lifted from its start."""
    owner = CITIES[region].empire
    if s.free_cities(owner) != [region]:
        return False
    leaves = start in CITIES and CITIES[start].empire == owner
    return not (leaves and total(s.units_of(start, s.acting)) == 1)


def _stays(s: Seven, region: str, unit: str, target: str | None) -> bool:
    """SE7-8.12: whether the moving unit would be alive there in the end."""
    found = s.foreign(region, s.acting)
    if found is None:
        return True
    return survives(unit, target or next(iter(found[1]))) and total(found[1]) == 1


def fight(d: D, unit: Unit, region: str, target: str | None) -> None:
    """SE7-8.8, SE7-8.10: against the unit chosen by the actor; then perhaps a counter-fight."""
    empire, found = d.state.acting, d.state.foreign(region, d.state.acting)
    against = aimed(d.state, region, target)
    if found is None or against is None:
        return
    alive = survives(unit, against)
    d.add(Fought(region, empire, unit, found[0], against, "attacker_stands" if alive else "both_fall"))
    if alive:
        _counter(d, region, found[0])


def _counter(d: D, region: str, attacked: str) -> None:
    """SE7-8.11: automatic if all units left are of one type."""
    left = _present(d.state, region, attacked)
    if len(left) == 1:
        _fall(d, region, attacked, left[0])
    elif left:
        monarch = d.state.monarch(attacked)
        d.ask(frames.Counterfight(region, attacked, left), d.state.actor if monarch is None else monarch)


def _fall(d: D, region: str, attacked: str, unit: Unit) -> None:
    """SE7-8.11: the unit and the artillery are both removed."""
    d.add(Fought(region, d.state.acting, "artillery", attacked, unit, "counter_fight"))


def check_defender(s: Seven, seat: Seat, move: ChooseDefender) -> None:
    """SE7-15.13: the errors of `choose_defender`."""
    known_units([move.unit])
    about = s.top.context(frames.Counterfight)
    require(move.unit in about.units, "no_such_unit", "SE7-0.5", region=about.region, unit=move.unit)


def do_defend(d: D, frame: Frame, seat: Seat, move: ChooseDefender) -> None:
    """SE7-8.11."""
    check_defender(d.state, seat, move)
    about = frame.context(frames.Counterfight)
    d.mark_answered(seat, end=True)
    _fall(d, about.region, about.empire, UNITS[UNITS.index(move.unit)])
