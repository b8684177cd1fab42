"""SOE-8.8 to SOE-8.10: the losses of a battle, their choice, and Fighting Withdrawal."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import CONSTANTS, REGIONS, UNITS, Unit
from domain.games.struggle_of_empires.facts.combat import BattleResolved, LossDue, LossesChosen, WithdrawalAnswered
from domain.games.struggle_of_empires.facts.pieces import UnitLost
from domain.games.struggle_of_empires.moves import ChooseLoss, FightingWithdrawal
from domain.games.struggle_of_empires.rules.checks import require
from domain.games.struggle_of_empires.rules.combat.battle import UNIT
from domain.games.struggle_of_empires.rules.combat.naval import gain_support
from domain.games.struggle_of_empires.rules.combat.steps import NOTHING, Next, Question, answer, side_of
from domain.games.struggle_of_empires.rules.movement import lift_blockade
from domain.games.struggle_of_empires.state import SIDES, Cause, D, Loss, Side, Struggle, Winner
from domain.games.struggle_of_empires.value_objects import LossChoice
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

Options = list[LossChoice]
"""Options for one loss."""


# --- the items -----------------------------------------------------------------------------------------------


def step_result(d: D) -> Next:
    """SOE-8.5.4, SOE-8.6, SOE-8.8: the higher total wins; the losses are listed, most of them filled in."""
    attack, defence = d.state.battle.totals
    winner: Winner = "tie" if attack == defence else "attacker" if attack > defence else "defender"
    d.add(BattleResolved(winner, [loss for side in SIDES for loss in items(d.state, side, winner)]))
    return [["losses", "attacker"], ["losses", "defender"], ["withdrawal"], ["apply"]]


def items(s: Struggle, side: Side, winner: Winner) -> list[LossDue]:
    """SOE-8.9.1: the losses of a side, filled in where there is one option."""
    if s.battle.party(side).seat is None:
        return []
    causes: list[Cause] = [] if winner == side else ["tie" if winner == "tie" else "defeat"]
    seven = rolled_seven(s, side)
    helpers = s.battle.party(side).helpers(UNIT[s.battle.stage]) if causes == ["defeat"] else []
    if seven and helpers:
        return [*_own_items(s, side, causes, winner), _ally_item(s, side, helpers)]
    return _own_items(s, side, [*causes, "seven"] if seven else causes, winner)


def rolled_seven(s: Struggle, side: str) -> bool:
    """SOE-8.8: two dice adding up to 7."""
    dice = s.battle.dice[:2] if side == "attacker" else s.battle.dice[2:]
    natural_seven: int = CONSTANTS["natural_seven"]
    return sum(dice) == natural_seven


def own_pool(s: Struggle, side: str, winner: str) -> dict[Unit, int]:
    """SOE-8.8.2, SOE-8.8.5: own units open to loss, by kind; a fort only of a defender, and not in a tie."""
    seat, region = s.battle.party(side).seat, s.battle.region
    if seat is None:
        return {}
    empire = s.empires[seat]
    if s.battle.stage == "naval":
        pool: dict[Unit, int] = {"navy": empire.units_in(REGIONS[region].zone, "navy")}
    else:
        pool = {"army": empire.units_in(region, "army")}
        if side == "defender" and winner != "tie":
            pool["fort"] = empire.units_in(region, "fort")
    return {unit: n for unit, n in pool.items() if n}


def _own_items(s: Struggle, side: Side, causes: list[Cause], winner: Winner) -> list[LossDue]:
    """SOE-8.8.1, SOE-8.8.5, SOE-8.9.1: all units go if this many must; one kind leaves no choice."""
    seat, pool = s.battle.party(side).seat, own_pool(s, side, winner)
    units = [unit for unit, n in pool.items() for _ in range(n)]
    if len(causes) < len(units) and len(pool) > 1:
        return [LossDue(side, cause) for cause in causes]
    owner = UNSET if seat is None else seat
    return [LossDue(side, cause, seat=owner, unit=unit) for cause, unit in zip(causes, units, strict=False)]


def _ally_item(s: Struggle, side: Side, helpers: list[Seat]) -> LossDue:
    """SOE-8.8.3 (a): the losing side's seven costs an ally; with several, the principal chooses."""
    if len(helpers) > 1:
        return LossDue(side, "seven", ally=True)
    return LossDue(side, "seven", ally=True, seat=helpers[0], unit=UNIT[s.battle.stage])


# --- choosing ------------------------------------------------------------------------------------------------


def open_items(s: Struggle, side: str) -> list[Loss]:
    """Return the losses of a side still to be chosen."""
    return [loss for loss in s.battle.losses if loss.side == side and loss.seat is None]


def options(s: Struggle, loss: Loss, before: Sequence[LossChoice]) -> Options:
    """SOE-8.9.2: the options of an item after the choices before it; defaults first (SOE-18.1)."""
    party = s.battle.party(loss.side)
    if loss.ally:
        unit, helpers = UNIT[s.battle.stage], party.helpers(UNIT[s.battle.stage])
        return [LossChoice(seat, unit) for seat in s.after(party.seat or 0) if seat in helpers]
    pool = own_pool(s, loss.side, s.battle.winner or "")
    own = [LossChoice(party.principal, unit) for unit in pool]
    return [o for o in own if before.count(o) < pool[o.unit]]


def step_losses(d: D, side: str) -> Next:
    """SOE-8.9.2: a principal with a real choice is asked for all his items at once; the attacker first."""
    open_, seat = open_items(d.state, side), d.state.battle.party(side).seat
    if not open_ or seat is None:
        return NOTHING
    return Question(frames.ChooseLoss([options(d.state, loss, []) for loss in open_]), seat)


def check_choose_loss(s: Struggle, seat: Seat, move: ChooseLoss) -> None:
    """SOE-8.9.2: one choice for each open item, each still available after those before it."""
    open_, choices = open_items(s, side_of(s, seat)), move.choices
    require(len(choices) == len(open_), "invalid_choice", "SOE-8.9.2", items=len(open_))
    for at, (loss, choice) in enumerate(zip(open_, choices, strict=True)):
        require(choice in options(s, loss, choices[:at]), "invalid_choice", "SOE-8.9.2", choice=at)


def do_choose_loss(d: D, frame: Frame, seat: Seat, move: ChooseLoss) -> None:
    """SOE-8.9.2: the open items are filled in."""
    check_choose_loss(d.state, seat, move)
    d.add(LossesChosen(seat, side_of(d.state, seat), move.choices))
    answer(d, seat)


# --- Fighting Withdrawal -------------------------------------------------------------------------------------


def savable(s: Struggle) -> dict[Seat, int]:
    """SOE-8.10.1: seats of the defending side with the loss of an army or navy -> their first such item."""
    at: dict[Seat, int] = {}
    for i, loss in enumerate(s.battle.losses):
        if loss.side == "defender" and loss.seat is not None and loss.unit != "fort":
            at.setdefault(loss.seat, i)
    return at


def withdraws(s: Struggle) -> Seat | None:
    """SOE-8.10.1: the defender to ask: the loser, owner of the tile, on a side with the loss of an army or navy."""
    seat, beaten = s.battle.defender.seat, s.battle.winner == "attacker"
    if seat is None or not beaten or not savable(s) or not s.empires[seat].owned("fighting_withdrawal"):
        return None
    return seat


def step_withdrawal(d: D) -> Next:
    """SOE-8.10.1: the question of Fighting Withdrawal."""
    seat = withdraws(d.state)
    return NOTHING if seat is None else Question(frames.FightingWithdrawal(sorted(savable(d.state))), seat)


def check_withdrawal(s: Struggle, seat: Seat, move: FightingWithdrawal) -> None:
    """SOE-8.10.1: the seat to be saved would lose an army or navy."""
    if move.use:
        saves = s.top.context(frames.FightingWithdrawal).saves
        require(move.save in saves, "invalid_choice", "SOE-8.10.1", saves=list(saves))


def do_withdrawal(d: D, frame: Frame, seat: Seat, move: FightingWithdrawal) -> None:
    """SOE-8.10.1, SOE-8.10.2: one loss is cancelled; the tile returns to the stock and is banned."""
    check_withdrawal(d.state, seat, move)
    item = UNSET if move.save is UNSET else savable(d.state)[move.save]
    banned = move.use or UNSET
    d.add(WithdrawalAnswered(seat, "fighting_withdrawal", move.use, move.save, item, banned))
    answer(d, seat)


# --- applying ------------------------------------------------------------------------------------------------


def step_apply(d: D) -> Next:
    """SOE-8.8.6: all losses at once, each with one unrest; at sea the winner then has naval support (SOE-8.5.4)."""
    combat = d.state.battle
    at_sea = combat.stage == "naval"
    region = (REGIONS[combat.region].zone or "") if at_sea else combat.region
    for loss in combat.losses:
        d.add(UnitLost(*_chosen(loss), region, unrest=1))
    lift_blockade(d)
    for side in SIDES:
        if at_sea and combat.winner == side and combat.attacker.kind == combat.defender.kind:
            gain_support(d, side)
    return NOTHING


def _chosen(loss: Loss) -> tuple[Seat, Unit]:
    """Return the seat and the kind of the lost unit."""
    unit = next((unit for unit in UNITS if unit == loss.unit), None)
    if loss.seat is None or unit is None:
        raise AssertionError("losses are applied when all are chosen")
    return loss.seat, unit
