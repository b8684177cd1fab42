"""EGC-13: research, decay and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.games.egc.data import RESEARCH, TECHNOLOGIES, by_rank
from domain.games.egc.facts.relations import TechnologySettled
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import Investment
from domain.types import Seat


def research_points(amount: int, rank: int, revenue: int) -> int:
    """EGC-13.1: investment points for money."""
    percent = 100 + by_rank("research_bonus_percent", rank)
    return amount * RESEARCH["conversion_constant"] * percent // (100 * max(RESEARCH["revenue_floor"], revenue))


def ranks_of(
    points: Sequence[Mapping[str, int]], revenues: Sequence[int], tie_order: Sequence[Seat], seats: Sequence[Seat]
) -> dict[Seat, dict[str, int]]:
    """EGC-13.5: the ranks of the empires in play, each technology for itself."""
    place = {seat: i for i, seat in enumerate(tie_order)}
    last = max(1, len(seats) - 1)
    found: dict[Seat, dict[str, int]] = {seat: {} for seat in range(len(points))}
    for technology in TECHNOLOGIES:
        best = sorted(seats, key=lambda seat: (-points[seat].get(technology, 0), revenues[seat], place[seat]))
        for p, seat in enumerate(best):
            found[seat][technology] = 1 + p * 9 // last
    return found


def settle(w: Resolution) -> None:
    """Settle decay, matured research and new ranks (P13, EGC-13.2)."""
    s, turn = w.s, w.turn
    seats = s.in_play()
    points, left, matured = {}, {}, {}
    for seat in seats:
        due = [i for i in s.empires[seat].investments if i.due <= turn + 1]
        left[seat] = [i for i in s.empires[seat].investments if i.due > turn + 1]
        points[seat], matured[seat] = _grown(s.empires[seat].points, due)
    revenues = [e.revenue for e in s.empires]
    ranks = ranks_of([points.get(x, {}) for x in range(s.seats)], revenues, s.tie_order, seats)
    for seat in seats:
        kept = [(i.technology, i.points, i.due) for i in left[seat]]
        w.tell_seat(TechnologySettled(w.step, seat, points[seat], ranks[seat], kept, matured[seat]))


def _grown(points: Mapping[str, int], due: Sequence[Investment]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the points after decay plus the matured ones, and the matured ones alone."""
    keep, of = RESEARCH["decay_keep_numerator"], RESEARCH["decay_keep_denominator"]
    new = {t: points[t] * keep // of for t in TECHNOLOGIES}
    matured: dict[str, int] = {}
    for investment in due:
        matured[investment.technology] = matured.get(investment.technology, 0) + investment.points
    return {t: n + matured.get(t, 0) for t, n in new.items()}, matured
