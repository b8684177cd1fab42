"""Facts of tokens, on the map and on the action board (AOR-7.4), and of markers (AOR-8.1, AOR-9.9)."""

from __future__ import annotations

from domain.games.age_of_reason import state_updates
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes
from domain.types import Seat


class SpacePlaced(Fact[AgeOfReason], frozen=True):
    """AOR-7.4.3: a token goes from the reserve to the action board; `attacks` is the turn's limit now (AOR-7.1.2).

    `region` is the one named by the seat, for a space of two (AOR-11.5).
    """

    seat: Seat
    space: str
    attacks: Count
    region: Maybe[str] = UNSET

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        spaces = {**s.spaces, self.space: (*s.spaces.get(self.space, ()), self.seat)}
        return flow.assign(state_updates.turn(s, placed=True, attacks_allowed=self.attacks), spaces=spaces)


class MarkerConverted(Fact[AgeOfReason], frozen=True):
    """AOR-8.1.3: an Aktion marker leaves the game, with the turn's number of attacks so far."""

    seat: Seat
    marker: str
    region: str
    attacks: Count

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.turn(state_updates.marker_gone(s, self.marker, self.region), attacks_made=self.attacks)


class MarkerTaken(Fact[AgeOfReason], frozen=True):
    """AOR-9.9.3: a beaten marker leaves the game."""

    seat: Seat
    marker: str
    region: str

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.marker_gone(s, self.marker, self.region)


class TokenRemoved(Fact[AgeOfReason], frozen=True):
    """AOR-9.9.2: a beaten power's token goes to its owner's reserve, or out of the game."""

    power: str
    region: str
    by: Seat

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.token(s, self.power, self.region, -1)


class TokenPlaced(Fact[AgeOfReason], frozen=True):
    """AOR-8.1.3, AOR-9.9: a token from the reserve."""

    seat: Seat
    region: str

    def evolve(self, s: AgeOfReason) -> AgeOfReason:
        return state_updates.token(s, s.power(self.seat), self.region, 1)


FACTS = declared_classes(__name__, Fact)
