"""What the tests of all games need to know of this one, independently of its code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, product
from typing import Any

from domain.games.struggle_of_empires import RULESET
from domain.games.struggle_of_empires.data import MARKERS, POWERS, REGIONS, SCORING, TILES
from domain.types import Doc, Json, Seat

__all__ = ["RARE", "RULESET", "candidates", "conserved"]

UNITS = ("army", "navy", "fort")
S = Any


def subsets(items: Sequence[Json]) -> Iterator[list[Json]]:
    """All subsets, in the order of the items."""
    return map(list, chain.from_iterable(combinations(items, n) for n in range(len(items) + 1)))


# --- every move of a small world -----------------------------------------------------------------------------


def candidates(s: S, seat: Seat) -> Iterator[Doc]:
    """Every move that answers the open decision, well-formed, in the builder's form, legal or not."""
    if s.frames:
        yield from WORLDS[s.top.kind](s, seat)


def _powers(s: S, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "choose_power", "power": p} for p in (*POWERS, "poland"))


def _placements(s: S, seat: Seat) -> Iterator[Doc]:
    for unit, region in product(UNITS, (*REGIONS, "atlantis")):
        yield {"type": "place_unit", "unit": unit, "region": region}


def _bids(s: S, seat: Seat) -> Iterator[Doc]:
    yield {"type": "pass_bid"}
    seats: list[Json] = [*range(s.seats), None]
    for amount, a, b in product(range(101), seats, seats):
        yield {"type": "bid", "amount": amount, "a": a, "b": b}


def _turns(s: S, seat: Seat) -> Iterator[Doc]:
    yield {"type": "pass"}
    for tile in TILES:
        yield from _purchases(s, tile)
        yield from _uses(s, seat, tile)
    for to in REGIONS:
        yield {"type": "build_militia", "to": to}
        yield from ({"type": "build", "unit": unit, "to": to} for unit in UNITS)
    again: list[dict[str, Json]] = [{}, {"new_action": True}] if s.turn.moves_left else [{}]
    for unit, start, to, more in product(UNITS, REGIONS, REGIONS, again):
        yield {"type": "move_unit", "unit": unit, "from": start, "to": to, **more}
    for marker, action in product(MARKERS, ("colonize", "enslave")):
        yield {"type": action, "marker": marker}
    yield from ({"type": "attack", **fields} for fields in _attacks(s, seat))


def _purchases(s: S, tile: str) -> Iterator[Doc]:
    if tile not in ("pirates", "slave_revolt"):
        yield {"type": "buy_tile", "tile": tile}
        return
    for region, target in product(REGIONS, range(s.seats)):
        yield {"type": "buy_tile", "tile": tile, "region": region, "target_seat": target}


def _uses(s: S, seat: Seat, tile: str) -> Iterator[Doc]:
    use = {"type": "use_tile", "tile": tile}
    if tile == "war_office":
        yield from ({**use, "attack": fields} for fields in _attacks(s, seat))
    elif tile in ("mercenaries", "pressgangs"):
        yield from ({**use, "to": to} for to in REGIONS)
    elif tile == "trained_natives":
        onward: list[Json] = [None, *REGIONS]
        yield from ({**use, "region": r, "then_to": to} for r, to in product(REGIONS, onward))
    elif tile == "diplomatic_service":
        yield from ({**use, "alliance_tile": t} for t in TILES)
    elif tile == "blockade" or TILES[tile].group == "trade":
        yield from ({**use, "region": r} for r in REGIONS)
    else:
        yield use


def _attacks(s: S, seat: Seat) -> Iterator[Doc]:
    for region in REGIONS:
        targets: list[Doc] = [{"kind": "player", "seat": x} for x in range(s.seats)]
        targets += [{"kind": "neutral", "marker": m} for m in MARKERS]
        targets += [{"kind": "pirates"}, {"kind": "slave_revolt"}]
        for target in targets:
            yield from _declarations(s, seat, region, target)


def _declarations(s: S, seat: Seat, region: str, target: Doc) -> Iterator[Doc]:
    owns = any(t.tile == "surprise_attack" for t in s.empires[seat].tiles)
    surprises: list[dict[str, Json]] = [{}]
    if owns and target["kind"] == "player":
        surprises = [{"surprise": False}, {"surprise": True}]
    elif owns:
        surprises = [{}, {"surprise": True}]
    kind = target["kind"]
    gold = max(s.empires[seat].gold - 2, 0) + 2
    for surprise, request in product(surprises, _requests(s, seat, region, kind, gold)):
        yield {"region": region, "target": target, **surprise, **request}


def _requests(s: S, seat: Seat, region: str, kind: str, gold: int) -> Iterator[Doc]:
    """`ask` is named exactly where somebody can be asked."""
    after = s.turn_order.index(seat) + 1
    order = [*s.turn_order[after:], *s.turn_order[:after]]
    helpers = [x for x in order if _same_alliance(s, seat, x) and any(_forces(s, x, region, kind))]
    if not helpers:
        yield {}
        return
    for ask in subsets(helpers):
        for offers in _offers(s, ask, gold, region, kind):
            yield {"ask": ask, **({"offers": offers} if offers else {})}


def _offers(s: S, allies: Sequence[Seat], gold: int, region: str, kind: str) -> Iterator[list[Json]]:
    """To some of the allies, in any order, for no more than the gold in all."""
    yield []
    for ally in allies:
        armies, navies = _forces(s, ally, region, kind)
        others = [x for x in allies if x != ally]
        for g, a, n in product(range(1, gold + 1), range(armies + 1), range(navies + 1)):
            offer = {"seat": ally, "gold": g, "min_armies": a, "min_navies": n}
            yield from ([offer, *rest] for rest in _offers(s, others, gold - g, region, kind))


def _same_alliance(s: S, seat: Seat, other: Seat) -> bool:
    return seat != other and any(seat in row and other in row for row in s.alliances.values())


def _forces(s: S, ally: Seat, region: str, kind: str) -> tuple[int, int]:
    """SOE-8.3.1 in other words: what an ally has that could take part."""
    units = s.empires[ally].units
    sea = {"ottoman_empire": "mediterranean", "german_states": "", "central_europe": ""}.get(region, region)
    armies = units.get(region, {}).get("army", 0) if kind != "pirates" else 0
    navies = units.get(sea, {}).get("navy", 0) if kind in ("player", "pirates") else 0
    return armies, navies


def _supports(s: S, seat: Seat) -> Iterator[Doc]:
    for armies, navies in product(range(16), range(9)):
        yield {"type": "support", "armies": armies, "navies": navies}


def _support_requests(s: S, seat: Seat) -> Iterator[Doc]:
    gold = s.empires[seat].gold + 1
    for request in _requests(s, seat, s.combat.region, "player", gold):
        yield {"type": "request_support", **request}


def _answers(kind: str, field: str) -> Callable[[S, Seat], Iterator[Doc]]:
    return lambda s, seat: ({"type": kind, field: yes} for yes in (False, True))


def _assignments(s: S, seat: Seat) -> Iterator[Doc]:
    shown = [t.id for t in TILES.values() if t.group == "alliance"]
    owned = [t.tile for t in s.empires[seat].tiles]
    first = sorted(shown, key=lambda t: owned.index(t) if t in owned else 99)
    yield from ({"type": "assign_alliance_tiles", "naval": naval} for naval in subsets(first[:6]))
    yield from ({"type": "assign_alliance_tiles", "naval": [tile]} for tile in dict.fromkeys(owned))


def _losses(s: S, seat: Seat) -> Iterator[Doc]:
    units = [{"seat": x, "unit": unit} for x in range(s.seats) for unit in UNITS]
    for number in range(4):
        for choices in product(units, repeat=number):
            yield {"type": "choose_loss", "choices": list(choices)}


def _withdrawals(s: S, seat: Seat) -> Iterator[Doc]:
    yield {"type": "fighting_withdrawal", "use": False}
    yield from ({"type": "fighting_withdrawal", "use": True, "save": x} for x in range(s.seats + 1))


WORLDS: dict[str, Callable[[S, Seat], Iterator[Doc]]] = {
    "choose_power": _powers,
    "place_units": _placements,
    "auction_bid": _bids,
    "turn": _turns,
    "support": _supports,
    "request_support": _support_requests,
    "naval_choice": _answers("naval_choice", "fight"),
    "assign_alliance_tiles": _assignments,
    "use_blockade": _answers("use_blockade", "use"),
    "reserve": _answers("reserve", "use"),
    "choose_loss": _losses,
    "fighting_withdrawal": _withdrawals,
}


# --- conservation --------------------------------------------------------------------------------------------

LIMITS = {"army": 14, "navy": 7, "fort": 2}


def conserved(doc: Json) -> Json:
    """The pieces of a state's JSON form, wherever they are: the same at any time of a game."""
    tiles = Counter(doc["stock"]) + Counter(doc["boxed"])
    tiles.update(t["tile"] for e in doc["empires"].values() for t in e["tiles"])
    fought = ((doc["combat"] or {}).get("attacker") or {}).get("kind")
    for name in ("pirates", "slave_revolt"):
        tiles[name] += bool(doc[name] or fought == name)
    lying = [m for markers in doc["markers"].values() for m in markers]
    return {
        "tiles": sorted(tiles.items()),
        "markers": sorted([*doc["bag"], *lying, *doc["gone"]]),
        "too_many": [_surplus(doc, seat) for seat in sorted(doc["empires"])],
        "misplaced": [_misplaced(e) for e in doc["empires"].values()],
    }


def _surplus(doc: Json, seat: str) -> list[str]:
    """Units and tokens above the limits of SOE-1.1 and SOE-1.2."""
    empire = doc["empires"][seat]
    counts: Counter[str] = Counter()
    for units in empire["units"].values():
        counts.update(units)
    tokens = sum(empire["tokens"].values())
    tokens += sum(1 for name in ("pirates", "slave_revolt") if doc[name] and doc[name]["token_of"] == int(seat))
    return [unit for unit, most in LIMITS.items() if counts[unit] > most] + ["token"] * (tokens > 20)


def _misplaced(empire: Json) -> list[str]:
    """Units where SOE-1.7 and SOE-1.8 do not allow them, and counts of 0 that are named."""
    home = f"home_{empire['power']}"
    sea = {*SCORING, home} - {"german_states", "central_europe", "ottoman_empire"}
    return [
        f"{unit} in {region}"
        for region, units in empire["units"].items()
        for unit, number in units.items()
        if number < 1 or region not in {"army": {*SCORING, home}, "navy": sea, "fort": set(SCORING)}[unit]
    ]


# --- situations that games seldom come to ----------------------------------------------------------------------

_HANDS = (
    ("sweden", "denmark", "surprise_attack", "war_office", "trained_natives"),
    ("portugal", "ottoman_alliance", "blockade", "trained_natives", "reserve"),
    ("native_americans", "indian_nawab", "fighting_withdrawal", "mercenaries", "navigation"),
    ("naples", "cossacks", "gauchos", "pressgangs", "militia"),
)


def _rich() -> dict[str, Json]:
    """Four seats with tiles in hand and few tokens left; what they own is not in the stock."""
    owned = Counter(tile for hand in _HANDS for tile in hand)
    for tile, count in owned.items():
        if count > TILES[tile].count:
            owned[tile] = TILES[tile].count
    left, empires = Counter(owned), {}
    for seat, hand in enumerate(_HANDS):
        tiles = [t for t in hand if left[t] > 0]
        left.subtract(tiles)
        tokens = {region: 1 + (seat + i) % 2 for i, region in enumerate(SCORING)}
        empires[str(seat)] = {"tiles": [{"tile": t, "used": False} for t in tiles], "tokens": tokens, "gold": 30}
    stock = {t.id: t.count - owned[t.id] or None for t in TILES.values() if owned[t.id]}
    return {"empires": empires, "stock": stock}


def _barred() -> dict[str, Json]:
    """Four seats that are present in one region each, may buy hardly a tile, and of whom one blockades the others."""
    hands = (("trained_natives", "surprise_attack"), ("blockade",), ("surprise_attack",), ("trained_natives",))
    banned = sorted(tile.id for tile in TILES.values() if not {tile.id} & {"pirates", "slave_revolt"})
    owned = Counter(tile for hand in hands for tile in hand)
    empires: dict[str, Json] = {}
    for seat, hand in enumerate(hands):
        units = {region: {"navy": 1} for region in ("east_indies", "india", "caribbean")}
        empires[str(seat)] = {
            "tiles": [{"tile": t, "used": t == "blockade"} for t in hand],
            "tokens": {SCORING[seat]: 1},
            "units": units,
            "banned_tiles": banned,
            "gold": 60,
        }
    stock = {t.id: t.count - owned[t.id] or None for t in TILES.values() if owned[t.id]}
    return {"empires": empires, "stock": stock, "blockade": {"region": "india", "seat": 1}}


RARE: tuple[dict[str, Json], ...] = tuple(
    {"seats": 4, "options": {"power_assignment": "random"}, "patch": patch} for patch in (_rich(), _barred())
)
