"""SOE-16, SOE-21.1: what a viewer sees. Everything is public but the unrest totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from domain.games.common.dice import describe_roll
from domain.games.common.merged_sentences import group_by, merged_shares
from domain.games.struggle_of_empires.data import MARKERS, REGIONS, ROUNDS, SEA_ROLL, TILES, UNITS
from domain.games.struggle_of_empires.facts.combat import (
    BattleResolved,
    BattleRolled,
    LossesChosen,
    WithdrawalAnswered,
)
from domain.games.struggle_of_empires.facts.economy import GoldPaid, GoldReceived, PopulationGrown, RegionScored
from domain.games.struggle_of_empires.facts.pieces import UnitBuilt, UnitLost, UnitMoved
from domain.games.struggle_of_empires.facts.sequence import BidMade, EmpireDrawn, MarkersDrawn, RoundEnded, TurnEnded
from domain.games.struggle_of_empires.rules.actions import is_over
from domain.games.struggle_of_empires.rules.combat.battle import strength_parts
from domain.games.struggle_of_empires.rules.combat.losses import withdraws
from domain.games.struggle_of_empires.rules.income import growth, income
from domain.games.struggle_of_empires.rules.scoring import region_points
from domain.games.struggle_of_empires.scoring import unrest_shown
from domain.games.struggle_of_empires.state import (
    SIDES,
    Auction,
    Blockade,
    Captive,
    Combat,
    Empire,
    Loss,
    Party,
    StandingBid,
    Struggle,
    Tile,
    Turn,
)
from domain.kernel.rules.ruleset import Chapter, ContextBuilder
from domain.kernel.schema.declarations import UNSET, Maybe, Part, among, doc, or_none
from domain.types import Json, Seat


class AuctionShown(Part, frozen=True):
    """SOE-6: the auction that goes on."""

    opener: int
    standing: StandingBid | None
    passes: int
    """Since the standing bid."""
    unaligned: Sequence[int]
    """Seats without an alliance, ascending."""


class EmpireShown(Part, frozen=True):
    """What one seat has. Counts of 0 are not named, but in `supply`."""

    seat: int
    power: str | None
    """None before it is chosen."""
    gold: int
    population: int
    vp: int
    tokens: Mapping[str, int]
    """Region -> own tokens in it, without captured ones."""
    units: Mapping[str, Mapping[str, int]]
    """Region -> unit -> number."""
    supply: Mapping[str, int]
    """Unit -> how many can still be placed (SOE-1.1)."""
    reserve: int
    """Tokens that can still be placed (SOE-1.2)."""
    tiles: Sequence[Tile]
    banned_tiles: Sequence[str]
    """Not to be bought again before the round ends (SOE-9.2.4)."""


class CombatShown(Part, frozen=True):
    """SOE-8: the combat that goes on."""

    region: str
    zone: str | None
    """The sea zone of the region."""
    attacker: Party
    defender: Party
    surprise: bool
    stage: Annotated[str, among(("support", "naval", "land"))]
    naval_support: str | None
    """The side that has it."""
    blockade: bool
    """Naval support is worth 2 (SOE-8.6.1)."""
    dice: Sequence[int]
    """Of the last roll: two of the attacker, two of the defender."""
    totals: Sequence[int]
    """Strength of attacker and defender with that roll."""
    winner: str | None
    """Side that won the last battle; `tie`."""
    losses: Sequence[Loss]


class Board(Part, frozen=True):
    """The common board, in the names of SOE-21.1."""

    game: Literal["struggle_of_empires"]
    players: int
    war: int
    """0 during the set-up."""
    round: int
    phase: Annotated[str, among(("setup", "alliances", "actions", "over"))]
    first_player: int | None
    opener: int | None
    """Who opens the first auction of the next War."""
    turn_order: Sequence[int]
    alliances: Mapping[str, Sequence[int]]
    """Alliance -> seats by slot."""
    auction: AuctionShown | None
    empires: Sequence[EmpireShown]
    """By seat."""
    markers: Mapping[str, Sequence[str]]
    """Region -> markers lying in it; regions without any are not named."""
    bag_size: int
    """Markers still to be drawn."""
    stock: Mapping[str, int]
    """Tile -> copies to be bought."""
    boxed: Mapping[str, int]
    """Tile -> copies out of the game."""
    pirates: Captive | None
    slave_revolt: Captive | None
    blockade: Blockade | None
    turn: Turn | None
    combat: CombatShown | None
    unrest: Maybe[Sequence[int]] = UNSET
    """By seat; absent while totals are withheld (SOE-16.2)."""


class Own(Part, frozen=True):
    """SOE-16.2: what a seat sees besides."""

    unrest: int


def own_view(s: Struggle, seat: Seat) -> Own:
    """SOE-16.2."""
    return Own(s.unrest[seat])


def board(s: Struggle) -> Board:
    """SOE-21.1."""
    return Board(
        game="struggle_of_empires",
        players=s.seats,
        war=s.war,
        round=s.round,
        phase=s.phase,
        first_player=s.first_player,
        opener=s.opener,
        turn_order=s.turn_order,
        alliances=s.alliances,
        auction=_auction(s, s.auction) if s.auction else None,
        empires=[_empire(s, seat, e) for seat, e in enumerate(s.empires)],
        markers={region: markers for region, markers in s.markers.items() if markers},
        bag_size=len(s.bag),
        stock=s.stock,
        boxed=s.boxed,
        pirates=s.pirates,
        slave_revolt=s.slave_revolt,
        blockade=s.blockade,
        turn=s.turn,
        combat=_combat(s.combat) if s.combat else None,
        unrest=s.unrest if unrest_shown(s) else UNSET,
    )


def powers(s: Struggle) -> dict[Seat, str]:
    """SOE-3.3: those that are chosen."""
    return {seat: empire.power for seat, empire in enumerate(s.empires) if empire.power is not None}


def _auction(s: Struggle, auction: Auction) -> AuctionShown:
    return AuctionShown(auction.opener, auction.standing, auction.passes, s.unaligned())


def _empire(s: Struggle, seat: Seat, empire: Empire) -> EmpireShown:
    return EmpireShown(
        seat=seat,
        power=empire.power,
        gold=empire.gold,
        population=empire.population,
        vp=empire.vp,
        tokens=empire.tokens,
        units=empire.units,
        supply={unit: empire.supply(unit) for unit in UNITS},
        reserve=s.reserve(seat),
        tiles=empire.tiles,
        banned_tiles=empire.banned_tiles,
    )


def _combat(combat: Combat) -> CombatShown:
    return CombatShown(
        region=combat.region,
        zone=REGIONS[combat.region].zone,
        attacker=combat.attacker,
        defender=combat.defender,
        surprise=combat.surprise,
        stage=combat.stage,
        naval_support=combat.naval_support,
        blockade=combat.blockade,
        dice=combat.dice,
        totals=combat.totals,
        winner=combat.winner,
        losses=combat.losses,
    )


def chapter(s: Struggle) -> Chapter:
    """The War and its round (SOE-4), before the first of which the alliances are formed."""
    return Chapter(s.war, s.round, "alliances" if s.war and not s.round and not s.over else "")


# --- what sentences take besides ---------------------------------------------------------------------------------


def _by_region(_: Struggle, __: Struggle, fact: MarkersDrawn | EmpireDrawn) -> Mapping[str, Json]:
    """Where the markers lie."""
    return {"regions": group_by(fact.markers, lambda marker: MARKERS[marker].region)}


def _bid(before: Struggle, _: Struggle, fact: BidMade) -> Mapping[str, Json]:
    """Whether the proposal is that of the bid before."""
    standing = before.auction.standing if before.auction else None
    return {"same": standing is not None and (standing.a, standing.b) == (or_none(fact.a), or_none(fact.b))}


def _turn_ended(before: Struggle, _: Struggle, fact: TurnEnded) -> Mapping[str, Json]:
    """What a seat gives up that passes; nothing where the turn ends by itself."""
    if before.turn is None or is_over(before, fact.seat):
        return {}
    return {"left": before.turn.actions_left, "ends": "early" if before.turn.actions_left else "done"}


def _round_ended(before: Struggle, _: Struggle, fact: RoundEnded) -> Mapping[str, Json]:
    """Whether no other follows in the War."""
    return {"last": fact.round == ROUNDS[before.seats]}


def _sailed(before: Struggle, _: Struggle, fact: UnitBuilt | UnitMoved) -> Mapping[str, Json]:
    """What Navigation adds to the second die of a sea roll."""
    if fact.dice is UNSET:
        return {}
    skilled = len(fact.dice) > 1 and before.empires[fact.seat].owned("navigation") > 0
    return {"sea": "skilled", "bonus": SEA_ROLL["navigation_bonus_on_second_die"]} if skilled else {"sea": "plain"}


# combat


def _sides(before: Struggle, _: Struggle, __: object) -> Mapping[str, Json]:
    """Who the attacker and the defender of the combat are: a seat, a marker or a tile."""
    if before.combat is None:
        return {}
    return {"sides": {side: _party_id(before.combat.party(side)) for side in SIDES}}


def _party_id(party: Party) -> Json:
    return (party.marker or party.kind) if party.seat is None else party.seat


def _rolled(before: Struggle, after: Struggle, fact: BattleRolled) -> Mapping[str, Json]:
    """Who rolled in which battle, and what the strengths are made of."""
    first, second = (
        describe_roll(_party_id(before.battle.party(side)), dice, total, strength_parts(before, fact.stage, side))
        for side, dice, total in zip(SIDES, (fact.attacker, fact.defender), fact.totals, strict=True)
    )
    return {"rolls": [{"stage": fact.stage, **first}, second]}


def _resolved(before: Struggle, after: Struggle, fact: BattleResolved) -> Mapping[str, Json]:
    """Who fought where; and the losses that are due, where somebody still decides on them."""
    combat = before.battle
    region = REGIONS[combat.region].zone if combat.stage == "naval" else combat.region
    due = (
        [{"who": _party_id(combat.party(loss.side)), **doc(loss)} for loss in fact.losses] if _undecided(after) else []
    )
    return {**_sides(before, after, fact), "stage": combat.stage, "region": region, "due": due}


def _undecided(s: Struggle) -> bool:
    """Whether losses are still to be chosen, or one of them may be saved (SOE-8.9.2, SOE-8.10.1)."""
    return any(loss.seat is None for loss in s.battle.losses) or withdraws(s) is not None


def _chosen(_: Struggle, after: Struggle, __: LossesChosen) -> Mapping[str, Json]:
    """Whether the losses are not told as they come, in the same record."""
    return {"wait": _undecided(after)}


def _saved(before: Struggle, _: Struggle, fact: WithdrawalAnswered) -> Mapping[str, Json]:
    """Which unit is saved."""
    return {} if fact.item is UNSET else {"unit": before.battle.losses[fact.item].unit}


def _loss_causes(before: Struggle, _: Struggle, fact: UnitLost) -> Mapping[str, Json]:
    """Why such units are lost."""
    found = [loss.cause for loss in before.battle.losses if (loss.seat, loss.unit) == (fact.seat, fact.unit)]
    return {"causes": list(dict.fromkeys(found))}


# gold and points


def _paid(_: Struggle, __: Struggle, fact: GoldPaid) -> Mapping[str, Json]:
    """Whether it is a tile that is paid for, which may be named like a country."""
    return {"tile": fact.why in TILES}


def _received(before: Struggle, _: Struggle, fact: GoldReceived) -> Mapping[str, Json]:
    """What phase 4 brings to all seats, with the first of them; whether the gold is that of one seat alone."""
    if fact.why != "income":
        return {"single": True}
    gold = {seat: income(empire) for seat, empire in enumerate(before.empires)}
    return merged_shares(fact.seat, gold, {seat: empire.gold for seat, empire in enumerate(before.empires)})


def _grown(before: Struggle, after: Struggle, fact: PopulationGrown) -> Mapping[str, Json]:
    """What all have after phase 4, with the last whose population rises; whether it rises in a turn, of one alone."""
    if before.turn is not None:
        return {"single": True}
    rising = any(growth(empire) for empire in before.empires[fact.seat + 1 :])
    return {} if rising else {"populations": [empire.population for empire in after.empires]}


def _scored(before: Struggle, _: Struggle, fact: RegionScored) -> Mapping[str, Json]:
    """What a region brings to all seats, with the first of them."""
    points = region_points(before, fact.region)
    return merged_shares(fact.seat, points, {seat: before.empires[seat].vp for seat in points})


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[Struggle]] = {
    "markers_drawn": _by_region,
    "empire_drawn": _by_region,
    "bid_made": _bid,
    "turn_ended": _turn_ended,
    "round_ended": _round_ended,
    "unit_built": _sailed,
    "unit_moved": _sailed,
    "support_answered": _sides,
    "battle_rolled": _rolled,
    "battle_resolved": _resolved,
    "losses_chosen": _chosen,
    "withdrawal_answered": _saved,
    "unit_lost": _loss_causes,
    "gold_paid": _paid,
    "gold_received": _received,
    "population_grown": _grown,
    "region_scored": _scored,
}
"""Fact -> what its sentence takes besides its own members."""
