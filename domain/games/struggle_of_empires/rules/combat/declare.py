"""SOE-8.1, SOE-8.2: declaring an attack."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import CONSTANTS, MARKERS
from domain.games.struggle_of_empires.facts.combat import AttackDeclared
from domain.games.struggle_of_empires.facts.tiles import TileReturned
from domain.games.struggle_of_empires.moves import Attack
from domain.games.struggle_of_empires.rules import actions, money
from domain.games.struggle_of_empires.rules.checks import need_action, need_scoring_region, require
from domain.games.struggle_of_empires.rules.combat.steps import LAND_ATTACK, NAVAL_ATTACK, Step, begin
from domain.games.struggle_of_empires.rules.combat.support import (
    asked_allies,
    check_ask,
    check_offers,
    eligible_allies,
)
from domain.games.struggle_of_empires.state import D, Struggle
from domain.games.struggle_of_empires.value_objects import Declaration, Target
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

COST: int = CONSTANTS["attack_cost_gold"]
_RULE = "SOE-8.1.2"


def check_attack(s: Struggle, seat: Seat, move: Attack) -> None:
    """SOE-8.1.2: the errors of `attack`, in this order."""
    need_action(s, _RULE)
    check_free_attack(s, seat, move)


def check_free_attack(s: Struggle, seat: Seat, attack: Declaration) -> None:
    """SOE-8.1.2, SOE-9.5.4: the errors of an attack without an action."""
    check_target(s, seat, attack.region, attack.target)
    _check_surprise(s, seat, attack)
    eligible = eligible_allies(s, seat, attack.region, attack.target.kind)
    offers = attack.offers or ()
    check_ask(eligible if attack.ask is UNSET else attack.ask, offers, eligible, _RULE)
    check_offers(offers, money.after_paying(s.empires[seat], COST), _RULE)


def check_target(s: Struggle, seat: Seat, region: str, target: Target) -> None:
    """SOE-8.1.2, points 2 to 6: the region, the target in it, and an own unit able to attack it."""
    need_scoring_region(region, _RULE)
    require(_is_target(s, region, target), "invalid_target", _RULE, region=region)
    if target.seat is not UNSET:
        _check_player(s, seat, region, target.seat)
    if target.marker is not UNSET:
        _check_neutral(s, region, target.marker)
    unit = "navy" if target.kind == "pirates" else "army"
    require(s.empires[seat].units_in(region, unit) > 0, f"no_{unit}_in_region", _RULE, region=region)


def _is_target(s: Struggle, region: str, target: Target) -> bool:
    """SOE-8.1.2, point 3."""
    if target.kind == "player":
        return target.seat in s.everybody
    if target.kind == "neutral":
        return target.marker is not UNSET
    captive = s.captive(target.kind)
    return captive is not None and captive.region == region


def _check_player(s: Struggle, seat: Seat, region: str, target: Seat) -> None:
    """SOE-8.1.2, point 4."""
    require(target != seat, "cannot_attack_self", _RULE)
    require(not s.allied(seat, target), "cannot_attack_ally", _RULE, seat=target)
    there = region in s.empires[target].tokens or region in s.empires[target].units
    require(there, "target_absent", _RULE, seat=target, region=region)


def _check_neutral(s: Struggle, region: str, marker: str) -> None:
    """SOE-8.1.2, point 5."""
    require(marker in s.markers.get(region, ()), "unknown_marker", _RULE, marker=marker)
    require(MARKERS[marker].kind == "state", "marker_not_attackable", _RULE, marker=marker)


def _check_surprise(s: Struggle, seat: Seat, attack: Declaration) -> None:
    """SOE-8.1.2, point 7."""
    if attack.surprise:
        require(s.empires[seat].owned("surprise_attack") > 0, "tile_not_owned", _RULE, tile="surprise_attack")
        require(attack.target.kind == "player", "tile_not_applicable", _RULE, cause="surprise", tile="surprise_attack")


def do_attack(d: D, frame: Frame, seat: Seat, move: Attack) -> None:
    """SOE-8.1.1: an attack as an action."""
    check_attack(d.state, seat, move)
    actions.take_action(d, "attack")
    declare(d, seat, move)


def declare(d: D, seat: Seat, attack: Declaration) -> None:
    """SOE-8.1.3: pay before any dice; there is no way back."""
    target = attack.target
    tile = UNSET if target.kind in ("player", "neutral") else target.kind
    surprise, offers = attack.surprise or UNSET, attack.offers or UNSET
    d.add(AttackDeclared(seat, attack.region, target.kind, target.seat, target.marker, tile, surprise, offers))
    money.pay(d, seat, COST, "attack")
    if attack.surprise:
        d.add(TileReturned(seat, "surprise_attack", banned=True))
    asked = asked_allies(d.state, seat, attack.ask)
    begin(d, *[["support", "attacker", ally] for ally in asked], *_stages(target.kind))


def _stages(kind: str) -> list[Step]:
    """SOE-8.3.4, SOE-8.4, SOE-8.6, SOE-8.12: the stages after the support of the attacker."""
    if kind == "player":
        return [["request"], *LAND_ATTACK]
    return NAVAL_ATTACK if kind == "pirates" else LAND_ATTACK
