"""AOR-16, AOR-21: a viewer's view. Everything is public but hands, discards, sealed answers and the bag's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from domain.games.age_of_reason.data import ALL_SLOTS, COALITIONS, POWERS, SPACES
from domain.games.age_of_reason.state import AgeOfReason, Auction, Battle, Empire, Sealed, StandingBid, Turn
from domain.kernel.rules.ruleset import Chapter, memo
from domain.kernel.schema.declarations import Part, among
from domain.types import Seat


class AuctionShown(Part, frozen=True):
    """AOR-6: the current auction."""

    number: int
    """1..4."""
    opener: int
    standing: StandingBid | None
    passes: int
    """Since the standing bid."""
    unaligned: Sequence[str]
    """Powers in no coalition, in the order of the data."""


class EmpireShown(Part, frozen=True):
    """Public view of a seat. Counts of 0 are omitted."""

    seat: int
    power: str | None
    """None before it is chosen."""
    gold: int
    vp: int
    unrest: int
    tokens: Mapping[str, int]
    """Region -> own tokens in it."""
    action_tokens: Sequence[str]
    """Spaces of the action board with an own token, one for each token."""
    reserve: int
    """Tokens left to place (AOR-1.3)."""
    hand_size: int
    """A sealed card counts until the reveal (AOR-4.6.5)."""
    discard_size: int


class TargetShown(Part, frozen=True):
    """AOR-8.2.1: the target of an attack."""

    kind: Annotated[str, among(("power", "marker"))]
    power: str | None
    marker: str | None


class BattleShown(Part, frozen=True):
    """AOR-9: the current battle; null for anything not known yet."""

    region: str
    attacker: int
    target: TargetShown
    defender: int | None
    """The attacked seat, if there is one."""
    asked: Sequence[int]
    """Seats asked for a card, ascending."""
    laid: Sequence[int] | None
    """Allies with a card laid, ascending."""
    cards: Mapping[str, str] | None
    """Seat -> its laid card."""
    hired: Mapping[str, Sequence[str]] | None
    """Side -> powers hired by its principal."""
    dice: Mapping[str, Sequence[int]] | None
    """Side -> two dice."""
    strength: Mapping[str, int] | None
    """Side -> strength with these dice."""


class Board(Part, frozen=True):
    """The common board, in the names of AOR-21.1."""

    game: Literal["age_of_reason"]
    players: int
    game_turn: int
    """0 during the set-up."""
    round: int
    """0 outside the actions."""
    phase: Annotated[str, among(("setup", "coalitions", "actions", "finished"))]
    first_player: int | None
    opener: int | None
    """Opener of this game turn's first auction."""
    slots: Mapping[str, str | None]
    """Slot of the alliance display -> power."""
    coalitions: Mapping[str, Sequence[str]]
    """Coalition -> powers in slot order."""
    turn_order: Sequence[int]
    auction: AuctionShown | None
    empires: Sequence[EmpireShown]
    """Empires by seat."""
    npp: Mapping[str, Mapping[str, int]]
    """Power without a seat -> region -> tokens; powers without tokens are not named."""
    markers: Mapping[str, Sequence[str]]
    """Region -> markers lying in it; regions without any are not named."""
    bag_size: int
    """Markers still to be drawn."""
    action_board: Mapping[str, Sequence[int]]
    """Space -> seats with a token there, in the order of placing; every kind of space of this table is named."""
    turn: Turn | None
    battle: BattleShown | None


class Own(Part, frozen=True):
    """AOR-16.4: a seat's private view, besides the board."""

    hand: Sequence[str]
    """Without a sealed card."""
    discard: Sequence[str]
    sealed: Sealed | None
    """Sealed until the reveal: the own card, and the powers hired by the seat."""


def powers(s: AgeOfReason) -> dict[Seat, str]:
    """AOR-3: the chosen powers."""
    return {seat: empire.power for seat, empire in enumerate(s.empires) if empire.power is not None}


def own_view(s: AgeOfReason, seat: Seat) -> Own:
    """AOR-16.4."""
    return Own(s.hand(seat), s.discards[seat], s.sealed[seat])


def board(s: AgeOfReason) -> Board:
    """AOR-21.1."""
    return Board(
        game="age_of_reason",
        players=s.seats,
        game_turn=s.game_turn,
        round=s.round,
        phase=s.phase,
        first_player=s.first_player,
        opener=s.opener,
        slots={slot: s.slots.get(slot) for slot in ALL_SLOTS},
        coalitions={coalition: s.members(coalition) for coalition in COALITIONS},
        turn_order=s.turn_order,
        auction=_auction(s, s.auction) if s.auction else None,
        empires=[_kept_empire(s, seat, empire) for seat, empire in enumerate(s.empires)],
        npp=_unseated_tokens(s),
        markers=s.markers,
        bag_size=len(s.bag),
        action_board={space: s.spaces.get(space, ()) for space in SPACES if s.exists(space)},
        turn=s.turn,
        battle=_battle(s.battle) if s.battle else None,
    )


def _auction(s: AgeOfReason, auction: Auction) -> AuctionShown:
    return AuctionShown(auction.number, auction.opener, auction.standing, auction.passes, s.unaligned())


def _kept_empire(s: AgeOfReason, seat: Seat, empire: Empire) -> EmpireShown:
    """Return the cached view of an empire: most facts leave most seats unchanged, and every record has a board."""
    cards = s.battle.cards if s.battle else None
    parts = (empire, s.tokens.get(empire.power or ""), s.spaces, cards, s.game_turn)
    return memo(s, f"empire {seat}", lambda: _empire(s, seat, empire), parts)


def _empire(s: AgeOfReason, seat: Seat, empire: Empire) -> EmpireShown:
    return EmpireShown(
        seat=seat,
        power=empire.power,
        gold=empire.gold,
        vp=empire.vp,
        unrest=empire.unrest,
        tokens=s.tokens_of(seat),
        action_tokens=[space for space, seats in s.spaces.items() for x in seats if x == seat],
        reserve=s.reserve(seat) if s.game_turn else 0,
        hand_size=s.hand_size(seat),
        discard_size=empire.discard_size,
    )


def _unseated_tokens(s: AgeOfReason) -> dict[str, dict[str, int]]:
    """AOR-2.4."""
    seated = {empire.power for empire in s.empires}
    return {power: s.tokens[power] for power in POWERS if power not in seated and s.tokens.get(power)}


def _battle(battle: Battle) -> BattleShown:
    return BattleShown(
        region=battle.region,
        attacker=battle.attacker,
        target=TargetShown("marker" if battle.marker else "power", battle.power, battle.marker),
        defender=battle.defender,
        asked=battle.asked,
        laid=battle.laid,
        cards=battle.cards,
        hired=battle.hired,
        dice=battle.dice,
        strength=battle.strength,
    )


def chapter(s: AgeOfReason) -> Chapter:
    """Return the game turn and its round (AOR-4); round 0 is the forming of the coalitions."""
    return Chapter(s.game_turn, s.round, "coalitions" if s.game_turn and not s.round and not s.over else "")
