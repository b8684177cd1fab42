"""Heuristic player. It works on documents: the public board, its own view, and the open decision.

Everything is weighed in victory points: the gain of a token in a region over the rest of the game, the worth of gold
and unrest, and the odds of an attack. Cards of others are estimated by their average.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from domain.games.age_of_reason.bot_view import GOLD, UNREST, BotView
from domain.games.age_of_reason.data import (
    ALLIANCE,
    BLUFF,
    CARDS,
    CONSTANTS,
    MARKERS,
    POWERS,
    REGIONS,
    SCORING,
    SPACES,
    Card,
)
from domain.kernel.rules.ruleset import Dice
from domain.types import Doc, Json, Seat

GUESS = 2.4
"""Assumed strength of an unseen card."""
PREFERRED = ("prussia", "britain", "united_provinces", "france", "spain", "russia", "austria")


def propose(player_view: dict[str, Json], decision: dict[str, Json], seat: Seat, dice: Dice) -> Iterator[Doc]:
    """Yield moves, best first; the last one is always legal."""
    if seat not in decision["must"]:
        return
    view = BotView(player_view, seat)
    yield from PROPOSALS[decision["kind"]](view, dice)


# --- chances ---------------------------------------------------------------------------------------------------

_DIFFERENCES = [abs(a - b) for a, b in product(range(6), repeat=2)]


@functools.cache
def chances(lead: int) -> tuple[float, float]:
    """Return the chances of an attacker with this lead before the dice: (win, tie)."""
    totals = [lead + x - y for x, y in product(_DIFFERENCES, repeat=2)]
    return sum(t > 0 for t in totals) / len(totals), totals.count(0) / len(totals)


def outlook(lead: float) -> tuple[float, float]:
    """Return `chances` for an estimated lead."""
    low = int(lead // 1)
    part = lead - low
    pairs = zip(chances(low), chances(low + 1), strict=True)
    win, tie = (a + part * (b - a) for a, b in pairs)
    return win, tie


# --- set-up and auctions ---------------------------------------------------------------------------------------


def _choose_power(view: BotView, dice: Dice) -> Iterator[Doc]:
    yield from ({"type": "choose_power", "power": power} for power in PREFERRED)


def _bid(view: BotView, dice: Dice) -> Iterator[Doc]:
    """Open with nothing for the own power against the strongest rival; raise by a little if the power was left out."""
    auction = view.board["auction"]
    standing, free = auction["standing"], auction["unaligned"]
    a, b = _proposal(view, free)
    if standing is None:
        yield {"type": "bid", "amount": 0, "a": a, "b": b}
    elif _worth_raising(view, standing, free) and dice.random() < 0.6:
        yield {"type": "bid", "amount": standing["amount"] + 1, "a": a, "b": b}
    yield {"type": "pass_bid"}


def _worth_raising(view: BotView, standing: Mapping[str, Any], free: list[str]) -> bool:
    if standing["seat"] == view.seat or view.power not in free or standing["amount"] >= min(3, view.me["gold"] // 3):
        return False
    return view.power not in (standing["a"], standing["b"])


def _proposal(view: BotView, free: list[str]) -> tuple[str | None, str | None]:
    if len(free) == 1:
        return free[0], None
    rivals = sorted((p for p in free if p != view.power), key=lambda p: -_rivalry(view, p))
    return (view.power, rivals[0]) if view.power in free else (rivals[0], rivals[1])


def _rivalry(view: BotView, power: str) -> float:
    """Return the total gain from the power's tokens within reach."""
    there = view.tokens.get(power, {})
    return sum(view.gain(region, power) for region in there if view.reaches(region))


# --- the turn --------------------------------------------------------------------------------------------------


def _turn(view: BotView, dice: Dice) -> Iterator[Doc]:
    """Place the best token on the board first, then make the best attack; end the turn if nothing pays."""
    turn = view.board["turn"]
    if not turn["placed"] and not turn["attacks_made"]:
        yield from _placements(view)
    found = sorted([*_conversions(view), *_attacks(view)], key=lambda item: -item[0])
    yield from (move for value, move in found if value > 0)
    yield {"type": "pass"}


def _placements(view: BotView) -> Iterator[Doc]:
    if view.me["reserve"] < 1:
        return
    worth = [(_space(view, name), name) for name in view.board["action_board"]]
    for _, name in sorted((item for item in worth if item[0] > 0.4), reverse=True):
        yield _place(view, name)


def _place(view: BotView, name: str) -> Doc:
    move: Doc = {"type": "place", "space": name}
    if name in ("militia", "pressgangs"):
        move["card"] = _taken_back(view, name)
    if SPACES[name].names_region:
        move["region"] = max(SPACES[name].regions, key=lambda r: view.me["tokens"].get(r, 0))
    return move


def _taken_back(view: BotView, name: str) -> str | None:
    cards = [CARDS[c] for c in view.own["discard"]]
    fits = [c for c in cards if (c.ships > 0 if name == "pressgangs" else c.soldiers_alone)]
    return max(fits, key=lambda c: c.soldiers + c.ships - c.cost / 4).id if fits else None


def _space(view: BotView, name: str) -> float:
    """Return the present worth of a token on a space."""
    space, left = SPACES[name], view.rounds_left
    if space.effect == "trade":
        return GOLD * 2 * float(max(view.me["tokens"].get(r, 0) for r in space.regions))
    if space.effect == "combat_bonus":
        return _battle_worth(view, space.regions) * space.bonus * left - GOLD * space.cost
    if name == "militia":
        return 0.6 if _taken_back(view, name) else 0.0
    return {
        "finance": GOLD * 5,
        "ministry_of_war": 1.1 * (left - 1) if view.me["gold"] >= 4 else 0.0,
        "government_reform": UNREST * 2 + 0.3 if view.me["unrest"] >= 2 else 0.0,
        "reserves": 0.7,
        "pressgangs": 0.7 if len(view.ships) < 2 and _taken_back(view, name) else 0.0,
    }[name]


def _battle_worth(view: BotView, regions: tuple[str, ...]) -> float:
    """Return the weight of battles in some regions: own tokens, and gains possible there."""
    stakes = (view.me["tokens"].get(r, 0) + (2 if view.reaches(r) else 0) for r in regions)
    return min(0.35, 0.04 * float(sum(stakes)))


def _conversions(view: BotView) -> Iterator[tuple[float, Doc]]:
    if not view.affordable(2) or view.me["reserve"] < 1:
        return
    force = [c for c in map(CARDS.__getitem__, view.own["hand"]) if c.ships]
    cards = sorted(force, key=lambda c: c.soldiers + c.ships) or [CARDS[BLUFF[view.power]]]
    for marker in (m for markers in view.board["markers"].values() for m in markers):
        if MARKERS[marker].kind == "aktion":
            value = view.gain(MARKERS[marker].region, None) - view.price(2) - 0.1 * cards[0].ships
            yield value, {"type": "convert", "marker": marker, "card": cards[0].id}


def _attacks(view: BotView) -> Iterator[tuple[float, Doc]]:
    for region in SCORING:
        if view.reaches(region):
            for target, stake, defence in _targets(view, region):
                yield from _with_cards(view, region, target, stake, defence)


def _targets(view: BotView, region: str) -> Iterator[tuple[Doc, float, float]]:
    """Return the targets in a region, each with its worth and its average strength."""
    for marker in view.board["markers"].get(region, ()):
        found = MARKERS[marker]
        if found.kind == "number":
            stake = view.gain(region, None) + GOLD * found.gold + found.vp
            yield {"kind": "marker", "marker": marker}, stake, float(found.defence)
    for power in POWERS:
        if power not in view.allies and region in view.tokens.get(power, {}):
            yield {"kind": "power", "power": power}, view.gain(region, power), _defence(view, region, power)


def _defence(view: BotView, region: str, power: str) -> float:
    helpers = [p for p in view.seats if p not in view.allies and p != power and region in view.tokens[p]]
    if power not in view.seats:
        return float(CONSTANTS["nonplayer_token_defence"] + 0.2 * len(helpers))
    seat = view.seats[power]
    guess = GUESS if view.board["empires"][seat]["hand_size"] > 4 else GUESS / 2
    return float(guess + view.bonus(seat, region) + 0.3 * len(helpers))


def _with_cards(view: BotView, region: str, target: Doc, stake: float, defence: float) -> Iterator[tuple[float, Doc]]:
    naval = REGIONS[region].naval
    base = view.bonus(view.seat, region) + min(len(view.hirable(region)), max(0, view.me["gold"] - 2))
    for card in view.ships if naval else view.hand:
        if card.kind != "alliance":
            lead = base + card.soldiers + (card.ships if naval else 0) - defence
            win, tie = outlook(lead)
            risk = UNREST * (2.5 * (1 - win - tie) + 2 * tie + 0.4 * win)
            thrift = 0.08 * (card.soldiers + card.ships)
            value = win * stake - risk - view.price(card.cost) - thrift
            yield value, {"type": "attack", "region": region, "target": target, "card": card.id}


# --- answers in a battle ---------------------------------------------------------------------------------------


def _commit(view: BotView, dice: Dice) -> Iterator[Doc]:
    battle = view.board["battle"]
    if battle["defender"] == view.seat:
        yield {"type": "commit", "card": _shield(view, battle["region"], battle["attacker"])}
    elif _cares(view, battle) and view.me["gold"] >= 3:
        yield {"type": "commit", "card": ALLIANCE[view.power]}
    yield {"type": "commit", "card": BLUFF[view.power]}


def _shield(view: BotView, region: str, attacker: Seat) -> str:
    """Return the card with the best effect for its price."""
    naval = REGIONS[region].naval
    threat = GUESS + 0.6 + view.bonus(attacker, region) - view.bonus(view.seat, region)
    stake = view.gain(region, None) + 1

    def value(card: Card) -> float:
        win, _ = outlook(threat - card.soldiers - (card.ships if naval else 0))
        return -win * (stake + UNREST) - view.price(card.cost) - 0.08 * (card.soldiers + card.ships)

    return max((c for c in view.hand if c.kind != "alliance"), key=value).id


def _cares(view: BotView, battle: Mapping[str, Any]) -> bool:
    """Return whether the outcome moves the own points: the other side would gain or lose in a region of the seat."""
    rival = battle["target"]["power"]
    attacker = view.board["empires"][battle["attacker"]]["power"]
    if rival is None or attacker == view.power:
        return False
    before = view.points(battle["region"], {}).get(view.power, 0)
    after = view.points(battle["region"], {attacker: 1, rival: -1}).get(view.power, 0)
    return after > before if attacker in view.allies else after < before


def _hire(view: BotView, dice: Dice) -> Iterator[Doc]:
    """Hire as many powers as the gold left after the own card allows."""
    battle = view.board["battle"]
    card = (view.own["sealed"] or {}).get("card")
    left = view.me["gold"] - (CARDS[card].cost if card else 0)
    wanted = 2 if view.gain(battle["region"], None) > 2 else 1
    yield {"type": "hire", "powers": view.hirable(battle["region"])[: max(0, min(left, wanted))]}
    yield {"type": "hire", "powers": []}


def _reserves(view: BotView, dice: Dice) -> Iterator[Doc]:
    """Roll a lost battle again, or one won by no more than a tie."""
    battle = view.board["battle"]
    lead = battle["strength"]["attacker"] - battle["strength"]["defender"]
    losing = lead <= 0 if battle["attacker"] == view.seat else lead > 0
    yield {"type": "reserves", "use": losing}


PROPOSALS: dict[str, Callable[[BotView, Dice], Iterator[Doc]]] = {
    "choose_power": _choose_power,
    "auction_bid": _bid,
    "turn": _turn,
    "commit": _commit,
    "hire": _hire,
    "reserves": _reserves,
}
