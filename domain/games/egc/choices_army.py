"""The move builder for armies: an order, then a path node by node or a territory to support (EGC-7.10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator

from domain.games.egc.data import COASTS, ROUND, SEA_LINKS, TERRITORIES
from domain.games.egc.moves import OrderArmy
from domain.games.egc.order import Order
from domain.games.egc.rules.orders_army import may_enter, window
from domain.games.egc.rules.projection import Copy
from domain.games.egc.rules.seas import strait_closed
from domain.games.egc.rules.sheet import after, copy_of
from domain.games.egc.state import Egc
from domain.kernel.rules.choices import Builder, Choice, one, span
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET
from domain.types import Json, Seat


def order(legs: Legs) -> Builder:
    """Return the order of an army, asked for as if it had none yet."""
    kinds = ["move"] * bool(legs.first) + ["support"] * bool(legs.targets)
    kind = yield one("order", [*kinds, "prepare_defence", "train", "rest"])
    if kind == "support":
        return OrderArmy(legs.army, kind, territory=(yield one("territory", legs.targets)))
    if kind != "move":
        return OrderArmy(legs.army, kind)
    path = yield from _path(legs)
    width = window(legs.c)
    chosen = (yield span("round", ROUND - width, ROUND + width)) if width else UNSET
    return OrderArmy(legs.army, kind, path, chosen)


def _path(legs: Legs) -> Generator[Choice, Json, list[str]]:
    path = [legs.start]
    options = legs.first
    while options:
        node = yield one("path", options)
        if node is None:
            break
        path.append(node)
        options = list(legs.onward(path))
    return list(path)


class Legs:
    """Possible moves of an army from each node."""

    def __init__(self, s: Egc, seat: Seat, army: str) -> None:
        self.s, self.seat, self.army = s, seat, army
        self.c = self._without(army)
        self.start = self.c.armies[army].territory
        self.left = self.c.expeditions - self.c.explored
        """Expeditions that no other move uses."""
        self.enters = _enterable(s, seat)
        self.shores = {sea: [t for t in COASTS[sea] if t in self.enters and t != self.start] for sea in COASTS}
        """Sea -> where an army that left `start` can land."""
        self.first: list[str | None] = [*self._by_land(), *self._to_sea()]
        self.targets = self._targets()

    def _without(self, army: str) -> Copy:
        """Return the copy without the army's present order."""
        if army not in copy_of(self.s, self.seat).ordered:
            return copy_of(self.s, self.seat)
        kept = [o for o in self.s.sheets[self.seat].orders if not _orders(o.move, army)]
        return after(self.s, self.seat, kept)

    def _by_land(self) -> list[str]:
        return [t for t in TERRITORIES[self.start].neighbours if t in self.enters]

    def _to_sea(self) -> list[str]:
        if self.c.sailed >= self.c.by_rank("naval_moves", "naval"):
            return []
        needed = self._to_land([])
        seas = [sea for sea in TERRITORIES[self.start].seas if sea in self.c.seas]
        return [sea for sea in seas if sea in needed and needed[sea] <= self.left]

    def _targets(self) -> list[str]:
        near = {*TERRITORIES[self.start].neighbours}
        for sea in TERRITORIES[self.start].seas:
            if sea in self.c.controls:
                near |= {*COASTS[sea]}
        return [t for t in sorted(near) if not self.c.owns(t) and t in self.enters]

    def onward(self, path: list[str]) -> Iterator[str | None]:
        """Return the possible next nodes; null where the path can end, nothing where it must."""
        if path[-1] in COASTS:
            left = self.left - self._explored(path)
            yield from self.shores[path[-1]]
            yield from self._further(path, left)
        elif all(node in TERRITORIES for node in path) and all(self._railed(node) for node in path):
            ahead = [t for t in TERRITORIES[path[-1]].neighbours if t not in path and self._railed(t)]
            yield from [None, *ahead] if ahead else []

    def _railed(self, territory: str) -> bool:
        return self.c.owns(territory) and self.c.level(territory, "railway") > 0

    def _explored(self, path: list[str]) -> int:
        return sum(sea not in self.c.seas for sea in path[2:])

    def _further(self, path: list[str], left: int) -> Iterator[str]:
        """Return the seas from where a landing is still in reach."""
        needed = self._to_land(path)
        for sea in self._linked(path[-1], path):
            if sea in needed and self._price(sea) + needed[sea] <= left:
                yield sea

    def _to_land(self, path: list[str]) -> dict[str, int]:
        """Return sea -> fewest expeditions from there to a landing, over seas not yet crossed by the path.

        Search backwards from the shores; seas without a cost go first, so each result is final.
        """
        needed = {sea: 0 for sea, shores in self.shores.items() if shores and sea not in path}
        todo = deque(needed)
        while todo:
            sea = todo.popleft()
            price = self._price(sea)
            for before in self._linked(sea, path):
                if before not in needed or needed[sea] + price < needed[before]:
                    needed[before] = needed[sea] + price
                    (todo.append if price else todo.appendleft)(before)
        return needed

    def _linked(self, sea: str, path: list[str]) -> Iterator[str]:
        for other, strait in SEA_LINKS[sea].items():
            if other not in path and not strait_closed(self.s, strait, self.seat):
                yield other

    def _price(self, sea: str) -> int:
        """Return the number of expeditions needed to enter a sea."""
        return int(sea not in self.c.seas)


def _enterable(s: Egc, seat: Seat) -> frozenset[str]:
    """Return the territories allowed as the end of a move of the seat."""

    def find() -> frozenset[str]:
        return frozenset(t for t in TERRITORIES if may_enter(s, seat, t))

    return memo(s, f"enterable {seat}", find, (s.lands, s.relations))


def _orders(order: Order, army: str) -> bool:
    return isinstance(order, OrderArmy) and order.army == army
