"""EGC-12, P9: an empire's income and expenses at the end of a turn."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace

from domain.games.egc.data import ECONOMY, HOMES, SEAT, TERRITORIES, by_rank, number_of
from domain.games.egc.facts.realm import FinanceSettled
from domain.games.egc.moves import GiveMoney
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import Egc
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat


@dataclass(frozen=True)
class Income:
    """EGC-12.2: a revenue, line by line."""

    national: int
    colonial: int
    corruption: int
    protectorates: int

    @property
    def revenue(self) -> int:
        """All of it."""
        return self.national + self.colonial - self.corruption + self.protectorates


def value_for(s: Egc, seat: Seat, territory: str) -> int:
    """EGC-12.3: the value of a territory with its factories, at the rank of an empire."""
    factories = s.level(territory, "factory")
    each = by_rank("factory_value", s.rank(seat, "infrastructure"))
    return TERRITORIES[territory].value + factories * each


def recovery(s: Egc, territory: str) -> int:
    """EGC-12.4: percent of its value yielded by a territory after a conquest."""
    taken = s.lands[territory].conquered_turn
    table: list[int] = ECONOMY["recovery_percent"]
    return 100 if taken is None else table[min(len(table) - 1, s.turn - taken)]


def recovered(s: Egc, seat: Seat, territory: str) -> int:
    """Return a territory's yield for an empire this turn."""
    return value_for(s, seat, territory) * recovery(s, territory) // 100


def corruption_rate(colonies: int, rank: int) -> int:
    """EGC-12.2: percent of the colonial income."""
    rate = colonies * (rank + ECONOMY["corruption_rank_offset"]) // ECONOMY["corruption_divisor"]
    most: int = ECONOMY["corruption_max_percent"]
    return min(most, int(rate))


def income(s: Egc, seat: Seat) -> Income:
    """EGC-12.2: an empire's income of a turn."""
    home, colonies = HOMES[seat], s.colonies(seat)
    national = ECONOMY["national_multiplier"] * recovered(s, seat, home) if s.metropolis(home) else 0
    colonial = sum(recovered(s, seat, t) for t in colonies)
    rate = corruption_rate(len(colonies), s.rank(seat, "administration"))
    protectorates = sum(value_for(s, seat, t) for t in s.protectorates(seat))
    return Income(national, colonial, colonial * rate // 100, protectorates)


def settle(w: Resolution) -> None:
    """EGC-12.1, EGC-12.6: the finance statement of each empire in play."""
    gifts: dict[Seat, int] = {}
    for _, order in w.orders_of(GiveMoney):
        to = SEAT[order.to]
        gifts[to] = gifts.get(to, 0) + order.amount
    for seat in w.s.in_play():
        _settle_one(w, seat, gifts.get(seat, 0))


def _settle_one(w: Resolution, seat: Seat, gifts: int) -> None:
    kept = w.s.empires[seat].treasury
    lines = income(w.s, seat)
    armies = w.s.armies[seat]
    bonuses: list[int] = ECONOMY["first_turn_bonus"]
    bonus = bonuses[w.turn] if w.turn < len(bonuses) else 0
    usury = max(0, kept - lines.revenue) // ECONOMY["usury_divisor"]
    upkeep = ECONOMY["upkeep_per_division"] * sum(a.divisions for a in armies.values())
    plunder = w.plunder.get(seat, 0)
    treasury = kept - usury + lines.revenue + bonus + plunder + gifts - upkeep
    gone = -(min(0, treasury) // ECONOMY["upkeep_per_division"])
    fact = FinanceSettled(
        w.step,
        seat,
        kept=kept,
        national=lines.national,
        colonial=lines.colonial,
        corruption=lines.corruption,
        protectorates=lines.protectorates,
        revenue=lines.revenue,
        usury=usury,
        bonus=bonus,
        plunder=plunder,
        gifts=gifts,
        upkeep=upkeep,
        deserted=gone,
        treasury=max(0, treasury),
        left=deserted({army: a.divisions for army, a in armies.items()}, gone) if gone else UNSET,
    )
    w.tell_seat(fact)


def deserted(divisions: dict[str, int], gone: int) -> dict[str, int]:
    """EGC-12.6: one at a time from the strongest army at the moment; return the divisions left, by changed army."""
    heap = [(-n, -number_of(army), army) for army, n in divisions.items()]
    heapify(heap)
    for _ in range(gone):
        n, number, army = heap[0]
        heapreplace(heap, (n + 1, number, army))
    return {army: -n for n, _, army in sorted(heap, key=lambda item: item[2]) if -n != divisions[army]}
