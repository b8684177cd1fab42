"""AOR-9.2.1, AOR-9.4.1: possible allies of a principal, by public facts alone."""

from __future__ import annotations

from domain.games.age_of_reason.data import POWERS
from domain.games.age_of_reason.state import AgeOfReason, Battle, Side
from domain.types import Seat


def asked_for_cards(s: AgeOfReason, attacker: Seat, region: str, power: str | None) -> list[Seat]:
    """AOR-9.2.1: the defender and every eligible ally; a marker has no allies. `power` is the one attacked."""
    defender = s.seat_of(power)
    others = [seat for seat in s.everybody if seat not in (attacker, defender) and region in s.tokens_of(seat)]
    sides = {s.coalition_of(s.power(attacker))} | ({s.coalition_of(power)} if power else set())
    allies = [seat for seat in others if s.coalition_of(s.power(seat)) in sides]
    return sorted(allies if defender is None else [*allies, defender])


def side_of(s: AgeOfReason, battle: Battle, seat: Seat) -> Side:
    """Return the side of a seat: the attacker's coalition, or the other (AOR-9.2.2)."""
    own, attackers = (s.coalition_of(s.power(x)) for x in (seat, battle.attacker))
    return "attacker" if own == attackers else "defender"


def hirable(s: AgeOfReason, battle: Battle, seat: Seat) -> list[str]:
    """AOR-9.4.1: non-player powers of the principal's coalition with a token in the region."""
    own = s.coalition_of(s.power(seat))
    free = [power for power in POWERS if s.seat_of(power) is None and s.coalition_of(power) == own]
    return [power for power in free if battle.region in s.tokens.get(power, {})]


def principals(battle: Battle) -> list[Seat]:
    """Return the seats of the two principals, the attacker first."""
    return [battle.attacker] + ([] if battle.defender is None else [battle.defender])


def hirers(s: AgeOfReason, battle: Battle) -> list[Seat]:
    """AOR-9.4.1: principals able to hire a power."""
    return [seat for seat in principals(battle) if hirable(s, battle, seat)]
