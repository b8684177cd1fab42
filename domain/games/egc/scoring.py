"""EGC-15.4, EGC-15.6: the final ranking, and the present standings of a running game."""

from __future__ import annotations

from domain.games.common.ranking import places
from domain.games.egc.data import SEATS, VICTORY
from domain.games.egc.state import ELIMINATED, Egc
from domain.kernel.rules.ruleset import Score
from domain.kernel.schema.declarations import UNSET, Maybe, Part, unwrap
from domain.types import Seat


class Detail(Part, frozen=True):
    """EGC-15.6: the figures behind an empire's place; treasury and lot only when public, at the end."""

    vp: int
    """Victory points."""
    last_count: int
    """Those of the last count, links and all."""
    territories: int
    """Owned territories."""
    treasury: Maybe[int] = UNSET
    lot: Maybe[int] = UNSET
    """Its place in the lot, 1 is best."""


def scores(s: Egc) -> list[Score[Detail]]:
    """Return victory points, the last count, territories; treasury and lot only when public."""
    lines = [_line(s, seat) for seat in SEATS]
    ranked = enumerate(places([_key(x) for x in lines]))
    return [Score(seat, place, s.vp[seat], lines[seat], s.status[seat] != ELIMINATED) for seat, place in ranked]


def _line(s: Egc, seat: Seat) -> Detail:
    last = 0
    if s.counts:
        before = s.counts[-1]
        last = before.points[seat] + VICTORY["link_vp"] * len(before.realised[seat])
    known = s.vp[seat], last, len(s.owned(seat))
    if s.final is None:
        return Detail(*known)
    return Detail(*known, s.final.treasuries[seat], s.final.tie_order.index(seat) + 1)


def _key(line: Detail) -> tuple[int, ...]:
    """Return the sort key: greater is better; a smaller lot is better."""
    known = () if line.lot is UNSET else (unwrap(line.treasury), -line.lot)
    return line.vp, line.last_count, line.territories, *known
