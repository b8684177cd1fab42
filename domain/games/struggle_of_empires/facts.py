"""What can become true in a game, and what each fact assigns: EVOLVE, kind of fact -> function of state and fact.

Dumb on purpose: a fact carries every figure, the formulas are in `rules`. Pieces go from place to place one by one;
gold, population and victory points carry what is left or reached; unrest carries only its cause's points, because the
total is withheld (SOE-16.2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from domain.games.common.counts import plus
from domain.games.struggle_of_empires import assign
from domain.games.struggle_of_empires.data import MARKERS
from domain.games.struggle_of_empires.state import (
    Auction,
    Bid,
    Blockade,
    Captive,
    Combat,
    Loss,
    Moved,
    Offer,
    Party,
    Struggle,
    Tile,
    Turn,
    nobody_aligned,
)
from domain.kernel.flow import Evolve, Fact

S = Struggle


# --- set-up and wars -----------------------------------------------------------------------------------------


def _markers_drawn(s: S, f: Fact) -> S:
    markers = dict(s.markers)
    for marker in f["markers"]:
        region = MARKERS[marker].region
        markers[region] = (*markers.get(region, ()), marker)
    return replace(s, markers=markers, bag=tuple(m for m in s.bag if m not in f["markers"]))


def _first_player_drawn(s: S, f: Fact) -> S:
    return replace(s, first_player=f["seat"], opener=f["seat"])


def _power_chosen(s: S, f: Fact) -> S:
    return assign.empire(s, f["seat"], power=f["power"])


def _empire_drawn(s: S, f: Fact) -> S:
    for marker in f["markers"]:
        s = assign.token(s, f["seat"], MARKERS[marker].region, 1)
    return replace(s, bag=tuple(m for m in s.bag if m not in f["markers"]), gone=(*s.gone, *f["markers"]))


def _unit_placed(s: S, f: Fact) -> S:
    return assign.unit(s, f["seat"], f["unit"], f["region"], 1)


def _war_started(s: S, f: Fact) -> S:
    return replace(s, war=f["war"], round=0, alliances=nobody_aligned())


def _war_ended(s: S, f: Fact) -> S:
    turned_back = tuple(replace(e, tiles=tuple(Tile(t.tile) for t in e.tiles), banned_tiles=()) for e in s.empires)
    return replace(s, empires=turned_back, opener=f["opener"], alliances={}, turn_order=(), round=0)


# --- alliances -----------------------------------------------------------------------------------------------


def _auction_opened(s: S, f: Fact) -> S:
    return replace(s, auction=Auction(f["seat"]))


def _bid_made(s: S, f: Fact) -> S:
    bid = Bid(f["seat"], f["amount"], f.get("a"), f.get("b"))
    return replace(s, auction=replace(s.bidding, standing=bid, passes=0))


def _bid_passed(s: S, f: Fact) -> S:
    return replace(s, auction=replace(s.bidding, passes=f["passes"]))


def _auction_won(s: S, _: Fact) -> S:
    return replace(s, auction=None)


def _aligned(s: S, f: Fact) -> S:
    joined = {**s.alliances, f["alliance"]: (*s.alliances[f["alliance"]], f["seat"])}
    return replace(s, alliances=joined)


def _turn_order_set(s: S, f: Fact) -> S:
    return replace(s, turn_order=tuple(f["seats"]))


# --- turns ---------------------------------------------------------------------------------------------------


def _round_started(s: S, f: Fact) -> S:
    return replace(s, round=f["round"])


def _round_ended(s: S, _: Fact) -> S:
    return assign.all_empires(s, banned_tiles=())


def _turn_started(s: S, f: Fact) -> S:
    return replace(s, turn=Turn(f["seat"], f["actions"]))


def _turn_ended(s: S, _: Fact) -> S:
    return replace(s, turn=None)


def _action_taken(s: S, f: Fact) -> S:
    return assign.turn(
        s,
        actions_left=f["left"],
        tile_bought=s.acting.tile_bought or f["action"] == "buy_tile",
        colonized=s.acting.colonized or f["action"] in ("colonize", "enslave"),
        moves_left=f.get("moves", 0),
        militia_left=f.get("militia", 0),
        moved=(),
    )


# --- money, people, glory -----------------------------------------------------------------------------------


def _gold_left(s: S, f: Fact) -> S:
    return assign.empire(s, f["seat"], gold=f["left"])


def _gold_given(s: S, f: Fact) -> S:
    return assign.empire(_gold_left(s, f), f["to"], gold=f["to_left"])


def _loan_taken(s: S, f: Fact) -> S:
    return assign.unrest(_gold_left(s, f), f["seat"], f["unrest"])


def _unrest_added(s: S, f: Fact) -> S:
    return assign.unrest(s, f["seat"], f["unrest"])


def _unrest_removed(s: S, f: Fact) -> S:
    return assign.unrest(s, f["seat"], -f["unrest"])


def _population_set(s: S, f: Fact) -> S:
    return assign.empire(s, f["seat"], population=f["population"])


def _vp_set(s: S, f: Fact) -> S:
    return assign.empire(s, f["seat"], vp=f["total"])


# --- units and tokens ---------------------------------------------------------------------------------------


def _unit_built(s: S, f: Fact) -> S:
    if "militia" in f:
        s = assign.turn(s, militia_left=f["militia"])
    return assign.unit(s, f["seat"], f["unit"], f["at"], 1) if "at" in f else s


def _unit_moved(s: S, f: Fact) -> S:
    s = assign.unit(s, f["seat"], f["unit"], f["from"], -1)
    if "at" in f:
        s = assign.unit(s, f["seat"], f["unit"], f["at"], 1)
    if "moves" not in f:
        return s
    rests = (Moved(f["unit"], f["at"]),) if "at" in f else ()
    return assign.turn(s, moves_left=f["moves"], moved=(*s.acting.moved, *rests))


def _unit_lost(s: S, f: Fact) -> S:
    return assign.unrest(assign.unit(s, f["seat"], f["unit"], f["region"], -1), f["seat"], f["unrest"])


def _token_placed(s: S, f: Fact) -> S:
    return assign.token(s, f["seat"], f["region"], 1)


def _token_removed(s: S, f: Fact) -> S:
    return assign.token(s, f["seat"], f["region"], -1)


def _marker_removed(s: S, f: Fact) -> S:
    left = tuple(m for m in s.markers[f["region"]] if m != f["marker"])
    return replace(s, markers={**s.markers, f["region"]: left}, gone=(*s.gone, f["marker"]))


# --- tiles --------------------------------------------------------------------------------------------------


def _tile_taken(s: S, f: Fact) -> S:
    owned = (*s.empires[f["seat"]].tiles, Tile(f["tile"]))
    return replace(assign.empire(s, f["seat"], tiles=owned), stock=plus(s.stock, f["tile"], -1))


def _tile_used(s: S, f: Fact) -> S:
    return assign.empire(s, f["seat"], tiles=assign.turned(s.empires[f["seat"]], f["tile"]))


def _tile_boxed(s: S, f: Fact) -> S:
    kept = assign.without_tile(s.empires[f["seat"]], f["tile"])
    return replace(assign.empire(s, f["seat"], tiles=kept), boxed=plus(s.boxed, f["tile"], 1))


def _tile_returned(s: S, f: Fact) -> S:
    kept = assign.without_tile(s.empires[f["seat"]], f["tile"])
    s = replace(assign.empire(s, f["seat"], tiles=kept), stock=plus(s.stock, f["tile"], 1))
    return assign.ban(s, f["seat"], f["tile"]) if f.get("banned") else s


def _blockade_laid(s: S, f: Fact) -> S:
    s = assign.ban(_tile_used(s, f), f["seat"], f["tile"])
    return replace(s, blockade=Blockade(f["seat"], f["region"]))


def _blockade_lifted(s: S, f: Fact) -> S:
    return replace(_tile_returned(s, f), blockade=None)


def _token_captured(s: S, f: Fact) -> S:
    held: dict[str, Any] = {f["tile"]: Captive(f["region"], f["seat"])}
    return replace(assign.token(s, f["seat"], f["region"], -1), **held)


def _token_freed(s: S, f: Fact) -> S:
    freed: dict[str, Any] = {f["tile"]: None}
    return replace(s, stock=plus(s.stock, f["tile"], 1), **freed)


def _raid_beaten(s: S, f: Fact) -> S:
    return replace(s, stock=plus(s.stock, f["tile"], 1))


# --- combat -------------------------------------------------------------------------------------------------


def _attack_declared(s: S, f: Fact) -> S:
    attacker = Party("player", f["seat"], offers=_offers(f))
    defender = Party(f["kind"], f.get("target"), f.get("marker"))
    return replace(s, combat=Combat(f["region"], attacker, defender, f.get("surprise", False)))


def _raid_sent(s: S, f: Fact) -> S:
    combat = Combat(f["region"], Party(f["tile"]), Party("player", f["target"]))
    return replace(s, combat=combat, stock=plus(s.stock, f["tile"], -1))


def _offers(f: Fact) -> tuple[Offer, ...]:
    return tuple(Offer(**o) for o in f.get("offers", ()))


def _support_requested(s: S, f: Fact) -> S:
    return assign.party(s, "defender", offers=_offers(f))


def _support_answered(s: S, f: Fact) -> S:
    party = s.battle.party(f["side"])
    committed = {u: n for u, n in (("army", f["armies"]), ("navy", f["navies"])) if n}
    support = {**party.support, str(f["seat"]): committed} if committed else party.support
    return assign.party(s, f["side"], support=support)


def _offer_accepted(s: S, f: Fact) -> S:
    offers = s.battle.party(f["side"]).offers
    accepted = tuple(replace(o, accepted=True) if o.seat == f["to"] else o for o in offers)
    return assign.party(_gold_given(s, f), f["side"], offers=accepted)


def _naval_choice_made(s: S, _: Fact) -> S:
    return s


def _naval_support_gained(s: S, f: Fact) -> S:
    return assign.combat(s, naval_support=f.get("side"))


def _alliance_tiles_assigned(s: S, f: Fact) -> S:
    return assign.party(s, f["side"], at_sea=tuple(f["tiles"]))


def _blockade_used(s: S, f: Fact) -> S:
    return assign.combat(_tile_returned(s, f), blockade=True)


def _battle_rolled(s: S, f: Fact) -> S:
    return assign.combat(s, stage=f["stage"], dice=(*f["attacker"], *f["defender"]), totals=tuple(f["totals"]))


def _reserve_answered(s: S, f: Fact) -> S:
    return _tile_used(s, f) if f["use"] else s


def _battle_resolved(s: S, f: Fact) -> S:
    return assign.combat(s, winner=f["winner"], losses=tuple(Loss(**loss) for loss in f.get("losses", ())))


def _losses_chosen(s: S, f: Fact) -> S:
    chosen = iter(f["choices"])
    filled = tuple(
        replace(loss, **next(chosen)) if loss.side == f["side"] and loss.seat is None else loss
        for loss in s.battle.losses
    )
    return assign.combat(s, losses=filled)


def _withdrawal_answered(s: S, f: Fact) -> S:
    if not f["use"]:
        return s
    losses = s.battle.losses
    return assign.combat(_tile_returned(s, f), losses=(*losses[: f["item"]], *losses[f["item"] + 1 :]))


def _combat_ended(s: S, _: Fact) -> S:
    return replace(s, combat=None)


# --- the end ------------------------------------------------------------------------------------------------


def _unrest_revealed(s: S, _: Fact) -> S:
    return s


EVOLVE: dict[str, Evolve] = {
    "markers_drawn": _markers_drawn,
    "first_player_drawn": _first_player_drawn,
    "power_chosen": _power_chosen,
    "empire_drawn": _empire_drawn,
    "unit_placed": _unit_placed,
    "war_started": _war_started,
    "auction_opened": _auction_opened,
    "bid_made": _bid_made,
    "bid_passed": _bid_passed,
    "auction_won": _auction_won,
    "aligned": _aligned,
    "turn_order_set": _turn_order_set,
    "round_started": _round_started,
    "turn_started": _turn_started,
    "action_taken": _action_taken,
    "turn_ended": _turn_ended,
    "round_ended": _round_ended,
    "gold_paid": _gold_left,
    "gold_received": _gold_left,
    "gold_given": _offer_accepted,
    "loan_taken": _loan_taken,
    "unrest_added": _unrest_added,
    "unrest_removed": _unrest_removed,
    "population_paid": _population_set,
    "population_grown": _population_set,
    "vp_gained": _vp_set,
    "unit_built": _unit_built,
    "unit_moved": _unit_moved,
    "unit_lost": _unit_lost,
    "token_placed": _token_placed,
    "token_removed": _token_removed,
    "marker_removed": _marker_removed,
    "tile_taken": _tile_taken,
    "tile_used": _tile_used,
    "tile_boxed": _tile_boxed,
    "tile_returned": _tile_returned,
    "blockade_laid": _blockade_laid,
    "blockade_lifted": _blockade_lifted,
    "raid_sent": _raid_sent,
    "raid_beaten": _raid_beaten,
    "token_captured": _token_captured,
    "token_freed": _token_freed,
    "attack_declared": _attack_declared,
    "support_answered": _support_answered,
    "support_requested": _support_requested,
    "naval_choice_made": _naval_choice_made,
    "naval_support_gained": _naval_support_gained,
    "alliance_tiles_assigned": _alliance_tiles_assigned,
    "blockade_used": _blockade_used,
    "battle_rolled": _battle_rolled,
    "reserve_answered": _reserve_answered,
    "battle_resolved": _battle_resolved,
    "losses_chosen": _losses_chosen,
    "withdrawal_answered": _withdrawal_answered,
    "combat_ended": _combat_ended,
    "region_scored": _vp_set,
    "war_ended": _war_ended,
    "unrest_revealed": _unrest_revealed,
}
"""In the order of the rules page."""
