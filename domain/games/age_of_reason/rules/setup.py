"""AOR-3: set-up."""

from __future__ import annotations

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import CONSTANTS, MARKERS, POWERS
from domain.games.age_of_reason.facts.sequence import EmpireDrawn, FirstPlayerDrawn, PowerChosen, SeatsEquipped
from domain.games.age_of_reason.moves import ChoosePower
from domain.games.age_of_reason.rules import region_markers
from domain.games.age_of_reason.rules.game_turn import start_game_turn
from domain.games.age_of_reason.state import AgeOfReason, D, Empire, Terms
from domain.games.common import powers
from domain.games.common.seats import clockwise
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.meta import Table
from domain.types import Seat


def blank(table: Table) -> AgeOfReason:
    """AOR-3.1: the markers are in the bag; a seat has nothing before AOR-3.4."""
    options = table.options
    named = options["first_player"]
    terms = Terms(
        options["power_assignment"],
        tuple(options["powers"]),
        None if named == "random" else named,
        options["first_alliances"],
        options["cossacks_space"],
        options["support_scope"],
    )
    n = table.seats
    return AgeOfReason(
        n,
        terms=terms,
        empires=(Empire(vp=CONSTANTS["start_vp"]),) * n,
        tokens={power: {} for power in POWERS},
        discards=((),) * n,
        sealed=(None,) * n,
        bag=tuple(MARKERS),
    )


def setup(d: D) -> None:
    """AOR-3.2, AOR-3.3: first player, powers."""
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
    return _deal(d)


def free_powers(s: AgeOfReason) -> list[str]:
    """Return the powers without a seat, in the order of the data."""
    return powers.free_powers(POWERS, _chosen_powers(s))


def _chosen_powers(s: AgeOfReason) -> list[str | None]:
    return [empire.power for empire in s.empires]


def _draw_power(d: D) -> str:
    power: str = d.draws.pick("power", free_powers(d.state))
    return power


def check_choose_power(s: AgeOfReason, seat: Seat, move: ChoosePower) -> None:
    """AOR-3.3: the errors of `choose_power`, in this order."""
    powers.check_choice("AOR-3.3", move.power, POWERS, _chosen_powers(s))


def do_choose_power(d: D, frame: Frame, seat: Seat, move: ChoosePower) -> None:
    """AOR-3.3: clockwise from the first player, one seat at a time."""
    check_choose_power(d.state, seat, move)
    d.add(PowerChosen(seat, move.power))
    d.mark_answered(seat, end=True)
    following = clockwise(seat, d.state.seats)[1]
    if d.state.empires[following].power is None:
        d.ask(frames.ChoosePower(), following)
    else:
        _deal(d)


def _deal(d: D) -> None:
    """AOR-3.4 to AOR-3.6: gold and unrest; five tokens of each power on the map; the first game turn."""
    d.add(SeatsEquipped(CONSTANTS["start_gold"], CONSTANTS["start_unrest"]))
    for power in POWERS:
        d.add(EmpireDrawn(power, region_markers.draw(d, CONSTANTS["markers_drawn_per_power_at_setup"])))
    start_game_turn(d)


def check_table(table: Table) -> None:
    """AOR-2.5: check options against each other; raise InvalidTable."""
    powers.check_table(table)
