"""The move builder: every order type with the values that are legal under the projected sheet, item by item.

What is offered can be completed. Products are never listed: an army, then its order, then its path node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from domain.games.egc import choices_army
from domain.games.egc.data import EMPIRES, LINKS, RESEARCH, SEAT, TECHNOLOGIES, TERRITORIES, VICTORY
from domain.games.egc.moves import (
    ZERO,
    AllocateTurnZero,
    Annex,
    AnswerProposal,
    Build,
    CancelOrder,
    ChooseLinks,
    Demolish,
    Disband,
    Drop,
    FundExpeditions,
    GiveMoney,
    GiveTerritory,
    InstallProtectorate,
    MergeArmies,
    Protect,
    Recruit,
    RelationAction,
    ReopenOrders,
    SetPorts,
    SetResearch,
    SetStraits,
    SplitArmy,
    SpyEmpire,
    SpyTerritory,
    SubmitOrders,
)
from domain.games.egc.order import Territorial
from domain.games.egc.order_options import Desk
from domain.games.egc.rules import spying
from domain.games.egc.state import Egc
from domain.kernel.rules.choices import Builder, Option, one, span
from domain.kernel.rules.ruleset import memo
from domain.types import Json, Seat

Offers = Callable[[Desk], Iterator[Json]]


def build(s: Egc, seat: Seat) -> Builder:
    """The builder of the decision that is open."""
    if seat in s.top.done:
        yield one("type", ["reopen_orders"])
        return ReopenOrders()
    if s.top.kind in ZERO:
        return (yield from _turn_zero(s, seat))
    desk: Desk = memo(s, f"desk {seat}", lambda: Desk(s, seat), (s.sheets[seat], *s.unsheeted))
    kind = yield one("type", menu(desk))
    if kind == "submit_orders":
        return SubmitOrders()
    return (yield from ORDERS[kind][1](desk))


def _turn_zero(s: Egc, seat: Seat) -> Builder:
    """EGC-7.1: technology by technology; the last takes the rest."""
    filed = [Option("submit_orders", ends=True)] if s.sheets[seat].allocation else []
    if (yield one("type", [*filed, "allocate_turn_zero"])) == "submit_orders":
        return SubmitOrders()
    left: int = RESEARCH["turn_zero_points"]
    points: dict[str, int] = {}
    for technology in TECHNOLOGIES[:-1]:
        points[technology] = yield span(technology, 0, left)
        left -= points[technology]
    return AllocateTurnZero({**points, TECHNOLOGIES[-1]: left})


def menu(desk: Desk) -> Sequence[Option]:
    """Types of moves that can be completed."""
    if not desk.menu:
        kinds = (kind for kind, (possible, _) in ORDERS.items() if possible(desk))
        desk.menu = (Option("submit_orders", ends=True), *map(Option, kinds))
    return desk.menu


# --- each type -----------------------------------------------------------------------------------------------


def _set_research(desk: Desk) -> Builder:
    technology = yield one("technology", TECHNOLOGIES)
    return SetResearch(technology, (yield span("amount", 1, desk.budget("set_research"))))


def _build(desk: Desk) -> Builder:
    territory = yield one("territory", desk.sites)
    return Build(territory, (yield one("infrastructure", desk.sites[territory])))


def _demolish(desk: Desk) -> Builder:
    territory = yield one("territory", desk.ruins)
    return Demolish(territory, (yield one("infrastructure", desk.ruins[territory])))


def _recruit(desk: Desk) -> Builder:
    territory = yield one("territory", [Option(t, {"most": n}) for t, n in desk.raising.items()])
    return Recruit(territory, (yield span("divisions", 1, desk.raising[territory])))


def _split(desk: Desk) -> Builder:
    army = yield one("army", desk.splitting)
    return SplitArmy(army, (yield span("divisions", 1, desk.c.armies[army].divisions - 1)))


def _merge(desk: Desk) -> Builder:
    first = yield one("armies", desk.merging)
    left = list(desk.merging[first])
    armies = [first, (yield one("armies", left))]
    while rest := [army for army in left if army not in armies]:
        more = yield one("armies", [None, *rest])
        if more is None:
            break
        armies.append(more)
    return MergeArmies(armies)


def _disband(desk: Desk) -> Builder:
    army = yield one("army", desk.disbanding)
    return Disband(army, (yield span("divisions", 1, desk.disbanding[army])))


def _fund(desk: Desk) -> Builder:
    return FundExpeditions((yield span("count", *desk.funding)))


def _order_army(desk: Desk) -> Builder:
    army = yield one("army", [army for army, _ in desk.armies])
    return (yield from choices_army.order(desk.legs(army)))


def _relation(desk: Desk) -> Builder:
    target = yield one("target", desk.talking)
    action = yield one("action", desk.talking[target])
    order = RelationAction(target, action)
    if action == "declare_war_cb":
        return order
    most = desk.points("relation_action", target) - desk.price(order)
    return RelationAction(target, action, (yield span("stake", 0, most)))


def _answer(desk: Desk) -> Builder:
    proposal = yield one("proposal", desk.answering)
    return AnswerProposal(proposal, (yield one("accept", desk.answering[proposal])))


def _straits(desk: Desk) -> Builder:
    strait = yield one("strait", desk.straits)
    target = yield one("target", [EMPIRES[x] for x in desk.calm])
    closed = f"{strait}:{SEAT[target]}" in desk.s.closed
    return SetStraits(strait, target, (yield one("closed", [not closed])))


def _ports(desk: Desk) -> Builder:
    target = yield one("target", [EMPIRES[x] for x in desk.calm])
    opened = f"{desk.seat}:{SEAT[target]}" in desk.s.open_ports
    return SetPorts(target, (yield one("open", [not opened])))


def _give_territory(desk: Desk) -> Builder:
    territory = yield one("territory", desk.giving())
    return GiveTerritory(territory, (yield one("to", [EMPIRES[x] for x in desk.calm])))


def _give_money(desk: Desk) -> Builder:
    to = yield one("to", desk.paying)
    return GiveMoney(to, (yield span("amount", 1, desk.paying[to])))


def _place(kind: type[Territorial], places: Offers) -> Callable[[Desk], Builder]:
    def fields(desk: Desk) -> Builder:
        return kind((yield one("territory", places(desk))))

    return fields


def _links(desk: Desk) -> Builder:
    links: list[str] = []
    while len(links) < VICTORY["links_per_choice"]:
        rest = [k for k in LINKS if k not in links and k not in desk.c.empire.links_done]
        link = yield one("links", [None, *rest])
        if link is None:
            break
        links.append(link)
    return ChooseLinks(links)


def _cancel(desk: Desk) -> Builder:
    return CancelOrder((yield one("order", desk.cancelling)))


def _spy_territory(desk: Desk) -> Builder:
    cost = {"brz": spying.territory_price(desk.c)}
    return SpyTerritory((yield one("territory", [Option(t, cost) for t in TERRITORIES if not desk.c.owns(t)])))


def _spy_empire(desk: Desk) -> Builder:
    cost = {"brz": spying.empire_price(desk.c)}
    return SpyEmpire((yield one("empire", [Option(EMPIRES[x], cost) for x in desk.rivals])))


def _some(offers: Offers) -> Callable[[Desk], bool]:
    """Whether there is anything."""
    return lambda desk: any(True for _ in offers(desk))


def _can_cancel(desk: Desk) -> bool:
    orders = desk.sheet.orders
    return any(desk.alone(o) for o in orders) or bool(orders and desk.cancelling)


ORDERS: dict[str, tuple[Callable[[Desk], Any], Callable[[Desk], Builder]]] = {
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
    "give_money": (_some(Desk.giving_money), _give_money),
    "protect": (_some(Desk.protecting), _place(Protect, Desk.protecting)),
    "install_protectorate": (_some(Desk.installing), _place(InstallProtectorate, Desk.installing)),
    "annex": (_some(Desk.annexing), _place(Annex, Desk.annexing)),
    "drop": (_some(Desk.dropping), _place(Drop, Desk.dropping)),
    "choose_links": (lambda k: k.s.choosing_links(), _links),
    "cancel_order": (_can_cancel, _cancel),
    "spy_territory": (lambda k: k.c.funds >= spying.territory_price(k.c), _spy_territory),
    "spy_empire": (lambda k: k.rivals and k.c.funds >= spying.empire_price(k.c), _spy_empire),
}
"""Move type -> whether it is possible at all, and its builder."""
