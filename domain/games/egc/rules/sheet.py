"""EGC-7.0: the order sheet: filing, replacing and cancelling, always with the whole sheet legal."""

from __future__ import annotations

from collections.abc import Sequence

from domain.errors import RuleError
from domain.games.egc.data import army_id
from domain.games.egc.rules import orders_army, orders_diplomacy, orders_money
from domain.games.egc.rules.orders_management import MANAGEMENT
from domain.games.egc.rules.projection import Check, Copy
from domain.games.egc.state import D, Egc, Filed
from domain.ids import Json, Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Frame
from domain.kernel.ruleset import memo

OTHERS: dict[str, Check] = {
    "set_research": orders_money.set_research,
    "fund_expeditions": orders_money.fund_expeditions,
    "order_army": orders_army.order_army,
    "relation_action": orders_diplomacy.relation_action,
    "answer_proposal": orders_diplomacy.answer_proposal,
    "set_straits": orders_diplomacy.set_straits,
    "set_ports": orders_diplomacy.set_ports,
    "give_territory": orders_diplomacy.give_territory,
    "give_money": orders_money.give_money,
    "protect": orders_diplomacy.protect,
    "install_protectorate": orders_diplomacy.install_protectorate,
    "annex": orders_diplomacy.annex,
    "drop": orders_diplomacy.drop,
    "choose_links": orders_money.choose_links,
}
"""Orders that are checked against the copy after all management orders (EGC-7.0.2)."""

_TERRITORIAL = ("protect", "install_protectorate", "annex", "drop")
_KEYS = {
    "order_army": ("army",),
    "relation_action": ("target",),
    "set_ports": ("target",),
    "set_straits": ("strait", "target"),
    "answer_proposal": ("proposal",),
    "give_money": ("to",),
}
RAISING = ("recruit", "split_army")
"""Orders that allot the number of a new army (EGC-7.0.8)."""


def key_of(move: Move) -> tuple[str, ...] | None:
    """EGC-7.0.1: an order with the same key is replaced; None for an order without."""
    kind = move["type"]
    if kind in MANAGEMENT:
        return None
    if kind in _TERRITORIAL:
        return ("territory", move["territory"])
    return (kind, *(move[name] for name in _KEYS.get(kind, ())))


def carry_out(s: Egc, seat: Seat, orders: Sequence[Filed], controls: tuple[str, ...] | None = None) -> Copy:
    """EGC-7.0.2: the copy after the sheet; faults by order number, each at its own place."""
    c = Copy(s, seat, controls)
    for filed in orders:
        if filed.order["type"] == "order_army":
            c.ordered[filed.order["army"]] = filed.n
        elif filed.order["type"] == "fund_expeditions":
            c.expeditions = filed.order["count"]
    for table in (MANAGEMENT, OTHERS):
        for filed in orders:
            if check := table.get(filed.order["type"]):
                _try(c, check, filed)
    return c


def _try(c: Copy, check: Check, filed: Filed) -> None:
    try:
        check(c, filed.order, filed)
    except RuleError as fault:
        c.faults[filed.n] = fault


def copy_of(s: Egc, seat: Seat) -> Copy:
    """The copy after the seat's sheet as it stands; made once per sheet."""
    sheet = s.sheets[seat]
    of = (sheet, *s.unsheeted)
    made: Copy = memo(s, f"copy {seat}", lambda: carry_out(s, seat, sheet.orders, sheet.controls), of)
    return made


def with_order(s: Egc, seat: Seat, move: Move) -> tuple[Filed, list[Filed], int | None]:
    """EGC-7.0.1: the new order, the sheet with it, and the number of the order that it replaces."""
    sheet = s.sheets[seat]
    army = army_id(seat, sheet.next_army) if move["type"] in RAISING else None
    filed = Filed(sheet.next_order, move, army)
    key = key_of(move)
    old = next((o.n for o in sheet.orders if key is not None and key_of(o.order) == key), None)
    return filed, [*(o for o in sheet.orders if o.n != old), filed], old


def file_order(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """EGC-7.0.3 to EGC-7.0.6: the order's own faults, then funds, points, and what depends on it."""
    filed, orders, old = with_order(d.state, seat, move)
    c = after(d.state, seat, orders)
    check_sheet(c, filed.n)
    fact: dict[str, Json] = {"t": "order_filed", "seat": seat, "n": filed.n, "order": move}
    fact |= {} if filed.army is None else {"army": filed.army}
    fact |= {} if old is None else {"replaces": old}
    d.add({**fact, **_controls(d.state, seat, c)}, (seat,))


def cancel_order(d: D, frame: Frame, seat: Seat, move: Move) -> None:
    """EGC-7.0.4."""
    sheet = d.state.sheets[seat]
    kept = [o for o in sheet.orders if o.n != move["order"]]
    if len(kept) == len(sheet.orders):
        raise RuleError("unknown_order", "EGC-7.0.4", {"order": move["order"]})
    c = after(d.state, seat, kept)
    check_sheet(c, 0)
    d.add({"t": "order_cancelled", "seat": seat, "n": move["order"], **_controls(d.state, seat, c)}, (seat,))


def after(s: Egc, seat: Seat, orders: Sequence[Filed]) -> Copy:
    """The copy after another sheet; control of the seas is found anew where ports are touched (EGC-6.3)."""
    sheet = s.sheets[seat]
    touched = any(_touches_ports(o) for o in (*orders, *sheet.orders))
    return carry_out(s, seat, orders, None if touched else sheet.controls)


def _touches_ports(filed: Filed) -> bool:
    return bool(filed.order.get("infrastructure") == "port")


def _controls(s: Egc, seat: Seat, c: Copy) -> dict[str, Json]:
    return {} if c.controls == s.sheets[seat].controls else {"controls": list(c.controls)}


def check_sheet(c: Copy, new: int) -> None:
    """EGC-7.0.6: `new` is the number of the order that was filed, 0 where one is cancelled."""
    if new in c.faults:
        raise c.faults[new]
    check_funds(c)
    if c.points < 0:
        raise RuleError("insufficient_diplomacy_points", "EGC-7.0.5", {"missing": -c.points})
    if c.faults:
        raise RuleError("order_has_dependents", "EGC-7.0.3", {"orders": sorted(c.faults)})


def check_funds(c: Copy) -> None:
    """EGC-7.0.5."""
    if c.funds < 0:
        raise RuleError("insufficient_funds", "EGC-7.0.5", {"missing": -c.funds})
