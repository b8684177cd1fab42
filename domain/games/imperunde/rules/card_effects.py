"""IMP-9.4: what each card does when it has not been countered."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.imperunde import lots
from domain.games.imperunde.data import CARDS, UNITS, is_warship
from domain.games.imperunde.lots import Lot
from domain.games.imperunde.rules import combat, pirates, rounds, theft
from domain.games.imperunde.rules.card_checks import capture_victim, forged_marchers
from domain.games.imperunde.rules.movement import weather
from domain.games.imperunde.rules.setup import place
from domain.games.imperunde.state import D, key
from domain.ids import Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Fact


def _override(d: D, card: str, by: Seat, a: Seat, b: Seat, relation: str) -> None:
    fact = {"t": "relation_overridden", "pair": key(a, b), "seats": [a, b], "relation": relation}
    d.add({**fact, "card": card, "by": by})


def armistice(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.1: peace; in a combat window the attack is called off."""
    _override(d, "armistice", seat, seat, move["target_seat"], "peace")
    if d.state.combat:
        d.add({"t": "attack_called_off", "region": d.state.combat.region})


def declaration_of_war(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.6: war."""
    _override(d, "declaration_of_war", seat, seat, move["target_seat"], "war")


def peace_treaty(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.13: peace between two others, or with one."""
    a, b = move["seats"]
    _override(d, "peace_treaty", seat, a, b, "peace")


def treason(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.2: a fort is removed."""
    c = d.state.fight
    _lose(d, c.defender, c.region, (Lot("fort", 1),), "treason")


def _lose(d: D, seat: Seat, region: str, lost: lots.Lots, cause: str) -> None:
    d.add({"t": "units_lost", "seat": seat, "region": region, "units": lots.show(lost), "cause": cause})


def bonus(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.5, IMP-9.4.7, IMP-9.4.8."""
    d.add({"t": "bonus_won", "seat": seat, "card": move["card"]})


def capture(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.18: a frigate, unpinned first."""
    victim = capture_victim(d.state, move)
    fleet = d.state.zone(d.state.fight.region).fleet(str(victim))
    ship = min((x for x in fleet if x.unit == "frigate"), key=lambda x: (x.pinned, -x.moves_left))
    rounds.capture(d, victim, seat, ship.of(1))


def filibuster(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.3: kind by kind, as far as the supply goes; the others are removed."""
    s, zone = d.state, move["zone"]
    moves = UNITS["frigate"].moves if s.active == seat and s.phase == 6 else 0
    counts = {u: min(n, s.supply(seat, u)) for u, n in s.zone(zone).pirates.items()}
    units = lots.show(Lot(u, n, moves) for u, n in counts.items() if n)
    d.add({"t": "pirates_hired", "seat": seat, "zone": zone, "units": units})


def call_pirates(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.4: two black frigates, and they attack."""
    pirates.appear(d, move["zone"], CARDS["pirates"].figure)


def forged_naval_orders(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.9: all ships of the target go; moves and pins stay as they were."""
    target, a, b = move["target_seat"], move["from"], move["to"]
    _shift(d, target, a, b, d.state.zone(a).fleet(target))


def forged_march_orders(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.10: moves stay as they were."""
    _shift(d, move["target_seat"], move["from"], move["to"], forged_marchers(d.state, move))


def _shift(d: D, seat: Seat, a: str, b: str, going: lots.Lots) -> None:
    fact: Fact = {"t": "units_moved", "seat": seat, "from": a, "to": b, "units": lots.show(going)}
    d.add({**fact, "left": [x.moves_left for x in going]})


def smuggling(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.11: placed at the card's cost; ships roll in a storm (IMP-7.7)."""
    for x in move["purchases"]:
        region = x.get("zone", move["country"])
        place(d, seat, region, {x["item"]: x["quantity"]})
        if is_warship(x["item"]):
            weather(d, seat, region, (Lot(x["item"], x["quantity"]),))


def sabotage(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.12: one without pin and with most moves left."""
    target, zone = move["target_seat"], move["zone"]
    able = [x for x in d.state.zone(zone).fleet(target) if x.unit == move["unit"]]
    ship = min(able, key=lambda x: (x.pinned, -x.moves_left))
    _lose(d, target, zone, (ship.of(1),), "sabotage")


def plunder(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.14: until phase 8."""
    owner = d.state.country(move["country"]).owner
    d.add({"t": "colony_plundered", "seat": seat, "country": move["country"], "owner": owner})


def rebellion(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.15: insurgents attack at once."""
    combat.by_insurgents(d, move["country"], CARDS["rebellion"].figure)


def unmask_spies(d: D, seat: Seat, move: Move) -> None:
    """IMP-9.4.16: the hand is shown, a card is stolen; nothing if counters have emptied the hand."""
    if d.state.nations[move["target_seat"]].cards:
        theft.show_hand(d, seat, move["target_seat"], move.get("reveal", False))


EFFECTS: dict[str, Callable[[D, Seat, Move], None]] = {
    "armistice": armistice,
    "treason": treason,
    "filibuster": filibuster,
    "pirates": call_pirates,
    "coup_de_main": bonus,
    "declaration_of_war": declaration_of_war,
    "ambush": bonus,
    "surprise_attack": bonus,
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
"""`counter_espionage` has none of its own: it stands in the chain (IMP-11.4)."""
