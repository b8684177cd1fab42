"""The frames of the flow: what each kind of decision is about, and what stands still to do in those that ask nobody."""

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
    """Of the round; None where letters play no part."""
    remaining: Sequence[int]
    """Seats that still pick in this round, the deciding one first."""
    round: int


class Decade(Context, frozen=True):
    """SE7-4.1: a decade, under all that happens in it; it asks nobody."""

    todo: Sequence[str]
    """Steps still to do, the next one first."""


class ChooseEmpire(Context, frozen=True):
    """SE7-4.2: the turn seat chooses an empire, and its action or who acts for it."""

    mode: ModeWord
    empires: Sequence[str]
    """Those that it may choose, in flag order."""


class ChooseDelegatedAction(Context, frozen=True):
    """SE7-4.6: the monarch chooses the action of an empire that another seat has named."""

    turn_seat: int
    mode: ModeWord
    empire: str


# --- actions --------------------------------------------------------------------------------------------------


class Acting(Context, frozen=True):
    """An action that goes on."""

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
    """Whose army wants to pass."""
    from_: str = field(name="from")
    unit: UnitWord
    steps: Sequence[Step]
    target: str | None
    through: str
    """The region that is passed."""
    blocking: str
    """The empire whose army stands there."""
    to: str
    """Where the move ends."""


class Counterfight(Context, frozen=True):
    """SE7-8.11: the attacked empire's monarch chooses which unit meets the artillery."""

    region: str
    empire: str
    """The attacked one."""
    units: Sequence[UnitWord]
    """Types that are left there, in canonical order."""


class Reduction(Context, frozen=True):
    """SE7-10.2: somebody removes what is too much in a region."""

    region: str
    empire: str
    excess: int


# --- between decades ------------------------------------------------------------------------------------------


class Hourglass(Context, frozen=True):
    """SE7-11.2: an hourglass tile is resolved, under the questions about it; it asks nobody."""

    tile: TileWord
    seats: Maybe[Sequence[int]] = UNSET
    """That are still to take a card, the next one first."""
    empires: Maybe[Sequence[str]] = UNSET
    """That are still to get a unit, the next one first."""


class TileInfluence(Context, frozen=True):
    """SE7-11.3: a seat takes an influence card."""

    tile: TileWord
    queue: Sequence[int]
    """Seats that are still to take one, the deciding one first."""


class TileWorker(Context, frozen=True):
    """SE7-11.2: a seat takes a worker."""

    tile: TileWord
    queue: Sequence[int]
    """Seats that are still to take one, the deciding one first."""


class TileUnit(Context, frozen=True):
    """SE7-11.2: a monarch places a unit that a tile gives its empire."""

    tile: TileWord
    queue: Sequence[str]
    """Empires that are still to get one, that of the deciding seat first."""


FRAMES: dict[str, type[Context]] = {
    kind: frame for kind, frame in declared_classes(__name__, Context).items() if frame is not Acting
}
