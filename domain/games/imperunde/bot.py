"""Heuristic player, for demos and simulations: posts where there is room, armies for new colonies, harmful cards.

It works on its seat's view alone. A proposal may be illegal (out of reach, no supply): the first legal one is played,
so the checks of the rules need not be repeated here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product

from domain.games.imperunde.bot_view import BotView
from domain.games.imperunde.data import CARDS, COUNTRIES, UNITS, VALUE, ZONES
from domain.kernel.rules.ruleset import Dice
from domain.types import Doc, Json, Seat

BORROWING_TURNS = 4
BORROWING_DEBT = 15
"""Early debts pay: a post costs 2 and brings 1 a turn."""

WHEN = {
    "open": frozenset({"safe", "revenue_window"}),
    "counter": frozenset({"counter"}),
    "combat": frozenset({"combat"}),
    "round": frozenset({"round"}),
}
"""Window -> `when` of the cards fitting into it."""

HARMFUL = frozenset({"rebellion", "pirates", "sabotage", "forged_naval_orders", "forged_march_orders", "unmask_spies"})
"""Cards of others worth a counter."""


def propose(player_view: dict[str, Json], decision: dict[str, Json], seat: Seat, dice: Dice) -> Iterator[Doc]:
    """Yield moves for the open decision, best first; none if no answer is due from the seat."""
    if seat in decision["must"]:
        yield from ANSWERS[decision["kind"]](BotView(player_view, seat, decision["context"], dice))


# --- set-up, talks, money ------------------------------------------------------------------------------------


def setup_fleet(t: BotView) -> Iterator[Doc]:
    """Place both ships at the highest tax."""
    zones = sorted(COUNTRIES[t.home].coasts, key=lambda z: -VALUE[z])
    for frigate, ship in product(zones, repeat=2):
        yield {"type": "place_home_fleet", "frigate": frigate, "ship_of_the_line": ship}


def setup_colony(t: BotView) -> Iterator[Doc]:
    """Choose armies, to take another colony soon."""
    for units in ({"infantry": 1, "cavalry": 1}, {"artillery": 1}):
        yield {"type": "equip_colony", "choice": "armies", "units": _lots(units)}


def diplomacy(t: BotView) -> Iterator[Doc]:
    """Set standing passes where no card fits; prefer peace, with war only on a seat with a colony in reach."""
    idle = [w for w, when in WHEN.items() if not _fits(t, when) and w not in t.own["auto"]]
    if idle:
        yield {"type": "set_auto_pass", "windows": idle, "until": "turn_end"}
    for other in t.others:
        wanted = "war" if other in t.victims else "peace"
        if t.stance(other) != wanted and t.changes(other) < 1:
            yield {"type": "set_stance", "target": other, "stance": wanted}
    yield {"type": "ready"}


def goal_vote(t: BotView) -> Iterator[Doc]:
    """Vote for a nearer goal as the leader, for a farther one as another."""
    nearer = t.context["goal"] < t.board["goal"]
    leading = all(t.posts(t.seat) > t.posts(x) for x in t.others)
    yield {"type": "vote_goal", "approve": nearer == leading}


def budget(t: BotView) -> Iterator[Doc]:
    """Borrow early, repay when the goal comes near."""
    near = t.posts(t.seat) >= t.board["goal"] // 2 or t.last_turns()
    if t.me["debt"] and near:
        yield from ({"type": "set_budget", "repay": n, "borrow": 0} for n in (10, 5))
    if t.board["turn"] <= BORROWING_TURNS and t.me["debt"] < BORROWING_DEBT and not near:
        yield {"type": "set_budget", "repay": 0, "borrow": 5}
    yield {"type": "set_budget", "repay": 0, "borrow": 0}


# --- investments ---------------------------------------------------------------------------------------------


def investment(t: BotView) -> Iterator[Doc]:
    """Buy posts, canals, then armies next to possible conquests, forts, a card."""
    money = t.me["available"]
    for country in t.colonies:
        room = VALUE[country] + 2 * (COUNTRIES[country].canal in t.board["canals"]) - t.country(country)["posts"]
        for quantity in range(min(room, money // UNITS["trading_post"].cost), 0, -1):
            yield _buy("trading_post", quantity, country)
    yield from ({"type": "build_canal", "canal": c} for c in ("suez", "panama"))
    yield from _armies(t)
    for country in t.colonies:
        if not t.country(country)["units"] and not t.country(country)["forts"]:
            yield from (_buy("fort", 1, country), _buy("infantry", 1, country))
    if money > 8 and not t.me["bought"] and t.me["cards"] < 4:
        yield {"type": "buy_cards", "quantity": 1}
    yield {"type": "end_investments"}


def _armies(t: BotView) -> Iterator[Doc]:
    """Yield purchases of the best affordable attackers, as many as a place can use."""
    for country in t.frontiers():
        if t.strength(country) < 3:
            yield from (_buy(unit, 1, country) for unit in ("artillery", "cavalry", "infantry"))
    if t.count(t.home) < 3 and t.coast_targets(t.home):
        yield from (_buy(unit, 1, t.home) for unit in ("artillery", "cavalry", "infantry"))


def _buy(item: str, quantity: int, country: str) -> Doc:
    return {"type": "buy", "item": item, "quantity": quantity, "country": country}


# --- war -----------------------------------------------------------------------------------------------------


def movement(t: BotView) -> Iterator[Doc]:
    """Make the likely winning attacks, the most valuable first; send fleets to paying zones and armies to the front."""
    for target in sorted(t.targets(), key=lambda c: -VALUE[c]):
        yield from _attacks(t, target)
    yield from _patrols(t)
    yield {"type": "end_fair_wind" if t.context.get("zone") else "end_movement"}


def _attacks(t: BotView, target: str) -> Iterator[Doc]:
    """Yield attacks with the best units from land and sea, in sufficient strength."""
    ways = sorted(t.ways(target), key=lambda w: -t.power(w["unit"]))
    defence = t.defence(target)
    for number in (3, 2, 1):
        for group in list(combinations(ways[:6], number))[:4]:
            if sum(t.power(w["unit"]) for w in group) >= 1.15 * defence:
                yield {"type": "attack", "target": target, "groups": list(group)}


def _patrols(t: BotView) -> Iterator[Doc]:
    """Send a warship to an empty zone with tax to gain."""
    paying = {z for c in (t.home, *t.colonies) if c == t.home or t.country(c)["posts"] for z in COUNTRIES[c].coasts}
    for zone, lot in t.fleets("warship"):
        spare = t.warships(zone) > 1 or zone not in paying
        for there in sorted(ZONES[zone].seas, key=lambda z: -VALUE[z]):
            if spare and there in paying and t.is_empty(there):
                yield {"type": "move", "units": [{**lot, "count": 1}], "path": [zone, there]}


def embarkation(t: BotView) -> Iterator[Doc]:
    """Send armies without work on land to sea, if a free coast is within reach."""
    for country in (t.home, *t.colonies):
        units = [{"unit": x["unit"], "count": x["count"]} for x in t.country(country)["units"]]
        if not units or t.land_targets(country) or (country != t.home and not t.country(country)["posts"]):
            continue
        for zone in sorted(COUNTRIES[country].coasts, key=lambda z: -len(t.shore_targets(z))):
            if t.shore_targets(zone):
                yield {"type": "embark", "from": country, "zone": zone, "units": units}
    yield {"type": "end_embarkation"}


def choose_units(t: BotView) -> Iterator[Doc]:
    """Choose the best dice."""
    fight = t.board["combat"]
    if fight["region"] in ZONES:
        have = [x for x in t.zone(fight["region"])["fleets"][str(t.seat)] if UNITS[x["unit"]].kind == "warship"]
    else:
        country = t.country(fight["region"])
        have = [{"unit": "fort", "count": country["forts"]}, *country["units"]]
    units: list[Json] = []
    for x in sorted(have, key=lambda x: -t.power(x["unit"])):
        left = 3 - sum(u["count"] for u in units)
        if left and x["count"]:
            units.append({"unit": x["unit"], "count": min(left, x["count"])})
    yield {"type": "choose_units", "units": units}


def reinforce(t: BotView) -> Iterator[Doc]:
    """Send all units within reach, the best first."""
    ways = sorted(t.ways(t.context["target"]), key=lambda w: -t.power(w["unit"]))
    for number in (3, 2, 1):
        yield from ({"type": "reinforce", "groups": list(g)} for g in list(combinations(ways[:5], number))[:6])
    yield {"type": "reinforce", "groups": []}


# --- cards ---------------------------------------------------------------------------------------------------


def open_window(t: BotView) -> Iterator[Doc]:
    """Play cards against the leader; else pass, for the turn if no card of the hand fits."""
    if t.dice.random() < 0.5:
        yield from _safe_cards(t)
    yield from _pass(t, "open")


def _safe_cards(t: BotView) -> Iterator[Doc]:
    leader = max(t.others, key=t.posts)
    weak = sorted(t.owned(leader), key=lambda c: (t.defence(c), -t.country(c)["posts"]))
    yield from (_card("rebellion", country=c) for c in weak[:2])
    yield from (_card("plunder", country=c) for c in sorted(t.owned(leader), key=lambda c: -t.country(c)["posts"])[:4])
    for zone, ships in t.foreign_fleets():
        if not t.zone(zone)["fleets"].get(str(t.seat)):
            yield _card("pirates", zone=zone)
        best = max(ships, key=lambda x: UNITS[x[1]].cost)
        yield _card("sabotage", target_seat=best[0], zone=zone, unit=best[1])
    yield from (_card("filibuster", zone=z) for z in t.board["zones"])
    yield _card("unmask_spies", target_seat=leader, reveal=False)


def combat_window(t: BotView) -> Iterator[Doc]:
    """Play any help for the own side, or an armistice for an attacked seat."""
    fight = t.board["combat"]
    if fight["attacker"] == t.seat:
        yield from (_card(c) for c in ("surprise_attack", "treason", "coup_de_main", "capture"))
    elif fight["defender"] == t.seat:
        yield from (_card(c) for c in ("ambush", "coup_de_main"))
        if isinstance(fight["attacker"], int):
            yield _card("armistice", target_seat=fight["attacker"])
    yield from _pass(t, "combat")


def round_window(t: BotView) -> Iterator[Doc]:
    """Play the only fitting card."""
    yield _card("coup_de_main")
    yield from _pass(t, "round")


def counter_window(t: BotView) -> Iterator[Doc]:
    """Counter harmful cards, and counters of own cards."""
    chain = t.context["chain"]
    mine = [seat == t.seat for seat, _ in chain]
    if (mine[0] and len(chain) % 2 == 0) or (chain[-1][1] in HARMFUL and t.dice.random() < 0.4):
        yield _card("counter_espionage")
    yield from _pass(t, "counter")


def theft(t: BotView) -> Iterator[Doc]:
    """Take the most valuable card."""
    order = ("counter_espionage", "rebellion", "unmask_spies", *CARDS)
    yield from ({"type": "choose_stolen_card", "card": c} for c in order if c in t.own["seen"])


def _card(name: str, **terms: Json) -> Doc:
    return {"type": "play_card", "card": name, **terms}


def _pass(t: BotView, window: str) -> Iterator[Doc]:
    """Pass; for the rest of the turn if no card of the hand can ever be played in such a window."""
    yield {"type": "pass"} if _fits(t, WHEN[window]) else {"type": "pass", "until": "turn_end"}


def _fits(t: BotView, when: frozenset[str]) -> bool:
    return any(when & set(CARDS[c].when) for c in t.own["hand"])


def _lots(counts: dict[str, int]) -> list[Json]:
    return [{"unit": u, "count": n} for u, n in counts.items()]


ANSWERS: dict[str, Callable[[BotView], Iterator[Doc]]] = {
    "setup_fleet": setup_fleet,
    "setup_colony": setup_colony,
    "diplomacy": diplomacy,
    "goal_vote": goal_vote,
    "budget": budget,
    "investment": investment,
    "movement": movement,
    "fair_wind": movement,
    "embarkation": embarkation,
    "choose_units": choose_units,
    "reinforce": reinforce,
    "open_window": open_window,
    "combat_window": combat_window,
    "round_window": round_window,
    "counter_window": counter_window,
    "theft": theft,
}
