"""Every type of move with its fields, the decision it answers, and its rule (SE7-15)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import field

from domain.games.seven_empires.value_objects import Placing, Step
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    Case,
    Id,
    Listed,
    Maybe,
    Move,
    Varies,
    among,
    declared_classes,
)

DEPLOY_MODES = ("each_city", "palace")

# --- the turn -------------------------------------------------------------------------------------------------


class DraftInfluence(Move, frozen=True):
    """SE7-15.2: take a card of an empire in the draft."""

    admission: ClassVar = Admission(("draft",), rule="SE7-15.2")
    empire: Id


class ChooseAction(Move, frozen=True):
    """SE7-15.3: an empire acts, with one of its markers."""

    admission: ClassVar = Admission(("choose_empire", "choose_delegated_action"), rule="SE7-15.3")
    empire: Id
    action: Id


class Delegate(Move, frozen=True):
    """SE7-15.4: an empire is left to its monarch, perhaps after one unit of any empire as compensation."""

    admission: ClassVar = Admission(("choose_empire",), rule="SE7-15.4")
    empire: Id
    deploy: Maybe[Placing | None] = UNSET


# --- actions --------------------------------------------------------------------------------------------------


class BuildCity(Move, frozen=True):
    """SE7-15.5: raise a city by one level."""

    admission: ClassVar = Admission(("build",), rule="SE7-15.5")
    region: Id


class Deploy(Move, frozen=True):
    """SE7-15.6: one unit in each city (`units`), or up to three in a city with a palace (`levy`)."""

    admission: ClassVar = Admission(("deploy",), rule="SE7-15.6")
    varies: ClassVar = Varies("mode", {"each_city": Case(("units",)), "palace": Case(("region", "levy"))})
    mode: Annotated[str, among(DEPLOY_MODES)]
    units: Maybe[Listed[Placing]] = UNSET
    region: Maybe[Id] = UNSET
    levy: Maybe[Listed[Id]] = UNSET
    """Types of units."""


class BuildPalace(Move, frozen=True):
    """SE7-15.7: build or enlarge a palace."""

    admission: ClassVar = Admission(("palace",), rule="SE7-15.7")
    region: Id


class AttackDeploy(Move, frozen=True):
    """SE7-15.8: place the units of an attack."""

    admission: ClassVar = Admission(("attack_deploy",), rule="SE7-15.8")
    units: Listed[Placing]


# --- movement -------------------------------------------------------------------------------------------------


class MoveShip(Move, frozen=True):
    """SE7-15.9: a ship crosses from sea to sea."""

    admission: ClassVar = Admission(("movement",), rule="SE7-15.9")
    from_: Id = field(name="from")
    unit: Id
    path: Listed[Id]


class MoveLand(Move, frozen=True):
    """SE7-15.10: an army makes one or two steps; `target` is the type of unit to fight."""

    admission: ClassVar = Admission(("movement",), rule="SE7-15.10")
    from_: Id = field(name="from")
    unit: Id
    steps: Listed[Step]
    target: Maybe[Id | None] = UNSET


class EndMovement(Move, frozen=True):
    """SE7-15.11: all units stay at their places."""

    admission: ClassVar = Admission(("movement",), rule="SE7-15.11")


# --- answers --------------------------------------------------------------------------------------------------


class AnswerPassage(Move, frozen=True):
    """SE7-15.12: let an army pass, or not."""

    admission: ClassVar = Admission(("passage",), rule="SE7-15.12")
    grant: bool


class ChooseDefender(Move, frozen=True):
    """SE7-15.13: the unit to meet the artillery in a counter-fight."""

    admission: ClassVar = Admission(("counterfight",), rule="SE7-15.13")
    unit: Id


class ReduceRegion(Move, frozen=True):
    """SE7-15.14: the excess units of a region."""

    admission: ClassVar = Admission(("reduction",), rule="SE7-15.14")
    region: Id
    remove: Listed[Id]


class TakeInfluence(Move, frozen=True):
    """SE7-15.15: the top card of a pile."""

    admission: ClassVar = Admission(("tile_influence",), rule="SE7-15.15")
    empire: Id


class TakeWorker(Move, frozen=True):
    """SE7-15.16: the worker of an empire."""

    admission: ClassVar = Admission(("tile_worker",), rule="SE7-15.16")
    empire: Id


class PlaceEventUnit(Move, frozen=True):
    """SE7-15.17: the unit given to an empire by a tile."""

    admission: ClassVar = Admission(("tile_unit",), rule="SE7-15.17")
    empire: Id
    region: Id


MOVES = declared_classes(__name__, Move)
