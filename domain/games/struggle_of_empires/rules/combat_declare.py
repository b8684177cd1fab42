"""SOE-8.1, SOE-8.2: declaring an attack."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS
from domain.games.struggle_of_empires.rules import actions, money
from domain.games.struggle_of_empires.rules.checks import need, need_action, need_scoring_region
from domain.games.struggle_of_empires.rules.combat_steps import LAND_ATTACK, NAVAL_ATTACK, Step, begin
from domain.games.struggle_of_empires.rules.combat_support import (
    asked_allies,
    check_ask,
    check_offers,
    eligible_allies,
)
from domain.games.struggle_of_empires.state import D, Struggle
from domain.ids import Json, Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Frame

COST: int = CONSTANTS["attack_cost_gold"]
_RULE = "SOE-8.1.2"


def check_attack(s: Struggle, seat: Seat, move: Move) -> None:
    """SOE-8.1.2: the errors of `attack`, in this order."""
    need_action(s, _RULE)
    check_free_attack(s, seat, move)


def check_free_attack(s: Struggle, seat: Seat, move: Move) -> None:
    """SOE-8.1.2, SOE-9.5.4: the same for an attack that uses no action."""
    region, target = move["region"], move["target"]
    check_target(s, seat, region, target)
    _check_surprise(s, seat, move)
    eligible = eligible_allies(s, seat, region, target["kind"])
    check_ask(move, eligible, _RULE)
    check_offers(move, money.after_paying(s.empires[seat], COST), _RULE)


def check_target(s: Struggle, seat: Seat, region: str, target: dict[str, Json]) -> None:
    """SOE-8.1.2, points 2 to 6: the region, the target in it, and an own unit that can attack it."""
    need_scoring_region(region, _RULE)
    need(_is_target(s, region, target), "invalid_target", _RULE, region=region)
    if target["kind"] == "player":
        _check_player(s, seat, region, target["seat"])
    if target["kind"] == "neutral":
        _check_neutral(s, region, target["marker"])
    unit = "navy" if target["kind"] == "pirates" else "army"
    need(s.empires[seat].units_in(region, unit) > 0, f"no_{unit}_in_region", _RULE, region=region)


def _is_target(s: Struggle, region: str, target: dict[str, Json]) -> bool:
    """SOE-8.1.2, point 3."""
    if target["kind"] == "player":
        return target.get("seat") in s.everybody
    if target["kind"] == "neutral":
        return "marker" in target
    captive = s.captive(target["kind"])
    return captive is not None and captive.region == region


def _check_player(s: Struggle, seat: Seat, region: str, target: Seat) -> None:
    """SOE-8.1.2, point 4."""
    need(target != seat, "cannot_attack_self", _RULE)
    need(not s.allied(seat, target), "cannot_attack_ally", _RULE, seat=target)
    there = region in s.empires[target].tokens or region in s.empires[target].units
    need(there, "target_absent", _RULE, seat=target, region=region)


def _check_neutral(s: Struggle, region: str, marker: str) -> None:
    """SOE-8.1.2, point 5."""
    need(marker in s.markers.get(region, ()), "unknown_marker", _RULE, marker=marker)
    need(MARKERS[marker].kind == "state", "marker_not_attackable", _RULE, marker=marker)


def _check_surprise(s: Struggle, seat: Seat, move: Move) -> None:
    """SOE-8.1.2, point 7."""
    if move.get("surprise"):
        need(s.empires[seat].owned("surprise_attack") > 0, "tile_not_owned", _RULE, tile="surprise_attack")
        need(move["target"]["kind"] == "player", "tile_not_applicable", _RULE, tile="surprise_attack")


def do_attack(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """SOE-8.1.1: an attack as an action."""
    check_attack(d.state, seat, move)
    actions.take_action(d, "attack")
    declare(d, seat, move)


def declare(d: D, seat: Seat, move: Move) -> None:
    """SOE-8.1.3: pay before any dice; there is no way back."""
    fact = {"t": "attack_declared", "seat": seat, "region": move["region"], **_named(move["target"])}
    d.add(fact | {k: move[k] for k in ("surprise", "offers") if move.get(k)})
    money.pay(d, seat, COST, "attack")
    if move.get("surprise"):
        d.add({"t": "tile_returned", "seat": seat, "tile": "surprise_attack", "banned": True})
    asked = asked_allies(d.state, seat, move)
    begin(d, *[["support", "attacker", ally] for ally in asked], *_stages(d, move))


def _named(target: dict[str, Json]) -> dict[str, Json]:
    """The target as facts name it: its kind, and the seat, marker or tile."""
    kind = target["kind"]
    if kind == "player":
        return {"kind": kind, "target": target["seat"]}
    return {"kind": kind, **({"marker": target["marker"]} if kind == "neutral" else {"tile": kind})}


def _stages(d: D, move: Move) -> list[Step]:
    """SOE-8.3.4, SOE-8.4, SOE-8.6, SOE-8.12: what follows the support of the attacker."""
    kind = move["target"]["kind"]
    if kind == "player":
        return [["request"], *LAND_ATTACK]
    return NAVAL_ATTACK if kind == "pirates" else LAND_ATTACK
