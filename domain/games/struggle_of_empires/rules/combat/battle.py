"""SOE-8.5 to SOE-8.7: strengths, dice, Reserve and Blockade."""

from __future__ import annotations

from dataclasses import replace

from domain.games.common.dice import spread
from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS, STRENGTH, Unit
from domain.games.struggle_of_empires.facts.combat import BattleRolled, BlockadeUsed, ReserveAnswered
from domain.games.struggle_of_empires.moves import Reserve, UseBlockade
from domain.games.struggle_of_empires.rules.combat.naval import allied_units, own_navies
from domain.games.struggle_of_empires.rules.combat.steps import NOTHING, Next, Question, answer, other, side_of
from domain.games.struggle_of_empires.state import SIDES, Combat, D, Party, Side, Stage, Struggle
from domain.kernel.rules.flow import Frame
from domain.types import Seat

UNIT: dict[str, Unit] = {"naval": "navy", "land": "army"}
"""The type of unit of a battle."""

TRAINING = {"naval": "naval_training", "land": "army_training"}


# --- strength ------------------------------------------------------------------------------------------------


def strengths(s: Struggle, stage: str) -> dict[str, int]:
    """SOE-8.5.3, 8.6.3 to 8.6.5, 8.12.1, 9.6.3, 9.7.2: both sides without dice."""
    return {side: strength(s, stage, side) for side in SIDES}


def strength(s: Struggle, stage: str, side: Side) -> int:
    """Return the strength of one side without dice."""
    return sum(strength_parts(s, stage, side).values())


def strength_parts(s: Struggle, stage: str, side: Side) -> dict[str, int]:
    """Return a side's strength without dice: a fixed number, or units, allies, tiles, training and naval support."""
    party = s.battle.party(side)
    if party.seat is None:
        return {"fixed": fixed_strength(party)}
    return {
        "own": own_units(s, stage, side, party.seat),
        "allied": allied_units(s, side, UNIT[stage]),
        "tiles": alliance_tiles(s, stage, side, party.seat),
        "training": training(s, stage, side),
        "naval": naval_support(s, side) if stage == "land" else 0,
    }


def fixed_strength(party: Party) -> int:
    """SOE-8.6.5, SOE-8.12.1: a marker's number, 1 for Pirates, 3 for Slave Revolt."""
    if party.kind == "neutral":
        return MARKERS[party.marker or ""].defence
    strength_of_tile: int = CONSTANTS[f"{party.kind}_strength"]
    return strength_of_tile


def own_units(s: Struggle, stage: str, side: str, seat: Seat) -> int:
    """SOE-8.6.3, SOE-8.6.4, SOE-8.6.6: all own units there; forts count 2, for a defender only."""
    if stage == "naval":
        return STRENGTH["navy"] * own_navies(s, side)
    forts = STRENGTH["fort_defending" if side == "defender" else "fort_attacking"]
    empire, region = s.empires[seat], s.battle.region
    return STRENGTH["army"] * empire.units_in(region, "army") + forts * empire.units_in(region, "fort")


def alliance_tiles(s: Struggle, stage: str, side: str, seat: Seat) -> int:
    """SOE-8.5.1, SOE-9.5.15: on land all not used at sea; against Pirates, by themselves, all with a navy."""
    combat, empire = s.battle, s.empires[seat]
    at_sea = combat.party(side).at_sea
    if stage == "naval":
        raid = "pirates" in (combat.attacker.kind, combat.defender.kind)
        count = len(empire.alliance_tiles(combat.region, "navy") if raid else at_sea)
    else:
        count = len(empire.alliance_tiles(combat.region, "army")) - len(at_sea)
    bonus: int = CONSTANTS["alliance_tile_bonus"]
    return bonus * count


def training(s: Struggle, stage: str, side: Side) -> int:
    """SOE-9.5.1: +1 for more Training tiles than the opposing principal, with a unit of one's own to train."""
    tile, unit, region = TRAINING[stage], UNIT[stage], s.battle.region
    owned = {x: _owned(s, s.battle.party(x), tile) for x in SIDES}
    seat = s.battle.party(side).seat
    if seat is None or owned[side] <= owned[other(side)]:
        return 0
    there = own_navies(s, side) if unit == "navy" else s.empires[seat].units_in(region, "army")
    if stage == "land" and side == "defender":
        there += s.empires[seat].units_in(region, "fort")
    bonus: int = CONSTANTS["training_bonus"]
    return bonus if there else 0


def _owned(s: Struggle, party: Party, tile: str) -> int:
    return 0 if party.seat is None else s.empires[party.seat].owned(tile)


def naval_support(s: Struggle, side: str) -> int:
    """SOE-8.6.1: 1, or 2 with a Blockade tile."""
    if s.battle.naval_support != side:
        return 0
    bonus: int = CONSTANTS["naval_support_bonus" + ("_with_blockade" if s.battle.blockade else "")]
    return bonus


def foresee_strengths(s: Struggle, seat: Seat, region: str, target: Party) -> dict[str, int]:
    """Return both sides of an attack before its declaration: without dice, allies and later choices."""
    fought = replace(s, combat=Combat(region, Party("player", seat), target))
    return strengths(fought, "naval" if target.kind == "pirates" else "land")


# --- dice ----------------------------------------------------------------------------------------------------


def step_blockade(d: D) -> Next:
    """SOE-8.6.1: a side with naval support and a Blockade tile in hand is asked before the dice."""
    side = d.state.battle.naval_support
    holder = d.state.battle.party(side).seat if side else None
    if holder is not None and d.state.empires[holder].unused("blockade"):
        return Question(frames.UseBlockade(), holder)
    return NOTHING


def do_use_blockade(d: D, frame: Frame, seat: Seat, move: UseBlockade) -> None:
    """SOE-8.6.1: naval support counts 2; the tile returns to the stock and is banned."""
    if move.use:
        d.add(BlockadeUsed(seat, "blockade", banned=True))
    answer(d, seat)


def step_roll(d: D, stage: Stage) -> Next:
    """SOE-8.5.2, SOE-8.6.2: the attacker's two dice, then the defender's; a total adds their difference."""
    dice = {side: [d.draws.roll(f"battle.{side}", 1, 6) for _ in range(2)] for side in SIDES}
    base = strengths(d.state, stage)
    totals = [base[side] + spread(dice[side]) for side in SIDES]
    d.add(BattleRolled(stage, dice["attacker"], dice["defender"], totals))
    return [["reserve", "attacker"]]


def step_reserve(d: D, side: Side) -> Next:
    """SOE-8.7.1: the attacker, then the defender, may have all dice rolled again."""
    combat = d.state.battle
    seat = combat.party(side).seat
    if seat is not None and d.state.empires[seat].unused("reserve"):
        return Question(frames.Reserve(side, combat.stage, combat.dice, combat.totals), seat)
    return _after_reserve(side)


def _after_reserve(side: str) -> list[list[str]]:
    return [["reserve", "defender"]] if side == "attacker" else [["result"]]


def do_reserve(d: D, frame: Frame, seat: Seat, move: Reserve) -> None:
    """SOE-8.7.2: used, the tile is turned and only the new roll counts."""
    d.add(ReserveAnswered(seat, "reserve", move.use))
    again = [["roll", d.state.battle.stage]]
    answer(d, seat, *(again if move.use else _after_reserve(side_of(d.state, seat))))
