"""EGC-15, P8: victory counts, links, and the end of the game."""

from __future__ import annotations

from domain.games.egc.data import LINKS, SEATS, TERRITORIES, VICTORY, Link
from domain.games.egc.facts.realm import Ending, VictoryCounted
from domain.games.egc.rules.presence import show_armies
from domain.games.egc.rules.seats import end_game
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import Egc
from domain.types import Seat


def protectorates(s: Egc, seat: Seat) -> list[str]:
    """EGC-15.1: those in force; one installed in the last turn of the game (P11) is not."""
    return [t for t in s.protectorates(seat) if (held := s.lands[t].protectorate) and s.in_force(held.since)]


def territory_points(s: Egc, seat: Seat) -> int:
    """EGC-15.2: for every colony and every protectorate."""
    return sum(VICTORY["territory_vp"] + TERRITORIES[t].bonus for t in (*s.colonies(seat), *protectorates(s, seat)))


def realised(s: Egc, seat: Seat, link: Link) -> bool:
    """EGC-15.3."""
    held = {*s.owned(seat), *protectorates(s, seat)}
    if not held.issuperset(link.ends):
        return False
    if link.kind == "groups":
        return all(any(t in held for t in group) for group in link.groups)
    reached, todo = {link.ends[0]}, [link.ends[0]]
    while todo:
        for t in TERRITORIES[todo.pop()].neighbours:
            if t in held and t not in reached:
                reached.add(t)
                todo.append(t)
    return link.ends[1] in reached


def count_if_due(w: Resolution) -> None:
    """EGC-15.1, EGC-15.4: a count in its turn; the fourth ends the game."""
    if w.turn not in w.s.count_turns:
        return
    last = w.turn == w.s.count_turns[-1]
    count(w, last)
    if last:
        finish(w, "fourth_count")


def count(w: Resolution, last: bool) -> None:
    """EGC-15.2, EGC-15.3: points for all ten empires."""
    s = w.s
    factor = VICTORY["final_territory_multiplier"] if last else 1
    points = [factor * territory_points(s, seat) for seat in SEATS]
    done = [[k for k in sorted(s.empires[seat].links) if realised(s, seat, LINKS[k])] for seat in SEATS]
    failed = [[k for k in sorted(s.empires[seat].links) if k not in done[seat]] for seat in SEATS]
    vp = [s.vp[seat] + points[seat] + VICTORY["link_vp"] * len(done[seat]) for seat in SEATS]
    w.tell(VictoryCounted(w.step, w.turn, points, done, failed, vp))


def finish(w: Resolution, why: Ending) -> None:
    """EGC-15.4: the game is finished."""
    show_armies(w)
    end_game(w.d, why)
