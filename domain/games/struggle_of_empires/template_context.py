"""Context of sentences besides the members of a fact, from the states around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from domain.games.common.dice import describe_roll
from domain.games.common.merged_sentences import gather_shares, group_by, join_replacements, merged_shares
from domain.games.struggle_of_empires.data import (
    CONSTANTS,
    MARKERS,
    RAIDERS,
    REGIONS,
    ROUNDS,
    SCORING,
    SEA_ROLL,
    TILES,
    UNITS,
)
from domain.games.struggle_of_empires.facts.combat import (
    AttackDeclared,
    BattleResolved,
    BattleRolled,
    LossesChosen,
    NavalChoiceMade,
    WithdrawalAnswered,
)
from domain.games.struggle_of_empires.facts.economy import GoldPaid, GoldReceived, PopulationGrown, RegionScored
from domain.games.struggle_of_empires.facts.pieces import MarkerRemoved, TokenRemoved, UnitBuilt, UnitLost, UnitMoved
from domain.games.struggle_of_empires.facts.sequence import BidMade, EmpireDrawn, MarkersDrawn, RoundEnded, TurnEnded
from domain.games.struggle_of_empires.facts.tiles import TokenFreed
from domain.games.struggle_of_empires.rules.actions import is_over
from domain.games.struggle_of_empires.rules.combat.battle import foresee_strengths, strength_parts
from domain.games.struggle_of_empires.rules.combat.declare import COST as ATTACK_COST
from domain.games.struggle_of_empires.rules.combat.losses import withdraws
from domain.games.struggle_of_empires.rules.income import growth, income
from domain.games.struggle_of_empires.rules.money import gold_per_unrest, loan
from domain.games.struggle_of_empires.rules.scoring import region_points
from domain.games.struggle_of_empires.state import (
    SIDES,
    Party,
    Struggle,
)
from domain.kernel.narration.template_context import SILENT
from domain.kernel.rules.ruleset import ContextBuilder, SentenceMerger
from domain.kernel.schema.declarations import UNSET, doc, or_none
from domain.types import Doc, Json, Seat


def _by_region(_: Struggle, __: Struggle, fact: MarkersDrawn | EmpireDrawn) -> Mapping[str, Json]:
    """Return the regions of the markers."""
    return {"regions": group_by(fact.markers, lambda marker: MARKERS[marker].region)}


def _bid(before: Struggle, _: Struggle, fact: BidMade) -> Mapping[str, Json]:
    """Return the wording: `yes` repeats the standing proposal; `a` or `b` is the bidder's own alliance; else `no`."""
    standing = before.auction.standing if before.auction else None
    a, b = or_none(fact.a), or_none(fact.b)
    if standing is not None and (standing.a, standing.b) == (a, b):
        return {"wording": "yes"}
    own = fact.seat
    return {"wording": "a" if a == own else "b" if b == own else "no"}


def _turn_ended(before: Struggle, _: Struggle, fact: TurnEnded) -> Mapping[str, Json]:
    """Return the actions given up by passing; nothing if the turn ends by itself."""
    if before.turn is None or is_over(before, fact.seat):
        return {}
    return {"left": before.turn.actions_left, "ends": "early" if before.turn.actions_left else "done"}


def _round_ended(before: Struggle, _: Struggle, fact: RoundEnded) -> Mapping[str, Json]:
    """Return whether it was the last round of the War."""
    return {"last": fact.round == ROUNDS[before.seats]}


def _sailed(before: Struggle, _: Struggle, fact: UnitBuilt | UnitMoved) -> Mapping[str, Json]:
    """Return the bonus of Navigation on the second die of a sea roll."""
    if fact.dice is UNSET:
        return {}
    skilled = len(fact.dice) > 1 and before.empires[fact.seat].owned("navigation") > 0
    return {"sea": "skilled", "bonus": SEA_ROLL["navigation_bonus_on_second_die"]} if skilled else {"sea": "plain"}


# combat


def _sides(before: Struggle, _: Struggle, __: object) -> Mapping[str, Json]:
    """Return the attacker and the defender of the combat: a seat, a marker or a tile."""
    if before.combat is None:
        return {}
    return {"sides": {side: _party_id(before.combat.party(side)) for side in SIDES}}


def _party_id(party: Party) -> Json:
    """Return the seat of a party, or its marker or kind."""
    return (party.marker or party.kind) if party.seat is None else party.seat


def _rolled(before: Struggle, after: Struggle, fact: BattleRolled) -> Mapping[str, Json]:
    """Return the rolling sides and the battle, with the parts of their strengths."""
    first, second = (
        describe_roll(_party_id(before.battle.party(side)), dice, total, strength_parts(before, fact.stage, side))
        for side, dice, total in zip(SIDES, (fact.attacker, fact.defender), fact.totals, strict=True)
    )
    return {"rolls": [{"stage": fact.stage, **first}, second]}


def _resolved(before: Struggle, after: Struggle, fact: BattleResolved) -> Mapping[str, Json]:
    """Return the sides and the place, and the losses due if their choice is still open."""
    combat = before.battle
    region = REGIONS[combat.region].zone if combat.stage == "naval" else combat.region
    due = (
        [{"who": _party_id(combat.party(loss.side)), **doc(loss)} for loss in fact.losses] if _undecided(after) else []
    )
    return {**_sides(before, after, fact), "stage": combat.stage, "region": region, "due": due}


def _undecided(s: Struggle) -> bool:
    """Return whether losses are still to be chosen, or one of them may be saved (SOE-8.9.2, SOE-8.10.1)."""
    return any(loss.seat is None for loss in s.battle.losses) or withdraws(s) is not None


def _chosen(_: Struggle, after: Struggle, __: LossesChosen) -> Mapping[str, Json]:
    """Return whether the sentences of the losses come only later in the record."""
    return {"wait": _undecided(after)}


def _saved(before: Struggle, _: Struggle, fact: WithdrawalAnswered) -> Mapping[str, Json]:
    """Return the saved unit."""
    return {} if fact.item is UNSET else {"unit": before.battle.losses[fact.item].unit}


def _loss_causes(before: Struggle, _: Struggle, fact: UnitLost) -> Mapping[str, Json]:
    """Return the causes of losing these units, one for each."""
    found = [loss.cause for loss in before.battle.losses if (loss.seat, loss.unit) == (fact.seat, fact.unit)]
    return {"causes": found}


def _lost_together(run: Sequence[Doc]) -> Sequence[Doc]:
    """Merge the losses of equal units; several units have the cause of each."""
    told = []
    for (_, unit, _), some in groupby(run, key=lambda fact: (fact["seat"], fact["unit"], fact["region"])):
        first, *others = same = list(some)
        causes = first["causes"]
        if others:
            unrest = sum(fact["unrest"] for fact in same)
            distinct: list[Json] = list(dict.fromkeys(causes))
            each = [{"unit": unit, "cause": cause} for cause in causes] if len(distinct) > 1 else distinct
            told.append({**first, "number": len(same), "unrest": unrest, "causes": each})
        else:
            told.append({**first, "causes": list(dict.fromkeys(causes))})
    return told


def _token_loss(before: Struggle, _: Struggle, fact: TokenRemoved | TokenFreed) -> Mapping[str, Json]:
    """SOE-1.2: return whether the winner has no token left to place instead."""
    return {"spent": not before.reserve(fact.by), "swap": False}


def _marker_gain(before: Struggle, _: Struggle, fact: MarkerRemoved) -> Mapping[str, Json]:
    """SOE-1.2: return the kind of gain, and whether the winner has no token left to place instead."""
    peaceful = "enslave" if MARKERS[fact.marker].kind == "slaves" else "colonize"
    return {"spent": not before.reserve(fact.seat), "how": "attack" if before.combat else peaceful}


def _naval_choice(before: Struggle, _: Struggle, fact: NavalChoiceMade) -> Mapping[str, Json]:
    """Return the side of the principal."""
    return {"side": "attacker" if before.battle.attacker.seat == fact.seat else "defender"}


# gold and points


def _paid(_: Struggle, __: Struggle, fact: GoldPaid) -> Mapping[str, Json]:
    """Return whether the payment is for a tile, whose name may equal a country's."""
    return {"tile": fact.why in TILES}


def _received(before: Struggle, _: Struggle, fact: GoldReceived) -> Mapping[str, Json]:
    """Return the income of all seats in phase 4, with the first of them; or mark the gold as one seat's alone."""
    if fact.why != "income":
        return {"single": True}
    gold = {seat: income(empire) for seat, empire in enumerate(before.empires)}
    return merged_shares(fact.seat, gold, {seat: empire.gold for seat, empire in enumerate(before.empires)})


def _grown(before: Struggle, after: Struggle, fact: PopulationGrown) -> Mapping[str, Json]:
    """Return all populations after phase 4, with the last to rise; or mark a rise in a turn as one seat's alone."""
    if before.turn is not None:
        return {"single": True}
    rising = any(growth(empire) for empire in before.empires[fact.seat + 1 :])
    return {} if rising else {"populations": [empire.population for empire in after.empires]}


def _scored(before: Struggle, _: Struggle, fact: RegionScored) -> Mapping[str, Json]:
    """Return the points of a region for all seats, with the first of them."""
    points = region_points(before, fact.region)
    return merged_shares(fact.seat, points, {seat: before.empires[seat].vp for seat in points})


def _declared(_: Struggle, __: Struggle, ___: AttackDeclared) -> Mapping[str, Json]:
    """Return no asked allies: only the other facts of the record tell them (`complete_sentences`)."""
    return {"asked": []}


def complete_sentences(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Tell with an attack the allies asked for support, with a payment the bought tile, and tokens replaced at once."""
    asked = [fact for fact in facts if fact["t"] == "asked" and fact["kind"] == "combat"]
    steps = [step for fact in asked for step in fact["data"]["todo"]]
    allies = [step[2] for step in steps if step[:2] == ["support", "attacker"]]
    bought = {(fact["seat"], fact["why"]) for fact in facts if fact["t"] == "gold_paid"}
    told = []
    for fact in join_replacements(facts, ("token_removed", "marker_removed")):
        if fact["t"] == "attack_declared":
            told.append({**fact, "asked": allies})
        else:
            paid = fact["t"] == "tile_taken" and (fact["seat"], fact["tile"]) in bought
            told.append(SILENT if paid else fact)
    return told


def gather_headlines(facts: Sequence[Doc]) -> Sequence[Doc]:
    """Gather the victory points besides those of regions."""
    return gather_shares(facts, "vp_gained", "vp")


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
    "attack_declared": _declared,
    "naval_choice_made": _naval_choice,
    "withdrawal_answered": _saved,
    "unit_lost": _loss_causes,
    "token_removed": _token_loss,
    "token_freed": _token_loss,
    "marker_removed": _marker_gain,
    "gold_paid": _paid,
    "gold_received": _received,
    "population_grown": _grown,
    "region_scored": _scored,
}
"""Fact -> context of its sentence, besides its own members."""

SENTENCE_MERGERS: Mapping[str, SentenceMerger] = {"unit_lost": _lost_together}
"""Fact -> merger of consecutive ones into one sentence."""


def move_context(s: Struggle | None, seat: Seat | None, members: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the region of a marker; from a state the gold of the seat, and the price of a finished move."""
    found: Doc = {"place": MARKERS[marker].region} if (marker := members.get("marker")) in MARKERS else {}
    if s is None or seat is None:
        return found
    gold = _price(members)
    found |= {"purse": s.empires[seat].gold, "price": gold, "per": gold_per_unrest(s.empires[seat])}
    lent, unrest = loan(s.empires[seat], gold)
    found |= {"loan": unrest, "lent": lent} if unrest else {}
    if s.auction and (bid := s.auction.standing):
        found["standing"] = {"seat": bid.seat, "amount": bid.amount, "a": or_none(bid.a), "b": or_none(bid.b)}
    if s.turn and s.turn.seat == seat and not s.turn.actions_left:
        found["spent"] = True
    if members.get("type") == "place_unit":
        found["left"] = CONSTANTS["units_placed_at_setup"] - sum(map(s.empires[seat].on_map, UNITS))
    found |= _foresee(s, seat, members)
    tile = TILES.get(str(members.get("tile"))) if members.get("type") == "buy_tile" else None
    return found | ({"people": tile.population} if tile and tile.population else {})


def _foresee(s: Struggle, seat: Seat, members: Mapping[str, Json]) -> Doc:
    """Return the strengths of an attack to come, once its region and target are known: they are public."""
    region, target = str(members.get("region")), members.get("target")
    if region not in SCORING or not isinstance(target, dict):
        return {}
    aim = Party(str(target.get("kind")), target.get("seat"), target.get("marker"))
    if not (aim.seat in s.everybody or aim.marker in MARKERS or aim.kind in RAIDERS):
        return {}
    found = foresee_strengths(s, seat, region, aim)
    return {"brings": found["attacker"], "holds": found["defender"]}


def _price(move: Mapping[str, Json]) -> int:
    """Return the gold due for a finished move."""
    kind, tile, amount = move.get("type"), str(move.get("tile")), move.get("amount")
    if kind == "bid":
        return amount if isinstance(amount, int) else 0
    if kind == "attack" or (kind == "use_tile" and move.get("attack")):
        return ATTACK_COST
    bought = tile if kind == "buy_tile" else str(move.get("alliance_tile")) if kind == "use_tile" else ""
    return TILES[bought].gold if bought in TILES else 0
