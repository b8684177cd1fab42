"""SOE-3: set-up."""

from __future__ import annotations

from domain.games.common import powers
from domain.games.common.seats import clockwise
from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS, POWERS, REGIONS, TILES
from domain.games.struggle_of_empires.facts.pieces import UnitPlaced
from domain.games.struggle_of_empires.facts.sequence import EmpireDrawn, FirstPlayerDrawn, PowerChosen
from domain.games.struggle_of_empires.moves import ChoosePower, PlaceUnit
from domain.games.struggle_of_empires.rules import region_markers
from domain.games.struggle_of_empires.rules.checks import need_scoring_region, need_supply, require
from domain.games.struggle_of_empires.rules.war import start_war
from domain.games.struggle_of_empires.state import D, Empire, Struggle, Terms
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import Table
from domain.types import Seat


def blank(table: Table) -> Struggle:
    """SOE-3.4: every seat before the first draw."""
    options = table.options
    named = options["first_player"]
    terms = Terms(
        options["power_assignment"],
        tuple(options["powers"]),
        None if named == "random" else named,
        options["unrest_visibility"],
    )
    empire = Empire(gold=CONSTANTS["start_gold"], population=CONSTANTS["start_population"], vp=CONSTANTS["start_vp"])
    return Struggle(
        table.seats,
        terms=terms,
        empires=(empire,) * table.seats,
        unrest=(0,) * table.seats,
        bag=tuple(MARKERS),
        stock={t.id: t.count for t in TILES.values()},
    )


def setup(d: D) -> None:
    """SOE-3.1 to SOE-3.3: markers, first player, powers."""
    region_markers.lay(d)
    first = d.state.terms.first_player
    if first is None:
        first = d.draws.pick("first_player", list(d.state.everybody))
    d.add(FirstPlayerDrawn(first))
    assign = d.state.terms.power_assignment
    if assign == "choose":
        return d.ask(frames.ChoosePower(), first)
    for seat in d.state.round_the_table():
        power = d.state.terms.powers[seat] if assign == "fixed" else _draw_power(d)
        d.add(PowerChosen(seat, power))
    return _draw_empires(d)


def free_powers(s: Struggle) -> list[str]:
    """Return the powers without a seat, in the order of the data."""
    return powers.free_powers(POWERS, _chosen_powers(s))


def _chosen_powers(s: Struggle) -> list[str | None]:
    return [empire.power for empire in s.empires]


def _draw_power(d: D) -> str:
    power: str = d.draws.pick("power", free_powers(d.state), always=True)
    return power


def check_choose_power(s: Struggle, seat: Seat, move: ChoosePower) -> None:
    """SOE-3.3: the errors of `choose_power`, in this order."""
    powers.check_choice("SOE-3.3", move.power, POWERS, _chosen_powers(s))


def do_choose_power(d: D, frame: Frame, seat: Seat, move: ChoosePower) -> None:
    """SOE-3.3: clockwise from the first player, one seat at a time."""
    check_choose_power(d.state, seat, move)
    d.add(PowerChosen(seat, move.power))
    d.mark_answered(seat, end=True)
    left = clockwise(seat, d.state.seats)[1]
    if d.state.empires[left].power is None:
        d.ask(frames.ChoosePower(), left)
    else:
        _draw_empires(d)


def _draw_empires(d: D) -> None:
    """SOE-3.5: five markers for each seat become its first tokens."""
    for seat in d.state.round_the_table():
        drawn = region_markers.draw(d, CONSTANTS["markers_drawn_per_player_at_setup"])
        d.add(EmpireDrawn(seat, drawn))
    _ask_placement(d, 0)


def _ask_placement(d: D, placed: int) -> None:
    """SOE-3.6: the next unit, clockwise, five times round; then the first War."""
    if placed == d.state.seats * CONSTANTS["units_placed_at_setup"]:
        return start_war(d)
    return d.ask(frames.PlaceUnits(placed), d.state.round_the_table()[placed % d.state.seats])


def check_place_unit(s: Struggle, seat: Seat, move: PlaceUnit) -> None:
    """SOE-3.6: the errors of `place_unit`, in this order."""
    need_scoring_region(move.region, "SOE-3.6")
    enters = move.unit != "navy" or REGIONS[move.region].accepts_navies
    require(enters, "navy_cannot_enter", "SOE-3.6", region=move.region)
    need_supply(s, seat, move.unit, "SOE-3.6")


def do_place_unit(d: D, frame: Frame, seat: Seat, move: PlaceUnit) -> None:
    """SOE-3.6: one unit from the supply, free of charge and of every rule of movement."""
    check_place_unit(d.state, seat, move)
    d.add(UnitPlaced(seat, move.unit, move.region))
    d.mark_answered(seat, end=True)
    _ask_placement(d, frame.context(frames.PlaceUnits).placed + 1)


def check_table(table: Table) -> None:
    """SOE-2.3: check options against each other; raise InvalidTable."""
    powers.check_table(table)
