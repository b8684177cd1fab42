"""What the tests of all games need to know of this one, independently of its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

from domain.games.egc import RULESET
from domain.games.egc.data import DOC
from domain.ids import Json, Seat
from domain.kernel.choices import Move

__all__ = ["BRUTE", "RULESET", "candidates", "conserved"]

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


def amounts(most: int) -> list[int]:
    """Figures to try where so much is possible."""
    if most <= MANY:
        return list(range(-1, most + 3))
    return [0, 1, 2, most // 2, most, most + 1]


def candidates(s: S, seat: Seat) -> Iterator[Move]:
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
    yield from _territories()


def _allocations() -> Iterator[Move]:
    even = dict.fromkeys(TECHNOLOGIES, 1800)
    yield {"type": "allocate_turn_zero", "points": even}
    yield {"type": "allocate_turn_zero", "points": {**even, "naval": 1801}}


def _money(s: S, seat: Seat) -> Iterator[Move]:
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


def _building(s: S, seat: Seat) -> Iterator[Move]:
    for kind, i in product(("build", "demolish"), [*INFRASTRUCTURES, "temple"]):
        yield from ({"type": kind, "territory": t, "infrastructure": i} for t in [*TERRITORIES, "nowhere"])
    for t, n in product(TERRITORIES, amounts(s.empires[seat].treasury // 500)):
        yield {"type": "recruit", "territory": t, "divisions": n}


def _ids(s: S, seat: Seat) -> list[str]:
    raised = [o.army for o in s.sheets[seat].orders if o.army]
    mine = dict.fromkeys([*s.armies[seat], *raised])
    return [*mine, f"{EMPIRES[seat]}-99", f"{EMPIRES[seat - 1]}-1", "N-serbia", "nobody"]


def _armies(s: S, seat: Seat) -> Iterator[Move]:
    ids = _ids(s, seat)
    most = max((a.divisions for a in s.armies[seat].values()), default=0)
    for kind, army, n in product(("split_army", "disband"), ids, amounts(most)):
        yield {"type": kind, "army": army, "divisions": n}
    for size in range(1, 4 if len(ids) < 8 else 3):
        yield from ({"type": "merge_armies", "armies": list(some)} for some in permutations(ids, size))


def _marches(s: S, seat: Seat) -> Iterator[Move]:
    width = TABLES["activation_half_width"][s.empires[seat].ranks["logistics"] - 1]
    rounds: Sequence[dict[str, Json]] = [{"round": r} for r in range(4 - width, 7 + width)] if width else [{}]
    for army in _ids(s, seat):
        order = {"type": "order_army", "army": army}
        yield from ({**order, "order": kind} for kind in ("prepare_defence", "train", "rest"))
        yield from ({**order, "order": "support", "territory": t} for t in [*TERRITORIES, "nowhere"])
        here = _place(s, seat, army)
        for path, more in product(_paths(here), rounds):
            yield {**order, "order": "move", "path": path, **more}


def _place(s: S, seat: Seat, army: str) -> str:
    for o in s.sheets[seat].orders:
        if o.army == army:
            old = o.order.get("army")
            return o.order.get("territory") or _place(s, seat, old)
    found = s.armies[seat].get(army)
    return found.territory if found else "france"


def _paths(start: str) -> Iterator[list[str]]:
    """By land over up to two borders, over up to two seas."""
    for there in TERRITORIES[start]["land_neighbours"]:
        yield [start, there]
        yield from ([start, there, t] for t in TERRITORIES[there]["land_neighbours"])
    for sea in TERRITORIES[start]["seas"]:
        yield [start, sea]
        yield from ([start, sea, t] for t in COASTS[sea])
        for other in sorted(LINKED[sea]):
            yield from ([start, sea, other, t] for t in COASTS[other])


def _diplomacy(s: S, seat: Seat) -> Iterator[Move]:
    points = amounts(s.empires[seat].diplomacy)
    for target in [*EMPIRES, "atlantis"]:
        yield {"type": "relation_action", "target": target, "action": "declare_war_cb"}
        for action, stake in product(("degrade", "propose", "incite", "sabotage"), points):
            yield {"type": "relation_action", "target": target, "action": action, "stake": stake}
        for yes in (True, False):
            yield {"type": "set_ports", "target": target, "open": yes}
            for strait in [x["id"] for x in DOC["straits"]["items"]]:
                yield {"type": "set_straits", "strait": strait, "target": target, "closed": yes}
    for proposal, yes in product([*s.proposals, "1:0:1"], (True, False)):
        yield {"type": "answer_proposal", "proposal": proposal, "accept": yes}


def _territories() -> Iterator[Move]:
    for t in [*TERRITORIES, "nowhere"]:
        yield from (
            {"type": kind, "territory": t}
            for kind in ("protect", "install_protectorate", "annex", "drop", "spy_territory")
        )
        yield from ({"type": "give_territory", "territory": t, "to": to} for to in EMPIRES)


def conserved(doc: Json) -> Json:
    """The map, the pairs, and that no army's number is used again."""
    lands = sorted(doc["lands"])
    numbers = all(
        int(army.rsplit("-", 1)[1]) < doc["sheets"][seat]["next_army"]
        for seat, armies in doc["armies"].items()
        for army in armies
    )
    return [lands, sorted(doc["relations"]), len(doc["empires"]), numbers]
