"""AOR-14: the final table, and the present standings of a running game."""

from __future__ import annotations

from domain.games.age_of_reason.state import AgeOfReason
from domain.games.common.ranking import places
from domain.kernel.rules.ruleset import Score
from domain.kernel.schema.declarations import Part
from domain.types import Seat


class Detail(Part, frozen=True):
    """AOR-14.1: the figures of a seat, in order of precedence."""

    vp: int
    unrest: int
    """Less is better."""
    tokens: int
    """On the map."""
    gold: int


def scores(s: AgeOfReason) -> list[Score[Detail]]:
    """AOR-14.1: points, then less unrest, tokens, gold; then a shared place."""
    lines = [_line(s, seat) for seat in s.everybody]
    ranked = places([(line.vp, -line.unrest, line.tokens, line.gold) for line in lines])
    return [Score(seat, place, lines[seat].vp, lines[seat]) for seat, place in enumerate(ranked)]


def _line(s: AgeOfReason, seat: Seat) -> Detail:
    empire = s.empires[seat]
    return Detail(empire.vp, empire.unrest, sum(s.tokens_of(seat).values()), empire.gold)
