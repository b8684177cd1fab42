"""IMP-12.4: the final table, or the table as it stands."""

from __future__ import annotations

from domain.games.imperunde.rules.end import ranking
from domain.games.imperunde.state import ImpeRunde, worth
from domain.kernel.ruleset import Score


def scores(s: ImpeRunde) -> list[Score]:
    """One line a seat; turn order leaves no ties."""
    return [_line(s, seat, place) for place, seat in enumerate(ranking(s), 1)]


def _line(s: ImpeRunde, seat: int, place: int) -> Score:
    nation = s.nations[seat]
    detail = {
        "winner": s.winner == seat,
        "posts": s.posts(seat),
        "debt": nation.debt,
        "surplus": nation.surplus,
        "worth": worth(s, seat),
        "turn_order": 1 + (s.order.index(seat) if seat in s.order else seat),
    }
    return Score(seat, place, s.posts(seat), detail)
