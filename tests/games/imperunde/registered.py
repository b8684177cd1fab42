"""What the common machine needs of ImpeRunde, written without the game's own choices and checks."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from domain.errors import NeedsChance, RuleError
from domain.games.imperunde import RULESET
from domain.games.imperunde.data import ANTARCTICA, CANALS, CARDS, COUNTRIES, UNITS, ZONES
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.rules.decide import dry_run
from domain.types import Doc, Json, Seat

__all__ = ["RULESET", "candidates", "conserved"]

BRUTE = 400
ARMIES = ("infantry", "cavalry", "artillery")
SHIPS = ("frigate", "ship_of_the_line")
ORDER = ("fort", "ship_of_the_line", "frigate", "artillery", "cavalry", "infantry")
WINDOWS = ("open", "counter", "combat", "round")
UNTIL = ("phase_end", "turn_end", "game_end")


def accepted(s: ImpeRunde, seat: Seat, move: Doc) -> bool:
    try:
        dry_run(RULESET, s, seat, [move])
    except RuleError:
        return False
    except NeedsChance:
        return True
    return True


# --- where things are --------------------------------------------------------------------------------------------


def lots_of(s: ImpeRunde, seat: Seat) -> dict[str, list[tuple[str, int, int]]]:
    """Region -> (unit, moves left, count) of a seat, in the order in which lots are named."""
    found: dict[str, Counter[tuple[str, int]]] = {}
    for name, c in s.countries.items():
        for x in c.units if c.owner == seat else ():
            found.setdefault(name, Counter())[x.unit, x.moves_left] += x.count
    for name, z in s.zones.items():
        for x in z.fleets.get(str(seat), ()):
            found.setdefault(name, Counter())[x.unit, x.moves_left] += x.count
    return {name: ordered(found[name]) for name in sorted(found)}


def ordered(lots: Counter[tuple[str, int]]) -> list[tuple[str, int, int]]:
    return sorted(((u, m, n) for (u, m), n in lots.items()), key=lambda x: (ORDER.index(x[0]), -x[1]))


def others(regions: Iterable[str], but: Collection[str]) -> list[str]:
    """One region besides those, if there is one: where the same check refuses all of them, one is enough."""
    return [r for r in regions if r not in but][:1]


def near(region: str) -> list[str]:
    if region in COUNTRIES:
        return sorted([*COUNTRIES[region].lands, *COUNTRIES[region].coasts])
    through = [z for c in CANALS.values() if region in c.links for z in c.links - {region}]
    return sorted([*ZONES[region].seas, *ZONES[region].shores, *through])


def paths(start: str, steps: int) -> Iterator[list[str]]:
    """Every path of one to so many steps."""
    if steps:
        for b in near(start):
            yield [start, b]
            yield from ([start, *rest] for rest in paths(b, steps - 1))


def reach(region: str, unit: str, left: int) -> int:
    """Steps that a unit with so many moves can make at most: cavalry goes on where it has landed."""
    return left + (unit == "cavalry" and region in ZONES) if left else 0


def parcels(lots: Sequence[tuple[str, int, int]], most: int = 99) -> Iterator[list[Json]]:
    """Every list of lots with numbers, in order."""
    for counts in itertools.product(*(range(n + 1) for _, _, n in lots)):
        if 0 < sum(counts) <= most:
            yield [{"unit": u, "moves_left": m, "count": n} for (u, m, _), n in zip(lots, counts, strict=True) if n]


def small(lots: Sequence[tuple[str, int, int]]) -> bool:
    size = 1
    for _, _, n in lots:
        size *= n + 1
    return size <= BRUTE


# --- moves by frame ----------------------------------------------------------------------------------------------


def candidates(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    """Every move that the present question can have, well-formed or nearly."""
    kind = s.top.kind
    yield from FRAMES[kind](s, seat) if kind in FRAMES else ()
    yield from cards(s, seat)
    if seat not in s.top.owing or kind.endswith("_window"):
        sets = itertools.chain.from_iterable(itertools.combinations(WINDOWS, n) for n in range(5))
        yield from (
            {"type": "set_auto_pass", "windows": list(w), "until": u} for w in sets for u in (*UNTIL, "off", "never")
        )


def setup_fleet(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    zones = [*COUNTRIES[s.nations[seat].home].coasts, "north_sea", "tasman_sea", "nowhere"]
    yield from (
        {"type": "place_home_fleet", "frigate": a, "ship_of_the_line": b}
        for a, b in itertools.product(dict.fromkeys(zones), repeat=2)
    )


def setup_colony(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "equip_colony", "choice": "frigate", "zone": z} for z in ZONES)
    for counts in itertools.product(range(4), range(3), range(2)):
        units = [{"unit": u, "count": n} for u, n in zip(ARMIES, counts, strict=True) if n]
        yield {"type": "equip_colony", "choice": "armies", "units": units}


def diplomacy(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": t} for t in ("ready", "unready", "end_movement"))
    for target in range(-1, s.seats + 1):
        yield from ({"type": "set_stance", "target": target, "stance": x} for x in ("peace", "war"))
    yield from ({"type": "propose_goal", "goal": g} for g in range(4, 93))


def goal_vote(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "vote_goal", "approve": x} for x in (True, False))


def budget(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    for repay, borrow in itertools.product((0, 1, 5, 10, 15), (0, 5, 10)):
        yield {"type": "set_budget", "repay": repay, "borrow": borrow}


def window(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield {"type": "pass"}
    yield from ({"type": "pass", "until": u} for u in UNTIL)
    yield {"type": "pass", "for_combat": True}


def investment(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield {"type": "end_investments"}
    yield from ({"type": "build_canal", "canal": c} for c in (*CANALS, "kiel"))
    yield from ({"type": "buy_cards", "quantity": n} for n in range(5))
    own = [c for c, x in s.countries.items() if x.owner == seat]
    for country in [*own, *others(s.countries, own), "nowhere"]:
        for item in UNITS:
            zones = COUNTRIES[country].coasts if item in SHIPS and country in COUNTRIES else ("",)
            most = s.nations[seat].available // UNITS[item].cost + 2
            for zone, n in itertools.product(zones, range(most)):
                buy: Doc = {"type": "buy", "item": item, "quantity": n, "country": country}
                yield {**buy, "zone": zone} if zone else buy


def moving(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": t} for t in ("end_movement", "end_fair_wind"))
    for region, lots in lots_of(s, seat).items():
        able = [x for x in lots if x[1]]
        far = max((reach(region, unit, left) for unit, left, _ in able), default=0)
        for units in parcels(able) if small(able) else ():
            yield from ({"type": "move", "units": units, "path": p} for p in paths(region, far))
        for unit, left, _ in able:
            way = {"unit": unit, "moves_left": left, "path": [region, ANTARCTICA], "count": 1}
            yield {"type": "attack", "target": ANTARCTICA, "groups": [way]}
    yield from attacks(s, seat, lambda target, groups: {"type": "attack", "target": target, "groups": groups}, 3)


def ways(s: ImpeRunde, seat: Seat) -> Iterator[tuple[str, Json, int]]:
    """Target, one unit with a path to it, how many of its lot there are."""
    for region, lots in lots_of(s, seat).items():
        for unit, left, count in lots:
            for path in sorted(paths(region, reach(region, unit, left)), key=lambda p: (len(p), p)):
                yield path[-1], {"unit": unit, "moves_left": left, "path": path, "count": 1}, count


def attacks(s: ImpeRunde, seat: Seat, make: Callable[[str, list[Json]], Doc], most: int) -> Iterator[Doc]:
    single: dict[str, list[tuple[Json, int]]] = {}
    for target, way, count in ways(s, seat):
        if accepted(s, seat, make(target, [way])):
            single.setdefault(target, []).append((way, count))
    for target, able in single.items():
        for n in range(1, most + 1):
            fitting = filter(fits, itertools.islice(itertools.combinations_with_replacement(able, n), 5000))
            for groups in itertools.islice(fitting, BRUTE + 1):
                yield make(target, [way for way, _ in groups])


def fits(groups: Iterable[tuple[Json, int]]) -> bool:
    used = Counter((w["path"][0], w["unit"], w["moves_left"]) for w, _ in groups)
    return all(used[w["path"][0], w["unit"], w["moves_left"]] <= n for w, n in groups)


def reinforce(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield {"type": "reinforce", "groups": []}
    yield from attacks(s, seat, lambda _, groups: {"type": "reinforce", "groups": groups}, 3)


def choose_units(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    c = s.fight
    have: Counter[tuple[str, int]] = Counter()
    if c.region in ZONES:
        for x in s.zone(c.region).fleet(seat):
            have[x.unit, x.moves_left] += x.count * (x.unit in SHIPS)
    else:
        country = s.country(c.region)
        have["fort", 0] += country.forts
        for x in country.units:
            have[x.unit, x.moves_left] += x.count
    lots = [(u, m, min(n, 3)) for u, m, n in ordered(have) if n]
    yield from ({"type": "choose_units", "units": units} for units in parcels(lots, 4))


def embarkation(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield {"type": "end_embarkation"}
    for region, lots in lots_of(s, seat).items():
        if region in COUNTRIES and small(lots):
            for zone, units in itertools.product(COUNTRIES[region].coasts, parcels(lots)):
                yield {"type": "embark", "from": region, "zone": zone, "units": units}


def theft(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "choose_stolen_card", "card": c} for c in (*CARDS, None))


FRAMES: dict[str, Callable[[ImpeRunde, Seat], Iterator[Doc]]] = {
    "setup_fleet": setup_fleet,
    "setup_colony": setup_colony,
    "diplomacy": diplomacy,
    "goal_vote": goal_vote,
    "budget": budget,
    **{f"{w}_window": window for w in WINDOWS},
    "investment": investment,
    "movement": moving,
    "fair_wind": moving,
    "reinforce": reinforce,
    "choose_units": choose_units,
    "embarkation": embarkation,
    "theft": theft,
}


# --- cards -------------------------------------------------------------------------------------------------------


def cards(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    """Every card with every set of parameters that the builder could ask for."""
    for card in CARDS:
        for terms in TERMS.get(card, plain)(s, seat) if card in s.hands[seat] else [{}]:
            yield {"type": "play_card", "card": card, **terms}


def plain(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield {}


def some_seat(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"target_seat": x} for x in range(s.seats + 1))


def some_zone(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"zone": z} for z in ZONES)


def some_country(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"country": c} for c in [*s.countries, *others(COUNTRIES, s.countries)])


def spies(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"target_seat": x, "reveal": r} for x in range(s.seats) for r in (False, True))


def treaties(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    yield from ({"seats": [a, b]} for a in range(s.seats) for b in range(a, s.seats))


def captures(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    if s.combat and sum(isinstance(x, int) for x in (s.combat.defender, *s.combat.enemies)) > 1:
        yield from ({"target_seat": x} for x in range(s.seats))
    else:
        yield {}


def naval_orders(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    for target in range(s.seats):
        full = [z for z in s.zones if s.zone(z).fleet(target)]
        for a in [*full, *others(s.zones, full)]:
            yield from ({"target_seat": target, "from": a, "to": b} for b in near(a) if b in ZONES)


def march_orders(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    for target in range(s.seats):
        for a, lots in lots_of(s, target).items():
            if a in COUNTRIES:
                for b, units in itertools.product(
                    COUNTRIES[a].lands, parcels([(u, m, min(n, 3)) for u, m, n in lots], 3)
                ):
                    yield {"target_seat": target, "from": a, "to": b, "units": units}


def sabotages(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    for target, zone, unit in itertools.product(range(s.seats), s.zones, UNITS):
        yield {"target_seat": target, "zone": zone, "unit": unit}


def smuggled(s: ImpeRunde, seat: Seat) -> Iterator[Doc]:
    for country in (c for c, x in s.countries.items() if x.owner == seat):
        pieces: list[Json] = []
        for item in UNITS:
            zones = COUNTRIES[country].coasts if item in SHIPS else ("",)
            pieces += [{"item": item, "quantity": 1} | ({"zone": z} if z else {}) for z in zones]
        for n in range(1, 6):
            for bought in itertools.combinations_with_replacement(pieces, n):
                if sum(UNITS[p["item"]].cost for p in bought) <= 5:
                    yield {"country": country, "purchases": list(bought)}


TERMS: dict[str, Callable[[ImpeRunde, Seat], Iterator[Doc]]] = {
    "armistice": some_seat,
    "declaration_of_war": some_seat,
    "filibuster": some_zone,
    "pirates": some_zone,
    "plunder": some_country,
    "rebellion": some_country,
    "unmask_spies": spies,
    "peace_treaty": treaties,
    "capture": captures,
    "forged_naval_orders": naval_orders,
    "forged_march_orders": march_orders,
    "sabotage": sabotages,
    "smuggling": smuggled,
}


# --- what is conserved -------------------------------------------------------------------------------------------

SET = {"ship_of_the_line": 10, "frigate": 15, "infantry": 40, "cavalry": 20, "artillery": 20, "fort": 30}
SET["trading_post"] = 45
BLACK = {"frigate": 20, "ship_of_the_line": 5}


def conserved(doc: Json) -> Json:
    """Cards, doubloons, limits of pieces: the same at any time after the set-up."""
    return [conserved_cards(doc), conserved_money(doc), too_many_pieces(doc)]


def conserved_cards(doc: Json) -> Json:
    """All 48 cards are in a hand, in the draw pile or among the discards."""
    held = [c for hand in doc["hands"].values() for c in hand]
    return sorted([*held, *doc["deck"], *doc["discard"]])


def conserved_money(doc: Json) -> Json:
    """What a seat has is what came in less what went out."""
    return {k: n["available"] + n["surplus"] - n["received"] + n["paid"] for k, n in doc["nations"].items()}


def pieces(doc: Json) -> Counter[tuple[str, str]]:
    """(seat or `pirates`, unit) -> pieces on the board."""
    found: Counter[tuple[str, str]] = Counter()
    for c in doc["countries"].values():
        owner = str(c["owner"])
        found[owner, "fort"] += c["forts"]
        found[owner, "trading_post"] += c["posts"]
        for x in c["units"]:
            found[owner, x["unit"]] += x["count"]
    for z in doc["zones"].values():
        found.update({("pirates", u): n for u, n in z["pirates"].items()})
        for seat, fleet in z["fleets"].items():
            for x in fleet:
                found[seat, x["unit"]] += x["count"]
    if doc["combat"]:
        for x in doc["combat"]["units"]:
            found[str(doc["combat"]["attacker"]), x["unit"]] += x["count"]
    return found


def too_many_pieces(doc: Json) -> Json:
    """Pieces beyond the sets, or of nobody: none."""
    sets = 2 if doc["seats"] == 3 else 1
    limits = {(str(seat), unit): n * sets for seat in range(doc["seats"]) for unit, n in SET.items()}
    limits |= {("pirates", unit): n for unit, n in BLACK.items()}
    return [list(key) for key, n in sorted(pieces(doc).items()) if n and not 0 < n <= limits.get(key, 0)]
