"""P8 to P11: victory counts, finance, territories with a new owner, elimination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from domain.games.common.seats import replace_at
from domain.games.egc.data import TERRITORIES
from domain.games.egc.facts.base import News, Reported, forces, strengths, without
from domain.games.egc.state import ELIMINATED, Egc, Final, Land, Protectorate
from domain.games.egc.state import Count as VictoryCount
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes
from domain.types import Seat

Why = Literal["dropped", "upkeep_failed"]
Ending = Literal["resigned", "nobody_left", "fourth_count"]

# --- P8, P9 --------------------------------------------------------------------------------------------------


class VictoryCounted(News, frozen=True):
    """EGC-15.2, EGC-15.3: territory points, links realised and failed, victory points in all; by seat."""

    turn: Count
    points: Sequence[Count]
    realised: Sequence[Sequence[str]]
    failed: Sequence[Sequence[str]]
    vp: Sequence[Count]

    def change(self, s: Egc) -> Egc:
        realised = tuple(tuple(links) for links in self.realised)
        failed = tuple(tuple(links) for links in self.failed)
        empires = tuple(
            assign(e, links=(), links_done=tuple(sorted({*e.links_done, *done})))
            for e, done in zip(s.empires, realised, strict=True)
        )
        count = VictoryCount(self.turn, tuple(self.points), realised, failed)
        return assign(s, counts=(*s.counts, count), vp=tuple(self.vp), empires=empires)


class FinanceSettled(Reported, frozen=True):
    """EGC-12.6: an empire's statement; `deserted` divisions, and those left by army."""

    kept: Count
    national: Count
    colonial: Count
    corruption: Count
    protectorates: Count
    revenue: Count
    usury: Count
    bonus: Count
    plunder: Count
    gifts: Count
    upkeep: Count
    deserted: Count
    treasury: Count
    left: Maybe[Mapping[str, Count]] = UNSET

    def evolve(self, s: Egc) -> Egc:
        empire = assign(s.empires[self.seat], treasury=self.treasury, revenue=self.revenue)
        return assign(
            s,
            empires=replace_at(s.empires, self.seat, empire),
            reports=self.extended_reports(s),
            armies=strengths(s, self.seat, self.left) if self.left else s.armies,
        )


# --- P10 -----------------------------------------------------------------------------------------------------


class ProtectionEnded(News, frozen=True):
    """EGC-14.9, EGC-14.10: a seat protects a territory no more."""

    seat: Seat
    territory: str
    why: Why

    def change(self, s: Egc) -> Egc:
        land = s.lands[self.territory]
        land = assign(land, protections=without(land.protections, self.seat))
        return assign(s, lands={**s.lands, self.territory: land})


class ProtectorateEnded(News, frozen=True):
    """EGC-14.9, EGC-14.10: a seat's protectorate is free."""

    seat: Seat
    territory: str
    why: Why

    def change(self, s: Egc) -> Egc:
        land = assign(s.lands[self.territory], protectorate=None)
        return assign(s, lands={**s.lands, self.territory: land})


class TerritoryGiven(News, frozen=True):
    """EGC-14.9: a territory changes its owner."""

    seat: Seat
    to: Seat
    territory: str

    def change(self, s: Egc) -> Egc:
        land = assign(s.lands[self.territory], owner=self.to)
        return assign(s, lands={**s.lands, self.territory: land})


class ArmiesLost(Reported, frozen=True):
    """EGC-14.9: armies lost with a territory given away."""

    territory: str
    armies: Sequence[str]

    def evolve(self, s: Egc) -> Egc:
        gone: dict[str, None] = dict.fromkeys(self.armies)
        return assign(s, armies=forces(s, self.seat, gone), reports=self.extended_reports(s))


class ProtectorateGiven(News, frozen=True):
    """EGC-14.9: a protectorate changes its holder."""

    seat: Seat
    to: Seat
    territory: str
    turn: Count

    def change(self, s: Egc) -> Egc:
        land = assign(s.lands[self.territory], protectorate=Protectorate(self.to, self.turn))
        return assign(s, lands={**s.lands, self.territory: land})


class TerritoryAnnexed(News, frozen=True):
    """EGC-14.9: a protectorate is an own territory."""

    seat: Seat
    territory: str

    def change(self, s: Egc) -> Egc:
        land = assign(s.lands[self.territory], owner=self.seat, protectorate=None, conquered_turn=None)
        return assign(s, lands={**s.lands, self.territory: land})


class ProtectorateInstalled(News, frozen=True):
    """EGC-14.9: a protected territory is a protectorate; all protections end."""

    seat: Seat
    territory: str
    turn: Count

    def change(self, s: Egc) -> Egc:
        new = Protectorate(self.seat, self.turn)
        land = assign(s.lands[self.territory], protectorate=new, protections={})
        return assign(s, lands={**s.lands, self.territory: land})


class TerritoryProtected(News, frozen=True):
    """EGC-14.9: a seat protects a neutral territory."""

    seat: Seat
    territory: str
    turn: Count

    def change(self, s: Egc) -> Egc:
        land = s.lands[self.territory]
        land = assign(land, protections={**land.protections, str(self.seat): self.turn})
        return assign(s, lands={**s.lands, self.territory: land})


# --- P11 -----------------------------------------------------------------------------------------------------


class EmpireEliminated(News, frozen=True):
    """EGC-11.6: an empire is out; all it had, or others had with it, is void."""

    seat: Seat

    def change(self, s: Egc) -> Egc:
        seat, name = self.seat, str(self.seat)
        return assign(
            s,
            lands={t: self._land(s.lands[t]) for t in TERRITORIES},
            status=replace_at(s.status, seat, ELIMINATED),
            armies=replace_at(s.armies, seat, {}),
            sheets=replace_at(s.sheets, seat, assign(s.sheets[seat], orders=(), controls=())),
            casus_belli={k: v for k, v in s.casus_belli.items() if name not in k.split(":")[:2]},
            proposals={k: p for k, p in s.proposals.items() if seat not in (p.sender, p.target)},
            open_ports={k: v for k, v in s.open_ports.items() if name not in k.split(":")},
            closed={k: by for k, by in s.closed.items() if by != seat and k.split(":")[1] != name},
        )

    def _land(self, old: Land) -> Land:
        if old.protectorate and old.protectorate.seat == self.seat:
            old = assign(old, protectorate=None)
        if str(self.seat) in old.protections:
            old = assign(old, protections=without(old.protections, self.seat))
        return old


class GameEnded(Fact[Egc], frozen=True):
    """EGC-15.6: the game is finished; the tie-break becomes public."""

    why: Ending
    treasuries: Sequence[Count]
    tie_order: Sequence[Seat]

    def evolve(self, s: Egc) -> Egc:
        return assign(s, final=Final(tuple(self.treasuries), tuple(self.tie_order)))


FACTS = declared_classes(__name__, Fact)
