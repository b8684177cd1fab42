"""Frames of the flow: the context of each kind of decision, and the remaining steps of frames without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import field

from domain.games.seven_empires.data import ACTIONS, TILES, UNITS
from domain.games.seven_empires.state import MODES
from domain.games.seven_empires.value_objects import Step
from domain.kernel.schema.declarations import UNSET, Context, Maybe, among, declared_classes

ModeWord = Annotated[str, among(MODES)]
UnitWord = Annotated[str, among(UNITS)]
TileWord = Annotated[str, among(TILES)]

# --- sequence -------------------------------------------------------------------------------------------------


class Draft(Context, frozen=True):
    """SE7-2.9, SE7-2.10: a seat takes an influence card before the game begins."""

    letter: str | None
    """Letter of the round; None if letters play no part."""
    remaining: Sequence[int]
    """Seats still to pick in this round, the deciding one first."""
    round: int


class Decade(Context, frozen=True):
    """SE7-4.1: a decade, below all its other frames; it asks nobody."""

    todo: Sequence[str]
    """Steps still to do, the next one first."""


class ChooseEmpire(Context, frozen=True):
    """SE7-4.2: the turn seat chooses an empire, and its action or the seat acting for it."""

    mode: ModeWord
    empires: Sequence[str]
    """Empires open to it, in flag order."""


class ChooseDelegatedAction(Context, frozen=True):
    """SE7-4.6: the monarch chooses the action of an empire named by another seat."""

    turn_seat: int
    mode: ModeWord
    empire: str


# --- actions --------------------------------------------------------------------------------------------------


class Acting(Context, frozen=True):
    """The current action."""

    turn_seat: int
    mode: ModeWord
    empire: str
    action: Annotated[str, among(ACTIONS)]


class Build(Acting, frozen=True):
    """SE7-5.1: the actor raises a city."""


class Deploy(Acting, frozen=True):
    """SE7-5.2: the actor deploys units."""


class Palace(Acting, frozen=True):
    """SE7-6.1: the actor builds or enlarges a palace."""


class AttackDeploy(Acting, frozen=True):
    """SE7-9.1: the actor places the units of an attack."""


class Movement(Acting, frozen=True):
    """SE7-8, SE7-9.2: the actor moves units, one by one, until it ends the movement."""


class Passage(Context, frozen=True):
    """SE7-8.7: a monarch is asked to let an army pass."""

    empire: str
    """Empire of the passing army."""
    from_: str = field(name="from")
    unit: UnitWord
    steps: Sequence[Step]
    target: str | None
    through: str
    """The region to pass."""
    blocking: str
    """Empire of the army there."""
    to: str
    """End of the move."""


class Counterfight(Context, frozen=True):
    """SE7-8.11: the attacked empire's monarch chooses the unit to meet the artillery."""

    region: str
    empire: str
    """The attacked one."""
    units: Sequence[UnitWord]
    """Types left there, in canonical order."""


class Reduction(Context, frozen=True):
    """SE7-10.2: a seat removes the excess units of a region."""

    region: str
    empire: str
    excess: int


# --- between decades ------------------------------------------------------------------------------------------


class Hourglass(Context, frozen=True):
    """SE7-11.2: an hourglass tile is resolved, below its questions; it asks nobody."""

    tile: TileWord
    seats: Maybe[Sequence[int]] = UNSET
    """Seats still to take a card, the next one first."""
    empires: Maybe[Sequence[str]] = UNSET
    """Empires still to get a unit, the next one first."""


class TileInfluence(Context, frozen=True):
    """SE7-11.3: a seat takes an influence card."""

    tile: TileWord
    queue: Sequence[int]
    """Seats still to take one, the deciding one first."""


class TileWorker(Context, frozen=True):
    """SE7-11.2: a seat takes a worker."""

    tile: TileWord
    queue: Sequence[int]
    """Seats still to take one, the deciding one first."""


class TileUnit(Context, frozen=True):
    """SE7-11.2: a monarch places a unit given to its empire by a tile."""

    tile: TileWord
    queue: Sequence[str]
    """Empires still to get one, the deciding seat's first."""


FRAMES: dict[str, type[Context]] = {
    kind: frame for kind, frame in declared_classes(__name__, Context).items() if frame is not Acting
}
