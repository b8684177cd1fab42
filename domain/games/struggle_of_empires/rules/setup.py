"""SOE-3: set-up."""

from __future__ import annotations

from domain.games.common.seats import clockwise
from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS, POWERS, REGIONS, TILES
from domain.games.struggle_of_empires.rules import region_markers
from domain.games.struggle_of_empires.rules.checks import need, need_scoring_region, need_supply
from domain.games.struggle_of_empires.rules.war import start_war
from domain.games.struggle_of_empires.state import D, Empire, Struggle, Terms
from domain.ids import Json, Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Frame
from domain.kernel.ruleset import Table


def blank(table: Table) -> Struggle:
    """SOE-3.4: what every seat has before anything is drawn."""
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
    d.add({"t": "first_player_drawn", "seat": first})
    assign = d.state.terms.power_assignment
    if assign == "choose":
        return d.ask("choose_power", first)
    for seat in d.state.round_the_table():
        power = d.state.terms.powers[seat] if assign == "fixed" else _draw_power(d)
        d.add({"t": "power_chosen", "seat": seat, "power": power})
    return _draw_empires(d)


def free_powers(s: Struggle) -> list[str]:
    """Powers without a seat, in the order of the data."""
    return [p for p in POWERS if p not in [e.power for e in s.empires]]


def _draw_power(d: D) -> Json:
    return d.draws.pick("power", free_powers(d.state), always=True)


def check_choose_power(s: Struggle, seat: Seat, move: Move) -> None:
    """SOE-3.3: the errors of `choose_power`, in this order."""
    need(move["power"] in POWERS, "unknown_power", "SOE-3.3", power=move["power"])
    need(move["power"] in free_powers(s), "power_taken", "SOE-3.3", power=move["power"])


def do_choose_power(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """SOE-3.3: clockwise from the first player, one seat at a time."""
    check_choose_power(d.state, seat, move)
    d.add({"t": "power_chosen", "seat": seat, "power": move["power"]})
    d.answered(seat, end=True)
    left = clockwise(seat, d.state.seats)[1]
    if d.state.empires[left].power is None:
        d.ask("choose_power", left)
    else:
        _draw_empires(d)


def _draw_empires(d: D) -> None:
    """SOE-3.5: five markers for each seat become its first tokens."""
    for seat in d.state.round_the_table():
        drawn = region_markers.draw(d, CONSTANTS["markers_drawn_per_player_at_setup"])
        d.add({"t": "empire_drawn", "seat": seat, "markers": drawn})
    _ask_placement(d, 0)


def _ask_placement(d: D, placed: int) -> None:
    """SOE-3.6: the next unit, clockwise, five times round; then the first War."""
    if placed == d.state.seats * CONSTANTS["units_placed_at_setup"]:
        return start_war(d)
    return d.ask("place_units", d.state.round_the_table()[placed % d.state.seats], placed=placed)


def check_place_unit(s: Struggle, seat: Seat, move: Move) -> None:
    """SOE-3.6: the errors of `place_unit`, in this order."""
    need_scoring_region(move["region"], "SOE-3.6")
    need(
        move["unit"] != "navy" or REGIONS[move["region"]].accepts_navies,
        "navy_cannot_enter",
        "SOE-3.6",
        region=move["region"],
    )
    need_supply(s, seat, move["unit"], "SOE-3.6")


def do_place_unit(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """SOE-3.6: one unit from the supply, free of charge and of every rule of movement."""
    check_place_unit(d.state, seat, move)
    d.add({"t": "unit_placed", "seat": seat, "unit": move["unit"], "region": move["region"]})
    d.answered(seat, end=True)
    _ask_placement(d, frame.data["placed"] + 1)
