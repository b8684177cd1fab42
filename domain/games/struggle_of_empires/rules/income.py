"""SOE-10: phase 4, income and upkeep."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import CONSTANTS, UNITS
from domain.games.struggle_of_empires.rules import money
from domain.games.struggle_of_empires.state import D, Empire


def pay_incomes(d: D) -> None:
    """SOE-10.1 to SOE-10.3: every seat takes its income, then pays its upkeep, then grows."""
    for seat in d.state.everybody:
        money.receive(d, seat, income(d.state.empires[seat]), "income")
    for seat in d.state.everybody:
        money.pay(d, seat, upkeep(d.state.empires[seat]), "upkeep")
    for seat in d.state.everybody:
        money.grow(d, seat, growth(d.state.empires[seat]))


def income(empire: Empire) -> int:
    """SOE-10.1: gold for population and for tokens on the map; captured tokens are not on it."""
    per_token: int = CONSTANTS["income_per_control_token"]
    per_population: int = CONSTANTS["income_per_population"]
    return per_population * empire.population + per_token * sum(empire.tokens.values())


def upkeep(empire: Empire) -> int:
    """SOE-10.2: gold for every unit on the map, at home too."""
    per_unit: int = CONSTANTS["maintenance_per_unit"]
    return per_unit * sum(map(empire.on_map, UNITS))


def growth(empire: Empire) -> int:
    """SOE-10.3, SOE-1.6: by how much population rises after a War."""
    rise: int = CONSTANTS["population_growth_per_war"]
    most: int = CONSTANTS["max_population"]
    return min(rise, most - empire.population)
