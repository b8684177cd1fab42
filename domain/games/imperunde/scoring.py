"""IMP-12.4: the final table, or the present standings."""

from __future__ import annotations

from domain.games.imperunde.rules.end import ranking
from domain.games.imperunde.state import ImpeRunde, worth
from domain.kernel.rules.ruleset import Score
from domain.kernel.schema.declarations import Part
from domain.types import Seat


class Detail(Part, frozen=True):
    """IMP-12.4: the figures in order of precedence; less debt and an earlier place in it are better."""

    winner: bool
    posts: int
    """Trading posts on the board."""
    debt: int
    surplus: int
    worth: int
    """Cost of armies, forts and warships on the board."""
    turn_order: int
    """Place in the turn order, 1 is first."""


def scores(s: ImpeRunde) -> list[Score[Detail]]:
    """Return one line per seat; turn order breaks all ties."""
    return [_line(s, seat, place) for place, seat in enumerate(ranking(s), 1)]


def _line(s: ImpeRunde, seat: Seat, place: int) -> Score[Detail]:
    nation, posts = s.nations[seat], s.posts(seat)
    turn_order = 1 + (s.order.index(seat) if seat in s.order else seat)
    detail = Detail(s.winner == seat, posts, nation.debt, nation.surplus, worth(s, seat), turn_order)
    return Score(seat, place, posts, detail)
