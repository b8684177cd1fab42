"""AOR-8.2, AOR-8.3: attacks on tokens and numbered markers, and the card of the attacker."""

from __future__ import annotations

from domain.games.age_of_reason.data import CARDS, MARKERS, POWERS, REGIONS
from domain.games.age_of_reason.facts.battle import AttackDeclared, CardSealed
from domain.games.age_of_reason.moves import Attack
from domain.games.age_of_reason.rules.battle import steps
from domain.games.age_of_reason.rules.battle.allies import asked_for_cards
from domain.games.age_of_reason.rules.checks import (
    check_hand,
    check_ship,
    need_attack,
    need_funds,
    need_principals_card,
    require,
)
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.games.age_of_reason.value_objects import Target
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, or_none
from domain.types import Seat


def check_region(region: str) -> None:
    """AOR-8.2.4: a region of the map, but not a home country."""
    require(region in REGIONS, "unknown_region", "AOR-8.2.4", region=region)
    require(REGIONS[region].kind != "home", "invalid_region", "AOR-8.2.4", cause="home", region=region)


def check_target(s: AgeOfReason, seat: Seat, region: str, target: Target) -> None:
    """AOR-8.2.4: the errors of the target, in this order."""
    power, marker = or_none(target.power), or_none(target.marker)
    if target.kind == "power" and power is not None:
        _check_power(s, seat, region, power)
    elif target.kind == "marker" and marker is not None:
        _check_marker(s, region, marker)
    else:
        require(False, "invalid_target", "AOR-8.2.4", kind=target.kind)


def _check_power(s: AgeOfReason, seat: Seat, region: str, power: str) -> None:
    """AOR-8.2.2: a power of the other coalition with a token in the region."""
    require(power in POWERS, "unknown_power", "AOR-8.2.4", power=power)
    own = s.power(seat)
    require(power != own, "cannot_attack_self", "AOR-8.2.4")
    enemy = s.coalition_of(power) != s.coalition_of(own)
    require(enemy, "cannot_attack_ally", "AOR-8.2.4", power=power)
    require(region in s.tokens.get(power, {}), "target_absent", "AOR-8.2.4", power=power, region=region)


def _check_marker(s: AgeOfReason, region: str, marker: str) -> None:
    """AOR-8.2.2: a numbered marker lying in the region."""
    require(marker in s.markers.get(region, ()), "unknown_marker", "AOR-8.2.4", marker=marker, region=region)
    require(MARKERS[marker].kind == "number", "marker_not_attackable", "AOR-8.2.4", marker=marker)


def has_access(s: AgeOfReason, seat: Seat, region: str) -> bool:
    """AOR-8.2.3: a token there in a colony; at sea always; else a token there or next to it, or the own home."""
    there, own = REGIONS[region], s.tokens_of(seat)
    if there.kind == "colony":
        return region in own
    if there.naval:
        return True
    return region in own or s.empires[seat].home in there.adjacent or any(r in there.adjacent for r in own)


def check_access(s: AgeOfReason, seat: Seat, region: str) -> None:
    """AOR-8.2.3: the region is within reach."""
    require(has_access(s, seat, region), "region_not_accessible", "AOR-8.2.3", region=region)


def check_card(s: AgeOfReason, seat: Seat, region: str, card: str) -> None:
    """AOR-8.3.1, AOR-8.3.2: a ship card in a naval region, elsewhere any force card or the Bluff; then the cost."""
    if REGIONS[region].naval:
        check_ship(s, seat, card)
    else:
        check_hand(s, seat, card)
        need_principals_card(card)
    need_funds(s, seat, CARDS[card].cost)


def check_attack(s: AgeOfReason, seat: Seat, move: Attack) -> None:
    """AOR-8.2.4: the errors of `attack`, in this order."""
    need_attack(s)
    check_region(move.region)
    check_target(s, seat, move.region, move.target)
    check_access(s, seat, move.region)
    check_card(s, seat, move.region, move.card)


def do_attack(d: D, frame: Frame, seat: Seat, move: Attack) -> None:
    """AOR-8.2.5, AOR-9.1.1: the attack binds; its card is sealed, and nothing is paid yet."""
    check_attack(d.state, seat, move)
    d.add(_declared(d.state, seat, move))
    d.add(CardSealed(seat, move.card), (seat,), seal="card")
    d.barrier()
    d.mark_answered(seat, end=True)
    steps.begin(d)


def _declared(s: AgeOfReason, seat: Seat, move: Attack) -> AttackDeclared:
    """AOR-8.2.1, AOR-9.2.1: the public declaration, with the seats asked for a card."""
    power, made = move.target.power, s.acting.attacks_made + 1
    defender = s.seat_of(or_none(power))
    asked = asked_for_cards(s, seat, move.region, or_none(power)) or UNSET
    seen = UNSET if defender is None else defender
    return AttackDeclared(seat, move.region, made, power, seen, move.target.marker, asked)
