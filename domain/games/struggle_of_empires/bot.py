"""Heuristic player, for demos and simulations: it counts the worth of a token, an attack or a tile in points.

It works on its seat's view alone. A proposal may be illegal (out of reach, no supply): the first legal one is played,
so the checks of the rules need not be repeated here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from domain.compat import cached_property
from domain.games.common.ranking import groups
from domain.games.struggle_of_empires.data import COLONIES, CONSTANTS, MARKERS, POWERS, REGIONS, ROUNDS, SCORING, TILES
from domain.kernel.rules.ruleset import Dice
from domain.types import Doc, Json, Seat

Valued = tuple[float, Doc]

# Chances of the difference between the attacker's and the defender's dice.
_ONE = {0: 6, 1: 10, 2: 8, 3: 6, 4: 4, 5: 2}
_SPREAD: Counter[int] = Counter()
for _a, _x in _ONE.items():
    for _b, _y in _ONE.items():
        _SPREAD[_a - _b] += _x * _y

_CHANCES = {margin: sum(n for m, n in _SPREAD.items() if margin + m > 0) / 36**2 for margin in range(-9, 10)}
"""Margin of strength -> chance to win an attack."""

CAREFUL = 11
"""From this unrest on, borrowing is worth almost nothing."""


def chance(margin: int) -> float:
    """Return the chance to win an attack with this margin of strength."""
    return _CHANCES.get(margin, float(margin > 0))


def propose(player_view: Doc, decision: Doc, seat: Seat, dice: Dice) -> Iterator[Doc]:
    """Yield moves for the open decision, best first."""
    yield from ANSWERS[decision["kind"]](BotView(player_view, seat), decision["context"])


# --- view of the seat ----------------------------------------------------------------------------------------


class BotView:
    """The view of a seat, with the bot's questions about it."""

    def __init__(self, player_view: Doc, seat: Seat) -> None:
        self.board: Doc = player_view["public"]
        self.seat = seat
        self.unrest: int = (player_view.get("own") or {}).get("unrest", 0)
        self.empires: list[Doc] = self.board["empires"]
        self.me = self.empires[seat]
        self.owned = Counter(t["tile"] for t in self.me["tiles"])
        self._best: dict[tuple[str, int], float] = {}
        self._worth: dict[tuple[str, Seat | None], float] = {}
        self._targets: dict[str, list[tuple[Doc, int, float]]] = {}
        self._tokens: dict[str, tuple[dict[Seat, int], dict[Seat, int]]] = {}
        self._gold: dict[int, float] = {}
        self.fresh = Counter(t["tile"] for t in self.me["tiles"] if not t["used"])

    @property
    def wars(self) -> float:
        """Expected number of scorings of a gain made now; later ones are less certain."""
        left: int = CONSTANTS["wars"] - max(self.board["war"], 1)
        return 1 + 0.6 * left

    def units(self, seat: Seat, region: str | None, unit: str) -> int:
        """Return the number of a seat's units in a region."""
        found: int = self.empires[seat]["units"].get(region or "", {}).get(unit, 0)
        return found

    def markers(self, region: str) -> list[str]:
        """Return the markers in a region."""
        found: list[str] = self.board["markers"].get(region, [])
        return found

    @cached_property
    def enemies(self) -> list[Seat]:
        """The seats open to attack."""
        mine = next((row for row in self.board["alliances"].values() if self.seat in row), [self.seat])
        return [e["seat"] for e in self.empires if e["seat"] not in mine]

    # --- worth

    def token_worth(self, region: str, victim: Seat | None = None) -> float:
        """Return the worth of one more token there, taken from nobody or from a victim."""
        key = region, victim
        if key not in self._worth:
            self._worth[key] = self._find_token_worth(region, victim)
        return self._worth[key]

    def _find_token_worth(self, region: str, victim: Seat | None) -> float:
        if region not in self._tokens:
            now = {e["seat"]: e["tokens"].get(region, 0) for e in self.empires}
            self._tokens[region] = now, _points(region, now)
        now, before = self._tokens[region]
        tokens = dict(now)
        tokens[self.seat] += 1
        if victim is not None:
            tokens[victim] -= 1
        after = _points(region, tokens)
        rivals = [s for s in tokens if s != self.seat]
        lost = sum(before.get(s, 0) - after.get(s, 0) for s in rivals) / max(1, len(rivals))
        gained = after.get(self.seat, 0) - before.get(self.seat, 0) + lost
        worth: float = gained * self.wars + 0.12 * REGIONS[region].vp[0] + 0.4
        return worth

    def gold_worth(self, gold: int) -> float:
        """Return the cost of paying an amount: little from the purse, much by a loan."""
        if gold not in self._gold:
            self._gold[gold] = self._find_gold_worth(gold)
        return self._gold[gold]

    def _find_gold_worth(self, gold: int) -> float:
        short = max(0, gold - self.me["gold"])
        rate = 3 if self.owned["banking"] else 2
        loans = -(-short // rate)
        each = 0.8 if self.unrest + loans < CAREFUL else 2.5
        worth: float = 0.2 * (gold - short) + each * loans
        return worth

    # --- strength

    def attack_strength(self, region: str, neutral: bool) -> int:
        """Return the own strength on land without dice and without allies."""
        zone = REGIONS[region].zone
        hostile = 0 if neutral else sum(self.units(s, zone, "navy") for s in self.enemies)
        sea = self.units(self.seat, zone, "navy") > hostile
        return self.units(self.seat, region, "army") + self.tiles_for(self.seat, region) + int(sea)

    def tiles_for(self, seat: Seat, region: str) -> int:
        """Return the alliance tiles of a seat helping there."""
        return sum(region in TILES[t["tile"]].regions for t in self.empires[seat]["tiles"] if _is_alliance(t["tile"]))

    def training(self, other: Seat | None) -> int:
        """Return the difference made by Army Training."""
        theirs = 0 if other is None else sum(t["tile"] == "army_training" for t in self.empires[other]["tiles"])
        mine: int = self.owned["army_training"]
        return (mine > theirs) - (mine < theirs)

    def defence(self, seat: Seat, region: str) -> int:
        """Return the strength of an attacked seat, without its allies."""
        units = self.empires[seat]["units"].get(region, {})
        sea = self.units(seat, REGIONS[region].zone, "navy") > self.units(self.seat, REGIONS[region].zone, "navy")
        there: int = units.get("army", 0) + 2 * units.get("fort", 0)
        return there + self.tiles_for(seat, region) + int(sea)

    def targets(self, region: str) -> Sequence[tuple[Doc, int, float]]:
        """Return the targets there: target, margin over it, and the worth of winning."""
        if region not in self._targets:
            self._targets[region] = list(self._find_targets(region))
        return self._targets[region]

    def _find_targets(self, region: str) -> Iterator[tuple[Doc, int, float]]:
        for marker in self.markers(region):
            m = MARKERS[marker]
            if m.kind == "state":
                margin = self.attack_strength(region, neutral=True) + self.training(None) - m.defence
                worth = self.token_worth(region) + m.vp + 0.3 * m.gold
                yield {"kind": "neutral", "marker": marker}, margin, worth
        for seat in self.enemies:
            if region in self.empires[seat]["tokens"]:
                mine = self.attack_strength(region, neutral=False) + self.training(seat)
                yield (
                    {"kind": "player", "seat": seat},
                    mine - self.defence(seat, region),
                    self.token_worth(region, seat),
                )

    def best_attack(self, region: str, more: int = 0) -> float:
        """Return the worth of the best attack there with some more armies; 0 if none is worth its cost."""
        key = region, more
        if key not in self._best:
            self._best[key] = self._find_best(region, more)
        return self._best[key]

    def _find_best(self, region: str, more: int) -> float:
        if self.units(self.seat, region, "army") + more < 1:
            return 0.0
        return max([0.0, *(self.attack_worth(margin + more, worth) for _, margin, worth in self.targets(region))])

    def attack_worth(self, margin: int, worth: float) -> float:
        """Return the worth of an attack: winning pays, losing costs a unit and unrest, and the attack costs 2 gold."""
        won = chance(margin)
        return won * worth - (1 - won) * 1.6 - 0.3 - self.gold_worth(2)

    @cached_property
    def alliances(self) -> dict[str, float]:
        """The worth of each alliance tile, its price paid."""
        worth = {}
        for tile in TILES.values():
            if _is_alliance(tile.id):
                help_ = max(self.army_worth(r) for r in tile.regions if REGIONS[r].scores)
                here = any(self.units(self.seat, r, "army") for r in tile.regions)
                worth[tile.id] = (help_ if here else 0.0) - self.gold_worth(tile.gold)
        return worth

    def army_worth(self, region: str) -> float:
        """Return the worth of one more army there for future attacks."""
        return self.best_attack(region, 1) - self.best_attack(region)


def _points(region: str, tokens: dict[Seat, int]) -> dict[Seat, int]:
    ranked = groups({seat: n for seat, n in tokens.items() if n > 0})
    return {seat: vp for seats, vp in zip(ranked, REGIONS[region].vp, strict=False) for seat in seats}


def _is_alliance(tile: str) -> bool:
    return TILES[tile].group == "alliance"


# --- set-up and auctions -------------------------------------------------------------------------------------


def _choose_power(t: BotView, context: Json) -> Iterator[Doc]:
    liked = ("prussia", "austria", "france", "russia", "spain", "britain", "united_provinces")
    yield from ({"type": "choose_power", "power": p} for p in (*liked, *POWERS))


def _place_units(t: BotView, context: Json) -> Iterator[Doc]:
    """Place armies at possible gains; a navy to open a region worth it."""
    worth = {r: t.army_worth(r) + 0.2 * t.token_worth(r) for r in SCORING if t.markers(r)}
    for region in sorted(worth, key=worth.__getitem__, reverse=True):
        yield {"type": "place_unit", "unit": "army", "region": region}
    yield {"type": "place_unit", "unit": "army", "region": "german_states"}


def _auction_bid(t: BotView, context: Json) -> Iterator[Doc]:
    """Pay nothing: open with 0, on the side against the leader, else pass."""
    yield {"type": "pass_bid"}
    free: list[Seat] = t.board["auction"]["unaligned"]
    others = sorted((s for s in free if s != t.seat), key=lambda s: -t.empires[s]["vp"])
    pair = ([t.seat] if t.seat in free else []) + others
    a, b = pair[0], pair[1] if len(pair) > 1 else None
    yield {"type": "bid", "amount": 0, "a": a, "b": b}


# --- the turn ------------------------------------------------------------------------------------------------


def _turn(t: BotView, context: Json) -> Iterator[Doc]:
    valued = [*_free_actions(t), *_attacks(t), *_settling(t), *_builds(t), *_movements(t), *_purchases(t)]
    valued = [v for v in valued if v[0] > 0]
    yield from (move for _, move in sorted(valued, key=lambda v: -v[0]))
    yield {"type": "pass"}


def _free_actions(t: BotView) -> Iterator[Valued]:
    """Yield free actions first: they are worth more than any action, as they cost none."""
    for tile in t.fresh:
        for worth, fields in _use(t, tile):
            yield 20.0 + worth, {"type": "use_tile", "tile": tile, **fields}


def _use(t: BotView, tile: str) -> Iterator[tuple[float, Doc]]:
    """Yield worth and fields of the uses of a tile."""
    if TILES[tile].group == "trade":
        yield from _trade(t, tile)
    elif tile == "improved_agriculture":
        yield 40.0, {}
    elif tile in ("mercenaries", "pressgangs"):
        yield from ((20.0 + worth, {"to": region}) for worth, region in _stations(t))
    elif tile == "diplomatic_service":
        yield from ((10.0 + worth, {"alliance_tile": name}) for worth, name in _alliances(t))
    elif tile == "war_office":
        for worth, attack in _attacks(t):
            yield worth, {"attack": {k: v for k, v in attack.items() if k != "type"}}


def _trade(t: BotView, tile: str) -> Iterator[tuple[float, Doc]]:
    """Trade for gold, late in the War or with many tokens."""
    last = t.board["round"] >= ROUNDS[t.board["players"]]
    region = max(TILES[tile].regions, key=lambda r: t.me["tokens"].get(r, 0))
    if last or t.me["tokens"].get(region, 0) >= 3:
        yield 30.0, {"region": region}


def _stations(t: BotView) -> Iterator[tuple[float, str]]:
    yield from ((t.army_worth(region), region) for region in SCORING if t.army_worth(region) > 0.3)


def _alliances(t: BotView) -> Iterator[tuple[float, str]]:
    yield from ((worth, name) for name, worth in t.alliances.items())


def _attacks(t: BotView) -> Iterator[Valued]:
    for region in t.me["units"]:
        if region in SCORING and t.units(t.seat, region, "army"):
            for target, margin, worth in t.targets(region):
                yield t.attack_worth(margin, worth), {"type": "attack", "region": region, "target": target}


def _settling(t: BotView) -> Iterator[Valued]:
    for region in COLONIES:
        for marker in t.markers(region):
            kind = {"pop": "colonize", "slaves": "enslave"}.get(MARKERS[marker].kind)
            if kind:
                yield t.token_worth(region) - 0.3, {"type": kind, "marker": marker}


def _builds(t: BotView) -> Iterator[Valued]:
    """Build an army to help an attack, or a navy to open a colony with something to win."""
    upkeep = 0.3 + 0.1 * sum(sum(units.values()) for units in t.me["units"].values())
    for region in SCORING:
        worth = t.army_worth(region)
        if worth > 0.2:
            yield worth - upkeep * 0.5, {"type": "build", "unit": "army", "to": region}
            yield worth + 20, {"type": "build_militia", "to": region}
        if REGIONS[region].accepts_navies and not t.units(t.seat, region, "navy"):
            yield _opening(t, region) - upkeep * 0.5, {"type": "build", "unit": "navy", "to": region}


def _opening(t: BotView, region: str) -> float:
    """Return the worth of a first navy in a region: the way in for armies, and support."""
    if region == "africa" and any(MARKERS[m].kind == "slaves" for r in COLONIES for m in t.markers(r)):
        return 1.5
    return 0.35 * max(t.best_attack(region, 3) - t.best_attack(region), 0.0)


def _movements(t: BotView) -> Iterator[Valued]:
    """Move useless armies to useful places; two of them in one action."""
    for start in t.me["units"]:
        if not t.units(t.seat, start, "army"):
            continue
        idle = t.best_attack(start) - t.best_attack(start, -1) if start in SCORING else 0.0
        for goal in SCORING:
            gain = t.best_attack(goal, 2) - t.best_attack(goal)
            if goal != start and gain - idle > 0.5:
                going_on = 10.0 if t.board["turn"]["moves_left"] else 0.0
                move = {"type": "move_unit", "unit": "army", "from": start, "to": goal}
                yield gain - idle - 0.4 + going_on, move


_LIKED = {
    "army_training": 1.4,
    "improved_agriculture": 0.9,
    "mercenaries": 1.0,
    "reserve": 0.5,
    "banking": 0.6,
    "militia": 0.7,
    "war_office": 1.0,
    "diplomatic_service": 0.5,
}
"""Worth of a tile for each scoring still to come."""


def _purchases(t: BotView) -> Iterator[Valued]:
    for tile in TILES.values():
        worth = _tile_worth(t, tile.id) - t.gold_worth(tile.gold) - 0.3 * tile.population
        yield worth, {"type": "buy_tile", "tile": tile.id}


def _tile_worth(t: BotView, tile: str) -> float:
    if tile == "government_reform":
        return 0.3 * t.unrest if t.unrest >= 3 else 0.0
    if tile == "industry":
        points: float = CONSTANTS["industry_vp"]
        return points - (0.9 if t.unrest < CAREFUL else 4.0)
    if TILES[tile].group == "trade":
        tokens: int = max(t.me["tokens"].get(r, 0) for r in TILES[tile].regions)
        return 0.25 * tokens * t.wars
    if _is_alliance(tile):
        return t.alliances[tile]
    return _LIKED.get(tile, 0.0) * t.wars / (1 + 2 * t.owned[tile])


# --- answers in combat ---------------------------------------------------------------------------------------


def _support(t: BotView, context: Json) -> Iterator[Doc]:
    """Help for gold, with the requested units."""
    offer = context.get("offer")
    if offer and offer["gold"]:
        armies, navies = offer["min_armies"], offer["min_navies"]
        if not armies + navies:
            armies, navies = min(1, context["armies"]), 0 if context["armies"] else 1
        yield {"type": "support", "armies": armies, "navies": navies}
    yield {"type": "support", "armies": 0, "navies": 0}


def _request_support(t: BotView, context: Json) -> Iterator[Doc]:
    yield {"type": "request_support", "ask": context["eligible"]}


def _naval_choice(t: BotView, context: Json) -> Iterator[Doc]:
    mine = context["navies"][context["side"]]
    yield {"type": "naval_choice", "fight": 2 * mine >= sum(context["navies"].values())}


def _reserve(t: BotView, context: Json) -> Iterator[Doc]:
    """Roll again unless this side is winning."""
    attack, defence = context["totals"]
    wins = attack > defence if context["side"] == "attacker" else attack <= defence
    yield {"type": "reserve", "use": not wins}


def _choose_loss(t: BotView, context: Json) -> Iterator[Doc]:
    """Choose an army before a fort; an ally's unit in the given order."""
    first = [options[0] for options in context["items"]]
    yield {"type": "choose_loss", "choices": first}
    yield {"type": "choose_loss", "choices": [*first[:1], *(options[-1] for options in context["items"][1:])]}


def _fighting_withdrawal(t: BotView, context: Json) -> Iterator[Doc]:
    yield {"type": "fighting_withdrawal", "use": True, "save": t.seat}
    yield {"type": "fighting_withdrawal", "use": False}


ANSWERS: dict[str, Callable[[BotView, Json], Iterator[Doc]]] = {
    "choose_power": _choose_power,
    "place_units": _place_units,
    "auction_bid": _auction_bid,
    "turn": _turn,
    "support": _support,
    "request_support": _request_support,
    "naval_choice": _naval_choice,
    "assign_alliance_tiles": lambda t, context: iter([{"type": "assign_alliance_tiles", "naval": []}]),
    "use_blockade": lambda t, context: iter([{"type": "use_blockade", "use": True}]),
    "reserve": _reserve,
    "choose_loss": _choose_loss,
    "fighting_withdrawal": _fighting_withdrawal,
}
