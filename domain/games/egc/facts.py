"""What can become true in a game, and what each fact assigns: EVOLVE, kind of fact -> function of state and fact.

Dumb on purpose: a fact carries new values, the formulas are in `rules`. What is public, what is one seat's own and what
is nobody's are facts of their own, so that each viewer's state can be folded from what it may read. Facts of a resolved
turn carry their `step`, P1 to P15; those of one seat are kept in its report, those for all in the news.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.games.common.seats import put
from domain.games.egc.data import SEATS, TERRITORIES
from domain.games.egc.state import (
    DORMANT,
    ELIMINATED,
    NEUTRAL,
    PAIR_KEYS,
    Army,
    Count,
    Egc,
    Empire,
    Filed,
    Final,
    Garrison,
    Investment,
    Land,
    NeutralRanks,
    Proposal,
    Protectorate,
    Sheet,
)
from domain.ids import Json, Seat
from domain.kernel.flow import Evolve, Fact, assign

S = Egc

_PRIVATE = ("t", "seat")


# --- parts of the state --------------------------------------------------------------------------------------


def _empire(s: S, seat: Seat, **new: Any) -> tuple[Empire, ...]:
    return put(s.empires, seat, assign(s.empires[seat], **new))


def _sheet(s: S, seat: Seat, **new: Any) -> tuple[Sheet, ...]:
    return put(s.sheets, seat, assign(s.sheets[seat], **new))


def _land(s: S, territory: str, **new: Any) -> dict[str, Land]:
    return {**s.lands, territory: assign(s.lands[territory], **new)}


def _forces(s: S, seat: Seat, changed: Mapping[str, Json]) -> tuple[dict[str, Army], ...]:
    """Whole armies by id, null for one that is no more."""
    armies = dict(s.armies[seat])
    for army, value in changed.items():
        if value is None:
            armies.pop(army, None)
        else:
            armies[army] = Army(*value)
    return put(s.armies, seat, armies)


def _strengths(s: S, seat: Seat, left: Mapping[str, int]) -> tuple[dict[str, Army], ...]:
    """Divisions by army; one with none left is no more."""
    armies = dict(s.armies[seat])
    for army, divisions in left.items():
        armies[army] = assign(armies[army], divisions=divisions)
        if not divisions:
            del armies[army]
    return put(s.armies, seat, armies)


def _told(s: S, f: Fact) -> tuple[dict[str, Any], ...]:
    """The seat's report with one entry more."""
    report = s.reports[f["seat"]]
    entry = {k: v for k, v in f.items() if k not in _PRIVATE}
    return put(s.reports, f["seat"], {**report, f["t"]: [*report.get(f["t"], ()), entry]})


def _without(protections: Mapping[str, int], seat: Seat) -> dict[str, int]:
    return {k: v for k, v in protections.items() if k != str(seat)}


def _noted(s: S, f: Fact) -> S:
    return assign(s, reports=_told(s, f))


def _silent(s: S, _: Fact) -> S:
    return s


# --- set-up and turn zero ------------------------------------------------------------------------------------


def _counts_drawn(s: S, f: Fact) -> S:
    return assign(s, count_turns=tuple(f["turns"]))


def _tie_order_drawn(s: S, f: Fact) -> S:
    return assign(s, tie_order=tuple(f["seats"]))


def _neutrals_dealt(s: S, f: Fact) -> S:
    garrisons = {t: Garrison(*v) for t, v in f["garrisons"].items()}
    ranks = {t: NeutralRanks(*v) for t, v in f["ranks"].items()}
    return assign(s, garrisons=garrisons, neutral_ranks=ranks, levels={**s.levels, **f["levels"]})


def _game_set_up(s: S, f: Fact) -> S:
    lands = dict(s.lands)
    for territory in f["ports"]:
        lands[territory] = assign(lands[territory], port=True)
    return assign(s, lands=lands, manned={t: NEUTRAL for t, land in lands.items() if land.owner is None})


def _allocation_filed(s: S, f: Fact) -> S:
    return assign(s, sheets=_sheet(s, f["seat"], allocation=f["points"]))


def _empire_founded(s: S, f: Fact) -> S:
    seat = f["seat"]
    new = {k: f[k] for k in ("treasury", "diplomacy", "points", "ranks")}
    sheets = _sheet(s, seat, next_army=f["next_army"], allocation={})
    return assign(s, empires=_empire(s, seat, **new), armies=_forces(s, seat, f["armies"]), sheets=sheets)


# --- sheets --------------------------------------------------------------------------------------------------


def _order_filed(s: S, f: Fact) -> S:
    sheet = s.sheets[f["seat"]]
    kept = tuple(o for o in sheet.orders if o.n != f.get("replaces"))
    army = f.get("army")
    new: dict[str, Any] = {"orders": (*kept, Filed(f["n"], f["order"], army)), "next_order": f["n"] + 1}
    if army is not None:
        new["next_army"] = sheet.next_army + 1
    if "controls" in f:
        new["controls"] = tuple(f["controls"])
    return assign(s, sheets=_sheet(s, f["seat"], **new))


def _order_cancelled(s: S, f: Fact) -> S:
    orders = tuple(o for o in s.sheets[f["seat"]].orders if o.n != f["n"])
    more = {"controls": tuple(f["controls"])} if "controls" in f else {}
    return assign(s, sheets=_sheet(s, f["seat"], orders=orders, **more))


def _territory_spied(s: S, f: Fact) -> S:
    spied = s.spied[f["seat"]]
    seen = assign(spied, territories={**spied.territories, f["territory"]: f["found"]})
    return assign(s, spied=put(s.spied, f["seat"], seen), sheets=_sheet(s, f["seat"], spent=f["spent"]))


def _empire_spied(s: S, f: Fact) -> S:
    spied = s.spied[f["seat"]]
    seen = assign(spied, empires={**spied.empires, f["empire"]: f["found"]})
    return assign(s, spied=put(s.spied, f["seat"], seen), sheets=_sheet(s, f["seat"], spent=f["spent"]))


def _seat_resigned(s: S, f: Fact) -> S:
    status = put(s.status, f["seat"], DORMANT)
    return assign(s, status=status, sheets=_sheet(s, f["seat"], orders=(), allocation={}))


# --- P1 to P5 ------------------------------------------------------------------------------------------------


def _resolution_started(s: S, _: Fact) -> S:
    return assign(s, reports=tuple({} for _ in SEATS), news=())


def _sheet_carried_out(s: S, f: Fact) -> S:
    seat = f["seat"]
    new: dict[str, Any] = {"treasury": f["treasury"], "diplomacy": f["diplomacy"]}
    if "links" in f:
        new["links"] = tuple(f["links"])
    if "investments" in f:
        new["investments"] = tuple(Investment(*i) for i in f["investments"])
    s = assign(s, empires=_empire(s, seat, **new), reports=_told(s, f))
    if "levels" in f:
        s = assign(s, levels={**s.levels, **f["levels"]})
    return assign(s, armies=_forces(s, seat, f["armies"])) if "armies" in f else s


def _ports_changed(s: S, f: Fact) -> S:
    lands = dict(s.lands)
    for territory in (*f["built"], *f["demolished"]):
        lands[territory] = assign(lands[territory], port=territory in f["built"])
    return assign(s, lands=lands)


def _armies_marched(s: S, f: Fact) -> S:
    return assign(s, armies=_forces(s, f["seat"], f["armies"]), reports=_told(s, f))


def _neutrals_set(s: S, f: Fact) -> S:
    kept = {t: g for t, g in s.garrisons.items() if t not in f["garrisons"]}
    return assign(s, garrisons={**kept, **{t: Garrison(*g) for t, g in f["garrisons"].items() if g is not None}})


def _armies_drilled(s: S, f: Fact) -> S:
    armies = dict(s.armies[f["seat"]])
    for army, training in f["trained"].items():
        armies[army] = assign(armies[army], training=training)
    for army, morale in f["rested"].items():
        armies[army] = assign(armies[army], morale=morale)
    return assign(s, armies=put(s.armies, f["seat"], armies), reports=_told(s, f))


# --- P6 to P9 ------------------------------------------------------------------------------------------------


def _territory_conquered(s: S, f: Fact) -> S:
    territory = f["territory"]
    new: dict[str, Any] = {"owner": f["seat"], "conquered_turn": f["turn"], "protectorate": None, "protections": {}}
    if f.get("loser") is None:
        new["doubled_turn"] = f["turn"]
    levels = {**s.levels.get(territory, {})}
    levels.pop("fortification", None)
    return assign(s, lands=_land(s, territory, **new), levels={**s.levels, territory: levels})


def _levels_learnt(s: S, f: Fact) -> S:
    return assign(s, levels={**s.levels, f["territory"]: f["levels"]})


def _supply_lost(s: S, f: Fact) -> S:
    return assign(s, armies=_strengths(s, f["seat"], f["left"]), reports=_told(s, f))


def _victory_counted(s: S, f: Fact) -> S:
    lists = {k: tuple(tuple(links) for links in f[k]) for k in ("realised", "failed")}
    empires = tuple(
        assign(e, links=(), links_done=tuple(sorted({*e.links_done, *done})))
        for e, done in zip(s.empires, lists["realised"], strict=True)
    )
    count = Count(f["turn"], tuple(f["points"]), lists["realised"], lists["failed"])
    return assign(s, counts=(*s.counts, count), vp=tuple(f["vp"]), empires=empires)


def _finance_settled(s: S, f: Fact) -> S:
    empires = _empire(s, f["seat"], treasury=f["treasury"], revenue=f["revenue"])
    s = assign(s, empires=empires, reports=_told(s, f))
    return assign(s, armies=_strengths(s, f["seat"], f["left"])) if "left" in f else s


# --- P10, P11 ------------------------------------------------------------------------------------------------


def _protection_ended(s: S, f: Fact) -> S:
    protections = _without(s.lands[f["territory"]].protections, f["seat"])
    return assign(s, lands=_land(s, f["territory"], protections=protections))


def _protectorate_ended(s: S, f: Fact) -> S:
    return assign(s, lands=_land(s, f["territory"], protectorate=None))


def _territory_given(s: S, f: Fact) -> S:
    return assign(s, lands=_land(s, f["territory"], owner=f["to"]))


def _armies_lost(s: S, f: Fact) -> S:
    return assign(s, armies=_forces(s, f["seat"], dict.fromkeys(f["armies"])), reports=_told(s, f))


def _protectorate_given(s: S, f: Fact) -> S:
    return assign(s, lands=_land(s, f["territory"], protectorate=Protectorate(f["to"], f["turn"])))


def _territory_annexed(s: S, f: Fact) -> S:
    return assign(s, lands=_land(s, f["territory"], owner=f["seat"], protectorate=None, conquered_turn=None))


def _protectorate_installed(s: S, f: Fact) -> S:
    new = Protectorate(f["seat"], f["turn"])
    return assign(s, lands=_land(s, f["territory"], protectorate=new, protections={}))


def _territory_protected(s: S, f: Fact) -> S:
    protections = {**s.lands[f["territory"]].protections, str(f["seat"]): f["turn"]}
    return assign(s, lands=_land(s, f["territory"], protections=protections))


def _empire_eliminated(s: S, f: Fact) -> S:
    seat = f["seat"]
    lands = dict(s.lands)
    for territory in TERRITORIES:
        land = lands[territory]
        if land.protectorate and land.protectorate.seat == seat:
            land = assign(land, protectorate=None)
        if str(seat) in land.protections:
            land = assign(land, protections=_without(land.protections, seat))
        lands[territory] = land
    return assign(
        s,
        lands=lands,
        status=put(s.status, seat, ELIMINATED),
        armies=put(s.armies, seat, {}),
        sheets=_sheet(s, seat, orders=(), controls=()),
        casus_belli={k: v for k, v in s.casus_belli.items() if str(seat) not in k.split(":")[:2]},
        proposals={k: p for k, p in s.proposals.items() if seat not in (p.sender, p.target)},
        open_ports={k: v for k, v in s.open_ports.items() if str(seat) not in k.split(":")},
        closed={k: by for k, by in s.closed.items() if by != seat and k.split(":")[1] != str(seat)},
    )


# --- P12 to P15 ----------------------------------------------------------------------------------------------


def _relation_changed(s: S, f: Fact) -> S:
    pair = PAIR_KEYS[f["seat"], f["target"]]
    s = assign(s, relations={**s.relations, pair: f["level"]})
    return assign(s, peace_turn={**s.peace_turn, pair: f["peace_turn"]}) if "peace_turn" in f else s


def _war_declared(s: S, f: Fact) -> S:
    """EGC-14.6: casus belli between the new enemies vanish."""
    a, b = f["seat"], f["target"]
    pair, gone = PAIR_KEYS[a, b], (f"{a}:{b}:", f"{b}:{a}:")
    casus_belli = {k: v for k, v in s.casus_belli.items() if not k.startswith(gone)}
    return assign(s, relations={**s.relations, pair: "imminent_war"}, casus_belli=casus_belli)


def _action_cancelled(s: S, f: Fact) -> S:
    return assign(s, empires=_empire(s, f["seat"], diplomacy=f["diplomacy"]), reports=_told(s, f))


def _proposal_made(s: S, f: Fact) -> S:
    new = Proposal(f["sender"], f["target"], f["action"])
    return assign(s, proposals={**s.proposals, f["proposal"]: new}, reports=_told(s, f))


def _proposal_answered(s: S, f: Fact) -> S:
    proposals = {k: p for k, p in s.proposals.items() if k != f["proposal"]}
    return assign(s, proposals=proposals, reports=_told(s, f))


def _casus_belli_gained(s: S, f: Fact) -> S:
    key = f"{f['holder']}:{f['against']}:{f['kind']}"
    return assign(s, casus_belli={**s.casus_belli, key: f["expires"]}, reports=_told(s, f))


def _strait_set(s: S, f: Fact) -> S:
    key = f"{f['strait']}:{f['target']}"
    kept = {k: by for k, by in s.closed.items() if k != key}
    return assign(s, closed={**kept, key: f["seat"]} if f["closed"] else kept)


def _ports_set(s: S, f: Fact) -> S:
    key = f"{f['seat']}:{f['target']}"
    kept = {k: v for k, v in s.open_ports.items() if k != key}
    return assign(s, open_ports={**kept, key: True} if f["open"] else kept)


def _technology_settled(s: S, f: Fact) -> S:
    left = tuple(Investment(*i) for i in f["investments"])
    empires = _empire(s, f["seat"], points=f["points"], ranks=f["ranks"], investments=left)
    return assign(s, empires=empires, reports=_told(s, f))


def _diplomacy_settled(s: S, f: Fact) -> S:
    return assign(s, empires=_empire(s, f["seat"], diplomacy=f["diplomacy"]), reports=_told(s, f))


def _manned_set(s: S, f: Fact) -> S:
    return assign(s, manned={t: who for t, who in {**s.manned, **f["manned"]}.items() if who is not None})


def _turn_started(s: S, f: Fact) -> S:
    """Sheets are new; a casus belli that can be used no more is gone (EGC-14.8)."""
    sheets = tuple(assign(x, orders=(), next_order=1, spent=0) for x in s.sheets)
    casus_belli = {k: expires for k, expires in s.casus_belli.items() if expires >= f["turn"]}
    return assign(s, turn=f["turn"], sheets=sheets, casus_belli=casus_belli)


def _sheet_opened(s: S, f: Fact) -> S:
    return assign(s, sheets=_sheet(s, f["seat"], controls=tuple(f["controls"])))


def _game_ended(s: S, f: Fact) -> S:
    return assign(s, final=Final(tuple(f["treasuries"]), tuple(f["tie_order"])))


def _news(evolve: Evolve) -> Evolve:
    """EGC-6.2: what all are told of a resolution."""

    def told(s: S, f: Fact) -> S:
        after: S = evolve(s, f)
        return assign(after, news=(*s.news, f))

    return told


EVOLVE: Mapping[str, Evolve] = {
    "counts_drawn": _counts_drawn,
    "tie_order_drawn": _tie_order_drawn,
    "neutrals_dealt": _neutrals_dealt,
    "game_set_up": _game_set_up,
    "allocation_filed": _allocation_filed,
    "empire_founded": _empire_founded,
    "order_filed": _order_filed,
    "order_cancelled": _order_cancelled,
    "territory_spied": _territory_spied,
    "empire_spied": _empire_spied,
    "seat_resigned": _seat_resigned,
    "resolution_started": _resolution_started,
    "sheet_carried_out": _sheet_carried_out,
    "ports_changed": _news(_ports_changed),
    "combat_fought": _noted,
    "army_turned_back": _noted,
    "armies_marched": _armies_marched,
    "neutrals_set": _neutrals_set,
    "battle_fought": _news(_silent),
    "armies_drilled": _armies_drilled,
    "territory_conquered": _news(_territory_conquered),
    "levels_learnt": _levels_learnt,
    "supply_lost": _supply_lost,
    "victory_counted": _news(_victory_counted),
    "finance_settled": _finance_settled,
    "protection_ended": _news(_protection_ended),
    "protectorate_ended": _news(_protectorate_ended),
    "territory_given": _news(_territory_given),
    "armies_lost": _armies_lost,
    "protectorate_given": _news(_protectorate_given),
    "territory_annexed": _news(_territory_annexed),
    "protectorate_installed": _news(_protectorate_installed),
    "territory_protected": _news(_territory_protected),
    "empire_eliminated": _news(_empire_eliminated),
    "relation_changed": _news(_relation_changed),
    "war_declared": _news(_war_declared),
    "war_joined": _news(_war_declared),
    "action_cancelled": _action_cancelled,
    "proposal_made": _proposal_made,
    "proposal_answered": _proposal_answered,
    "casus_belli_gained": _casus_belli_gained,
    "strait_set": _news(_strait_set),
    "ports_set": _news(_ports_set),
    "technology_settled": _technology_settled,
    "diplomacy_settled": _diplomacy_settled,
    "manned_set": _manned_set,
    "turn_started": _turn_started,
    "sheet_opened": _sheet_opened,
    "game_ended": _game_ended,
}
