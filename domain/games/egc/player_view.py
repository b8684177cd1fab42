"""EGC-6: a viewer's view. A seat's affairs are private to it; neutral armies are hidden until the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from domain.games.egc.data import EMPIRES, HOMES, SEATS
from domain.games.egc.facts.sheets import EmpireReport, TerritoryReport
from domain.games.egc.frames import FRAMES, Resolving
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.rules.wars import all_kinds_held
from domain.games.egc.state import (
    ACTIVE,
    DORMANT,
    ELIMINATED,
    Army,
    Count,
    Egc,
    Final,
    Garrison,
    Investment,
    Land,
    NeutralRanks,
    Proposal,
    Protectorate,
)
from domain.kernel.rules.ruleset import Chapter, memo
from domain.kernel.schema.declarations import UNSET, Maybe, Part, among, type_name
from domain.types import Doc, Seat

# --- the board -----------------------------------------------------------------------------------------------


class EmpireShown(Part, frozen=True):
    """EGC-6.1: public view of an empire."""

    seat: int
    empire: str
    home: str
    """Its home territory."""
    status: Annotated[str, among((ACTIVE, DORMANT, ELIMINATED))]
    vp: int
    """Victory points."""


class LandShown(Part, frozen=True):
    """EGC-6.1: the members in which a territory differs from an empty neutral one."""

    owner: Maybe[int] = UNSET
    protectorate: Maybe[Protectorate] = UNSET
    """Holder of a neutral territory's protectorate, and its first turn."""
    protections: Maybe[Mapping[str, int]] = UNSET
    """Seat -> turn of its order to protect."""
    port: Maybe[Literal[True]] = UNSET
    conquered_turn: Maybe[int] = UNSET


class Board(Part, frozen=True):
    """EGC-6.1: the public view."""

    game: Literal["egc"]
    turn: int
    """0 is turn zero."""
    phase: Annotated[str, among(("setup", *FRAMES, "finished"))]
    empires: tuple[EmpireShown, ...]
    """Empires by seat."""
    lands: Mapping[str, LandShown]
    """Lands by territory; one without members is left out."""
    armies: Mapping[str, str]
    """Territory with armies -> their empire, or `neutral`."""
    relations: Mapping[str, str]
    """Pair of seats, the lower first, `0-1` -> level."""
    peace_turn: Mapping[str, int]
    """Pair of seats -> their latest peace turn, the first after a war between them (EGC-14.5)."""
    closed: Mapping[str, int]
    """`strait:seat` -> the seat closing the strait to it."""
    open_ports: tuple[str, ...]
    """`seat:seat`: the first has opened its ports to the second."""
    counts: tuple[Count, ...]
    """Victory counts so far."""
    news: tuple[Doc, ...]
    """EGC-6.2: the public facts of the last resolution, as the record has them."""
    final: Final | None
    """EGC-15.6: the tie-break, once the game is finished."""


def board(s: Egc) -> Board:
    """EGC-6.1."""
    return Board(
        game="egc",
        turn=s.turn,
        phase="finished" if s.over else s.top.kind if s.frames else "setup",
        empires=tuple(EmpireShown(seat, EMPIRES[seat], HOMES[seat], s.status[seat], s.vp[seat]) for seat in SEATS),
        lands=memo(s, "lands shown", lambda: _lands(s.lands), (s.lands,)),
        armies=s.manned,
        relations=s.relations,
        peace_turn=s.peace_turn,
        closed=s.closed,
        open_ports=tuple(sorted(s.open_ports)),
        counts=s.counts,
        news=s.news,
        final=s.final,
    )


_BARE = LandShown()


def _lands(lands: Mapping[str, Land]) -> dict[str, LandShown]:
    return {t: shown for t, land in lands.items() if (shown := _land(land)) != _BARE}


def _land(land: Land) -> LandShown:
    return LandShown(
        UNSET if land.owner is None else land.owner,
        land.protectorate or UNSET,
        land.protections or UNSET,
        True if land.port else UNSET,
        UNSET if land.conquered_turn is None else land.conquered_turn,
    )


# --- a seat's own things -------------------------------------------------------------------------------------


class OrderSheet(Part, frozen=True):
    """EGC-7.0: the present order sheet."""

    orders: tuple[Doc, ...]
    """Each order with the members of its type of move, its number `n`, and in `raises` the army raised by it."""
    next_order: int
    spent: int
    """Cost of spies this turn (EGC-7.11)."""
    allocation: Maybe[Mapping[str, int]] = UNSET
    """Points of turn zero by technology, once they are filed."""


class SpyReports(Part, frozen=True):
    """EGC-7.11: the latest spy report on each target."""

    territories: Mapping[str, TerritoryReport]
    empires: Mapping[str, EmpireReport]


class Ports(Part, frozen=True):
    """EGC-7.3, EGC-7.4: where the sheet changes ports."""

    built: tuple[str, ...]
    demolished: tuple[str, ...]


class Projection(Part, frozen=True):
    """EGC-7.0.2: the balance of the sheet: money, points, changed armies and levels, seas."""

    treasury: int
    diplomacy: int
    armies: Mapping[str, Army]
    """New and changed armies."""
    gone: tuple[str, ...]
    """Armies lost to the sheet's orders."""
    levels: Mapping[str, Mapping[str, int]]
    """All levels of each territory with a change."""
    ports: Ports
    accessible: tuple[str, ...]
    """Accessible seas (EGC-8.1)."""
    controlled: tuple[str, ...]
    """Seas controlled by the empire (EGC-8.2)."""


class Own(Part, frozen=True):
    """EGC-6.3: a seat's private view, as of the start of the turn except for the sheet and its balance."""

    empire: str
    treasury: int
    diplomacy: int
    """Diplomacy points."""
    revenue: int
    """Revenue of the last turn; at first the yield of the home territory."""
    points: Mapping[str, int]
    """Technology -> investment points."""
    ranks: Mapping[str, int]
    """Technology -> rank, 1 best; empty before turn 1."""
    investments: tuple[Investment, ...]
    """Research under way."""
    links: tuple[str, ...]
    """Chosen for the next count."""
    links_done: tuple[str, ...]
    armies: Mapping[str, Army]
    levels: Mapping[str, Mapping[str, int]]
    """Territory or protectorate -> infrastructure other than the port -> level above 0."""
    sheet: OrderSheet
    proposals: Mapping[str, Proposal]
    """Proposals by the seat and to it, named `turn:from:to`; they await an answer."""
    casus_belli: Mapping[str, Sequence[str]]
    """`holder:against` -> kinds usable this turn, if the seat is one of the two."""
    spied: SpyReports
    report: Mapping[str, Sequence[Doc]]
    """The seat's report of the last resolution: kind of fact -> its facts, without `t` and `seat`."""
    projection: Maybe[Projection] = UNSET
    """Absent in turn zero, before the first sheets."""


def powers(s: Egc) -> dict[Seat, str]:
    """EGC-1.1: every seat has its empire."""
    return dict(enumerate(EMPIRES))


def own_view(s: Egc, seat: Seat) -> Own:
    """EGC-6.3."""
    e = s.empires[seat]
    return Own(
        empire=EMPIRES[seat],
        treasury=e.treasury,
        diplomacy=e.diplomacy,
        revenue=e.revenue,
        points=e.points,
        ranks=e.ranks,
        investments=e.investments,
        links=e.links,
        links_done=e.links_done,
        armies=s.armies[seat],
        levels={t: s.levels[t] for t in (*s.owned(seat), *s.protectorates(seat)) if s.levels.get(t)},
        sheet=_sheet(s, seat),
        proposals={k: p for k, p in s.proposals.items() if seat in (p.sender, p.target)},
        casus_belli=_casus_belli(s, seat),
        spied=_spied(s, seat),
        report=s.reports[seat],
        projection=_projection(s, seat) if s.turn else UNSET,
    )


def _sheet(s: Egc, seat: Seat) -> OrderSheet:
    sheet = s.sheets[seat]
    orders = tuple({"n": o.n, **o.order} | ({"raises": o.army} if o.army else {}) for o in sheet.orders)
    return OrderSheet(orders, sheet.next_order, sheet.spent, sheet.allocation or UNSET)


def _casus_belli(s: Egc, seat: Seat) -> dict[str, list[str]]:
    of = (s.turn, s.relations, s.peace_turn, s.closed, s.open_ports, s.casus_belli)
    every = memo(s, "casus belli shown", lambda: all_kinds_held(s), of)
    return {f"{a}:{b}": kinds for (a, b), kinds in every.items() if seat in (a, b)}


def _spied(s: Egc, seat: Seat) -> SpyReports:
    spied = s.spied[seat]
    return memo(s, f"spied {seat}", lambda: msgspec.convert(spied, SpyReports, from_attributes=True), (spied,))


def _projection(s: Egc, seat: Seat) -> Projection:
    c, old = copy_of(s, seat), s.armies[seat]
    return Projection(
        treasury=c.funds,
        diplomacy=c.points,
        armies={i: a for i, a in c.armies.items() if old.get(i) != a},
        gone=tuple(sorted(i for i in old if i not in c.armies)),
        levels=c.levels,
        ports=Ports(tuple(sorted(c.built)), tuple(sorted(c.demolished))),
        accessible=tuple(sorted(c.seas)),
        controlled=c.controls,
    )


# --- the hidden view ----------------------------------------------------------------------------------------


class Hidden(Part, frozen=True):
    """EGC-6.5: hidden from everybody until the end."""

    garrisons: Mapping[str, Garrison]
    """Neutral armies by territory."""
    neutral_ranks: Mapping[str, NeutralRanks]
    """Battle ranks of a territory's neutral army."""
    levels: Mapping[str, Mapping[str, int]]
    """Territory -> infrastructure other than the port -> level above 0; includes those known to some seat."""
    count_turns: tuple[int, ...]
    """Turns of the victory counts, past ones too."""
    tie_order: tuple[int, ...]
    """The lot to break ties: seats, the best first."""


def hidden_view(s: Egc) -> Hidden:
    """EGC-6.5."""
    return Hidden(s.garrisons, s.neutral_ranks, s.levels, s.count_turns, s.tie_order)


def chapter(s: Egc) -> Chapter:
    """Return the turn (EGC-3), and its resolution."""
    resolving = bool(s.frames) and s.top.kind == type_name(Resolving)
    return Chapter(s.turn, phase=s.top.kind if resolving else "")
