"""IMP-9.4: the effect of each card, unless countered."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import CARDS, UNITS, is_warship
from domain.games.imperunde.facts.cards import Bonus, BonusWon, ColonyPlundered, PiratesHired
from domain.games.imperunde.facts.combat import AttackCalledOff
from domain.games.imperunde.facts.diplomacy import RelationOverridden
from domain.games.imperunde.facts.movement import UnitsLost, UnitsMoved
from domain.games.imperunde.moves import PlayCard
from domain.games.imperunde.rules import combat, pirates, rounds, theft
from domain.games.imperunde.rules.card_checks import capture_victim, forged_marchers
from domain.games.imperunde.rules.movement import weather
from domain.games.imperunde.rules.setup import place
from domain.games.imperunde.state import D, Relation, key
from domain.games.imperunde.unit_stacks import Lot
from domain.kernel.schema.declarations import unwrap
from domain.types import Seat

Effect = Callable[[D, Seat, PlayCard], None]
"""(draft, seat of the player, the card with its parameters)."""


def _override(d: D, card: str, by: Seat, a: Seat, b: Seat, relation: Relation) -> None:
    d.add(RelationOverridden(key(a, b), (a, b), relation, card, by))


def armistice(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.1: peace; in a combat window the attack is called off."""
    _override(d, "armistice", seat, seat, unwrap(move.target_seat), "peace")
    if d.state.combat:
        d.add(AttackCalledOff(d.state.combat.region))


def declaration_of_war(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.6: war."""
    _override(d, "declaration_of_war", seat, seat, unwrap(move.target_seat), "war")


def peace_treaty(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.13: peace between two others, or with one."""
    a, b = unwrap(move.seats)
    _override(d, "peace_treaty", seat, a, b, "peace")


def treason(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.2: a fort is removed."""
    c = d.state.fight
    d.add(UnitsLost(c.defender, c.region, unit_stacks.to_facts((Lot("fort", 1),)), "treason"))


def bonus(card: Bonus) -> Effect:
    """IMP-9.4.5, IMP-9.4.7, IMP-9.4.8."""
    return lambda d, seat, _: d.add(BonusWon(seat, card))


def capture(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.18: a frigate, unpinned first."""
    victim = capture_victim(d.state, move)
    fleet = d.state.zone(d.state.fight.region).fleet(victim)
    ship = min((x for x in fleet if x.unit == "frigate"), key=lambda x: (x.pinned, -x.moves_left))
    rounds.capture(d, victim, seat, ship.with_count(1))


def filibuster(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.3: kind by kind, as far as the supply goes; the others are removed."""
    s, zone = d.state, unwrap(move.zone)
    moves = UNITS["frigate"].moves if s.active == seat and s.phase == 6 else 0
    counts = {u: min(n, s.supply(seat, u)) for u, n in s.zone(zone).pirates.items()}
    d.add(PiratesHired(seat, zone, unit_stacks.to_facts(Lot(u, n, moves) for u, n in counts.items() if n)))


def call_pirates(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.4: two black frigates, and they attack."""
    pirates.appear(d, unwrap(move.zone), CARDS["pirates"].figure)


def forged_naval_orders(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.9: all ships of the target go; moves and pins stay unchanged."""
    target, a, b = unwrap(move.target_seat), unwrap(move.from_), unwrap(move.to)
    _shift(d, target, a, b, d.state.zone(a).fleet(target))


def forged_march_orders(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.10: moves stay unchanged."""
    _shift(d, unwrap(move.target_seat), unwrap(move.from_), unwrap(move.to), forged_marchers(d.state, move))


def _shift(d: D, seat: Seat, a: str, b: str, going: unit_stacks.Lots) -> None:
    d.add(UnitsMoved(seat, a, b, unit_stacks.to_facts(going), [x.moves_left for x in going]))


def smuggling(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.11: placed at the card's cost; ships roll in a storm (IMP-7.7)."""
    for x in unwrap(move.purchases):
        region = x.zone or unwrap(move.country)
        place(d, seat, region, {x.item: x.quantity})
        if is_warship(x.item):
            weather(d, seat, region, (Lot(x.item, x.quantity),))


def sabotage(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.12: one without pin and with most moves left."""
    target, zone = unwrap(move.target_seat), unwrap(move.zone)
    able = [x for x in d.state.zone(zone).fleet(target) if x.unit == move.unit]
    ship = min(able, key=lambda x: (x.pinned, -x.moves_left))
    d.add(UnitsLost(target, zone, unit_stacks.to_facts((ship.with_count(1),)), "sabotage"))


def plunder(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.14: until phase 8."""
    country = unwrap(move.country)
    d.add(ColonyPlundered(seat, country, d.state.country(country).holder))


def rebellion(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.15: insurgents attack at once."""
    combat.start_by_insurgents(d, unwrap(move.country), CARDS["rebellion"].figure)


def unmask_spies(d: D, seat: Seat, move: PlayCard) -> None:
    """IMP-9.4.16: the hand is shown, a card is stolen; nothing if counters have emptied the hand."""
    target = unwrap(move.target_seat)
    if d.state.nations[target].cards:
        theft.show_hand(d, seat, target, move.reveal is True)


EFFECTS: dict[str, Effect] = {
    "armistice": armistice,
    "treason": treason,
    "filibuster": filibuster,
    "pirates": call_pirates,
    "coup_de_main": bonus("coup_de_main"),
    "declaration_of_war": declaration_of_war,
    "ambush": bonus("ambush"),
    "surprise_attack": bonus("surprise_attack"),
    "forged_naval_orders": forged_naval_orders,
    "forged_march_orders": forged_march_orders,
    "smuggling": smuggling,
    "sabotage": sabotage,
    "peace_treaty": peace_treaty,
    "plunder": plunder,
    "rebellion": rebellion,
    "unmask_spies": unmask_spies,
    "capture": capture,
}
"""`counter_espionage` has none of its own: it works in the chain (IMP-11.4)."""
