"""Facts of battles (AOR-9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from domain.games.age_of_reason import state_updates
from domain.games.age_of_reason.state import AgeOfReason, Battle, Sealed, Side
from domain.games.common.seats import replace_at
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, AnyInt, Count, Fact, Maybe, Meta, declared_classes, or_none
from domain.types import Seat

Die = Annotated[int, Meta(ge=1, le=6)]
Winner = Literal["attacker", "defender", "tie"]


class AttackDeclared(Fact[AgeOfReason], frozen=True):
    """AOR-8.2.5: an attack on a power's token or on a marker, with the turn's number of attacks so far."""

    seat: Seat
    region: str
    attacks: Count
    power: Maybe[str] = UNSET
    defender: Maybe[Seat] = UNSET
    marker: Maybe[str] = UNSET
    asked: Maybe[Sequence[Seat]] = UNSET
    """Seats asked for a card (AOR-9.2.1)."""

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        target = or_none(self.power), or_none(self.marker), or_none(self.defender)
        battle = Battle(self.region, self.seat, *target, tuple(self.asked or ()))
        return flow.assign(state_updates.turn(s, attacks_made=self.attacks), battle=battle)


class CardSealed(Fact[AgeOfReason], frozen=True):
    """AOR-8.2.1, AOR-4.6.2: a seat lays a card face down; null for none."""

    seat: Seat
    card: str | None

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, sealed=replace_at(s.sealed, self.seat, Sealed(self.card)))


class HireSealed(Fact[AgeOfReason], frozen=True):
    """AOR-9.4.4: the powers hired in secret by a principal."""

    seat: Seat
    powers: Sequence[str]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return _hire(s, self.seat, tuple(self.powers))


class CardTakenUp(Fact[AgeOfReason], frozen=True):
    """AOR-4.6.3: the answer to `commit` is taken back."""

    seat: Seat

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, sealed=replace_at(s.sealed, self.seat, None))


class HireTakenBack(Fact[AgeOfReason], frozen=True):
    """AOR-4.6.3: the answer to `hire` is taken back."""

    seat: Seat

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return _hire(s, self.seat, None)


def _hire(s: AgeOfReason, seat: Seat, powers: tuple[str, ...] | None) -> AgeOfReason:
    sealed = s.sealed[seat] or Sealed()
    return flow.assign(s, sealed=replace_at(s.sealed, seat, flow.assign(sealed, powers=powers)))


class CommitClosed(Fact[AgeOfReason], frozen=True):
    """AOR-9.2.4: the allies with a card laid; the others stay out."""

    laid: Sequence[Seat]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.battle(s, laid=tuple(self.laid))


class BattleRevealed(Fact[AgeOfReason], frozen=True):
    """AOR-9.5.1: all cards laid, by seat, and all hirings, by side; nothing is sealed any more."""

    cards: Mapping[str, str]
    hired: Mapping[str, Sequence[str]]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        hired = {side: tuple(powers) for side, powers in self.hired.items()}
        shown = state_updates.battle(s, cards=dict(self.cards), hired=hired)
        return flow.assign(shown, sealed=(None,) * s.seats)


class BattleRolled(Fact[AgeOfReason], frozen=True):
    """AOR-9.6.1, AOR-9.8: two dice each, and the strengths with them."""

    attacker: Sequence[Die]
    defender: Sequence[Die]
    strength: Sequence[Count]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        dice = {"attacker": tuple(self.attacker), "defender": tuple(self.defender)}
        return state_updates.battle(s, dice=dice, strength=_sides(self.strength))


def _sides(strength: Sequence[int]) -> dict[str, int]:
    attacker, defender = strength
    return {"attacker": attacker, "defender": defender}


class ReservesAnswered(Fact[AgeOfReason], frozen=True):
    """AOR-9.7.2: used, a token goes from Reserves to the reserve."""

    seat: Seat
    use: bool

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        if not self.use:
            return s
        seats = list(s.spaces["reserves"])
        seats.remove(self.seat)
        spaces = {**s.spaces, "reserves": tuple(seats)} if seats else _without(s.spaces, "reserves")
        return flow.assign(s, spaces=spaces)


def _without(spaces: Mapping[str, tuple[int, ...]], space: str) -> dict[str, tuple[int, ...]]:
    return {name: seats for name, seats in spaces.items() if name != space}


class DiceRerolled(Fact[AgeOfReason], frozen=True):
    """AOR-9.7.2: the own dice of a principal are rolled again; the strengths with them."""

    seat: Seat
    side: Side
    dice: Sequence[Die]
    strength: Sequence[Count]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        dice = {**(s.fight.dice or {}), self.side: tuple(self.dice)}
        return state_updates.battle(s, dice=dice, strength=_sides(self.strength))


class BattleResolved(Fact[AgeOfReason], frozen=True):
    """AOR-9.9: the winner, and the attacker's surplus of strength."""

    winner: Winner
    difference: AnyInt


class BattleEnded(Fact[AgeOfReason], frozen=True):
    """AOR-9.10.1: the battle is over; laid cards go back to the hands, except force cards."""

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, battle=None)


FACTS = declared_classes(__name__, Fact)
