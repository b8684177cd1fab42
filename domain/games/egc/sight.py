"""EGC-6: what a viewer sees. Everything of a seat is its own; of nobody's nothing shows before the end."""

from __future__ import annotations

from collections.abc import Mapping

from domain.games.egc.data import EMPIRES, HOMES, PAIRS, SEATS
from domain.games.egc.rules.sheet import copy_of
from domain.games.egc.rules.wars import kinds_held
from domain.games.egc.state import PAIR_KEYS, Army, Count, Egc, Land, Sheet
from domain.ids import DIRECTOR, PUBLIC, Doc, Json, Seat, Viewer
from domain.kernel.jsonform import to_json
from domain.kernel.ruleset import memo


def sight(s: Egc, viewer: Viewer) -> Json:
    """`public`: the board; a seat: its own things besides; the director: everything."""
    if viewer == PUBLIC:
        return public(s)
    if viewer != DIRECTOR:
        return own(s, int(viewer))
    neutral = {
        "garrisons": {t: to_json(g) for t, g in s.garrisons.items()},
        "neutral_ranks": {t: to_json(r) for t, r in s.neutral_ranks.items()},
        "levels": s.levels,
        "count_turns": list(s.count_turns),
        "tie_order": list(s.tie_order),
    }
    return {**public(s), "own": {str(seat): own(s, seat) for seat in SEATS}, **neutral}


# --- the board -----------------------------------------------------------------------------------------------


def public(s: Egc) -> dict[str, Json]:
    """EGC-6.1."""
    return {
        "game": "egc",
        "turn": s.turn,
        "phase": "finished" if s.over else s.top.kind if s.frames else "setup",
        "empires": [
            {"seat": seat, "empire": EMPIRES[seat], "home": HOMES[seat], "status": s.status[seat], "vp": s.vp[seat]}
            for seat in SEATS
        ],
        "lands": memo(s, "lands shown", lambda: _lands(s.lands), (s.lands,)),
        "armies": s.manned,
        "relations": {k: s.relations[k] for k in (PAIR_KEYS[pair] for pair in PAIRS)},
        "peace_turn": s.peace_turn,
        "closed": s.closed,
        "open_ports": sorted(s.open_ports),
        "counts": [_count(c) for c in s.counts],
        "news": list(s.news),
        "final": None if s.final is None else to_json(s.final),
    }


def _lands(lands: Mapping[str, Land]) -> dict[str, Json]:
    return {t: shown for t, land in lands.items() if (shown := _land(land))}


def _land(land: Land) -> dict[str, Json]:
    """What differs from a neutral territory without anything."""
    shown: dict[str, Json] = {}
    if land.owner is not None:
        shown["owner"] = land.owner
    if land.protectorate is not None:
        shown["protectorate"] = {"seat": land.protectorate.seat, "since": land.protectorate.since}
    if land.protections:
        shown["protections"] = land.protections
    if land.port:
        shown["port"] = True
    if land.conquered_turn is not None:
        shown["conquered_turn"] = land.conquered_turn
    return shown


def _count(c: Count) -> Json:
    form: Json = to_json(c)
    return form


# --- a seat's own things -------------------------------------------------------------------------------------


def own(s: Egc, seat: Seat) -> dict[str, Json]:
    """EGC-6.3."""
    e, sheet, spied = s.empires[seat], s.sheets[seat], s.spied[seat]
    doc: dict[str, Json] = {
        "empire": EMPIRES[seat],
        "treasury": e.treasury,
        "diplomacy": e.diplomacy,
        "revenue": e.revenue,
        "points": e.points,
        "ranks": e.ranks,
        "investments": [to_json(i) for i in e.investments],
        "links": list(e.links),
        "links_done": list(e.links_done),
        "armies": {i: _army(a) for i, a in s.armies[seat].items()},
        "levels": {t: s.levels[t] for t in (*s.owned(seat), *s.protectorates(seat)) if s.levels.get(t)},
        "sheet": _sheet(sheet),
        "proposals": {k: to_json(p) for k, p in s.proposals.items() if seat in (p.sender, p.target)},
        "casus_belli": _casus_belli(s, seat),
        "spied": {"territories": spied.territories, "empires": spied.empires},
        "report": s.reports[seat],
    }
    return {**doc, "projection": _projection(s, seat)} if s.turn else doc


def _army(a: Army) -> dict[str, Json]:
    return {"territory": a.territory, "divisions": a.divisions, "morale": a.morale, "training": a.training}


def _sheet(sheet: Sheet) -> dict[str, Json]:
    orders = [{"n": o.n, **o.order} | ({"raises": o.army} if o.army else {}) for o in sheet.orders]
    allocation = {"allocation": sheet.allocation} if sheet.allocation else {}
    return {"orders": orders, "next_order": sheet.next_order, "spent": sheet.spent, **allocation}


def _casus_belli(s: Egc, seat: Seat) -> dict[str, Json]:
    """`holder:against` -> kinds that can be used this turn, where the seat is one of the two."""
    pairs = [(seat, x) for x in SEATS if x != seat] + [(x, seat) for x in SEATS if x != seat]
    return {f"{a}:{b}": kinds for a, b in pairs if (kinds := kinds_held(s, a, b))}


def _projection(s: Egc, seat: Seat) -> dict[str, Json]:
    """EGC-7.0.2: what the sheet leaves: money, points, armies and levels that differ, seas."""
    c, old = copy_of(s, seat), s.armies[seat]
    armies: Doc = {i: _army(a) for i, a in c.armies.items() if old.get(i) != a}
    return {
        "treasury": c.funds,
        "diplomacy": c.points,
        "armies": armies,
        "gone": sorted(i for i in old if i not in c.armies),
        "levels": c.levels,
        "ports": {"built": sorted(c.built), "demolished": sorted(c.demolished)},
        "accessible": sorted(c.seas),
        "controlled": list(c.controls),
    }
