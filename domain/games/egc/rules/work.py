"""Working state of a resolution between its steps (EGC-5), discarded with the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from domain.games.egc.data import TERRITORIES
from domain.games.egc.facts.armies import LevelsLearnt, NeutralsSet
from domain.games.egc.facts.base import Reported, Step, Troops
from domain.games.egc.order import Order
from domain.games.egc.rules.projection import Copy
from domain.games.egc.rules.seas import common_seas, controlled
from domain.games.egc.state import ELIMINATED, D, Egc
from domain.kernel.schema.declarations import Fact
from domain.types import Seat

K = TypeVar("K", bound=Order)

NOBODY: Seat = -1
"""The seat of neutral armies, sorted before all others (EGC-0.4)."""


@dataclass(slots=True)
class Unit:
    """An army while it moves and fights."""

    id: str
    seat: Seat
    number: int
    divisions: int
    morale: int
    training: int
    territory: str
    order: str
    home: str
    """Territory at the start of the turn's move."""
    path: tuple[str, ...] = ()
    round: int = 0
    target: str = ""
    """Supported territory."""
    at: int = 0
    """Index of the node reached on the path."""
    crossed: list[str] = field(default_factory=list)
    start: int = 0
    """Divisions when it first fought this turn; 0 before."""
    lost: int = 0
    """Divisions lost in combats this turn."""
    retreated: bool = False
    withdrawn: bool = False

    @property
    def moving(self) -> bool:
        """Return whether it has another node to enter."""
        return self.order == "move" and self.divisions > 0 and not self.retreated and self.at < len(self.path) - 1

    @property
    def is_broken(self) -> bool:
        """EGC-9.5."""
        return self.divisions > 0 and self.lost > self.start * self.morale * 10 // 100

    def stop(self) -> None:
        """End its move here."""
        self.path = self.path[: self.at + 1]


@dataclass
class Resolution:
    """The resolution of one turn."""

    d: D
    begun: Egc
    """The state at the start of the turn."""
    copies: dict[Seat, Copy] = field(default_factory=dict)
    orders: list[tuple[Seat, Order]] = field(default_factory=list)
    """All legal orders, by empire in ascending id, in the sequence of the sheets."""
    units: dict[str, Unit] = field(default_factory=dict)
    standing: dict[str, list[Unit]] = field(default_factory=dict)
    """Territory -> armies in it."""
    supports: dict[str, list[Unit]] = field(default_factory=dict)
    """Territory -> armies ordered to support there, by seat and number."""
    attackers: dict[str, list[Seat]] = field(default_factory=dict)
    """EGC-8.7: territory -> empires with an attack on it."""
    battles: dict[str, list[Seat]] = field(default_factory=dict)
    """Territory -> empires in its battle."""
    lost: dict[Seat, int] = field(default_factory=dict)
    taken: dict[Seat, int] = field(default_factory=dict)
    plunder: dict[Seat, int] = field(default_factory=dict)
    alliances: list[tuple[Seat, Seat]] = field(default_factory=list)
    """Alliances at the start of P12."""
    step: Step = "P1"
    _controls: dict[Seat, frozenset[str]] = field(default_factory=dict)

    @property
    def s(self) -> Egc:
        """The present state of the draft."""
        return self.d.state

    @property
    def turn(self) -> int:
        """The turn in resolution."""
        return self.d.state.turn

    def tell(self, fact: Fact[Egc]) -> None:
        """Add a fact for all."""
        self.d.add(fact)

    def tell_seat(self, fact: Reported) -> None:
        """Add a fact for one seat."""
        self.d.add(fact, (fact.seat,))

    def learn(self, seat: Seat, territory: str) -> None:
        """EGC-6.3: tell the seat the levels of a territory."""
        levels = self.s.levels.get(territory, {})
        self.d.add(LevelsLearnt(seat, territory, levels, self.step), (seat,))

    def set_neutrals(self, changed: dict[str, Troops | None]) -> None:
        """Add changed neutral armies: a fact for nobody."""
        self.d.add(NeutralsSet(self.step, changed), ())

    def orders_of(self, kind: type[K]) -> Iterator[tuple[Seat, K]]:
        """Yield the legal orders of a type, in their sequence, without those of eliminated empires."""
        for seat, order in self.orders:
            if isinstance(order, kind) and self.s.status[seat] != ELIMINATED:
                yield seat, order

    def controls(self, seat: Seat) -> frozenset[str]:
        """Return the seas controlled by the empire during the whole movement (P3, EGC-8.4)."""
        if seat not in self._controls:
            self._controls[seat] = frozenset(controlled(self.s, seat))
        return self._controls[seat]

    def near(self, seat: Seat, here: str, there: str) -> bool:
        """EGC-9.6, EGC-9.10: a neighbour by land, or over a common sea controlled by the empire."""
        if there in TERRITORIES[here].neighbours:
            return True
        return any(sea in self.controls(seat) for sea in common_seas(here, there))

    def may_fight(self, seat: Seat, other: Seat, territory: str) -> bool:
        """EGC-8.8: return whether an empire may fight another's armies at its goal."""
        if other == NOBODY:
            return True
        if self.s.lands[territory].owner != other:
            return not self.s.allied(seat, other)
        relation = self.s.relation(seat, other)
        return relation == "total_war" or (relation == "war" and not self.s.metropolis(territory))

    # --- places of units

    def place_unit(self, unit: Unit, territory: str) -> None:
        """Set the unit's territory; none for a sea, or for a destroyed army."""
        if unit.territory:
            self.standing[unit.territory].remove(unit)
        unit.territory = territory
        if territory:
            self.standing.setdefault(territory, []).append(unit)

    def foreign(self, seat: Seat, territory: str) -> list[Unit]:
        """Return the other empires' armies there; they all belong to one (EGC-8.7)."""
        return [u for u in self.standing.get(territory, ()) if u.seat != seat]
