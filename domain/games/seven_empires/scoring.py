"""SE7-12.3 to SE7-12.5: the final table, and the present standings of a running game."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.common.ranking import places
from domain.games.seven_empires.data import EMPIRES, FACTORS
from domain.games.seven_empires.state import Seven
from domain.kernel.rules.ruleset import Score
from domain.kernel.schema.declarations import Part
from domain.types import Seat


class Share(Part, frozen=True):
    """SE7-12.4: a seat's points from an empire: its influence times the factor of the empire's rank."""

    empire: str
    influence: int
    factor: int
    points: int


class Detail(Part, frozen=True):
    """SE7-12.4, SE7-12.5: the figures of a seat's score."""

    points: int
    shares: Sequence[Share]
    """By rank of the empires, best first; in this order the influence also breaks ties."""


def ranking(s: Seven) -> list[str]:
    """SE7-12.3: the empires by power, highest first; ties in flag order."""
    return sorted(EMPIRES, key=lambda empire: -s.empires[empire].power)


def scores(s: Seven) -> list[Score[Detail]]:
    """SE7-12.4, SE7-12.5; before the end with the present power."""
    ranked = ranking(s)
    lines = [_line(s, seat, ranked) for seat in s.everybody]
    order = places([(line.points, *(share.influence for share in line.shares)) for line in lines])
    return [Score(seat, place, lines[seat].points, lines[seat]) for seat, place in enumerate(order)]


def _line(s: Seven, seat: Seat, ranked: Sequence[str]) -> Detail:
    shares = [_share(s.influence(seat, e), e, factor) for e, factor in zip(ranked, FACTORS, strict=True)]
    return Detail(sum(share.points for share in shares), shares)


def _share(influence: int, empire: str, factor: int) -> Share:
    return Share(empire, influence, factor, influence * factor)
