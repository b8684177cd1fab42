"""SOE-8.4, SOE-8.5.1: naval support, and the battle for it."""

from __future__ import annotations

from collections import Counter

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import REGIONS
from domain.games.struggle_of_empires.facts.combat import (
    AllianceTilesAssigned,
    NavalChoiceMade,
    NavalSupportGained,
)
from domain.games.struggle_of_empires.moves import AssignAllianceTiles, NavalChoice
from domain.games.struggle_of_empires.rules.checks import require
from domain.games.struggle_of_empires.rules.combat.steps import NOTHING, Next, Question, answer, other, side_of
from domain.games.struggle_of_empires.state import SIDES, D, Side, Struggle
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def own_navies(s: Struggle, side: str) -> int:
    """Return the navies of a principal in the naval zone (SOE-8.2.1); none for a marker or tile."""
    seat, zone = s.battle.party(side).seat, REGIONS[s.battle.region].zone
    return 0 if seat is None else s.empires[seat].units_in(zone, "navy")


def allied_units(s: Struggle, side: str, unit: str) -> int:
    """Return the units of a kind committed to a side by allies."""
    return sum(units.get(unit, 0) for units in s.battle.party(side).support.values())


def navies(s: Struggle, side: str) -> int:
    """SOE-8.4: A or B, own navies in the zone and those of allies."""
    return own_navies(s, side) + allied_units(s, side, "navy")


def step_naval(d: D) -> Next:
    """SOE-8.4.1, SOE-8.4.3: support without a battle, or the question to fight for it."""
    players = d.state.battle.attacker.kind == d.state.battle.defender.kind == "player"
    at_sea = [side for side in SIDES if (navies if players else own_navies)(d.state, side)]
    if len(at_sea) == 2:
        return [["naval_choice", "attacker"]]
    if at_sea:
        gain_support(d, at_sea[0])
    return NOTHING


def gain_support(d: D, side: Side) -> None:
    """Give a side naval support in the land battle."""
    d.add(NavalSupportGained(side, d.state.battle.party(side).principal))


def step_naval_choice(d: D, side: Side) -> Next:
    """SOE-8.4.2: the attacker, then the defender, is asked."""
    seat = d.state.battle.party(side).seat
    if seat is None:
        return NOTHING
    figures = frames.Navies(navies(d.state, "attacker"), navies(d.state, "defender"))
    return Question(frames.NavalChoice(side, figures), seat)


def do_naval_choice(d: D, frame: Frame, seat: Seat, move: NavalChoice) -> None:
    """SOE-8.4.2: a refusal leaves naval support to the other side; two acceptances make a battle."""
    side = frame.context(frames.NavalChoice).side
    d.add(NavalChoiceMade(seat, move.fight))
    if not move.fight:
        gain_support(d, other(side))
        answer(d, seat)
    elif side == "attacker":
        answer(d, seat, ["naval_choice", "defender"])
    else:
        answer(d, seat, ["assign", "attacker"], ["assign", "defender"], ["roll", "naval"])


def step_assign(d: D, side: str) -> Next:
    """SOE-8.5.1: asked only of a principal with a tile able to help at sea."""
    seat = d.state.battle.party(side).seat
    tiles = () if seat is None else d.state.empires[seat].alliance_tiles(d.state.battle.region, "navy")
    return Question(frames.AssignAllianceTiles(tiles), seat) if seat is not None and tiles else NOTHING


def check_assign(s: Struggle, seat: Seat, move: AssignAllianceTiles) -> None:
    """SOE-8.5.1: own tiles, each once, with a navy on them and valid here."""
    named: Counter[str] = Counter(move.naval)
    owned = s.empires[seat].owned
    require(all(n <= owned(tile) for tile, n in named.items()), "tile_not_owned", "SOE-8.5.1", cause="number")
    require(set(named) <= set(s.top.context(frames.AssignAllianceTiles).tiles), "tile_not_applicable", "SOE-8.5.1")


def do_assign(d: D, frame: Frame, seat: Seat, move: AssignAllianceTiles) -> None:
    """SOE-8.5.1: the named tiles count at sea, the others on land."""
    check_assign(d.state, seat, move)
    d.add(AllianceTilesAssigned(seat, side_of(d.state, seat), move.naval))
    answer(d, seat)
