"""What each fact does to the state: small assignments, no rules. Folding a log runs nothing else."""

from __future__ import annotations

from domain.games.common.seats import put
from domain.games.imperunde import assign as part
from domain.games.imperunde import lots
from domain.games.imperunde.data import UNITS
from domain.games.imperunde.lots import Lot
from domain.games.imperunde.state import Budget, Combat, Country, ImpeRunde, Override, Pair, Staged, Zone
from domain.kernel.flow import Evolve, Fact, assign

S = ImpeRunde


# --- set-up and turn ------------------------------------------------------------------------------------------


def _silent(s: S, _: Fact) -> S:
    return s


def _nation_assigned(s: S, f: Fact) -> S:
    s = part.nation(s, f["seat"], home=f["nation"])
    return part.country(s, f["nation"], owner=f["seat"])


def _order_fixed(s: S, f: Fact) -> S:
    return assign(s, order=tuple(f["order"]))


def _pieces_placed(s: S, f: Fact) -> S:
    return part.units(s, f["seat"], f["region"], lots.read(f["units"]))


def _colony_assigned(s: S, f: Fact) -> S:
    units = (Lot("infantry", f["infantry"]),)
    return part.country(s, f["country"], owner=f["seat"], posts=f["posts"], forts=f["forts"], units=units)


def _turn_started(s: S, f: Fact) -> S:
    fresh = tuple(assign(n, bought=0, proposals=0, ledger={}, spent={}) for n in s.nations)
    return assign(part.expire(s, "phase_end", "turn_end"), turn=f["turn"], phase=1, nations=fresh)


def _phase_started(s: S, f: Fact) -> S:
    return assign(part.expire(s, "phase_end"), phase=f["phase"])


# --- cards ----------------------------------------------------------------------------------------------------


def _deck_shuffled(s: S, f: Fact) -> S:
    return assign(s, pile=f["pile"], discard=() if f["discard"] else s.discard)


def _deck_ordered(s: S, f: Fact) -> S:
    return assign(s, deck=tuple(f["cards"]))


def _card_dealt(s: S, f: Fact) -> S:
    return assign(part.nation(s, f["seat"], cards=f["cards"]), pile=f["pile"], deck=s.deck[1:])


def _card_drawn(s: S, f: Fact) -> S:
    return assign(s, hands=put(s.hands, f["seat"], (*s.hands[f["seat"]], f["card"])))


def _card_played(s: S, f: Fact) -> S:
    s = part.nation(s, f["seat"], cards=f["cards"])
    hand = part.without(s.hands[f["seat"]], f["card"])
    return assign(s, hands=put(s.hands, f["seat"], hand), discard=(*s.discard, f["card"]))


def _hand_dealt(s: S, f: Fact) -> S:
    return assign(s, hands=put(s.hands, f["seat"], tuple(f["cards"])))


def _hand_shown(s: S, f: Fact) -> S:
    return assign(s, seen=tuple(f["cards"]))


def _card_stolen(s: S, f: Fact) -> S:
    return assign(s, hands=put(s.hands, f["target"], part.without(s.hands[f["target"]], f["card"])))


def _theft_done(s: S, f: Fact) -> S:
    return assign(part.nation(s, f["target"], cards=f["cards"]), seen=())


def _auto_pass_set(s: S, f: Fact) -> S:
    rest = {w: u for w, u in s.auto[f["seat"]].items() if w not in f["windows"]}
    new = {} if f["until"] == "off" else dict.fromkeys(f["windows"], f["until"])
    return assign(s, auto=put(s.auto, f["seat"], {**rest, **new}))


# --- diplomacy ------------------------------------------------------------------------------------------------


def _overrides_ended(s: S, _: Fact) -> S:
    fresh = {k: Pair(p.base, (p.base, p.base)) for k, p in s.pairs.items()}
    return assign(s, pairs=fresh)


def _stance_set(s: S, f: Fact) -> S:
    name, at = f["pair"], int(f["seat"] > f["target"])
    pair = s.pairs[name]
    changes = put(pair.changes, at, f["change"])
    return part.pair(s, name, stances=put(pair.stances, at, f["stance"]), changes=changes)


def _goal_proposed(s: S, f: Fact) -> S:
    return part.nation(s, f["seat"], proposals=s.nations[f["seat"]].proposals + 1)


def _goal_changed(s: S, f: Fact) -> S:
    return assign(s, goal=f["goal"])


def _relations_fixed(s: S, f: Fact) -> S:
    return assign(s, pairs={k: assign(p, base="war" if k in f["wars"] else "peace") for k, p in s.pairs.items()})


def _relation_overridden(s: S, f: Fact) -> S:
    return part.pair(s, f["pair"], override=Override(f["relation"], f["card"], f["by"]))


# --- money ----------------------------------------------------------------------------------------------------


def _income_computed(s: S, f: Fact) -> S:
    return part.nation(s, f["seat"], ledger=f["lines"])


def _budget_sent(s: S, f: Fact) -> S:
    return assign(s, budgets={**s.budgets, str(f["seat"]): Budget(f["repay"], f["borrow"])})


def _budget_applied(s: S, f: Fact) -> S:
    rest = {k: b for k, b in s.budgets.items() if k != str(f["seat"])}
    nation = s.nations[f["seat"]]
    s = part.nation(
        s,
        f["seat"],
        debt=f["debt"],
        available=f["available"],
        surplus=0,
        ledger={**nation.ledger, "repay": f["repay"], "borrow": f["borrow"]},
        received=nation.received + f["income"] + f["borrow"],
        paid=nation.paid + f["repay"],
    )
    return assign(s, budgets=rest)


def _pay(s: S, f: Fact) -> S:
    return part.nation(s, f["seat"], available=f["available"], paid=s.nations[f["seat"]].paid + f["cost"])


def _purchase_made(s: S, f: Fact) -> S:
    item: str = f["item"]
    region: str = f["zone"] if "zone" in f else f["country"]
    s = _pay(s, f)
    if "budget" in f:
        s = part.nation(s, f["seat"], spent={**s.nations[f["seat"]].spent, f["country"]: f["budget"]})
    if UNITS[item].kind == "post":
        c = s.country(region)
        return part.country(s, region, posts=c.posts + f["quantity"], fresh_posts=c.fresh_posts + f["quantity"])
    return part.units(s, f["seat"], region, (Lot(item, f["quantity"], f.get("moves_left", 0)),))


def _canal_built(s: S, f: Fact) -> S:
    c = s.country(f["country"])
    s = part.country(s, f["country"], posts=c.posts + f["posts"], fresh_posts=c.fresh_posts + f["posts"])
    return assign(_pay(s, f), canals=(*s.canals, f["canal"]))


def _cards_bought(s: S, f: Fact) -> S:
    return part.nation(_pay(s, f), f["seat"], bought=f["bought"])


def _investments_ended(s: S, f: Fact) -> S:
    return part.nation(s, f["seat"], available=0, surplus=f["surplus"])


def _posts_settled(s: S, _: Fact) -> S:
    return assign(s, countries={k: assign(c, fresh_posts=0) for k, c in s.countries.items()})


def _trade_profit(s: S, f: Fact) -> S:
    return part.nation(s, f["seat"], surplus=f["surplus"], received=s.nations[f["seat"]].received + f["doubloons"])


# --- movement -------------------------------------------------------------------------------------------------


def _part_started(s: S, f: Fact) -> S:
    land, sea = f["land"], f["sea"]
    given = part.regive(
        s, f["seat"], lambda x, afloat: x.with_moves(0 if x.pinned else sea if afloat else land[x.unit])
    )
    return assign(given, active=f["seat"])


def _wind_risen(s: S, f: Fact) -> S:
    fleet = s.zone(f["zone"]).fleet(f["seat"])
    again = lots.change((), (x.with_moves(0 if x.pinned else f["moves"]) for x in fleet))
    return assign(part.fleet(s, f["zone"], f["seat"], again), active=f["seat"])


def _part_ended(s: S, f: Fact) -> S:
    return assign(part.regive(s, f["seat"], lambda x, _: x.with_moves(0)), active=None)


def _pins_removed(s: S, _: Fact) -> S:
    def free(fleet: tuple[Lot, ...]) -> tuple[Lot, ...]:
        return lots.change((), (Lot(x.unit, x.count, x.moves_left) for x in fleet))

    return assign(s, zones={k: assign(z, fleets={p: free(x) for p, x in z.fleets.items()}) for k, z in s.zones.items()})


def _units_moved(s: S, f: Fact) -> S:
    gone = lots.read(f["units"])
    left = f["left"]
    come = tuple(x.with_moves(n) for x, n in zip(gone, left, strict=True))
    return part.units(part.units(s, f["seat"], f["from"], gone, -1), f["seat"], f["to"], come)


def _units_lost(s: S, f: Fact) -> S:
    return part.units(s, f["seat"], f["region"], lots.read(f["units"]), -1)


def _country_freed(s: S, f: Fact) -> S:
    return part.country(s, f["country"], owner=None, units=(), forts=0, posts=0, fresh_posts=0)


# --- combat ---------------------------------------------------------------------------------------------------


def _combat_started(s: S, f: Fact) -> S:
    staged = tuple(Staged(x["region"], x["start"], lots.read([x["lot"]])[0]) for x in f.get("staged", ()))
    combat = Combat(
        f["region"],
        f["attacker"],
        f["defender"],
        f.get("supported", False),
        staged,
        horde=f.get("horde", 0),
        enemies=tuple(f.get("enemies", ())),
    )
    return assign(s, combat=combat)


def _attackers_entered(s: S, _: Fact) -> S:
    return part.combat(s, staged=())


def _next_enemy(s: S, f: Fact) -> S:
    return part.combat(s, defender=f["defender"], enemies=tuple(f["enemies"]), round=0, lost=False)


def _attack_called_off(s: S, _: Fact) -> S:
    return part.combat(s, called_off=True)


def _bonus_won(s: S, f: Fact) -> S:
    if f["card"] == "coup_de_main":
        return part.combat(s, coup=(*s.fight.coup, f["seat"]))
    return part.combat(s, **{{"surprise_attack": "surprise", "ambush": "ambush"}[f["card"]]: True})


def _units_chosen(s: S, f: Fact) -> S:
    return part.combat(s, chosen={**s.fight.chosen, f["side"]: lots.read(f["units"])})


def _round_fought(s: S, f: Fact) -> S:
    horde = f.get("horde", s.fight.horde)
    return part.combat(s, round=f["round"], lost=s.fight.lost or f.get("attacker_lost", False), horde=horde, chosen={})


def _pirates_placed(s: S, f: Fact) -> S:
    return part.pirates(s, f["zone"], f["units"])


def _pirates_lost(s: S, f: Fact) -> S:
    return part.pirates(s, f["zone"], f["units"], -1)


def _ship_captured(s: S, f: Fact) -> S:
    ship = lots.read([f["ship"]])
    if f["from"] == "pirates":
        s = part.pirates(s, f["zone"], {ship[0].unit: 1}, -1)
    else:
        s = part.units(s, f["from"], f["zone"], ship, -1)
    if f["by"] == "pirates":
        return part.pirates(s, f["zone"], {ship[0].unit: 1})
    return part.units(s, f["by"], f["zone"], (Lot(ship[0].unit, 1, 0, pinned=True),))


def _pirates_hired(s: S, f: Fact) -> S:
    s = part.zone(s, f["zone"], pirates={})
    return part.units(s, f["seat"], f["zone"], lots.read(f["units"]))


def _country_conquered(s: S, f: Fact) -> S:
    units = s.fight.units
    s = part.combat(s, units=())
    return part.country(s, f["country"], owner=f["seat"], units=units, forts=0, posts=f["posts"], fresh_posts=0)


def _combat_ended(s: S, _: Fact) -> S:
    return assign(part.expire(s, "combat_end"), combat=None)


# --- events ---------------------------------------------------------------------------------------------------


def _markers_removed(s: S, _: Fact) -> S:
    calm = {k: assign(z, marker=None) for k, z in s.zones.items()}
    clean = {k: assign(c, famine=False, plundered_by=None) for k, c in s.countries.items()}
    return assign(
        s,
        zones={k: z for k, z in calm.items() if z != Zone()},
        countries={k: c for k, c in clean.items() if c != Country()},
        struck=(),
    )


def _event(s: S, f: Fact) -> S:
    return assign(s, struck=(*s.struck, f["region"]))


def _famine_marked(s: S, f: Fact) -> S:
    return part.country(s, f["country"], famine=True)


def _weather_marked(s: S, f: Fact) -> S:
    return part.zone(s, f["zone"], marker=f["marker"])


def _colony_plundered(s: S, f: Fact) -> S:
    return part.country(s, f["country"], plundered_by=f["seat"])


def _game_won(s: S, f: Fact) -> S:
    return assign(s, winner=f["seat"])


EVOLVE: dict[str, Evolve] = {
    "nation_assigned": _nation_assigned,
    "order_fixed": _order_fixed,
    "pieces_placed": _pieces_placed,
    "colony_assigned": _colony_assigned,
    "turn_started": _turn_started,
    "phase_started": _phase_started,
    "overrides_ended": _overrides_ended,
    "deck_shuffled": _deck_shuffled,
    "deck_ordered": _deck_ordered,
    "card_dealt": _card_dealt,
    "card_drawn": _card_drawn,
    "stance_set": _stance_set,
    "goal_proposed": _goal_proposed,
    "goal_voted": _silent,
    "goal_changed": _goal_changed,
    "relations_fixed": _relations_fixed,
    "income_computed": _income_computed,
    "budget_sent": _budget_sent,
    "budget_applied": _budget_applied,
    "purchase_made": _purchase_made,
    "canal_built": _canal_built,
    "cards_bought": _cards_bought,
    "investments_ended": _investments_ended,
    "posts_settled": _posts_settled,
    "part_started": _part_started,
    "part_ended": _part_ended,
    "pins_removed": _pins_removed,
    "units_moved": _units_moved,
    "armies_embarked": _units_moved,
    "units_lost": _units_lost,
    "transports_sunk": _units_lost,
    "country_freed": _country_freed,
    "attack_declared": _silent,
    "combat_started": _combat_started,
    "attackers_entered": _attackers_entered,
    "next_enemy": _next_enemy,
    "attack_called_off": _attack_called_off,
    "units_chosen": _units_chosen,
    "round_fought": _round_fought,
    "ship_captured": _ship_captured,
    "reinforced": _silent,
    "country_conquered": _country_conquered,
    "combat_ended": _combat_ended,
    "card_played": _card_played,
    "card_resolved": _silent,
    "card_countered": _silent,
    "relation_overridden": _relation_overridden,
    "bonus_won": _bonus_won,
    "pirates_hired": _pirates_hired,
    "colony_plundered": _colony_plundered,
    "hand_shown": _hand_shown,
    "card_stolen": _card_stolen,
    "theft_done": _theft_done,
    "hand_dealt": _hand_dealt,
    "auto_pass_set": _auto_pass_set,
    "markers_removed": _markers_removed,
    "land_event": _event,
    "sea_event": _event,
    "famine_marked": _famine_marked,
    "trade_profit": _trade_profit,
    "weather_marked": _weather_marked,
    "wind_risen": _wind_risen,
    "pirates_placed": _pirates_placed,
    "pirates_lost": _pirates_lost,
    "game_won": _game_won,
}
"""In the order of the rules page."""
