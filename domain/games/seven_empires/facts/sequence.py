"""Facts of set-up, turns, decades and the end (SE7-2, SE7-4, SE7-11, SE7-12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from domain.games.seven_empires import state_updates
from domain.games.seven_empires.data import EMPIRES, SLOTS, Action
from domain.games.seven_empires.state import MODES, Empire, Movement, Seven, Turn
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, Part, among, declared_classes, or_none
from domain.types import Seat

ModeWord = Annotated[str, among(MODES)]
SlotWord = Annotated[str, among(SLOTS)]


class FirstSeatDrawn(Fact[Seven], frozen=True):
    """SE7-2.5: a seat is P1 and holds the orange pawn."""

    seat: Seat

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, first_seat=self.seat, pawn=self.seat)


class DistributionCardUsed(Fact[Seven], frozen=True):
    """SE7-2.6: the card for dealing the first influence."""

    card: str

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, card=self.card)


class HourglassLaid(Fact[Seven], frozen=True):
    """SE7-2.7: the tile of each decade, face down; the laurel is last."""

    tiles: Sequence[str]
    left_out: Maybe[str] = UNSET

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, hourglass=tuple(self.tiles), left_out=or_none(self.left_out))


class Reign(Part, frozen=True):
    """SE7-2.12: a seat is monarch of an empire."""

    empire: str
    seat: Seat


class MonarchsAssigned(Fact[Seven], frozen=True):
    """SE7-2.12, SE7-11.6: the monarch of each empire; some may be neutral."""

    monarchs: Sequence[Reign]
    neutral: Maybe[Sequence[str]] = UNSET

    def evolve(self, s: Seven) -> Seven:
        reigns = {reign.empire: reign.seat for reign in self.monarchs}
        return state_updates.monarchs(s, {empire: reigns.get(empire) for empire in EMPIRES})


class DecadeStarted(Fact[Seven], frozen=True):
    """SE7-2.13, SE7-11.7: all empires are free to act."""

    decade: Count
    year: Count

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, decade=self.decade, turn_in_decade=0)


class TurnBegun(Fact[Seven], frozen=True):
    """SE7-4.1: it is a seat's turn, in one of the modes of SE7-4.2."""

    seat: Seat
    turn: Count
    """Number in the decade."""
    mode: ModeWord

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, turn_in_decade=self.turn, turn=Turn(self.seat, self.mode))


class MarkerPlaced(Fact[Seven], frozen=True):
    """SE7-4.4: an empire acts, decided by a seat; its marker lies on slot I."""

    seat: Seat
    empire: str
    action: Action
    mode: ModeWord

    def evolve(self, s: Seven) -> Seven:
        s = state_updates.turn(s, empire=self.empire, actor=self.seat, action=self.action)
        return state_updates.markers(s, self.empire, self.action, "I")


class EmpireDelegated(Fact[Seven], frozen=True):
    """SE7-4.6: a seat leaves an empire to its monarch."""

    seat: Seat
    empire: str
    to: Seat

    def evolve(self, s: Seven) -> Seven:
        return state_updates.turn(s, empire=self.empire, actor=self.to)


class PowerScored(Fact[Seven], frozen=True):
    """SE7-6.2, SE7-7.1, SE7-12.2: an empire gains power, with its new total."""

    empire: str
    points: Count
    why: str
    """`palace`, `empire`, or at the end `flags`, `crowns`."""
    power: Count

    def evolve(self, s: Seven) -> Seven:
        return state_updates.empire(s, self.empire, power=self.power)


class TurnEnded(Fact[Seven], frozen=True):
    """SE7-4.7: the turn of a seat is over."""

    seat: Seat

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, turn=None)


class PawnPassed(Fact[Seven], frozen=True):
    """SE7-11.1: a seat holds the orange pawn."""

    seat: Seat

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, pawn=self.seat)


class TileRevealed(Fact[Seven], frozen=True):
    """SE7-11.2, SE7-12.1: the hourglass tile of a decade."""

    decade: Count
    tile: str

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, revealed=(*s.revealed, self.tile))


class MarkersShifted(Fact[Seven], frozen=True):
    """SE7-11.5: the slot of every marker off its tray, by empire and action."""

    markers: Mapping[str, Mapping[str, SlotWord]]

    def evolve(self, s: Seven) -> Seven:
        shifted: dict[str, Empire] = {
            name: flow.assign(s.empires[name], markers=dict(slots)) for name, slots in self.markers.items()
        }
        return flow.assign(s, empires=shifted)


class MovementBegun(Fact[Seven], frozen=True):
    """SE7-8, SE7-9.2: the movable units of an empire, by region and type."""

    empire: str
    able: Mapping[str, Mapping[str, Count]]

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, movement=Movement({region: dict(units) for region, units in self.able.items()}))


class MovementEnded(Fact[Seven], frozen=True):
    """SE7-8.15: the movement of an empire is over."""

    empire: str

    def evolve(self, s: Seven) -> Seven:
        return flow.assign(s, movement=None)


class TileLeftOut(Fact[Seven], frozen=True):
    """SE7-14.1: at the end, the tile put aside by a game of nine decades."""

    tile: str


class GameScored(Fact[Seven], frozen=True):
    """SE7-12.3 to SE7-12.5: empires by rank, the points of each seat, and the winners."""

    ranking: Sequence[str]
    points: Sequence[Count]
    winners: Sequence[Seat]


FACTS = declared_classes(__name__, Fact)
