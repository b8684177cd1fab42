"""IMP-5: set-up."""

from __future__ import annotations

from domain.errors import InvalidTable
from domain.games.common.checks import require
from domain.games.common.seats import clockwise
from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import (
    COUNTRIES,
    DECK,
    ENGLAND,
    GOAL_MAX,
    GOALS,
    HOMES,
    OPTION_DATA,
    SETUP,
    VALUE,
    cost,
    is_army,
)
from domain.games.imperunde.facts.cards import DeckOrdered, DeckShuffled
from domain.games.imperunde.facts.turn import ColonyAssigned, NationAssigned, OrderFixed, PiecesPlaced
from domain.games.imperunde.moves import EquipColony, PlaceHomeFleet
from domain.games.imperunde.rules.checks import need_items, need_supply, need_zone
from domain.games.imperunde.rules.dice import highest, roll
from domain.games.imperunde.state import D, ImpeRunde, Nation, Pair
from domain.games.imperunde.unit_stacks import Lot, Told
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import Table
from domain.kernel.schema.declarations import unwrap
from domain.kernel.text.message_catalog import Message
from domain.types import Seat


def check_table(table: Table) -> None:
    """IMP-2.1: a goal of one's own lies within bounds."""
    goal = table.options["goal"]
    if goal is not None and not OPTION_DATA["goal_min"] <= goal <= GOAL_MAX[table.seats]:
        bounds = Message("{lo} to {hi} are possible", lo=OPTION_DATA["goal_min"], hi=GOAL_MAX[table.seats])
        raise InvalidTable(bounds, "/options/goal")


def blank(table: Table) -> ImpeRunde:
    """Return the table before the first roll."""
    n, goal = table.seats, table.options["goal"]
    pairs = {f"{a}-{b}": Pair() for a in range(n) for b in range(a + 1, n)}
    return ImpeRunde(
        n,
        goal=GOALS[n][table.options["goal_preset"]] if goal is None else goal,
        turn_limit=table.options["turn_limit"],
        order=tuple(range(n)),
        nations=(Nation(),) * n,
        pairs=pairs,
        hands=((),) * n,
        auto=({},) * n,
    )


def setup(d: D) -> None:
    """IMP-5.1, IMP-5.2: nations by dice, armies at home, the deck on the table."""
    d.add(DeckShuffled(len(DECK), discard=False))
    d.add(DeckOrdered(DECK), ())
    english = highest(d, list(d.state.everybody))
    order = clockwise(english, d.state.seats)
    d.add(OrderFixed(order))
    _assign(d, english, ENGLAND)
    for seat in order[1:]:
        _assign(d, seat, _rolled_nation(d))
    d.ask(frames.Game("fleet"))


def _rolled_nation(d: D) -> str:
    """IMP-5.1 (b): on a 1, or a nation already taken, roll again."""
    by_die = {die: nation for nation, die in HOMES.items() if nation not in d.state.homes()}
    while (die := roll(d, "white")) not in by_die:
        pass
    return by_die[die]


def _assign(d: D, seat: Seat, nation: str) -> None:
    d.add(NationAssigned(seat, nation))
    place(d, seat, nation, SETUP["home_armies"])


def place(d: D, seat: Seat, region: str, units: dict[str, int]) -> None:
    """Place pieces from the supply."""
    d.add(PiecesPlaced(seat, region, [Told(u, n) for u, n in units.items()]))


# --- the home fleet ------------------------------------------------------------------------------------------


def ask_fleet(d: D, seat: Seat) -> None:
    """IMP-5.3."""
    d.ask(frames.SetupFleet(), seat)


def fleet_zones(s: ImpeRunde, country: str, seat: Seat) -> list[str]:
    """IMP-5.3: zones next to a country without warships of other seats, alphabetical."""
    return [z for z in COUNTRIES[country].coasts if set(s.seats_at(z)) <= {seat}]


def need_fleet_zone(s: ImpeRunde, seat: Seat, country: str, zone: str, rule: str) -> None:
    """IMP-5.3, IMP-5.4: next to the country, no warships of other seats."""
    require(zone in COUNTRIES[country].coasts, "zone_not_adjacent", rule, zone=zone)
    require(set(s.seats_at(zone)) <= {seat}, "foreign_warships_present", rule, zone=zone)


def check_place_home_fleet(s: ImpeRunde, seat: Seat, move: PlaceHomeFleet) -> None:
    """IMP-5.3: the errors of `place_home_fleet`, in this order."""
    zones = (move.ship_of_the_line, move.frigate)
    for zone in zones:
        need_zone(zone, "IMP-5.3")
    for zone in zones:
        need_fleet_zone(s, seat, s.nations[seat].home, zone, "IMP-5.3")


def do_place_home_fleet(d: D, frame: Frame, seat: Seat, move: PlaceHomeFleet) -> None:
    """IMP-5.3: one frigate and one ship of the line."""
    check_place_home_fleet(d.state, seat, move)
    place(d, seat, move.ship_of_the_line, {"ship_of_the_line": 1})
    place(d, seat, move.frigate, {"frigate": 1})
    d.mark_answered(seat, end=True)


# --- initial colonies ----------------------------------------------------------------------------------------


def colony_values(s: ImpeRunde, seat: Seat) -> int:
    """IMP-5.4: the values of a seat's initial colonies."""
    return sum(VALUE[c] for c in s.colonies(seat))


def eligible(s: ImpeRunde, seat: Seat) -> list[str]:
    """IMP-5.4.1: countries open to the seat."""
    room = SETUP["initial_colony_value"] - colony_values(s, seat)
    barred = {*s.countries, *s.homes(), *(n for home in s.homes() for n in COUNTRIES[home].lands)}
    return [c for c in COUNTRIES if c not in barred and VALUE[c] <= room]


def next_colony(d: D, at: int) -> None:
    """IMP-5.4, IMP-5.5: round after round, one colony for each seat with colonies worth less than 5."""
    s = d.state
    waiting = [i for i, x in enumerate(s.order) if eligible(s, x)]
    if not waiting:
        d.note(step="turn", at=0)
        return
    turn = next((i for i in waiting if i >= at), waiting[0])
    d.note(at=turn + 1)
    _receive(d, s.order[turn])


def _receive(d: D, seat: Seat) -> None:
    fitting = eligible(d.state, seat)
    while (country := d.draws.pick("wheel.country", list(COUNTRIES))) not in fitting:
        pass
    value = VALUE[country]
    kit = {k: n * value for k, n in SETUP["colony_kit_per_value"].items()}
    d.add(ColonyAssigned(seat, country, kit["trading_post"], kit["fort"], kit["infantry"]))
    d.ask(frames.SetupColony(country), seat)


ARMY_CHOICES: tuple[dict[str, int], ...] = tuple(
    b["units"] for b in SETUP["colony_bonus_choices"] if b["choice"] == "armies"
)
"""Armies worth exactly 3 doubloons (IMP-5.4.3)."""


def check_equip_colony(s: ImpeRunde, seat: Seat, move: EquipColony, country: str) -> None:
    """IMP-5.4.3: the errors of `equip_colony`, in this order."""
    rule = "IMP-5.4"
    if move.choice == "frigate":
        zone = unwrap(move.zone)
        need_zone(zone, rule)
        need_fleet_zone(s, seat, country, zone, rule)
        return need_supply(s, seat, "frigate", 1, rule)
    require(move.choice == "armies", "invalid_choice", rule, choice=move.choice)
    need_items(unwrap(move.units), rule)
    wanted = wanted_armies(move)
    require(
        all(map(is_army, wanted)) and wanted in ARMY_CHOICES, "invalid_choice", rule, cause="worth", cost=cost(wanted)
    )
    for unit, count in wanted.items():
        need_supply(s, seat, unit, count, rule)
    return None


def wanted_armies(move: EquipColony) -> dict[str, int]:
    """Return unit -> number, adding up equal units of the list."""
    return unit_stacks.count_by_unit(Lot(x.unit, x.count) for x in unwrap(move.units))


def do_equip_colony(d: D, frame: Frame, seat: Seat, move: EquipColony) -> None:
    """IMP-5.4.3: a frigate, or armies for 3 doubloons."""
    country = frame.context(frames.SetupColony).country
    check_equip_colony(d.state, seat, move, country)
    if move.choice == "frigate":
        place(d, seat, unwrap(move.zone), {"frigate": 1})
    else:
        place(d, seat, country, wanted_armies(move))
    d.mark_answered(seat, end=True)
