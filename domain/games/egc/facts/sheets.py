"""Order sheets, spies, resigning seats (EGC-7, EGC-4.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.games.common.seats import replace_at
from domain.games.egc.facts.base import Force
from domain.games.egc.state import DORMANT, Egc, Filed
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, Part, declared_classes, doc
from domain.types import Doc, Seat


class TerritoryReport(Part, frozen=True):
    """EGC-7.11: a spy's report on a territory, with neutral ranks only for a neutral one."""

    turn: Count
    levels: Mapping[str, Count]
    supply: Count
    armies: Sequence[Force]
    """With the id in place of the territory."""
    naval_rank: Maybe[int | None] = UNSET
    siege_rank: Maybe[int | None] = UNSET


class EmpireReport(Part, frozen=True):
    """EGC-7.11: a spy's report on an empire."""

    turn: Count
    treasury: Count
    revenue: Count
    diplomacy: Count
    ranks: Mapping[str, Count]
    armies: Count
    divisions: Count


class OrderFiled(Fact[Egc], frozen=True):
    """EGC-7.0.1: an order is on a sheet; `army` is the id allotted by it, `replaces` the order now gone."""

    seat: Seat
    n: Count
    order: Doc
    army: Maybe[str] = UNSET
    replaces: Maybe[Count] = UNSET
    controls: Maybe[Sequence[str]] = UNSET
    """EGC-6.3: seas controlled by the empire with the sheet, only if changed."""

    def evolve(self, s: Egc) -> Egc:
        old = s.sheets[self.seat]
        kept = old.orders if self.replaces is UNSET else [o for o in old.orders if o.n != self.replaces]
        army = self.army or None
        sheet = assign(
            old,
            orders=(*kept, Filed(self.n, self.order, army)),
            next_order=self.n + 1,
            next_army=old.next_army + (army is not None),
            controls=old.controls if self.controls is UNSET else tuple(self.controls),
        )
        return assign(s, sheets=replace_at(s.sheets, self.seat, sheet))


class OrderCancelled(Fact[Egc], frozen=True):
    """EGC-7.0.4: an order is off the sheet."""

    seat: Seat
    n: Count
    controls: Maybe[Sequence[str]] = UNSET
    """EGC-6.3: seas controlled by the empire with the sheet, only if changed."""

    def evolve(self, s: Egc) -> Egc:
        old = s.sheets[self.seat]
        orders = tuple(o for o in old.orders if o.n != self.n)
        controls = old.controls if self.controls is UNSET else tuple(self.controls)
        return assign(s, sheets=replace_at(s.sheets, self.seat, assign(old, orders=orders, controls=controls)))


class TerritorySpied(Fact[Egc], frozen=True):
    """EGC-7.11: a seat's report on a territory; `spent` on spies in the turn."""

    seat: Seat
    territory: str
    spent: Count
    found: TerritoryReport

    def evolve(self, s: Egc) -> Egc:
        spied = s.spied[self.seat]
        seen = assign(spied, territories={**spied.territories, self.territory: doc(self.found)})
        sheet = assign(s.sheets[self.seat], spent=self.spent)
        return assign(s, spied=replace_at(s.spied, self.seat, seen), sheets=replace_at(s.sheets, self.seat, sheet))


class EmpireSpied(Fact[Egc], frozen=True):
    """EGC-7.11: a seat's report on an empire; `spent` on spies in the turn."""

    seat: Seat
    empire: str
    spent: Count
    found: EmpireReport

    def evolve(self, s: Egc) -> Egc:
        spied = s.spied[self.seat]
        seen = assign(spied, empires={**spied.empires, self.empire: doc(self.found)})
        sheet = assign(s.sheets[self.seat], spent=self.spent)
        return assign(s, spied=replace_at(s.spied, self.seat, seen), sheets=replace_at(s.sheets, self.seat, sheet))


class SeatResigned(Fact[Egc], frozen=True):
    """EGC-4.6: an empire is dormant."""

    seat: Seat

    def evolve(self, s: Egc) -> Egc:
        sheet = assign(s.sheets[self.seat], orders=(), allocation={})
        return assign(s, status=replace_at(s.status, self.seat, DORMANT), sheets=replace_at(s.sheets, self.seat, sheet))


class TurnStarted(Fact[Egc], frozen=True):
    """EGC-4.1: sheets are new; expired casus belli are gone (EGC-14.8)."""

    turn: Count

    def evolve(self, s: Egc) -> Egc:
        sheets = tuple(assign(x, orders=(), next_order=1, spent=0) for x in s.sheets)
        casus_belli = {k: expires for k, expires in s.casus_belli.items() if expires >= self.turn}
        return assign(s, turn=self.turn, sheets=sheets, casus_belli=casus_belli)


class SheetOpened(Fact[Egc], frozen=True):
    """EGC-6.3: seas controlled by an empire with its new sheet."""

    seat: Seat
    controls: Sequence[str]

    def evolve(self, s: Egc) -> Egc:
        sheet = assign(s.sheets[self.seat], controls=tuple(self.controls))
        return assign(s, sheets=replace_at(s.sheets, self.seat, sheet))


FACTS = declared_classes(__name__, Fact)
