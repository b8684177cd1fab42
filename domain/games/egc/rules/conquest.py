"""EGC-11.1 to EGC-11.3, P6: conquest and plunder."""

from __future__ import annotations

from domain.games.egc.data import ECONOMY, HOMES, TERRITORIES
from domain.games.egc.facts.armies import TerritoryConquered
from domain.games.egc.rules.finance import corruption_rate, recovered
from domain.games.egc.rules.work import NOBODY, Resolution
from domain.types import Seat


def conquer(w: Resolution) -> None:
    """EGC-11.1: an army takes the foreign territory it ends in."""
    colonies = {seat: len(w.s.colonies(seat)) for seat in w.s.in_play()}
    for territory in TERRITORIES:
        there = w.standing.get(territory)
        if there and there[0].seat not in (NOBODY, w.s.lands[territory].owner):
            _take(w, territory, there[0].seat, colonies)


def _take(w: Resolution, territory: str, seat: Seat, colonies: dict[Seat, int]) -> None:
    loser = w.s.lands[territory].owner
    if loser is not None:
        w.plunder[loser] = w.plunder.get(loser, 0) + plundered(w, territory, loser, colonies[loser])
        w.lost[loser] = w.lost.get(loser, 0) + 1
        w.taken[seat] = w.taken.get(seat, 0) + 1
    w.tell(TerritoryConquered(w.step, territory, seat, w.turn, loser))
    w.learn(seat, territory)


def plundered(w: Resolution, territory: str, loser: Seat, colonies: int) -> int:
    """EGC-11.2: twice the old owner's income from the territory this turn."""
    income = recovered(w.s, loser, territory)
    factor: int = ECONOMY["plunder_factor"]
    if territory == HOMES[loser]:
        return factor * int(ECONOMY["national_multiplier"]) * income
    return factor * income * (100 - corruption_rate(colonies, w.s.rank(loser, "administration"))) // 100
