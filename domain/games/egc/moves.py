"""Every type of move with its members, the decision it answers, and its rule (EGC-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from domain.games.egc import frames
from domain.games.egc.order import Key, Management, Order, Territorial, private
from domain.kernel.schema.declarations import (
    UNSET,
    Admission,
    AnyInt,
    Case,
    Id,
    Keyed,
    Listed,
    Maybe,
    Move,
    Varies,
    among,
    by_type_name,
    declared_classes,
    type_name,
)
from domain.types import Doc

ZERO = tuple(map(type_name, frames.ZERO))
"""Kinds of the frames of turn zero."""

ARMY_ORDERS = ("move", "support", "prepare_defence", "train", "rest")
ACTIONS = ("degrade", "propose", "incite", "sabotage", "declare_war_cb")


class AllocateTurnZero(Move, frozen=True):
    """EGC-7.1: all points of turn zero, by technology."""

    admission: ClassVar = private("EGC-7.1", ZERO)
    points: Keyed[AnyInt]


# --- orders of a sheet ---------------------------------------------------------------------------------------


class SetResearch(Order, frozen=True):
    """EGC-7.2: money for a technology."""

    admission: ClassVar = private("EGC-7.2")
    technology: Id
    amount: AnyInt


class Build(Management, frozen=True):
    """EGC-7.3: one level more."""

    admission: ClassVar = private("EGC-7.3")
    territory: Id
    infrastructure: Id


class Demolish(Management, frozen=True):
    """EGC-7.4: one level less."""

    admission: ClassVar = private("EGC-7.4")
    territory: Id
    infrastructure: Id


class Recruit(Management, frozen=True):
    """EGC-7.5: a new army."""

    admission: ClassVar = private("EGC-7.5")
    territory: Id
    divisions: AnyInt


class SplitArmy(Management, frozen=True):
    """EGC-7.6: a new army of some of its divisions."""

    admission: ClassVar = private("EGC-7.6")
    army: Id
    divisions: AnyInt


class MergeArmies(Management, frozen=True):
    """EGC-7.7: one army of several."""

    admission: ClassVar = private("EGC-7.7")
    armies: Listed[Id]


class Disband(Management, frozen=True):
    """EGC-7.8: divisions go home."""

    admission: ClassVar = private("EGC-7.8")
    army: Id
    divisions: AnyInt


class FundExpeditions(Order, frozen=True):
    """EGC-7.9: a number of expeditions."""

    admission: ClassVar = private("EGC-7.9")
    count: AnyInt


class OrderArmy(Order, frozen=True):
    """EGC-7.10: the order of an army for this turn."""

    admission: ClassVar = private("EGC-7.10")
    varies: ClassVar = Varies(
        "order",
        {
            "move": Case(("path",), ("round",)),
            "support": Case(("territory",)),
            "prepare_defence": Case(),
            "train": Case(),
            "rest": Case(),
        },
    )
    army: Id
    order: Annotated[str, among(ARMY_ORDERS)]
    path: Maybe[Listed[Id]] = UNSET
    round: Maybe[AnyInt] = UNSET
    territory: Maybe[Id] = UNSET

    @property
    def key(self) -> Key | None:
        return ("order_army", self.army)


class RelationAction(Order, frozen=True):
    """EGC-7.12: an action on the relation with another empire."""

    admission: ClassVar = private("EGC-7.12")
    target: Id
    action: Annotated[str, among(ACTIONS)]
    stake: Maybe[AnyInt] = UNSET

    @property
    def key(self) -> Key | None:
        return ("relation_action", self.target)


class AnswerProposal(Order, frozen=True):
    """EGC-7.13: yes or no to a proposal."""

    admission: ClassVar = private("EGC-7.13")
    proposal: Id
    accept: bool

    @property
    def key(self) -> Key | None:
        return ("answer_proposal", self.proposal)


class SetStraits(Order, frozen=True):
    """EGC-7.14: a strait is closed to an empire, or opened."""

    admission: ClassVar = private("EGC-7.14")
    strait: Id
    target: Id
    closed: bool

    @property
    def key(self) -> Key | None:
        return ("set_straits", self.strait, self.target)


class SetPorts(Order, frozen=True):
    """EGC-7.15: the own ports are opened to an empire, or closed."""

    admission: ClassVar = private("EGC-7.15")
    target: Id
    open: bool

    @property
    def key(self) -> Key | None:
        return ("set_ports", self.target)


class GiveTerritory(Order, frozen=True):
    """EGC-7.16: a territory or protectorate for another empire."""

    admission: ClassVar = private("EGC-7.16")
    territory: Id
    to: Id


class GiveMoney(Order, frozen=True):
    """EGC-7.17: money for another empire."""

    admission: ClassVar = private("EGC-7.17")
    to: Id
    amount: AnyInt

    @property
    def key(self) -> Key | None:
        return ("give_money", self.to)


class Protect(Territorial, frozen=True):
    """EGC-7.18: a neutral territory is protected."""

    admission: ClassVar = private("EGC-7.18")


class InstallProtectorate(Territorial, frozen=True):
    """EGC-7.19: a protected territory becomes a protectorate."""

    admission: ClassVar = private("EGC-7.19")


class Annex(Territorial, frozen=True):
    """EGC-7.20: a protectorate becomes an own territory."""

    admission: ClassVar = private("EGC-7.20")


class Drop(Territorial, frozen=True):
    """EGC-7.21: a protection or protectorate is given up."""

    admission: ClassVar = private("EGC-7.21")


class ChooseLinks(Order, frozen=True):
    """EGC-7.22: links for the next count."""

    admission: ClassVar = private("EGC-7.22")
    links: Listed[Id]


# --- at once -------------------------------------------------------------------------------------------------


class CancelOrder(Move, frozen=True):
    """EGC-7.0.4: an order is taken off the sheet."""

    admission: ClassVar = private("EGC-7.0.4")
    order: AnyInt


class SpyTerritory(Move, frozen=True):
    """EGC-7.11: a look at a territory."""

    admission: ClassVar = private("EGC-7.11")
    territory: Id


class SpyEmpire(Move, frozen=True):
    """EGC-7.11: a look at an empire."""

    admission: ClassVar = private("EGC-7.11")
    empire: Id


class SubmitOrders(Move, frozen=True):
    """EGC-7.23: the sheet is done."""

    admission: ClassVar = Admission((*ZERO, "orders"), rule="EGC-7.23")


class ReopenOrders(Move, frozen=True):
    """EGC-7.23: the sheet is not done after all."""

    admission: ClassVar = Admission((*ZERO, "orders"), by="may", rule="EGC-7.23")


class Resign(Move, frozen=True):
    """EGC-4.6: the seat gives up; its empire is dormant."""

    admission: ClassVar = Admission(by="any", rule="EGC-4.6")


class Resolving(Move, frozen=True):
    """EGC-5.1: the engine resolves the turn."""

    admission: ClassVar = Admission(("resolving",), by="engine", rule="EGC-5.1")


MOVES = declared_classes(__name__, Move)
ORDERS: Mapping[str, type[Order]] = by_type_name(*(kind for kind in MOVES.values() if issubclass(kind, Order)))
"""Orders of a sheet: unseen by the others until the turn resolves (EGC-6.6)."""


def order_of(filed: Doc) -> Order:
    """Return the order of an entry on a sheet."""
    return msgspec.convert(filed, ORDERS[filed["type"]])
