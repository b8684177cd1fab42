"""Orders still possible on a seat's sheet: the values offered by the move builder (EGC-7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from domain.compat import cached_property
from domain.errors import RuleError
from domain.games.egc.choices_army import Legs
from domain.games.egc.data import (
    DIPLOMACY,
    ECONOMY,
    EMPIRES,
    INFRASTRUCTURES,
    MAX_ARMIES,
    SEAT,
    SEATS,
    STRAITS,
    TERRITORIES,
    annex_cost,
)
from domain.games.egc.moves import (
    ACTIONS,
    Annex,
    AnswerProposal,
    Demolish,
    Drop,
    FundExpeditions,
    GiveMoney,
    InstallProtectorate,
    OrderArmy,
    Protect,
    RelationAction,
    SetResearch,
)
from domain.games.egc.order import Management, Order, Territorial
from domain.games.egc.rules import orders_diplomacy
from domain.games.egc.rules.sheet import after, check_sheet, copy_of, with_order
from domain.games.egc.state import ELIMINATED, Army, Egc, Filed, numbered
from domain.kernel.rules.choices import Option
from domain.types import Seat

T = TypeVar("T")


def _by_first(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


class OrderOptions:
    """Orders still possible on a seat's sheet, with their values; made once per sheet.

    The generators serve the menu and stop at the first option; the properties hold all of them. It has many members,
    about two for each type of order: all share one copy of the seat's possessions, its funds and its points.
    """

    def __init__(self, s: Egc, seat: Seat) -> None:
        self.s, self.seat = s, seat
        self.c = copy_of(s, seat)
        self.sheet = s.sheets[seat]
        self.orders_by_key = {o.move.key: o.move for o in self.sheet.orders}
        """Orders by key; those without a key cannot be replaced."""
        self.menu: tuple[Option, ...] = ()
        """Types of moves with a possible completion, set by the menu."""
        self._legs: dict[str, Legs] = {}

    def legs(self, army: str) -> Legs:
        """Return the possible moves of an army."""
        if army not in self._legs:
            self._legs[army] = Legs(self.s, self.seat, army)
        return self._legs[army]

    @cached_property
    def own_territories(self) -> Sequence[str]:
        """Owned territories."""
        return self.s.owned(self.seat)

    @cached_property
    def rivals(self) -> list[Seat]:
        """Other empires in play."""
        return [x for x in SEATS if x != self.seat and self.s.status[x] != ELIMINATED]

    @cached_property
    def calm(self) -> list[Seat]:
        """Rivals without an imminent war."""
        return [x for x in self.rivals if self.s.relation(self.seat, x) != "imminent_war"]

    @cached_property
    def has_room(self) -> bool:
        """Return whether one army more is allowed."""
        return len(self.c.armies) < MAX_ARMIES

    def replaced_order(self, *key: str) -> Order | None:
        """Return the order to be replaced by a new one with this key."""
        return self.orders_by_key.get(key)

    def is_legal(self, orders: Iterable[Filed]) -> bool:
        """Return whether a whole sheet is legal."""
        try:
            check_sheet(after(self.s, self.seat, list(orders)), 0)
        except RuleError:
            return False
        return True

    # --- money and points, with the refund of a replaced order

    def budget(self, kind: str, *key: str) -> int:
        """Return the brz available for an order of this kind and key."""
        old = self.replaced_order(kind, *key)
        if isinstance(old, FundExpeditions):
            return self.c.funds + old.count * self.expedition
        return self.c.funds + (old.amount if isinstance(old, SetResearch | GiveMoney) else 0)

    @cached_property
    def expedition(self) -> int:
        """EGC-7.9: the price of one."""
        return self.c.by_rank("expedition_cost", "exploration")

    def points(self, *key: str) -> int:
        """Return the diplomacy points available for an order with this key."""
        old = self.replaced_order(*key)
        return self.c.points + (self.price(old) if old else 0)

    def price(self, order: Order) -> int:
        """Return the cost of a diplomatic order in points."""
        match order:
            case RelationAction():
                relation = self.s.relation(self.seat, SEAT[order.target])
                return orders_diplomacy.action_cost(relation, order.action) + (order.stake or 0)
            case AnswerProposal():
                return orders_diplomacy.answer_cost(self.s.proposals[order.proposal].action, order.accept)
            case Annex():
                held = self.s.lands[order.territory].protectorate
                return annex_cost(self.s.turn - held.since) if held else 0
            case Protect():
                return int(DIPLOMACY["protect"])
            case InstallProtectorate():
                return int(DIPLOMACY["protectorate"])
        return 0

    # --- options by type of order

    @cached_property
    def sites(self) -> dict[str, list[Option]]:
        """Territory -> infrastructure it can build, with its price."""
        return _by_first(self.building())

    def building(self) -> Iterator[tuple[str, Option]]:
        """Yield the items of `sites`, one after the other."""
        for t in self.own_territories:
            for name in INFRASTRUCTURES:
                if (cost := self._building(t, name)) is not None:
                    yield t, Option(name, {"brz": cost})

    def _building(self, territory: str, name: str) -> int | None:
        kind = INFRASTRUCTURES[name]
        if (kind.coastal and not TERRITORIES[territory].seas) or (territory, name) in self.c.changed:
            return None
        level = self.c.level(territory, name)
        return kind.cost[level] if level < kind.top and kind.cost[level] <= self.c.funds else None

    @cached_property
    def ruins(self) -> dict[str, list[str]]:
        """Territory -> infrastructure it can demolish without making another order illegal."""
        return _by_first(self.demolishing())

    def demolishing(self) -> Iterator[tuple[str, str]]:
        """Yield the items of `ruins`, one after the other."""
        return ((t, name) for t in self.own_territories for name in INFRASTRUCTURES if self._demolishable(t, name))

    def _demolishable(self, territory: str, name: str) -> bool:
        if (territory, name) in self.c.changed or not self.c.level(territory, name):
            return False
        marching = any(isinstance(o.move, OrderArmy) for o in self.sheet.orders)
        if name not in ("port", "railway") or not marching:
            return True
        return self.is_legal(with_order(self.s, self.seat, Demolish(territory, name))[1])

    @cached_property
    def raising(self) -> dict[str, int]:
        """Territory -> divisions it can raise."""
        most = self.c.funds // ECONOMY["division_cost"]
        if not self.has_room or most < 1:
            return {}
        found = {
            t: min(most, self.c.capacity(t)) for t in self.own_territories if self.c.level(t, "recruitment_centre")
        }
        return {t: n for t, n in found.items() if n > 0}

    @cached_property
    def armies(self) -> list[tuple[str, Army]]:
        """Armies of the copy, by number."""
        return list(numbered(self.c.armies))

    @cached_property
    def splitting(self) -> list[str]:
        """Armies large enough to be split."""
        return [army for army, a in self.armies if a.divisions > 1] if self.has_room else []

    @cached_property
    def merging(self) -> dict[str, list[str]]:
        """Army without an order -> others in the same place."""
        free = [(army, a.territory) for army, a in self.armies if army not in self.c.ordered]
        found = {army: [x for x, there in free if there == here and x != army] for army, here in free}
        return {army: others for army, others in found.items() if others}

    @cached_property
    def disbanding(self) -> dict[str, int]:
        """Army -> divisions free to go."""
        found = {army: a.divisions - (army in self.c.ordered) for army, a in self.armies}
        return {army: n for army, n in found.items() if n}

    @cached_property
    def funding(self) -> tuple[int, int]:
        """Least and greatest number of expeditions."""
        return max(1, self.c.explored), self.budget("fund_expeditions") // self.expedition

    @cached_property
    def talking(self) -> dict[str, list[Option]]:
        """Empire -> affordable actions towards it."""
        return _by_first(self.acting())

    def acting(self) -> Iterator[tuple[str, Option]]:
        """Yield the items of `talking`, one after the other."""
        return ((EMPIRES[x], o) for x in self.calm for a in ACTIONS if (o := self._action(x, a)))

    def _action(self, other: Seat, action: str) -> Option | None:
        try:
            orders_diplomacy.check_action(self.s, self.seat, other, action)
        except RuleError:
            return None
        cost = orders_diplomacy.action_cost(self.s.relation(self.seat, other), action)
        fits = cost <= self.points("relation_action", EMPIRES[other])
        return Option(action, {"points": cost} if cost else {}) if fits else None

    @cached_property
    def answering(self) -> dict[str, list[Option]]:
        """Proposal -> affordable answers."""
        found: dict[str, list[Option]] = {}
        for name in sorted(self.s.proposals):
            proposal = self.s.proposals[name]
            if proposal.target == self.seat:
                left = self.points("answer_proposal", name)
                costs = {a: orders_diplomacy.answer_cost(proposal.action, a) for a in (True, False)}
                found[name] = [Option(a, {"points": n} if n else {}) for a, n in costs.items() if n <= left]
        return {name: options for name, options in found.items() if options}

    @cached_property
    def straits(self) -> list[str]:
        """Straits under the control of the seat."""
        return [x.id for x in STRAITS.values() if self.c.owns(x.controller)] if self.calm else []

    def giving(self) -> Iterator[str]:
        """Yield territories and protectorates allowed as gifts."""

        def fits(territory: str) -> bool:
            try:
                orders_diplomacy.check_gift(self.c, territory)
            except RuleError:
                return False
            return True

        held = (*self.own_territories, *self.s.protectorates(self.seat)) if self.calm else ()
        return (t for t in held if fits(t))

    @cached_property
    def paying(self) -> dict[str, int]:
        """Empire -> most money allowed as a gift to it."""
        return dict(self.giving_money())

    def giving_money(self) -> Iterator[tuple[str, int]]:
        """Yield the items of `paying`, one after the other."""
        limit = self.c.by_rank("money_gift_limit", "diplomacy")
        found = ((EMPIRES[x], min(limit, self.budget("give_money", EMPIRES[x]))) for x in self.calm)
        return ((to, n) for to, n in found if n > 0)

    def _territorial(self, kind: type[Territorial], places: Iterable[str]) -> Iterator[Option]:
        for t in places:
            cost = self.price(kind(t))
            if cost <= self.points("territory", t):
                yield Option(t, {"points": cost} if cost else {})

    @cached_property
    def protections(self) -> Mapping[str, int]:
        """Territory -> turn of the seat's order to protect it."""
        return self.s.holdings.protections[self.seat]

    def protecting(self) -> Iterator[Option]:
        """EGC-7.18."""
        return self._territorial(Protect, (t for t in self.s.holdings.free if t not in self.protections))

    def installing(self) -> Iterator[Option]:
        """EGC-7.19."""
        known = (t for t, since in self.protections.items() if self.s.in_force(since))
        return self._territorial(InstallProtectorate, known)

    def annexing(self) -> Iterator[Option]:
        """EGC-7.20."""
        return self._territorial(Annex, self.s.protectorates(self.seat))

    def dropping(self) -> Iterator[Option]:
        """EGC-7.21."""
        return self._territorial(Drop, sorted((*self.protections, *self.s.protectorates(self.seat))))

    @cached_property
    def cancelling(self) -> list[int]:
        """EGC-7.0.4: numbers of the orders without dependants."""
        orders = self.sheet.orders
        return [o.n for o in orders if self.is_independent(o) or self.is_legal(x for x in orders if x is not o)]

    @staticmethod
    def is_independent(filed: Filed) -> bool:
        """Return whether no other order can depend on this one."""
        return not isinstance(filed.move, Management | FundExpeditions)
