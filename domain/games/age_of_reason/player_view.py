"""AOR-16, AOR-21: a viewer's view. Everything is public but hands, discards, sealed answers and the bag's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from domain.games.age_of_reason.data import ALL_SLOTS, COALITIONS, CONSTANTS, MARKERS, POWERS, SPACES
from domain.games.age_of_reason.facts.battle import BattleResolved, BattleRevealed, BattleRolled, CommitClosed
from domain.games.age_of_reason.facts.cards import CardDiscarded, DiscardCounted
from domain.games.age_of_reason.facts.coalitions import BidMade
from domain.games.age_of_reason.facts.economy import GoldReceived, RegionScored, UnrestRolled, VpGained
from domain.games.age_of_reason.facts.sequence import EmpireDrawn, MarkersDrawn, TurnEnded
from domain.games.age_of_reason.rules.battle.dice import strength_parts, supporters
from domain.games.age_of_reason.rules.income import income
from domain.games.age_of_reason.rules.scoring import region_points
from domain.games.age_of_reason.state import SIDES, AgeOfReason, Auction, Battle, Empire, Sealed, StandingBid, Turn
from domain.games.common.dice import describe_roll
from domain.games.common.merged_sentences import group_by, merged_shares
from domain.kernel.rules.ruleset import Chapter, ContextBuilder, memo
from domain.kernel.schema.declarations import Part, among, or_none
from domain.types import Json, Seat


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
    """Most facts leave most seats as they are, and every record has a board."""
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


# --- what sentences take besides ---------------------------------------------------------------------------------


def _by_region(_: AgeOfReason, __: AgeOfReason, fact: MarkersDrawn | EmpireDrawn) -> Mapping[str, Json]:
    """Return the regions of the markers."""
    return {"regions": group_by(fact.markers, lambda marker: MARKERS[marker].region)}


def _bid(before: AgeOfReason, _: AgeOfReason, fact: BidMade) -> Mapping[str, Json]:
    """Return whether the proposal repeats the one of the previous bid."""
    standing = before.auction.standing if before.auction else None
    return {"same": standing is not None and (standing.a, standing.b) == (or_none(fact.a), or_none(fact.b))}


def _turn_ended(before: AgeOfReason, _: AgeOfReason, __: TurnEnded) -> Mapping[str, Json]:
    """Return the attacks given up by passing."""
    turn = before.turn
    left = turn.attacks_allowed - turn.attacks_made if turn else 0
    return {"left": left} if left else {}


# battles


def _sides(before: AgeOfReason, _: AgeOfReason, __: object) -> Mapping[str, Json]:
    """Return the attacker and the defender of the battle: a seat, a power without seat, or a marker."""
    if (battle := before.battle) is None:
        return {}
    defender = (battle.power or battle.marker) if battle.defender is None else battle.defender
    return {"sides": {"attacker": battle.attacker, "defender": defender}}


def _closed(before: AgeOfReason, _: AgeOfReason, fact: CommitClosed) -> Mapping[str, Json]:
    """Return whether allies were asked and none of them has laid a card."""
    battle = before.fight
    return {"alone": not fact.laid and any(seat != battle.defender for seat in battle.asked)}


def _revealed(before: AgeOfReason, after: AgeOfReason, fact: BattleRevealed) -> Mapping[str, Json]:
    """Return the principals' cards, their supporters, and the bluffing allies."""
    battle = after.fight
    allies = [seat for seat in map(int, fact.cards) if seat not in (battle.attacker, battle.defender)]
    helping = {side: supporters(after, side) for side in SIDES}
    return {
        **_sides(before, after, fact),
        "several": len(fact.cards) > 1,
        "played": {side: battle.card_of(battle.principal(side)) for side in SIDES},
        "helping": helping,
        "bluffing": [seat for seat in allies if all(seat not in seats for seats in helping.values())],
    }


def _rolled(before: AgeOfReason, after: AgeOfReason, fact: BattleRolled) -> Mapping[str, Json]:
    """Return the rolling sides, with the parts of their strengths."""
    who = _sides(before, after, fact)["sides"]
    dice = dict(zip(SIDES, (fact.attacker, fact.defender), strict=True))
    total = dict(zip(SIDES, fact.strength, strict=True))
    return {"rolls": [describe_roll(who[side], dice[side], total[side], strength_parts(after, side)) for side in SIDES]}


def _resolved(before: AgeOfReason, after: AgeOfReason, fact: BattleResolved) -> Mapping[str, Json]:
    """Return the sides, the region, and the winner's surplus."""
    margin = abs(fact.difference)
    victory = "decisive" if margin >= CONSTANTS["decisive_margin"] else "minor"
    return {**_sides(before, after, fact), "region": before.fight.region, "margin": margin, "victory": victory}


def _discarded(before: AgeOfReason, _: AgeOfReason, fact: CardDiscarded) -> Mapping[str, Json]:
    """Return the size of the discard after a card seen by all."""
    return {"cards": before.empires[fact.seat].discard_size + 1} if before.battle else {}


def _counted(before: AgeOfReason, _: AgeOfReason, __: DiscardCounted) -> Mapping[str, Json]:
    """Return whether the sentence of the card already gave the size of the discard."""
    return {"told": before.battle is not None}


def _marker(before: AgeOfReason, _: AgeOfReason, __: VpGained) -> Mapping[str, Json]:
    """Return the beaten marker."""
    return {"marker": before.fight.marker}


# points


def _scored(before: AgeOfReason, _: AgeOfReason, fact: RegionScored) -> Mapping[str, Json]:
    """Return the points of a region for all seats, with the first of them."""
    found = {before.seat_of(power): vp for power, vp in region_points(before, fact.region).items()}
    points = {seat: vp for seat, vp in found.items() if seat is not None}
    return merged_shares(fact.seat, points, {seat: before.empires[seat].vp for seat in points})


def _income(before: AgeOfReason, _: AgeOfReason, fact: GoldReceived) -> Mapping[str, Json]:
    """Return the income of all seats in phase 4, with the first of them; or mark the gold as one seat's alone."""
    if fact.why != "income":
        return {"single": True}
    gold = {seat: income(before, seat) for seat in before.everybody}
    return merged_shares(fact.seat, gold, {seat: before.empires[seat].gold for seat in gold})


def _unrest(before: AgeOfReason, _: AgeOfReason, fact: UnrestRolled) -> Mapping[str, Json]:
    """Against how much unrest the dice are rolled."""
    return {"unrest": before.empires[fact.seat].unrest}


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[AgeOfReason]] = {
    "markers_drawn": _by_region,
    "empire_drawn": _by_region,
    "bid_made": _bid,
    "turn_ended": _turn_ended,
    "commit_closed": _closed,
    "battle_revealed": _revealed,
    "battle_rolled": _rolled,
    "dice_rerolled": _sides,
    "battle_resolved": _resolved,
    "card_discarded": _discarded,
    "discard_counted": _counted,
    "vp_gained": _marker,
    "region_scored": _scored,
    "gold_received": _income,
    "unrest_rolled": _unrest,
}
"""Fact -> context of its sentence, besides its own members."""
