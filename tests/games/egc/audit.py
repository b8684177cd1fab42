"""Where every Brz, diplomacy point and division of a turn went, counted from the sheets and the facts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from domain.games.egc.data import DOC
from domain.games.egc.state import Egc
from domain.types import Doc, Json, Seat
from tests.games.egc.board import of

COST = {i["id"]: i["cost"] for i in DOC["infrastructure"]["items"]}
EMPIRES = sorted(e["id"] for e in DOC["empires"]["items"])
TABLES: dict[str, list[int]] = DOC["rank_tables"]


def audit(before: Egc, after: Egc, facts: Sequence[Doc]) -> None:
    """One resolved turn; raises AssertionError where an account does not close."""
    for seat in before.in_play():
        _treasury(before, after, facts, seat)
    _divisions(before, after, facts)


# --- money -------------------------------------------------------------------------------------------------------


def spending(s: Egc, seat: Seat) -> int:
    """Brz of the sheet and of spies (EGC-7.2, EGC-7.3, EGC-7.5, EGC-7.9, EGC-7.11, EGC-7.17)."""
    return s.sheets[seat].spent + sum(_price(s, seat, o.order) for o in s.sheets[seat].orders)


def _price(s: Egc, seat: Seat, order: dict[str, Any]) -> int:
    kind = order["type"]
    if kind == "build":
        prices: list[int] = COST[order["infrastructure"]]
        return prices[s.level(order["territory"], order["infrastructure"])]
    if kind == "fund_expeditions":
        return int(order["count"]) * TABLES["expedition_cost"][s.rank(seat, "exploration") - 1]
    return {"recruit": 500 * int(order.get("divisions", 0))}.get(kind, 0) or _amount(order)


def _amount(order: dict[str, Any]) -> int:
    return int(order["amount"]) if order["type"] in ("set_research", "give_money") else 0


def _treasury(before: Egc, after: Egc, facts: Sequence[Doc], seat: Seat) -> None:
    """EGC-12.6: everything that a treasury gained and lost, to the last Brz."""
    kept = before.empires[seat].treasury - spending(before, seat)
    lines = of(facts, "finance_settled", seat)
    if not lines:  # the fourth count: P9 is left out
        assert after.empires[seat].treasury == kept, f"{seat}: {after.empires[seat].treasury}, kept {kept}"
        return
    f = lines[0]
    given = sum(_given(before, x, seat) for x in before.in_play())
    assert (f["kept"], f["gifts"]) == (kept, given), f"{seat}: {f}, kept {kept}, given {given}"
    assert f["revenue"] == f["national"] + f["colonial"] - f["corruption"] + f["protectorates"], f"{seat}: {f}"
    assert f["usury"] == max(0, kept - f["revenue"]) // 2, f"{seat}: {f}"
    rest = kept - f["usury"] + f["revenue"] + f["bonus"] + f["plunder"] + given - f["upkeep"]
    assert f["treasury"] == max(0, rest) == after.empires[seat].treasury, f"{seat}: {f}, rest {rest}"
    assert f["deserted"] == (max(0, -rest) + 149) // 150, f"{seat}: {f}, rest {rest}"


def _given(s: Egc, seat: Seat, to: Seat) -> int:
    orders = [o.order for o in s.sheets[seat].orders if o.order["type"] == "give_money"]
    return sum(int(o["amount"]) for o in orders if o["to"] == EMPIRES[to])


# --- divisions ---------------------------------------------------------------------------------------------------


def _divisions(before: Egc, after: Egc, facts: Sequence[Doc]) -> None:
    """Army by army: raised, sent home, lost in combat, starved, deserted, given away, destroyed."""
    held = _strengths(before)
    for seat in before.in_play():
        _managed(before, held, facts, seat)
    for combat in _combats(facts):
        _fought(held, combat)
    for f in facts:
        _lost(held, f)
    found = {army: n for army, n in held.items() if n}
    assert found == _strengths(after), found.items() ^ _strengths(after).items()


def _strengths(s: Egc) -> dict[str, int]:
    armies = {army: a.divisions for mine in s.armies for army, a in mine.items()}
    return armies | {f"N-{t}": g.divisions for t, g in s.garrisons.items()}


def _managed(s: Egc, held: dict[str, int], facts: Sequence[Doc], seat: Seat) -> None:
    """EGC-7.5 to EGC-7.8: only raising and disbanding change how many there are."""
    orders = [o.order for o in s.sheets[seat].orders]
    raised = sum(o["divisions"] for o in orders if o["type"] == "recruit")
    gone = sum(o["divisions"] for o in orders if o["type"] == "disband")
    mine = {army: n for army, n in held.items() if army in s.armies[seat]}
    new = dict(mine)
    for f in of(facts, "sheet_carried_out", seat):
        new |= {army: a[1] if a else 0 for army, a in f.get("armies", {}).items()}
    assert sum(new.values()) == sum(mine.values()) + raised - gone, f"{seat}: {mine}, {new}, {raised}, {gone}"
    held |= new


def _combats(facts: Sequence[Doc]) -> list[Doc]:
    """Each once, though several read it."""
    seen: dict[str, Doc] = {}
    for f in of(facts, "combat_fought"):
        seen.setdefault(str([f["territory"], f["attacker"], f["defender"], f["before"], f["rounds"]]), f)
    return list(seen.values())


def _fought(held: dict[str, int], f: Doc) -> None:
    """EGC-9.8, EGC-9.10: what a combat cost, and who was destroyed after it."""
    lost: Counter[str] = Counter()
    for *_, attacker, defender, helpers in f["rounds"]:
        lost.update({f["attacker"]: attacker, f["defender"]: defender})
        lost.update(helpers)
    assert [held[f["attacker"]], held[f["defender"]]] == f["before"], f"{f}, {held}"
    for army, n in lost.items():
        held[army] -= n
        assert held[army] >= 0, f"{army}: {held[army]} after {f}"
    for army, place in f["goes"]:
        if place is None:
            held[army] = 0


def _lost(held: dict[str, int], f: Doc) -> None:
    kind: str = f["t"]
    if kind == "army_turned_back" and f["to"] is None:
        held[f["army"]] = 0
    elif kind == "supply_lost":
        _reduced(held, f["left"], f["divisions"])
    elif kind == "finance_settled" and f["deserted"]:
        _reduced(held, f["left"], f["deserted"])
    elif kind == "armies_lost":
        held.update(dict.fromkeys(f["armies"], 0))
    elif kind == "territory_annexed":
        held[f"N-{f['territory']}"] = 0
    elif kind == "empire_eliminated":
        held.update({army: 0 for army in held if army.rpartition("-")[0] == EMPIRES[f["seat"]]})


def _reduced(held: dict[str, int], left: dict[str, Json], divisions: int) -> None:
    assert sum(held[army] - int(n) for army, n in left.items()) == divisions, f"{left}, {divisions}"
    held.update({army: int(n) for army, n in left.items()})
