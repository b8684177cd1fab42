"""Facts of the set-up (AOR-3), the game turns (AOR-4), the turns (AOR-7.1 to AOR-7.3) and phase 6 (AOR-13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from domain.games.age_of_reason import state_updates
from domain.games.age_of_reason.data import MARKERS
from domain.games.age_of_reason.state import AgeOfReason, Turn
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import Count, Fact, Meta, declared_classes
from domain.types import Seat

Number = Annotated[int, Meta(ge=1)]
"""Number of a game turn or round."""


class FirstPlayerDrawn(Fact[AgeOfReason], frozen=True):
    """AOR-3.2: the first player, also when the option names the seat."""

    seat: Seat

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, first_player=self.seat)


class PowerChosen(Fact[AgeOfReason], frozen=True):
    """AOR-3.3: a seat has its power."""

    seat: Seat
    power: str

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.empire(s, self.seat, power=self.power)


class SeatsEquipped(Fact[AgeOfReason], frozen=True):
    """AOR-3.4: gold and unrest of every seat at the start; its eleven cards are in its hand."""

    gold: Count
    unrest: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, empires=tuple(flow.assign(e, gold=self.gold, unrest=self.unrest) for e in s.empires))


class EmpireDrawn(Fact[AgeOfReason], frozen=True):
    """AOR-3.5: a token of the power for each marker; the markers leave the game."""

    power: str
    markers: Sequence[str]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        for marker in self.markers:
            s = state_updates.token(s, self.power, MARKERS[marker].region, 1)
        return flow.assign(s, bag=state_updates.left_bag(s, self.markers), gone=(*s.gone, *self.markers))


class GameTurnStarted(Fact[AgeOfReason], frozen=True):
    """AOR-4.5: a game turn begins."""

    game_turn: Number

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, game_turn=self.game_turn)


class MarkersDrawn(Fact[AgeOfReason], frozen=True):
    """AOR-5.1: markers lie face up in their regions."""

    markers: Sequence[str]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        markers = dict(s.markers)
        for marker in self.markers:
            region = MARKERS[marker].region
            markers[region] = (*markers.get(region, ()), marker)
        return flow.assign(s, markers=markers, bag=state_updates.left_bag(s, self.markers))


class RoundStarted(Fact[AgeOfReason], frozen=True):
    """AOR-7.1.1: a round begins."""

    round: Number

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, round=self.round)


class TurnStarted(Fact[AgeOfReason], frozen=True):
    """AOR-7.1.2: a seat has its turn, with its limit of attacks."""

    seat: Seat
    attacks: Number

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, turn=Turn(self.seat, attacks_allowed=self.attacks))


class TurnEnded(Fact[AgeOfReason], frozen=True):
    """AOR-7.3.1: a turn is over."""

    seat: Seat

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return flow.assign(s, turn=None)


class GameTurnEnded(Fact[AgeOfReason], frozen=True):
    """AOR-13: discards and tokens on the action board go back, coalitions are dissolved; `unrest` by seat is halved."""

    game_turn: Number
    unrest: Sequence[Count]

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        halved = zip(s.empires, self.unrest, strict=True)
        return flow.assign(
            s,
            empires=tuple(flow.assign(e, unrest=unrest, discard_size=0) for e, unrest in halved),
            discards=((),) * s.seats,
            spaces={},
            slots={},
            turn_order=(),
            round=0,
            opener=None,
        )


FACTS = declared_classes(__name__, Fact)
