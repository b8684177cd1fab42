"""The move builder: every order type with the values that are legal under the projected sheet, item by item.

What is offered can be completed. Products are never listed: an army, then its order, then its path node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from domain.games.egc import choices_army
from domain.games.egc.data import EMPIRES, LINKS, RESEARCH, SEAT, TECHNOLOGIES, TERRITORIES, VICTORY
from domain.games.egc.desk import Desk
from domain.games.egc.moves import ZERO
from domain.games.egc.rules import spying
from domain.games.egc.state import Egc
from domain.ids import Json, Seat
from domain.kernel.choices import Builder, Choice, Option, one, span
from domain.kernel.ruleset import memo

Offers = Callable[[Desk], Iterator[Any]]
Fields = Generator[Choice, Any, dict[str, Json]]
"""Asks for some fields of a move and returns them."""


def build(s: Egc, seat: Seat) -> Builder:
    """The builder of the decision that is open."""
    if seat in s.top.done:
        return {"type": (yield one("type", ["reopen_orders"]))}
    if s.top.kind in ZERO:
        return (yield from _turn_zero(s, seat))
    desk: Desk = memo(s, f"desk {seat}", lambda: Desk(s, seat), (s.sheets[seat], *s.unsheeted))
    kind = yield one("type", menu(desk))
    if kind == "submit_orders":
        return {"type": kind}
    return {"type": kind, **(yield from ORDERS[kind][1](desk))}


def _turn_zero(s: Egc, seat: Seat) -> Builder:
    """EGC-7.1: technology by technology; the last takes the rest."""
    filed = [Option("submit_orders", ends=True)] if s.sheets[seat].allocation else []
    if (yield one("type", [*filed, "allocate_turn_zero"])) == "submit_orders":
        return {"type": "submit_orders"}
    left: int = RESEARCH["turn_zero_points"]
    points: dict[str, int] = {}
    for technology in TECHNOLOGIES[:-1]:
        points[technology] = yield span(technology, 0, left)
        left -= points[technology]
    return {"type": "allocate_turn_zero", "points": {**points, TECHNOLOGIES[-1]: left}}


def menu(desk: Desk) -> Sequence[Option]:
    """Types of moves that can be completed."""
    if not desk.menu:
        kinds = (kind for kind, (possible, _) in ORDERS.items() if possible(desk))
        desk.menu = (Option("submit_orders", ends=True), *map(Option, kinds))
    return desk.menu


# --- the fields of each type --------------------------------------------------------------------------------------


def _amount(desk: Desk, name: str, lo: int, hi: int) -> Fields:
    return {name: (yield span(name, lo, hi))}


def _set_research(desk: Desk) -> Fields:
    technology = yield one("technology", TECHNOLOGIES)
    return {"technology": technology, **(yield from _amount(desk, "amount", 1, desk.budget("set_research")))}


def _build(desk: Desk) -> Fields:
    territory = yield one("territory", desk.sites)
    return {"territory": territory, "infrastructure": (yield one("infrastructure", desk.sites[territory]))}


def _demolish(desk: Desk) -> Fields:
    territory = yield one("territory", desk.ruins)
    return {"territory": territory, "infrastructure": (yield one("infrastructure", desk.ruins[territory]))}


def _recruit(desk: Desk) -> Fields:
    territory = yield one("territory", [Option(t, {"most": n}) for t, n in desk.raising.items()])
    return {"territory": territory, **(yield from _amount(desk, "divisions", 1, desk.raising[territory]))}


def _split(desk: Desk) -> Fields:
    army = yield one("army", desk.splitting)
    return {"army": army, **(yield from _amount(desk, "divisions", 1, desk.c.armies[army].divisions - 1))}


def _merge(desk: Desk) -> Fields:
    first = yield one("armies", desk.merging)
    left = list(desk.merging[first])
    armies = [first, (yield one("armies", left))]
    while rest := [army for army in left if army not in armies]:
        more = yield one("armies", [None, *rest])
        if more is None:
            break
        armies.append(more)
    return {"armies": armies}


def _disband(desk: Desk) -> Fields:
    army = yield one("army", desk.disbanding)
    return {"army": army, **(yield from _amount(desk, "divisions", 1, desk.disbanding[army]))}


def _fund(desk: Desk) -> Fields:
    return (yield from _amount(desk, "count", *desk.funding))


def _order_army(desk: Desk) -> Fields:
    army = yield one("army", [army for army, _ in desk.armies])
    return {"army": army, **(yield from choices_army.order(desk.legs(army)))}


def _relation(desk: Desk) -> Fields:
    target = yield one("target", desk.talking)
    action = yield one("action", desk.talking[target])
    move = {"target": target, "action": action}
    if action == "declare_war_cb":
        return move
    cost = desk.price({"type": "relation_action", **move})
    most = desk.points("relation_action", target) - cost
    return {**move, "stake": (yield span("stake", 0, most))}


def _answer(desk: Desk) -> Fields:
    proposal = yield one("proposal", desk.answering)
    return {"proposal": proposal, "accept": (yield one("accept", desk.answering[proposal]))}


def _straits(desk: Desk) -> Fields:
    strait = yield one("strait", desk.straits)
    target = yield one("target", [EMPIRES[x] for x in desk.calm])
    closed = f"{strait}:{SEAT[target]}" in desk.s.closed
    return {"strait": strait, "target": target, "closed": (yield one("closed", [not closed]))}


def _ports(desk: Desk) -> Fields:
    target = yield one("target", [EMPIRES[x] for x in desk.calm])
    opened = f"{desk.seat}:{SEAT[target]}" in desk.s.open_ports
    return {"target": target, "open": (yield one("open", [not opened]))}


def _give_territory(desk: Desk) -> Fields:
    territory = yield one("territory", desk.giving())
    return {"territory": territory, "to": (yield one("to", [EMPIRES[x] for x in desk.calm]))}


def _give_money(desk: Desk) -> Fields:
    to = yield one("to", desk.paying)
    return {"to": to, **(yield from _amount(desk, "amount", 1, desk.paying[to]))}


def _place(places: Offers) -> Callable[[Desk], Fields]:
    def fields(desk: Desk) -> Fields:
        return {"territory": (yield one("territory", places(desk)))}

    return fields


def _links(desk: Desk) -> Fields:
    links: list[str] = []
    while len(links) < VICTORY["links_per_choice"]:
        rest = [k for k in LINKS if k not in links and k not in desk.c.empire.links_done]
        link = yield one("links", [None, *rest])
        if link is None:
            break
        links.append(link)
    return {"links": links}


def _cancel(desk: Desk) -> Fields:
    return {"order": (yield one("order", desk.cancelling))}


def _spy_territory(desk: Desk) -> Fields:
    cost = {"brz": spying.territory_price(desk.c)}
    return {"territory": (yield one("territory", [Option(t, cost) for t in TERRITORIES if not desk.c.owns(t)]))}


def _spy_empire(desk: Desk) -> Fields:
    cost = {"brz": spying.empire_price(desk.c)}
    return {"empire": (yield one("empire", [Option(EMPIRES[x], cost) for x in desk.rivals]))}


def _some(offers: Offers) -> Callable[[Desk], bool]:
    """Whether there is anything."""
    return lambda desk: any(True for _ in offers(desk))


def _can_cancel(desk: Desk) -> bool:
    orders = desk.sheet.orders
    return any(desk.alone(o) for o in orders) or bool(orders and desk.cancelling)


ORDERS: dict[str, tuple[Callable[[Desk], Any], Callable[[Desk], Fields]]] = {
    "set_research": (lambda k: k.budget("set_research") > 0, _set_research),
    "build": (_some(Desk.building), _build),
    "demolish": (_some(Desk.demolishing), _demolish),
    "recruit": (lambda k: k.raising, _recruit),
    "split_army": (lambda k: k.splitting, _split),
    "merge_armies": (lambda k: k.merging, _merge),
    "disband": (lambda k: k.disbanding, _disband),
    "fund_expeditions": (lambda k: k.funding[0] <= k.funding[1], _fund),
    "order_army": (lambda k: k.armies, _order_army),
    "relation_action": (_some(Desk.acting), _relation),
    "answer_proposal": (lambda k: k.answering, _answer),
    "set_straits": (lambda k: k.straits, _straits),
    "set_ports": (lambda k: k.calm, _ports),
    "give_territory": (_some(Desk.giving), _give_territory),
    "give_money": (lambda k: k.paying, _give_money),
    "protect": (_some(Desk.protecting), _place(Desk.protecting)),
    "install_protectorate": (_some(Desk.installing), _place(Desk.installing)),
    "annex": (_some(Desk.annexing), _place(Desk.annexing)),
    "drop": (_some(Desk.dropping), _place(Desk.dropping)),
    "choose_links": (lambda k: k.s.choosing_links(), _links),
    "cancel_order": (_can_cancel, _cancel),
    "spy_territory": (lambda k: k.c.funds >= spying.territory_price(k.c), _spy_territory),
    "spy_empire": (lambda k: k.rivals and k.c.funds >= spying.empire_price(k.c), _spy_empire),
}
"""Move type -> whether it is possible at all, and its fields."""
