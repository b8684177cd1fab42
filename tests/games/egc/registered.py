"""What the tests of all games need to know of this one, independently of its code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from domain.games.egc import RULESET
from domain.games.egc.data import DOC
from domain.types import Doc, Json, Seat

__all__ = ["BRUTE", "RULESET", "THINGS", "candidates", "conserved"]

BRUTE = 400
"""Sheets of more complete moves than this are not compared with brute force."""

MANY = 12
"""Amounts up to this are tried one by one; of greater ones the bounds and a few between."""

S = Any
EMPIRES = [e["id"] for e in DOC["empires"]["items"]]
TERRITORIES = {t["id"]: t for t in DOC["territories"]["items"]}
SEAS = [s["id"] for s in DOC["seas"]["items"]]
COASTS = {s: [i for i, t in TERRITORIES.items() if s in t["seas"]] for s in SEAS}
LINKED: dict[str, set[str]] = {s: set() for s in SEAS}
for _a, _b in [*DOC["sea_links"]["items"], *(s["seas"] for s in DOC["straits"]["items"])]:
    LINKED[_a].add(_b)
    LINKED[_b].add(_a)
TECHNOLOGIES = [t["id"] for t in DOC["technologies"]["items"]]
INFRASTRUCTURES = [i["id"] for i in DOC["infrastructure"]["items"]]
TABLES = DOC["rank_tables"]

_SECTIONS = ("territories", "seas", "straits", "links", "technologies", "infrastructure", "empires")
_EVENTS = ("colonial_incident", "protected_attacked", "alliance_broken", "mpa_attacked", "ally_at_war")
THINGS = (*(x["id"] for section in _SECTIONS for x in DOC[section]["items"]), *_EVENTS, *DOC["relations"]["ladder"])
"""Ids that facts must name in a soak; the two lasting casus belli are derived, no fact names them (EGC-14.7)."""


def amounts(most: int) -> list[int]:
    """Figures to try where so much is possible."""
    if most <= MANY:
        return list(range(-1, most + 3))
    return [0, 1, 2, most // 2, most, most + 1]


def candidates(s: S, seat: Seat) -> Iterator[Doc]:
    """Moves that answer the open decision, in the builder's form, legal or not; complete where amounts are small."""
    if not s.frames or s.top.engine:
        return
    yield from ({"type": t} for t in ("submit_orders", "reopen_orders"))
    if s.top.kind != "orders":
        yield from _allocations()
        return
    yield from _money(s, seat)
    yield from _building(s, seat)
    yield from _armies(s, seat)
    yield from _marches(s, seat)
    yield from _diplomacy(s, seat)
    yield from _territories(s, seat)
    yield from _seldom(s, seat)


def _allocations() -> Iterator[Doc]:
    even = dict.fromkeys(TECHNOLOGIES, 1800)
    yield {"type": "allocate_turn_zero", "points": even}
    yield {"type": "allocate_turn_zero", "points": {**even, "naval": 1801}}


def _money(s: S, seat: Seat) -> Iterator[Doc]:
    e = s.empires[seat]
    for technology, n in product([*TECHNOLOGIES, "alchemy"], amounts(e.treasury)):
        yield {"type": "set_research", "technology": technology, "amount": n}
    price = TABLES["expedition_cost"][e.ranks["exploration"] - 1]
    yield from ({"type": "fund_expeditions", "count": n} for n in amounts(e.treasury // price))
    limit = TABLES["money_gift_limit"][e.ranks["diplomacy"] - 1]
    for to, n in product([*EMPIRES, "atlantis"], amounts(min(limit, e.treasury))):
        yield {"type": "give_money", "to": to, "amount": n}
    yield from ({"type": "spy_empire", "empire": x} for x in [*EMPIRES, "atlantis"])
    yield from ({"type": "cancel_order", "order": n} for n in range(s.sheets[seat].next_order + 1))
    links: list[list[str]] = [[], *([k["id"]] for k in DOC["links"]["items"])]
    links += [list(pair) for pair in permutations([k["id"] for k in DOC["links"]["items"]], 2)]
    if s.turn == 4 or any(c.turn == s.turn - 1 for c in s.counts):
        yield from ({"type": "choose_links", "links": chosen} for chosen in links)
    yield {"type": "choose_links", "links": ["atlantis"]}


def _places(s: S, seat: Seat) -> list[str]:
    """All that the seat has to do with, and some others."""
    own = [t for t, land in s.lands.items() if seat == land.owner or land.protectorate or land.protections]
    return [*dict.fromkeys([*own, *list(TERRITORIES)[seat::12]]), "nowhere"]


def _building(s: S, seat: Seat) -> Iterator[Doc]:
    for kind, i in product(("build", "demolish"), [*INFRASTRUCTURES, "temple"]):
        yield from ({"type": kind, "territory": t, "infrastructure": i} for t in _places(s, seat))
    for t, n in product(_places(s, seat), amounts(s.empires[seat].treasury // 500)):
        yield {"type": "recruit", "territory": t, "divisions": n}


def _ids(s: S, seat: Seat) -> list[str]:
    raised = [o.army for o in s.sheets[seat].orders if o.army]
    mine = dict.fromkeys([*s.armies[seat], *raised])
    return [*mine, f"{EMPIRES[seat]}-99", f"{EMPIRES[seat - 1]}-1", "N-serbia", "nobody"]


def _armies(s: S, seat: Seat) -> Iterator[Doc]:
    ids = _ids(s, seat)
    most = max((a.divisions for a in s.armies[seat].values()), default=0)
    for kind, army, n in product(("split_army", "disband"), ids, amounts(most)):
        yield {"type": kind, "army": army, "divisions": n}
    for size in range(1, 4 if len(ids) < 8 else 3):
        yield from ({"type": "merge_armies", "armies": list(some)} for some in permutations(ids, size))


def _marches(s: S, seat: Seat) -> Iterator[Doc]:
    """Long ways for one army of a place only, and only at the usual time."""
    rounds, usual = _rounds(s, seat), _rounds(s, seat)[-1]
    places: set[str] = set()
    for army in _ids(s, seat):
        order = {"type": "order_army", "army": army}
        yield from ({**order, "order": kind} for kind in ("prepare_defence", "train", "rest"))
        yield from ({**order, "order": "support", "territory": t} for t in [*TERRITORIES, "nowhere"])
        here = _place(s, seat, army)
        for path, more in product(_paths(here), rounds):
            yield {**order, "order": "move", "path": path, **more}
        if here not in places:
            places.add(here)
            yield from ({**order, "order": "move", "path": path, **usual} for path in [*_far(here), *_leaps(here)])


def _rounds(s: S, seat: Seat) -> list[dict[str, Json]]:
    """Around the ends of the window; last the usual one. Who has no window is not asked."""
    width = TABLES["activation_half_width"][s.empires[seat].ranks["logistics"] - 1]
    return [{"round": r} for r in (4 - width, 5 - width, 5 + width, 6 + width, 5)] if width else [{}]


def _place(s: S, seat: Seat, army: str) -> str:
    for o in s.sheets[seat].orders:
        if o.army == army:
            old = o.order.get("army")
            return o.order.get("territory") or _place(s, seat, old)
    found = s.armies[seat].get(army)
    return found.territory if found else "france"


def _paths(start: str) -> Iterator[list[str]]:
    """By land over up to two borders."""
    for there in TERRITORIES[start]["land_neighbours"]:
        yield [start, there]
        yield from ([start, there, t] for t in TERRITORIES[there]["land_neighbours"])


def _far(start: str) -> Iterator[list[str]]:
    """Over up to two seas."""
    for sea in TERRITORIES[start]["seas"]:
        yield [start, sea]
        yield from ([start, sea, t] for t in COASTS[sea])
        for other in sorted(LINKED[sea]):
            yield from ([start, sea, other, t] for t in COASTS[other])


def _leaps(start: str) -> Iterator[list[str]]:
    """To some places that are not beside it."""
    far = [t for t in TERRITORIES if t not in (start, *TERRITORIES[start]["land_neighbours"])]
    yield from ([start, t] for t in far[::12])
    yield from ([start, sea, COASTS[sea][0]] for sea in SEAS[::6] if sea not in TERRITORIES[start]["seas"])


def _diplomacy(s: S, seat: Seat) -> Iterator[Doc]:
    points = amounts(s.empires[seat].diplomacy)
    for target in [*EMPIRES, "atlantis"]:
        for more in ({}, {"stake": 1}):
            yield {"type": "relation_action", "target": target, "action": "declare_war_cb", **more}
        for action, stake in product(("degrade", "propose", "incite", "sabotage"), points):
            yield {"type": "relation_action", "target": target, "action": action, "stake": stake}
        for yes in (True, False):
            yield {"type": "set_ports", "target": target, "open": yes}
            for strait in [x["id"] for x in DOC["straits"]["items"]]:
                yield {"type": "set_straits", "strait": strait, "target": target, "closed": yes}
    for proposal, yes in product([*s.proposals, "1:0:1"], (True, False)):
        yield {"type": "answer_proposal", "proposal": proposal, "accept": yes}


def _territories(s: S, seat: Seat) -> Iterator[Doc]:
    for t in _places(s, seat):
        yield from (
            {"type": kind, "territory": t}
            for kind in ("protect", "install_protectorate", "annex", "drop", "spy_territory")
        )
        yield from ({"type": "give_territory", "territory": t, "to": to} for to in EMPIRES)


def _seldom(s: S, seat: Seat) -> Iterator[Doc]:
    """Refused for reasons that are seldom met; the members stand in another order, by which a sampler tells kinds."""
    for t in _places(s, seat)[:-1]:
        if not TERRITORIES[t]["seas"]:
            yield {"territory": t, "type": "build", "infrastructure": "port"}
    for target in EMPIRES:
        yield {"action": "declare_war_cb", "target": target, "type": "relation_action", "stake": 1}
    homes = {t for t, land in TERRITORIES.items() if land["home_of"]}
    for army in _ids(s, seat):
        here = _place(s, seat, army)
        for t in sorted(homes & set(TERRITORIES[here]["land_neighbours"])):
            yield {"army": army, "order": "support", "type": "order_army", "territory": t}
        for path in [*_crossings(here), *_straits(here)]:
            yield {"army": army, "order": "move", "type": "order_army", "path": path, **_rounds(s, seat)[-1]}


def _crossings(start: str) -> Iterator[list[str]]:
    """Over one sea, to its first coasts."""
    for sea in TERRITORIES[start]["seas"]:
        yield from ([start, sea, t] for t in COASTS[sea][:2] if t != start)


def _straits(start: str) -> Iterator[list[str]]:
    """Through every strait near by, to the first coasts behind it."""
    for strait in DOC["straits"]["items"]:
        for here, there in permutations(strait["seas"]):
            if here in TERRITORIES[start]["seas"]:
                yield from ([start, here, there, t] for t in COASTS[there][:3] if t != start)


def conserved(doc: Json) -> Json:
    """The map, the pairs, and that no army's number is used again."""
    lands = sorted(doc["lands"])
    numbers = all(
        int(army.rsplit("-", 1)[1]) < doc["sheets"][seat]["next_army"]
        for seat, armies in doc["armies"].items()
        for army in armies
    )
    return [lands, sorted(doc["relations"]), len(doc["empires"]), numbers]
