"""Common bases of facts with the same assignments; each fact is declared with its meaning in its own chapter."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import field

from domain.games.imperunde import state_updates, unit_stacks
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_stacks import Told
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import Fact
from domain.types import Seat

S = ImpeRunde


class Gone(Fact[S], frozen=True):
    """Units of a seat have moved to another region; `left` are the moves of each lot afterwards."""

    seat: Seat
    from_: str = field(name="from")
    to: str
    units: Sequence[Told]
    left: Sequence[int]

    def evolve(self, s: S) -> S:
        gone = unit_stacks.from_facts(self.units)
        come = tuple(x.with_moves(n) for x, n in zip(gone, self.left, strict=True))
        return state_updates.units(state_updates.units(s, self.seat, self.from_, gone, -1), self.seat, self.to, come)


class Lost(Fact[S], frozen=True):
    """Units of a seat are no more."""

    seat: Seat
    region: str
    units: Sequence[Told]

    def evolve(self, s: S) -> S:
        return state_updates.units(s, self.seat, self.region, unit_stacks.from_facts(self.units), -1)


class Struck(Fact[S], frozen=True):
    """A region has had its event of the phase."""

    event: str
    region: str

    def evolve(self, s: S) -> S:
        return assign(s, struck=(*s.struck, self.region))
