"""What a seat can ask for: every type of move with its fields, the decision it answers, and its rule (EGC-7)."""

from __future__ import annotations

from collections.abc import Mapping

from domain.ids import MAX_INT
from domain.kernel.ruleset import MoveType
from domain.kernel.shapes import ANY_INT, Bool, Int, ListOf, MapOf, Obj, Shape, Word

ZERO = ("turn_zero", "turn_zero_timed")
"""Frames of turn zero; only the second has a deadline (EGC-2.2)."""

ARMY_ORDERS = ("move", "support", "prepare_defence", "train", "rest")
ACTIONS = ("degrade", "propose", "incite", "sabotage", "declare_war_cb")

_ID = Word()
_FIGURE = Int(-MAX_INT, MAX_INT, optional=True)


def _private(rule: str, fields: Mapping[str, Shape], at: tuple[str, ...] = ("orders",)) -> MoveType:
    return MoveType(Obj(fields), at, hidden=("*",), anonymous=True, rule=rule)


_ARMY = MoveType(
    Obj(
        {"army": _ID, "order": Word(ARMY_ORDERS)},
        "order",
        {
            "move": {"path": ListOf(_ID), "round": _FIGURE},
            "support": {"territory": _ID},
            "prepare_defence": {},
            "train": {},
            "rest": {},
        },
    ),
    ("orders",),
    hidden=("*",),
    anonymous=True,
    rule="EGC-7.10",
)

ORDERS: Mapping[str, MoveType] = {
    "set_research": _private("EGC-7.2", {"technology": _ID, "amount": ANY_INT}),
    "build": _private("EGC-7.3", {"territory": _ID, "infrastructure": _ID}),
    "demolish": _private("EGC-7.4", {"territory": _ID, "infrastructure": _ID}),
    "recruit": _private("EGC-7.5", {"territory": _ID, "divisions": ANY_INT}),
    "split_army": _private("EGC-7.6", {"army": _ID, "divisions": ANY_INT}),
    "merge_armies": _private("EGC-7.7", {"armies": ListOf(_ID)}),
    "disband": _private("EGC-7.8", {"army": _ID, "divisions": ANY_INT}),
    "fund_expeditions": _private("EGC-7.9", {"count": ANY_INT}),
    "order_army": _ARMY,
    "relation_action": _private("EGC-7.12", {"target": _ID, "action": Word(ACTIONS), "stake": _FIGURE}),
    "answer_proposal": _private("EGC-7.13", {"proposal": _ID, "accept": Bool()}),
    "set_straits": _private("EGC-7.14", {"strait": _ID, "target": _ID, "closed": Bool()}),
    "set_ports": _private("EGC-7.15", {"target": _ID, "open": Bool()}),
    "give_territory": _private("EGC-7.16", {"territory": _ID, "to": _ID}),
    "give_money": _private("EGC-7.17", {"to": _ID, "amount": ANY_INT}),
    "protect": _private("EGC-7.18", {"territory": _ID}),
    "install_protectorate": _private("EGC-7.19", {"territory": _ID}),
    "annex": _private("EGC-7.20", {"territory": _ID}),
    "drop": _private("EGC-7.21", {"territory": _ID}),
    "choose_links": _private("EGC-7.22", {"links": ListOf(_ID)}),
}
"""Orders of a sheet: unseen by the others until the turn resolves (EGC-6.6)."""

MOVES: Mapping[str, MoveType] = {
    "allocate_turn_zero": _private("EGC-7.1", {"points": MapOf(ANY_INT)}, ZERO),
    **ORDERS,
    "cancel_order": _private("EGC-7.0.4", {"order": ANY_INT}),
    "spy_territory": _private("EGC-7.11", {"territory": _ID}),
    "spy_empire": _private("EGC-7.11", {"empire": _ID}),
    "submit_orders": MoveType(Obj(), (*ZERO, "orders"), rule="EGC-7.23"),
    "reopen_orders": MoveType(Obj(), (*ZERO, "orders"), by="may", rule="EGC-7.23"),
    "resign": MoveType(Obj(), by="any", rule="EGC-4.6"),
    "resolving": MoveType(Obj(), ("resolving",), by="engine", rule="EGC-5.1"),
}
