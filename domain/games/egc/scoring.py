"""EGC-15.4, EGC-15.6: the final ranking, and the table as it stands while the game goes on."""

from __future__ import annotations

from domain.games.common.ranking import places
from domain.games.egc.data import SEATS, VICTORY
from domain.games.egc.state import Egc
from domain.ids import Json, Seat
from domain.kernel.ruleset import Score


def scores(s: Egc) -> list[Score]:
    """Victory points, the last count, territories; treasury and lot only when they are public."""
    lines = [_line(s, seat) for seat in SEATS]
    return [Score(seat, place, s.vp[seat], lines[seat]) for seat, place in enumerate(places([_key(x) for x in lines]))]


def _line(s: Egc, seat: Seat) -> dict[str, Json]:
    last = 0
    if s.counts:
        before = s.counts[-1]
        last = before.points[seat] + VICTORY["link_vp"] * len(before.realised[seat])
    line: dict[str, Json] = {"vp": s.vp[seat], "last_count": last, "territories": len(s.owned(seat))}
    if s.final is None:
        return line
    return {**line, "treasury": s.final.treasuries[seat], "lot": s.final.tie_order.index(seat) + 1}


def _key(line: dict[str, Json]) -> tuple[int, ...]:
    """Greater is better; a smaller lot is better."""
    known = (line["treasury"], -line["lot"]) if "lot" in line else ()
    return line["vp"], line["last_count"], line["territories"], *known
