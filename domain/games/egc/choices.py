"""Move builder: every order type with its legal values under the projected sheet, item by item.

Every offer can be completed. Products are never listed: an army, then its order, then its path node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from domain.games.egc import choices_army
from domain.games.egc.data import ECONOMY, EMPIRES, LINKS, RESEARCH, SEAT, TECHNOLOGIES, TERRITORIES, VICTORY
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
from domain.games.egc.order_options import OrderOptions
from domain.games.egc.rules import spying
from domain.games.egc.state import Egc
from domain.kernel.rules.choices import Builder, Option, one, span
from domain.kernel.rules.ruleset import memo
from domain.types import Json, Seat

Offers = Callable[[OrderOptions], Iterator[Json]]


def build(s: Egc, seat: Seat) -> Builder:
    """Return the builder of the open decision."""
    if seat in s.top.done:
        yield one("type", ["reopen_orders"])
        return ReopenOrders()
    if s.top.kind in ZERO:
        return (yield from _turn_zero(s, seat))
    desk: OrderOptions = memo(s, f"desk {seat}", lambda: OrderOptions(s, seat), (s.sheets[seat], *s.unsheeted))
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


def menu(options: OrderOptions) -> Sequence[Option]:
    """Return the types of moves with a possible completion."""
    if not options.menu:
        kinds = (kind for kind, (possible, _) in ORDERS.items() if possible(options))
        options.menu = (Option("submit_orders", ends=True), *map(Option, kinds))
    return options.menu


# --- each type -----------------------------------------------------------------------------------------------


def _set_research(options: OrderOptions) -> Builder:
    technology = yield one("technology", TECHNOLOGIES)
    return SetResearch(technology, (yield span("amount", 1, options.budget("set_research"))))


def _build(options: OrderOptions) -> Builder:
    territory = yield one("territory", options.sites)
    return Build(territory, (yield one("infrastructure", options.sites[territory])))


def _demolish(options: OrderOptions) -> Builder:
    territory = yield one("territory", options.ruins)
    return Demolish(territory, (yield one("infrastructure", options.ruins[territory])))


def _recruit(options: OrderOptions) -> Builder:
    price = {"brz_each": ECONOMY["division_cost"]}
    territory = yield one("territory", [Option(t, {"most": n, **price}) for t, n in options.raising.items()])
    return Recruit(territory, (yield span("divisions", 1, options.raising[territory])))


def _split(options: OrderOptions) -> Builder:
    army = yield one("army", options.splitting)
    return SplitArmy(army, (yield span("divisions", 1, options.c.armies[army].divisions - 1)))


def _merge(options: OrderOptions) -> Builder:
    first = yield one("armies", options.merging)
    left = list(options.merging[first])
    armies = [first, (yield one("armies", left))]
    while rest := [army for army in left if army not in armies]:
        more = yield one("armies", [None, *rest])
        if more is None:
            break
        armies.append(more)
    return MergeArmies(armies)


def _disband(options: OrderOptions) -> Builder:
    army = yield one("army", options.disbanding)
    return Disband(army, (yield span("divisions", 1, options.disbanding[army])))


def _fund(options: OrderOptions) -> Builder:
    return FundExpeditions((yield span("count", *options.funding)))


def _order_army(options: OrderOptions) -> Builder:
    army = yield one("army", [army for army, _ in options.armies])
    return (yield from choices_army.order(options.legs(army)))


def _relation(options: OrderOptions) -> Builder:
    target = yield one("target", options.talking)
    action = yield one("action", options.talking[target])
    order = RelationAction(target, action)
    if action == "declare_war_cb":
        return order
    most = options.points("relation_action", target) - options.price(order)
    return RelationAction(target, action, (yield span("stake", 0, most)))


def _answer(options: OrderOptions) -> Builder:
    proposal = yield one("proposal", options.answering)
    return AnswerProposal(proposal, (yield one("accept", options.answering[proposal])))


def _straits(options: OrderOptions) -> Builder:
    strait = yield one("strait", options.straits)
    target = yield one("target", [EMPIRES[x] for x in options.calm])
    closed = f"{strait}:{SEAT[target]}" in options.s.closed
    return SetStraits(strait, target, (yield one("closed", [not closed])))


def _ports(options: OrderOptions) -> Builder:
    target = yield one("target", [EMPIRES[x] for x in options.calm])
    opened = f"{options.seat}:{SEAT[target]}" in options.s.open_ports
    return SetPorts(target, (yield one("open", [not opened])))


def _give_territory(options: OrderOptions) -> Builder:
    territory = yield one("territory", options.giving())
    return GiveTerritory(territory, (yield one("to", [EMPIRES[x] for x in options.calm])))


def _give_money(options: OrderOptions) -> Builder:
    to = yield one("to", options.paying)
    return GiveMoney(to, (yield span("amount", 1, options.paying[to])))


def _place(kind: type[Territorial], places: Offers) -> Callable[[OrderOptions], Builder]:
    def fields(options: OrderOptions) -> Builder:
        return kind((yield one("territory", places(options))))

    return fields


def _links(options: OrderOptions) -> Builder:
    links: list[str] = []
    while len(links) < VICTORY["links_per_choice"]:
        rest = [k for k in LINKS if k not in links and k not in options.c.empire.links_done]
        link = yield one("links", [None, *rest])
        if link is None:
            break
        links.append(link)
    return ChooseLinks(links)


def _cancel(options: OrderOptions) -> Builder:
    return CancelOrder((yield one("order", options.cancelling)))


def _spy_territory(options: OrderOptions) -> Builder:
    cost = {"brz": spying.territory_price(options.c)}
    return SpyTerritory((yield one("territory", [Option(t, cost) for t in TERRITORIES if not options.c.owns(t)])))


def _spy_empire(options: OrderOptions) -> Builder:
    cost = {"brz": spying.empire_price(options.c)}
    return SpyEmpire((yield one("empire", [Option(EMPIRES[x], cost) for x in options.rivals])))


def _some(offers: Offers) -> Callable[[OrderOptions], bool]:
    """Return whether there is any offer."""
    return lambda desk: any(True for _ in offers(desk))


def _can_cancel(options: OrderOptions) -> bool:
    orders = options.sheet.orders
    return any(options.is_independent(o) for o in orders) or bool(orders and options.cancelling)


ORDERS: dict[str, tuple[Callable[[OrderOptions], Any], Callable[[OrderOptions], Builder]]] = {
    "set_research": (lambda k: k.budget("set_research") > 0, _set_research),
    "build": (_some(OrderOptions.building), _build),
    "demolish": (_some(OrderOptions.demolishing), _demolish),
    "recruit": (lambda k: k.raising, _recruit),
    "split_army": (lambda k: k.splitting, _split),
    "merge_armies": (lambda k: k.merging, _merge),
    "disband": (lambda k: k.disbanding, _disband),
    "fund_expeditions": (lambda k: k.funding[0] <= k.funding[1], _fund),
    "order_army": (lambda k: k.armies, _order_army),
    "relation_action": (_some(OrderOptions.acting), _relation),
    "answer_proposal": (lambda k: k.answering, _answer),
    "set_straits": (lambda k: k.straits, _straits),
    "set_ports": (lambda k: k.calm, _ports),
    "give_territory": (_some(OrderOptions.giving), _give_territory),
    "give_money": (_some(OrderOptions.giving_money), _give_money),
    "protect": (_some(OrderOptions.protecting), _place(Protect, OrderOptions.protecting)),
    "install_protectorate": (_some(OrderOptions.installing), _place(InstallProtectorate, OrderOptions.installing)),
    "annex": (_some(OrderOptions.annexing), _place(Annex, OrderOptions.annexing)),
    "drop": (_some(OrderOptions.dropping), _place(Drop, OrderOptions.dropping)),
    "choose_links": (lambda k: k.s.choosing_links(), _links),
    "cancel_order": (_can_cancel, _cancel),
    "spy_territory": (lambda k: k.c.funds >= spying.territory_price(k.c), _spy_territory),
    "spy_empire": (lambda k: k.rivals and k.c.funds >= spying.empire_price(k.c), _spy_empire),
}
"""Move type -> whether it is possible at all, and its builder."""
