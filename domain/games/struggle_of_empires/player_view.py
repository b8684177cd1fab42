"""SOE-16, SOE-21.1: a viewer's view. Everything is public but the unrest totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from domain.games.struggle_of_empires.data import REGIONS, UNITS
from domain.games.struggle_of_empires.scoring import unrest_shown
from domain.games.struggle_of_empires.state import (
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
from domain.kernel.rules.ruleset import Chapter
from domain.kernel.schema.declarations import UNSET, Maybe, Part, among
from domain.types import Seat


class AuctionShown(Part, frozen=True):
    """SOE-6: the current auction."""

    opener: int
    standing: StandingBid | None
    passes: int
    """Since the standing bid."""
    unaligned: Sequence[int]
    """Seats without an alliance, ascending."""


class EmpireShown(Part, frozen=True):
    """Public data of one seat. Counts of 0 are omitted, except in `supply`."""

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
    """Tokens left to place (SOE-1.2)."""
    tiles: Sequence[Tile]
    banned_tiles: Sequence[str]
    """Not to be bought again before the round ends (SOE-9.2.4)."""


class CombatShown(Part, frozen=True):
    """SOE-8: the current combat."""

    region: str
    zone: str | None
    """The sea zone of the region."""
    attacker: Party
    defender: Party
    surprise: bool
    stage: Annotated[str, among(("support", "naval", "land"))]
    naval_support: str | None
    """The side with naval support."""
    blockade: bool
    """Naval support is worth 2 (SOE-8.6.1)."""
    dice: Sequence[int]
    """Dice of the last roll: two of the attacker, two of the defender."""
    totals: Sequence[int]
    """Strength of attacker and defender with this roll."""
    winner: str | None
    """Winning side of the last battle; `tie`."""
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
    """Opener of the next War's first auction."""
    turn_order: Sequence[int]
    alliances: Mapping[str, Sequence[int]]
    """Alliance -> seats by slot."""
    auction: AuctionShown | None
    empires: Sequence[EmpireShown]
    """Empires by seat."""
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
    """Unrest by seat; absent while totals are withheld (SOE-16.2)."""


class Own(Part, frozen=True):
    """SOE-16.2: a seat's private view, besides the board."""

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
    """SOE-3.3: the chosen powers."""
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
    """Return the War and its round (SOE-4); round 0 is the forming of the alliances."""
    return Chapter(s.war, s.round, "alliances" if s.war and not s.round and not s.over else "")
