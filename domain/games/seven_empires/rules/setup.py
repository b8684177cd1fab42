"""SE7-2: set-up."""

from __future__ import annotations

from domain.errors import InvalidTable
from domain.games.seven_empires.data import (
    CAPITAL,
    CARDS,
    CITIES,
    CROWNS,
    DEALS,
    EMPIRES,
    FIRST_INFANTRY,
    FIRST_SLOTS,
    LETTERED,
    LIMITS,
    OWN_CITIES,
    TILE_SETS,
    Unit,
)
from domain.games.seven_empires.facts.influence import CardsDealt
from domain.games.seven_empires.facts.pieces import StartingUnitsPlaced
from domain.games.seven_empires.facts.sequence import (
    DistributionCardUsed,
    FirstSeatDrawn,
    HourglassLaid,
)
from domain.games.seven_empires.moves import DraftInfluence
from domain.games.seven_empires.rules import draft
from domain.games.seven_empires.rules.decades import start_decade
from domain.games.seven_empires.rules.monarchs import assigned
from domain.games.seven_empires.state import D, Empire, Seven, Terms
from domain.games.seven_empires.value_objects import Placed, gathered
from domain.kernel.records.audience import TABLE
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import Table
from domain.kernel.schema.declarations import UNSET
from domain.kernel.schema.validators import expected_message
from domain.kernel.text.message_catalog import Message
from domain.types import Seat


def blank(table: Table) -> Seven:
    """SE7-2.1 to SE7-2.4: every empire before the first draw."""
    options = table.options
    named = options["distribution_card"]
    terms = Terms(
        options["setup"],
        None if named == "random" else named,
        options["decades"],
        options["quick_start"],
    )
    return Seven(
        table.seats,
        terms=terms,
        empires={empire: Empire(markers=dict(FIRST_SLOTS)) for empire in EMPIRES},
        hands=((),) * table.seats,
        levels={region: city.level for region, city in CITIES.items() if city.level},
        palaces={CAPITAL[empire]: CROWNS["start_palace_crowns_capital"] for empire in EMPIRES},
    )


def setup(d: D) -> None:
    """SE7-2.5 to SE7-2.13: first seat, distribution card, hourglass tiles; then the cards."""
    d.add(FirstSeatDrawn(d.draws.pick("first_seat", list(d.state.everybody))))
    if d.state.terms.setup != "distribution":
        _lay_hourglass(d)
        return draft.start(d)
    card = d.state.terms.distribution_card or _draw_card(d)
    d.add(DistributionCardUsed(card))
    _lay_hourglass(d)
    _deal(d, card)
    return begin(d)


def _draw_card(d: D) -> str:
    """SE7-2.6."""
    fitting = [name for name, card in DEALS.items() if card["players"] == d.state.seats]
    card: str = d.draws.pick("distribution_card", fitting)
    return card


def _lay_hourglass(d: D) -> None:
    """SE7-2.7: shuffled, for nine decades without the last; the laurel goes to the last decade."""
    part, decades = TILE_SETS[d.state.seats], d.state.terms.decades
    tiles = d.draws.shuffle("hourglass", [*part["base"], *(part["extension"] if decades > 8 else ())])
    left_out = tiles.pop() if decades == 9 else UNSET
    d.add(HourglassLaid([*tiles, "laurel"], left_out), TABLE)


def _deal(d: D, card: str) -> None:
    """SE7-2.8."""
    for position, seat in enumerate(d.state.by_position, 1):
        listed = DEALS[card]["cards"][str(position)]
        d.add(CardsDealt(seat, [LETTERED[c["empire"], c["letter"]] for c in listed]))


def do_draft(d: D, frame: Frame, seat: Seat, move: DraftInfluence) -> None:
    """SE7-2.9, SE7-2.10: pick after pick; after the last the game begins."""
    draft.check_draft(d.state, seat, move)
    if draft.take(d, seat, move):
        begin(d)


def begin(d: D) -> None:
    """SE7-2.11 to SE7-2.13: units, monarchs, the first decade."""
    for empire in EMPIRES:
        if units := _starting_units(d.state, empire):
            d.add(StartingUnitsPlaced(empire, units))
    d.add(assigned(d.state))
    start_decade(d, 1)


def _starting_units(s: Seven, empire: str) -> list[Placed]:
    """SE7-2.11: the units of the quick start, and infantry in the capital up to the limit of three units."""
    units: list[tuple[str, Unit]] = []
    if s.terms.quick_start:
        units = [(region, unit) for region in OWN_CITIES[empire] if (unit := CITIES[region].quick)]
    capital = CAPITAL[empire]
    room = LIMITS["own_city_units"] - sum(region == capital for region, _ in units)
    infantry: list[tuple[str, Unit]] = [(capital, "infantry")]
    return gathered(units + infantry * min(room, first_infantry(s, empire)))


def first_infantry(s: Seven, empire: str) -> int:
    """SE7-2.11: by the cards of the empire in all hands together."""
    held = sum(CARDS[card].empire == empire for hand in s.hands for card in hand)
    return FIRST_INFANTRY[min(held, len(FIRST_INFANTRY) - 1)]


def check_table(table: Table) -> None:
    """SE7-2: a distribution card must fit; raises InvalidTable."""
    card = table.options["distribution_card"]
    if card == "random":
        return
    if table.options["setup"] != "distribution":
        raise InvalidTable(
            Message("only for {option} {value}", option="setup", value="distribution"), "/options/distribution_card"
        )
    if DEALS[card]["players"] != table.seats:
        raise InvalidTable(
            expected_message(Message("a card for {players} players", players=table.seats)), "/options/distribution_card"
        )
