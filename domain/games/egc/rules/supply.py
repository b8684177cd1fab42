"""EGC-11.4, EGC-11.5, P7: supply."""

from __future__ import annotations

from domain.games.egc.data import SUPPLY, TERRITORIES, by_rank
from domain.games.egc.facts.armies import SupplyLost
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import Army, Egc, numbered
from domain.types import Seat


def capacity(s: Egc, territory: str) -> int:
    """EGC-11.4: divisions fed by an owned territory."""
    land = s.lands[territory]
    full = TERRITORIES[territory].supply
    if land.owner is not None:
        full += s.level(territory, "farm") * by_rank("farm_supply", s.rank(land.owner, "infrastructure"))
    return full * SUPPLY["neutral_conquest_multiplier"] if land.doubled_turn == s.turn else full


def attrition(w: Resolution) -> None:
    """EGC-11.4: the further above the capacity, the heavier."""
    for seat in w.s.in_play():
        places: dict[str, list[tuple[str, Army]]] = {}
        for army, a in numbered(w.s.armies[seat]):
            places.setdefault(a.territory, []).append((army, a))
        for territory in sorted(places):
            _starve(w, seat, territory, places[territory])


def _starve(w: Resolution, seat: Seat, territory: str, armies: list[tuple[str, Army]]) -> None:
    cap, total = capacity(w.s, territory), sum(a.divisions for _, a in armies)
    loss = lost_to_hunger(total, cap)
    if not loss:
        return
    left = {army: a.divisions - loss * a.divisions // total for army, a in armies}
    rest = loss - (total - sum(left.values()))
    for army, _ in armies[:rest]:
        left[army] -= 1
    w.tell_seat(SupplyLost(w.step, seat, territory, divisions=loss, total=total, capacity=cap, left=left))


def lost_to_hunger(total: int, cap: int) -> int:
    """EGC-11.4."""
    excess = max(0, total - cap)
    over = 100 * excess // cap
    percent = min(
        SUPPLY["attrition_max_percent"], SUPPLY["attrition_base_percent"] + over // SUPPLY["attrition_step_divisor"]
    )
    return -(-excess * percent // 100)
