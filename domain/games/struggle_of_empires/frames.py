"""Frames of the flow: the context of each kind of decision, and the remaining steps of frames without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from domain.games.struggle_of_empires.state import Side
from domain.games.struggle_of_empires.value_objects import LossChoice
from domain.kernel.schema.declarations import UNSET, Context, Maybe, Part, among, declared_classes
from domain.types import Json

# --- set-up and sequence ---------------------------------------------------------------------------------------


class ChoosePower(Context, frozen=True):
    """SOE-3.3: a seat chooses its power."""


class PlaceUnits(Context, frozen=True):
    """SOE-3.6: a seat places one unit."""

    placed: int
    """Units placed so far by all seats."""


class War(Context, frozen=True):
    """SOE-4: a War, below all its other frames; it asks nobody."""

    to_play: Sequence[int]
    """Seats with a turn left this round, in turn order."""


class AuctionBid(Context, frozen=True):
    """SOE-6: a seat bids or passes."""


class Turn(Context, frozen=True):
    """SOE-7.1: a seat takes its turn."""


# --- combat ----------------------------------------------------------------------------------------------------


class Combat(Context, frozen=True):
    """SOE-8: a combat, below its questions; it asks nobody."""

    todo: Sequence[Sequence[Json]]
    """The steps still to do: name and arguments of each."""


class OfferShown(Part, frozen=True):
    """SOE-8.3.3: gold for an ally helping with at least this number of units."""

    gold: int
    min_armies: int
    min_navies: int


class Support(Context, frozen=True):
    """SOE-8.3.2: an ally may commit units to the combat."""

    side: Side
    """The asking side."""
    armies: int
    """At most."""
    navies: int
    """At most."""
    offer: Maybe[OfferShown] = UNSET


class RequestSupport(Context, frozen=True):
    """SOE-8.3.4: the defender may ask his allies."""

    eligible: Sequence[int]
    """Allies able to take part, in turn order after the defender."""


class Navies(Part, frozen=True):
    """SOE-8.4: navies of both sides, allies' with them."""

    attacker: int
    defender: int


class NavalChoice(Context, frozen=True):
    """SOE-8.4.2: a principal fights for naval support, or leaves it to the other side."""

    side: Side
    navies: Navies


class AssignAllianceTiles(Context, frozen=True):
    """SOE-8.5.1: a principal names the alliance tiles to help at sea."""

    tiles: Sequence[str]
    """Own tiles able to help."""


class UseBlockade(Context, frozen=True):
    """SOE-8.6.1: the side with naval support may use the Blockade tile."""


class Reserve(Context, frozen=True):
    """SOE-8.7.1: a principal may have all dice rolled again."""

    side: Side
    stage: Annotated[str, among(("naval", "land"))]
    dice: Sequence[int]
    """Two of the attacker, two of the defender."""
    totals: Sequence[int]
    """Strength of attacker and defender with these dice."""


class ChooseLoss(Context, frozen=True):
    """SOE-8.9.2: a principal chooses the lost units."""

    items: Sequence[Sequence[LossChoice]]
    """Options of each loss before the first choice; defaults first."""


class FightingWithdrawal(Context, frozen=True):
    """SOE-8.10.1: a beaten defender may save one unit."""

    saves: Sequence[int]
    """Seats of his side with the loss of an army or navy, ascending."""


FRAMES: dict[str, type[Context]] = declared_classes(__name__, Context)
