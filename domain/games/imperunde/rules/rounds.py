"""IMP-8.2, IMP-8.4, IMP-8.5: a round of a combat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.games.common.checks import require
from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import CARDS, DICE, FIGHTERS, ROLL_ORDER, UNITS
from domain.games.imperunde.facts.combat import PiratesLost, RoundFought, ShipCaptured, UnitsChosen
from domain.games.imperunde.facts.movement import UnitsLost
from domain.games.imperunde.moves import ChooseUnits
from domain.games.imperunde.rules.checks import need_items
from domain.games.imperunde.rules.dice import roll_for
from domain.games.imperunde.rules.movement import need_units, take_fighters
from domain.games.imperunde.rules.sides import SIDES, fighters, must_choose, party, seat_of, side_units
from domain.games.imperunde.state import D, ImpeRunde, Party, Side
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat


@dataclass(frozen=True)
class Rolled:
    """A fighter and its die, with the bonus of cards."""

    lot: Lot
    value: int

    @property
    def as_pair(self) -> tuple[str, int]:
        """(unit, value), as used in facts."""
        return self.lot.unit, self.value


# --- choice of fighters --------------------------------------------------------------------------------------


def ask_fighters(d: D) -> bool:
    """IMP-8.2.1: the attacker first; true when a seat has been asked."""
    for side in SIDES:
        seat = seat_of(d.state, side)
        if seat is not None and side not in d.state.fight.chosen and must_choose(d.state, side):
            d.ask(frames.ChooseUnits(side, d.state.fight.region), seat)
            return True
    return False


def check_choose_units(s: ImpeRunde, move: ChooseUnits, side: str) -> None:
    """IMP-8.2.1: the errors of `choose_units`, in this order."""
    rule, wants = "IMP-8.2.1", move.units
    need_items(wants, rule)
    count = sum(w.count for w in wants)
    require(count == FIGHTERS, "wrong_number_of_units", rule, units=count, wanted=FIGHTERS)
    need_units(side_units(s, side), wants, rule)


def do_choose_units(d: D, frame: Frame, seat: Seat, move: ChooseUnits) -> None:
    """IMP-8.2.1: for this round."""
    side = frame.context(frames.ChooseUnits).side
    check_choose_units(d.state, move, side)
    chosen = take_fighters(side_units(d.state, side), move.units)
    d.add(UnitsChosen(seat, side, unit_stacks.to_facts(chosen)))
    d.mark_answered(seat, end=True)


# --- round window --------------------------------------------------------------------------------------------


def has_round_window(s: ImpeRunde) -> bool:
    """IMP-8.2.2: on land, from round 2 on."""
    return not s.fight.sea and s.fight.round > 0


def riders(s: ImpeRunde) -> list[Seat]:
    """IMP-11.6: seats fighting with cavalry in this round and without a `coup_de_main` in effect."""
    riding = [seat_of(s, side) for side in SIDES if unit_stacks.total(fighters(s, side), "cavalry")]
    return [x for x in riding if x is not None and x not in s.fight.coup]


# --- dice ----------------------------------------------------------------------------------------------------


def fight_round(d: D) -> None:
    """IMP-8.2.3 to IMP-8.2.6: both sides roll, compare, board; losses are taken together."""
    attack, defence = (_sorted(_roll(d, side)) for side in SIDES)
    lost: dict[str, list[Lot]] = {side: [] for side in SIDES}
    tied = []
    for x, y in zip(attack, defence, strict=False):
        value = x.value + (UNITS[x.lot.unit].vs_fort if y.lot.unit == "fort" else 0)
        if value > y.value:
            lost["defender"].append(y.lot)
        elif value < y.value or not d.state.fight.sea:
            lost["attacker"].append(x.lot)
        else:
            tied.append((x.lot, y.lot))
    boarded = [_board(d, x, y) for x, y in tied]
    _tell_round(d, attack, defence, lost, bool(lost["attacker"]) or any(side == "attacker" for side, _ in boarded))
    for side in SIDES:
        _lose(d, party(d.state, side), lost[side])
    for side, ship in boarded:
        capture(d, party(d.state, side), party(d.state, SIDES[side == "attacker"]), ship)


def _roll(d: D, side: str) -> list[Rolled]:
    """IMP-8.2.3: one unit kind after the other, more moves first, pinned last."""
    order = sorted(fighters(d.state, side), key=lambda x: (ROLL_ORDER[x.unit], -x.moves_left, x.pinned))
    return [Rolled(x, roll_for(d, x.unit) + card_bonus(d.state, side, x.unit)) for x in unit_stacks.singles(order)]


def card_bonus(s: ImpeRunde, side: str, unit: str) -> int:
    """IMP-8.5.1: bonuses of cards belong to the sorted value."""
    c, bonus = s.fight, 0
    if not c.round and c.surprise and side == "attacker":
        bonus += CARDS["surprise_attack"].figure
    if not c.round and c.ambush and side == "defender":
        bonus += CARDS["ambush"].figure
    if unit == "cavalry" and party(s, side) in c.coup:
        bonus += CARDS["coup_de_main"].figure
    return bonus


def _sorted(dice: Sequence[Rolled]) -> list[Rolled]:
    """IMP-8.2.4: by value, colour, moves left, order rolled."""
    return sorted(dice, key=lambda x: (-x.value, DICE[UNITS[x.lot.unit].die].rank, -x.lot.moves_left))


def _board(d: D, x: Lot, y: Lot) -> tuple[Side, Lot]:
    """IMP-8.4.1: roll again until the values differ; return the side losing its ship, and the ship."""
    while True:
        a, b = roll_for(d, x.unit), roll_for(d, y.unit)
        if a != b:
            return ("defender", y) if a > b else ("attacker", x)


def _tell_round(
    d: D, attack: list[Rolled], defence: list[Rolled], lost: dict[str, list[Lot]], attacker_lost: bool
) -> None:
    c = d.state.fight
    side = "attacker" if c.attacker == "insurgents" else "defender"
    horde = c.horde - len(lost[side]) if c.horde else UNSET
    rolled = RoundFought(
        c.region,
        c.round + 1,
        attacker=[x.as_pair for x in attack],
        defender=[x.as_pair for x in defence],
        attacker_lost=attacker_lost or UNSET,
        horde=horde,
    )
    d.add(rolled)


def _lose(d: D, who: Party, lost: list[Lot]) -> None:
    """Remove the units lost by a side; those of natives and insurgents are no pieces."""
    region = d.state.fight.region
    if lost and isinstance(who, int):
        d.add(UnitsLost(who, region, unit_stacks.to_facts(unit_stacks.change((), lost)), "combat"))
    elif lost and who == "pirates":
        d.add(PiratesLost(region, unit_stacks.count_by_unit(lost), "combat"))


def capture(d: D, victim: Party, captor: Party, ship: Lot) -> None:
    """IMP-8.4.1, IMP-8.4.2: the ship takes the captor's colour, pinned; without a piece it is sunk."""
    if d.state.supply(captor, ship.unit) < 1:
        return _lose(d, victim, [ship])
    return d.add(ShipCaptured(d.state.fight.region, victim, captor, unit_stacks.to_facts((ship,))[0]))
