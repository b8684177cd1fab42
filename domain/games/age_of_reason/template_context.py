"""Context of sentences besides the members of a fact, from the states around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from domain.games.age_of_reason.data import CARDS, COALITIONS, CONSTANTS, MARKERS, SPACES, UNREST_MAX
from domain.games.age_of_reason.facts.battle import (
    AttackDeclared,
    BattleResolved,
    BattleRevealed,
    BattleRolled,
    CommitClosed,
)
from domain.games.age_of_reason.facts.cards import CardDiscarded, CardTakenBack, DiscardCounted
from domain.games.age_of_reason.facts.coalitions import AuctionOpened, BidMade
from domain.games.age_of_reason.facts.economy import (
    GoldPaid,
    GoldReceived,
    RegionScored,
    UnrestAdded,
    UnrestRolled,
    VpGained,
)
from domain.games.age_of_reason.facts.pieces import MarkerConverted, MarkerTaken, TokenRemoved
from domain.games.age_of_reason.facts.sequence import EmpireDrawn, MarkersDrawn, TurnEnded
from domain.games.age_of_reason.rules.battle.allies import side_of
from domain.games.age_of_reason.rules.battle.commit import HIRE_COST, spent
from domain.games.age_of_reason.rules.battle.dice import strength_parts, supporters
from domain.games.age_of_reason.rules.battle.result import shares
from domain.games.age_of_reason.rules.converting import COST as CONVERT_COST
from domain.games.age_of_reason.rules.income import income
from domain.games.age_of_reason.rules.money import loan_for
from domain.games.age_of_reason.rules.scoring import region_points
from domain.games.age_of_reason.state import SIDES, AgeOfReason, Side
from domain.games.common.dice import describe_roll
from domain.games.common.merged_sentences import group_by, join_replacements, merged_shares
from domain.kernel.narration.template_context import SILENT
from domain.kernel.rules.ruleset import ContextBuilder
from domain.kernel.schema.declarations import or_none
from domain.types import Doc, Json, Seat


def _by_region(_: AgeOfReason, __: AgeOfReason, fact: MarkersDrawn | EmpireDrawn) -> Mapping[str, Json]:
    """Return the regions of the markers."""
    return {"regions": group_by(fact.markers, lambda marker: MARKERS[marker].region)}


def _opened(before: AgeOfReason, _: AgeOfReason, fact: AuctionOpened) -> Mapping[str, Json]:
    """AOR-6.3: return the opener's reason: the first player, the fewest points, by lot among `tied`, or the next."""
    if fact.number > 1:
        return {"why": "next"}
    if before.game_turn == 1:
        return {"why": "first"}
    fewest = min(empire.vp for empire in before.empires)
    tied = [seat for seat in before.everybody if before.empires[seat].vp == fewest]
    return {"why": "drawn", "tied": tied} if len(tied) > 1 else {"why": "fewest"}


def _bid(before: AgeOfReason, _: AgeOfReason, fact: BidMade) -> Mapping[str, Json]:
    """Return the wording: `yes` repeats the standing proposal; `a` or `b` is the bidder's own coalition; else `no`."""
    standing = before.auction.standing if before.auction else None
    a, b = or_none(fact.a), or_none(fact.b)
    if standing is not None and (standing.a, standing.b) == (a, b):
        return {"wording": "yes"}
    own = before.empires[fact.seat].power
    return {"wording": "a" if a == own else "b" if b == own else "no"}


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


def _by_side(s: AgeOfReason, seats: Sequence[Seat]) -> Mapping[str, Json]:
    """Return the allies among the seats, by side."""
    allies = [seat for seat in seats if seat not in (s.fight.attacker, s.fight.defender)]
    return {side: [seat for seat in allies if side_of(s, s.fight, seat) == side] for side in SIDES}


def _attacked(before: AgeOfReason, after: AgeOfReason, fact: AttackDeclared) -> Mapping[str, Json]:
    """Return the seats asked for a card: the defender, and the allies by side."""
    asked = fact.asked or ()
    own = [seat for seat in asked if seat == after.fight.defender]
    return {**_sides(after, after, fact), "own": own, "allies": _by_side(after, asked)}


def _closed(before: AgeOfReason, _: AgeOfReason, fact: CommitClosed) -> Mapping[str, Json]:
    """Return the allies with a card by side, and whether allies were asked and none of them has laid a card."""
    battle = before.fight
    alone = not fact.laid and any(seat != battle.defender for seat in battle.asked)
    return {**_sides(before, before, fact), "allies": _by_side(before, fact.laid), "alone": alone}


def _paid(before: AgeOfReason, _: AgeOfReason, fact: GoldPaid) -> Mapping[str, Json]:
    """AOR-9.5.1: return the parts of a payment for both a card and hired powers."""
    if fact.why != "battle" or before.battle is None:
        return {}
    battle = before.battle
    side: Side = "attacker" if fact.seat == battle.attacker else "defender"
    hired = HIRE_COST * len((battle.hired or {}).get(side, ()))
    card = CARDS[battle.card_of(fact.seat) or ""].cost
    return {"parts": [{"part": "card", "value": card}, {"part": "hired", "value": hired}]} if card and hired else {}


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
    full = [seat for seat in _due_unrest(before, fact.difference) if before.empires[seat].unrest >= UNREST_MAX]
    return {
        **_sides(before, after, fact),
        "region": before.fight.region,
        "margin": margin,
        "victory": victory,
        "full": full,
        "most": UNREST_MAX,
    }


def _due_unrest(s: AgeOfReason, difference: int) -> list[Seat]:
    """Return the seats due some unrest by the battle."""
    battle = s.fight
    attacker, defender, ally = shares(difference)
    due = [*((battle.attacker,) if attacker else ()), *((battle.defender,) if defender else ())]
    allies = [seat for side in SIDES for seat in supporters(s, side)] if ally else []
    return [seat for seat in (*due, *allies) if seat is not None]


def _discarded(before: AgeOfReason, _: AgeOfReason, fact: CardDiscarded) -> Mapping[str, Json]:
    """Return the size of the discard after a card seen by all."""
    return {"cards": before.empires[fact.seat].discard_size + 1} if before.battle else {}


def _return_to_hand(_: AgeOfReason, __: AgeOfReason, ___: CardTakenBack) -> Mapping[str, Json]:
    """Return no size of the discard: only the other facts of the record tell it (`complete_sentences`)."""
    return {"left": None, "empty": False}


def _counted(before: AgeOfReason, _: AgeOfReason, __: DiscardCounted) -> Mapping[str, Json]:
    """Return whether the sentence of the card already gave the size of the discard."""
    return {"told": before.battle is not None}


def _marker(before: AgeOfReason, _: AgeOfReason, __: VpGained) -> Mapping[str, Json]:
    """Return the beaten marker."""
    return {"marker": before.fight.marker}


def _unrest_added(before: AgeOfReason, _: AgeOfReason, fact: UnrestAdded) -> Mapping[str, Json]:
    """AOR-1.7: return the unrest due by the battle if the track has no room for all of it."""
    battle = before.fight
    strength = battle.strength or {"attacker": 0, "defender": 0}
    attacker, defender, ally = shares(strength["attacker"] - strength["defender"])
    due = {battle.attacker: attacker, battle.defender: defender}.get(fact.seat, ally)
    return {"due": due, "most": UNREST_MAX} if due > fact.unrest else {}


def _token_loss(before: AgeOfReason, _: AgeOfReason, fact: TokenRemoved) -> Mapping[str, Json]:
    """AOR-1.4: return whether the winner has no token left to place instead."""
    return {"spent": not before.reserve(fact.by), "swap": False}


def _marker_gain(before: AgeOfReason, _: AgeOfReason, fact: MarkerTaken) -> Mapping[str, Json]:
    """AOR-1.4: return whether the winner has no token left to place instead."""
    return {"spent": not before.reserve(fact.seat)}


def _conversion(_: AgeOfReason, __: AgeOfReason, ___: MarkerConverted) -> Mapping[str, Json]:
    """Return no Bluff: only the other facts of the record tell one (`complete_sentences`)."""
    return {"bluff": False}


_LAID: Mapping[str, Sequence[str]] = {"card_sealed": ("card",), "commit_closed": ("laid",), "hire_sealed": ("powers",)}
"""Fact of a secret answer -> its member with what a reveal shows."""


def complete_sentences(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Tell tokens replaced at once, what is laid and revealed in one record once, and conversions with the Bluff.

    AOR-8.1.4: after these, the discard has not grown. A reader of the last ally's card needs no word of its laying.
    """
    facts = join_replacements(facts, ("token_removed",))
    shown = {fact["seat"] for fact in facts if fact["t"] == "card_sealed" and fact.get("card")}
    facts = [
        SILENT if fact["t"] == "commit_closed" and fact["laid"] and shown >= {*fact["laid"]} else fact for fact in facts
    ]
    if any(fact["t"] == "battle_revealed" for fact in facts):
        facts = [{**fact, "t": ""} if any(map(fact.get, _LAID.get(fact["t"], ()))) else fact for fact in facts]
    if any(fact["t"] == "discard_counted" for fact in facts):
        return _join_counts(facts)
    return [{**fact, "bluff": True} if fact["t"] == "marker_converted" else fact for fact in facts]


def _join_counts(facts: Sequence[Doc]) -> Sequence[Doc]:
    """AOR-16.2: tell the new size of a discard with its card, to readers of both."""
    told = list(facts)
    for i, (card, counted) in enumerate(pairwise(facts)):
        if counted["t"] != "discard_counted" or card.get("seat") != counted["seat"]:
            continue
        if card["t"] == "card_discarded":
            told[i : i + 2] = [{**card, "cards": counted["cards"]}, SILENT]
        elif card["t"] == "card_taken_back":
            told[i : i + 2] = [{**card, "left": counted["cards"] or None, "empty": not counted["cards"]}, SILENT]
    return told


# points


def gather_headlines(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Gather the victory points that unrest costs the seats."""
    rolled = [fact for fact in facts if fact["t"] == "unrest_rolled"]
    costs: list[Json] = [{"seat": fact["seat"], "lost": fact["lost"]} for fact in rolled if fact["lost"]]
    costs = [{**cost, "unit": not i} for i, cost in enumerate(costs)]
    rest = [fact for fact in facts if fact["t"] != "unrest_rolled"]
    return [*rest, {"t": "unrest_rolled", "costs": costs}] if costs else rest


def _scored(before: AgeOfReason, _: AgeOfReason, fact: RegionScored) -> Mapping[str, Json]:
    """Return the points of a region for all seats, with the first of them; and those of powers without a seat."""
    by_power = region_points(before, fact.region)
    found = {before.seat_of(power): vp for power, vp in by_power.items()}
    points = {seat: vp for seat, vp in found.items() if seat is not None}
    merged = merged_shares(fact.seat, points, {seat: before.empires[seat].vp for seat in points})
    idle = {power: vp for power, vp in by_power.items() if vp and before.seat_of(power) is None}
    if not merged["shares"] or not idle:
        return merged
    return {**merged, "idle": list(idle), "forfeited": [{"power": power, "value": vp} for power, vp in idle.items()]}


def _income(before: AgeOfReason, _: AgeOfReason, fact: GoldReceived) -> Mapping[str, Json]:
    """Return the income of all seats in phase 4, with the first of them; or mark the gold as one seat's alone."""
    if fact.why != "income":
        return {"single": True}
    gold = {seat: income(before, seat) for seat in before.everybody}
    return merged_shares(fact.seat, gold, {seat: before.empires[seat].gold for seat in gold})


def _unrest(before: AgeOfReason, _: AgeOfReason, fact: UnrestRolled) -> Mapping[str, Json]:
    """Return the unrest the dice are rolled against."""
    return {"unrest": before.empires[fact.seat].unrest}


CONTEXT_BUILDERS: Mapping[str, ContextBuilder[AgeOfReason]] = {
    "markers_drawn": _by_region,
    "empire_drawn": _by_region,
    "auction_opened": _opened,
    "bid_made": _bid,
    "turn_ended": _turn_ended,
    "attack_declared": _attacked,
    "commit_closed": _closed,
    "gold_paid": _paid,
    "battle_revealed": _revealed,
    "battle_rolled": _rolled,
    "dice_rerolled": _sides,
    "battle_resolved": _resolved,
    "token_removed": _token_loss,
    "marker_taken": _marker_gain,
    "marker_converted": _conversion,
    "card_discarded": _discarded,
    "card_taken_back": _return_to_hand,
    "discard_counted": _counted,
    "vp_gained": _marker,
    "unrest_added": _unrest_added,
    "region_scored": _scored,
    "gold_received": _income,
    "unrest_rolled": _unrest,
}
"""Fact -> context of its sentence, besides its own members."""


def move_context(s: AgeOfReason | None, seat: Seat | None, members: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the region of a marker; from a state the gold of the seat, and the price of a finished move."""
    found: Doc = {"place": MARKERS[marker].region} if (marker := members.get("marker")) in MARKERS else {}
    if s is None or seat is None:
        return found
    gold = _price(members)
    before = spent(s, seat) if members.get("type") == "hire" else 0
    found |= {"purse": s.empires[seat].gold, "price": gold}
    (lent, unrest), (already, counted) = loan_for(s, seat, before + gold), loan_for(s, seat, before)
    lent, unrest = lent - already, unrest - counted
    if s.auction and (bid := s.auction.standing):
        found["standing"] = {"seat": bid.seat, "amount": bid.amount, "a": or_none(bid.a), "b": or_none(bid.b)}
    found |= {coalition: aligned for coalition in COALITIONS if (aligned := s.members(coalition))}
    return found | ({"loan": unrest, "lent": lent} if unrest else {})


def _price(move: Mapping[str, Json]) -> int:
    """Return the gold due for a finished move."""
    kind, card, amount = move.get("type"), move.get("card"), move.get("amount")
    if kind == "bid":
        return amount if isinstance(amount, int) else 0
    if kind == "place":
        return SPACES[move["space"]].cost if move.get("space") in SPACES else 0
    if kind == "convert":
        return CONVERT_COST
    if kind == "hire":
        return HIRE_COST * len(move.get("powers") or ())
    return CARDS[card].cost if kind in ("attack", "commit") and card in CARDS else 0
