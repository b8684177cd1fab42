"""EGC-14.10, P14: diplomacy points, and the upkeep paid from them."""

from __future__ import annotations

from domain.games.egc.data import DIPLOMACY, SEATS, by_rank
from domain.games.egc.facts.realm import ProtectionEnded, ProtectorateEnded
from domain.games.egc.facts.relations import DiplomacySettled
from domain.games.egc.rules.relations import break_alliance
from domain.games.egc.rules.work import Resolution
from domain.types import Seat


def settle(w: Resolution) -> None:
    """EGC-14.10: empire by empire, income first, then alliances, protectorates, protections."""
    for seat in w.s.in_play():
        before = w.s.empires[seat].diplomacy
        income = by_rank("diplomacy_income", w.s.rank(seat, "diplomacy"))
        lost, taken = w.lost.get(seat, 0), w.taken.get(seat, 0)
        moved = DIPLOMACY["territory_lost"] * lost + DIPLOMACY["territory_taken"] * taken
        reached = min(DIPLOMACY["max_points"], max(0, before + income + moved))
        left = _keep_up(w, seat, reached)
        w.tell_seat(DiplomacySettled(w.step, seat, left, before, income, lost, taken, upkeep=reached - left))


def _keep_up(w: Resolution, seat: Seat, points: int) -> int:
    """Return the points left; anything unpaid ends."""
    for ally in SEATS:
        pair = (min(seat, ally), max(seat, ally))
        if pair in w.alliances and w.s.allied(seat, ally):
            if points >= DIPLOMACY["alliance_upkeep"]:
                points -= DIPLOMACY["alliance_upkeep"]
            else:
                break_alliance(w, seat, ally, "upkeep_failed")
    for territory in w.s.protectorates(seat):
        held = w.s.lands[territory].protectorate
        if held and w.s.in_force(held.since):
            if points >= DIPLOMACY["protectorate_upkeep"]:
                points -= DIPLOMACY["protectorate_upkeep"]
            else:
                w.tell(ProtectorateEnded(w.step, seat, territory, "upkeep_failed"))
    for territory, since in w.s.holdings.protections[seat].items():
        if w.s.in_force(since):
            if points >= DIPLOMACY["protect_upkeep"]:
                points -= DIPLOMACY["protect_upkeep"]
            else:
                w.tell(ProtectionEnded(w.step, seat, territory, "upkeep_failed"))
    return points
