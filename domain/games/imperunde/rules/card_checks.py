"""IMP-9.4: the conditions of each card, in the order of its rule."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.common.checks import require
from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import CARDS, COUNTRIES, UNITS, ZONES, is_army, is_warship
from domain.games.imperunde.moves import PlayCard, Purchase
from domain.games.imperunde.rules.checks import (
    need_country,
    need_known,
    need_no_home,
    need_other_seat,
    need_room_at_sea,
    need_some,
    need_supply,
    need_zone,
)
from domain.games.imperunde.rules.investment import need_port
from domain.games.imperunde.rules.movement import need_units, take
from domain.games.imperunde.rules.sides import SIDES, party, seat_of
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.schema.declarations import UNSET, unwrap
from domain.types import Seat

# --- relations -----------------------------------------------------------------------------------------------


def armistice(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.1: in a combat window only attacker and defender, against each other."""
    rule, target = "IMP-9.4.1", unwrap(move.target_seat)
    need_other_seat(s, seat, target, rule)
    require(s.at_war(seat, target), "not_at_war", rule, seat=target)
    if s.top.kind == "combat_window":
        c = s.fight
        against = target if c.attacker == seat else seat
        fits = c.attacker in (seat, target) and against in (c.defender, *c.enemies)
        require(fits, "card_not_playable_now", rule, cause="armistice", card="armistice", seat=target)


def declaration_of_war(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.6: on a friend."""
    rule, target = "IMP-9.4.6", unwrap(move.target_seat)
    need_other_seat(s, seat, target, rule)
    require(not s.at_war(seat, target), "already_at_war", rule, seat=target)


def peace_treaty(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.13: between any two enemies."""
    a, b = unwrap(move.seats)
    require(
        a != b and a in s.everybody and b in s.everybody, "invalid_target", "IMP-9.4.13", cause="pair", seats=[a, b]
    )
    require(s.at_war(a, b), "already_at_peace", "IMP-9.4.13", seats=[a, b])


# --- combat --------------------------------------------------------------------------------------------------


def treason(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.2: in another seat's colony with a fort."""
    require(s.fight.defender != seat, "invalid_target", "IMP-9.4.2", cause="own_colony")
    require(s.country(s.fight.region).forts > 0, "no_fort", "IMP-9.4.2")


def coup_de_main(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.5: for a side with cavalry."""
    rule, c = "IMP-9.4.5", s.fight
    require(seat in [seat_of(s, side) for side in SIDES], "not_in_combat", rule)
    attack = [*c.units, *(x.lot for x in c.staged)]
    own = attack if seat == c.attacker else s.country(c.region).units
    require(unit_stacks.total(own, "cavalry") > 0, "no_cavalry", rule)
    require(seat not in c.coup, "already_in_effect", rule)


def ambush(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.7: for the defender."""
    require(party(s, "defender") == seat, "not_the_defender", "IMP-9.4.7")
    require(not s.fight.ambush, "already_in_effect", "IMP-9.4.7")


def surprise_attack(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.8: for the attacker."""
    require(party(s, "attacker") == seat, "not_the_attacker", "IMP-9.4.8")
    require(not s.fight.surprise, "already_in_effect", "IMP-9.4.8")


def capture(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.18: a frigate of a seat defending the zone."""
    rule = "IMP-9.4.18"
    require(s.fight.attacker == seat, "not_the_attacker", rule)
    fleet = s.zone(s.fight.region).fleet(capture_victim(s, move))
    require(unit_stacks.total(fleet, "frigate") > 0, "no_frigate", rule)


def defending_seats(s: ImpeRunde) -> list[Seat]:
    """IMP-9.4.18: seats under the attack on a zone."""
    return [x for x in (s.fight.defender, *s.fight.enemies) if isinstance(x, int)]


def capture_victim(s: ImpeRunde, move: PlayCard) -> Seat:
    """IMP-9.4.18: the named seat, or the only one."""
    named = [x for x in defending_seats(s) if move.target_seat in (UNSET, x)]
    require(len(named) == 1, "invalid_target", "IMP-9.4.18", cause="defenders", seats=defending_seats(s))
    return named[0]


# --- the sea -------------------------------------------------------------------------------------------------


def filibuster(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.3: a zone with pirates and without friends."""
    rule, zone = "IMP-9.4.3", unwrap(move.zone)
    need_zone(zone, rule)
    require(bool(s.zone(zone).pirates), "no_pirates", rule, zone=zone)
    need_room_at_sea(s, seat, zone, rule)


def pirates(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.4: anywhere, while there are black frigates."""
    need_zone(unwrap(move.zone), "IMP-9.4.4")
    need_supply(s, "pirates", "frigate", 1, "IMP-9.4.4")


def forged_naval_orders(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.9: into an empty zone without marker, out of a zone without calm."""
    rule, target = "IMP-9.4.9", unwrap(move.target_seat)
    a, b = unwrap(move.from_), unwrap(move.to)
    need_other_seat(s, seat, target, rule)
    need_zone(a, rule)
    need_zone(b, rule)
    require(bool(s.zone(a).fleet(target)), "no_ships", rule, zone=a)
    canal = s.canal_open(a, b, target)
    require(b in ZONES[a].seas or canal is not None, "not_adjacent", rule, zone=b)
    require(canal is not False, "canal_closed", rule, cause="target", zone=b, seat=target)
    require(s.zone(a).marker != "calm", "becalmed", rule, zone=a)
    others = set(s.zone(b).fleets) - {str(target)}
    require(not (s.zone(b).pirates or others), "zone_not_empty", rule, zone=b)
    require(s.zone(b).marker is None, "zone_has_marker", rule, zone=b)


def sabotage(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.12: a ship of another seat."""
    rule, target, zone, unit = "IMP-9.4.12", unwrap(move.target_seat), unwrap(move.zone), unwrap(move.unit)
    need_other_seat(s, seat, target, rule)
    need_zone(zone, rule)
    require(unit in UNITS, "unknown_item", rule, item=unit)
    have = s.zone(zone).fleet(target)
    require(unit_stacks.total(have, unit) > 0, "not_enough_units", rule, units=unit_stacks.to_json(have))


# --- colonies ------------------------------------------------------------------------------------------------


def need_foreign_colony(s: ImpeRunde, seat: Seat, country: str, rule: str) -> None:
    """IMP-9.2: a colony of another seat."""
    need_country(country, rule)
    need_no_home(s, country, rule)
    foreign = s.country(country).owner not in (None, seat)
    require(foreign, "invalid_target", rule, cause="colony", country=country)


def forged_march_orders(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.10: up to three armies, from one colony of a seat to the next."""
    rule, target, wants = "IMP-9.4.10", unwrap(move.target_seat), unwrap(move.units)
    a, b = unwrap(move.from_), unwrap(move.to)
    need_other_seat(s, seat, target, rule)
    for region in (a, b):
        need_country(region, rule)
    for region in (a, b):
        need_no_home(s, region, rule)
    both = s.country(a).owner == target and s.country(b).owner == target
    require(both, "invalid_target", rule, cause="both_colonies", seat=target)
    require(b in COUNTRIES[a].lands, "not_adjacent", rule, country=b)
    need_known(wants, rule)
    require(all(is_army(want.unit) for want in wants), "wrong_unit_for_target", rule, cause="armies")
    need_some(wants, rule)
    count, most = sum(want.count for want in wants), CARDS["forged_march_orders"].figure
    require(count <= most, "too_many_units", rule, units=count, highest=most)
    need_units(s.country(a).units, wants, rule)
    stay = unit_stacks.total(s.country(a).units) - count + s.country(a).forts
    require(stay > 0, "garrison_required", rule, country=a)


def forged_marchers(s: ImpeRunde, move: PlayCard) -> unit_stacks.Lots:
    """IMP-9.4.10: the marching armies."""
    return take(s.country(unwrap(move.from_)).units, unwrap(move.units), lambda _: 0, "IMP-9.4.10")


def smuggling(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.11: military units for at most 5 doubloons, in a colony."""
    rule, country, items = "IMP-9.4.11", unwrap(move.country), unwrap(move.purchases)
    need_country(country, rule)
    for item in items:
        if is_ship(item.item):
            need_zone(unwrap(item.zone), rule)
    need_no_home(s, country, rule)
    require(s.is_own(seat, country), "not_your_country", rule, country=country)
    for item in items:
        require(item.item in UNITS, "unknown_item", rule, item=item.item)
        require(UNITS[item.item].kind != "post", "unknown_item", rule, cause="smuggled", item=item.item)
    cost, most = sum(UNITS[x.item].cost * x.quantity for x in items), CARDS["smuggling"].figure
    require(all(x.quantity for x in items) and 1 <= cost <= most, "invalid_amount", rule, cost=cost, highest=most)
    wanted: dict[str, int] = {}
    for x in items:
        wanted[x.item] = wanted.get(x.item, 0) + x.quantity
        _need_smuggled(s, seat, country, x, wanted[x.item])


def is_ship(item: str) -> bool:
    """Return whether an item of a purchase, known or not, is a warship."""
    return item in UNITS and is_warship(item)


def _need_smuggled(s: ImpeRunde, seat: Seat, country: str, purchase: Purchase, count: int) -> None:
    rule, item = "IMP-9.4.11", purchase.item
    if is_warship(item):
        need_port(s, seat, country, unwrap(purchase.zone), rule)
    if item == "fort":
        room = s.country(country).posts - s.country(country).forts
        require(count <= room, "fort_limit", rule, room=room)
    need_supply(s, seat, item, count, rule)


def plunder(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.14: an enemy's colony with a coast."""
    rule, country = "IMP-9.4.14", unwrap(move.country)
    need_foreign_colony(s, seat, country, rule)
    owner = s.country(country).owner
    require(owner is not None and s.at_war(seat, owner), "not_at_war", rule, seat=owner)
    require(bool(COUNTRIES[country].coasts), "landlocked", rule, country=country)
    require(s.country(country).plundered_by is None, "already_plundered", rule, country=country)


def rebellion(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.15: any colony of another seat."""
    need_foreign_colony(s, seat, unwrap(move.country), "IMP-9.4.15")


# --- cards against cards -------------------------------------------------------------------------------------


def unmask_spies(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.16: a seat with cards."""
    rule, target = "IMP-9.4.16", unwrap(move.target_seat)
    need_other_seat(s, seat, target, rule)
    require(s.nations[target].cards > 0, "no_cards", rule, seat=target)


def counter_espionage(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.17: not against one's own card."""
    require(s.top.context(frames.CounterWindow).chain[-1][0] != seat, "own_card", "IMP-9.4.17")


CHECKS: dict[str, Callable[[ImpeRunde, Seat, PlayCard], None]] = {
    "armistice": armistice,
    "treason": treason,
    "filibuster": filibuster,
    "pirates": pirates,
    "coup_de_main": coup_de_main,
    "declaration_of_war": declaration_of_war,
    "ambush": ambush,
    "surprise_attack": surprise_attack,
    "forged_naval_orders": forged_naval_orders,
    "forged_march_orders": forged_march_orders,
    "smuggling": smuggling,
    "sabotage": sabotage,
    "peace_treaty": peace_treaty,
    "plunder": plunder,
    "rebellion": rebellion,
    "unmask_spies": unmask_spies,
    "counter_espionage": counter_espionage,
    "capture": capture,
}
